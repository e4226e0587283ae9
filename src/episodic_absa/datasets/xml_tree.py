"""Reads an XML file into elements that know their line. defusedxml refuses document types, entities and references."""

from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder

from defusedxml.common import DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser, ParseError
from pydantic import JsonValue

from episodic_absa.datasets.dataset_file import read_file, row_error
from episodic_absa.errors import DatasetError
from episodic_absa.serialization.quoted_value import shortened

_LINE: Final = "\0line"
"""The attribute that holds the line of an element; no XML file can hold one of this name."""


def read_xml(path: Path) -> Element:
    """Read the whole document and return its root element.

    Raises:
        DatasetError: the file cannot be read, is not valid XML or declares a document type; it names file and line.
    """
    builder = _NumberingBuilder()
    parser = DefusedXMLParser(target=builder, forbid_dtd=True)
    # The wrapper of Python does not pass the place on.
    builder.expat = parser.parser
    try:
        parser.feed(read_file(path))
        root: Element = parser.close()
    except ParseError as error:
        problem = f"not valid XML ({shortened(str(error).partition(':')[0])}); correct the file there"
        raise row_error(path, error.position[0], problem) from error
    except DTDForbidden as error:
        problem = "a document type declaration is refused, because entities can hide other files; remove <!DOCTYPE>"
        raise row_error(path, builder.expat.CurrentLineNumber, problem) from error
    except (LookupError, ValueError) as error:
        raise DatasetError(
            f"{path}: cannot be decoded ({shortened(str(error))}); save it as UTF-8", path=path
        ) from error
    return root


def line_of(element: Element) -> int:
    """Return the line in which an element begins."""
    return int(element.attrib[_LINE])


def attributes_of(element: Element) -> dict[str, JsonValue]:
    """Return the attributes that the file gives an element."""
    return {name: value for name, value in element.attrib.items() if name != _LINE}


def text_of(element: Element) -> str:
    """Return the characters directly inside an element, without those of its children."""
    return "".join([element.text or "", *(child.tail or "" for child in element)])


class _NumberingBuilder(TreeBuilder):
    expat: Any

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        return super().start(tag, {**attrs, _LINE: str(self.expat.CurrentLineNumber)})

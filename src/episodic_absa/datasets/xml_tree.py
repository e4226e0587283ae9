"""Reads an XML file into nodes that know their line. defusedxml refuses document types, entities and references."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml.common import DTDForbidden
from defusedxml.sax import parseString

from episodic_absa.datasets.dataset_file import read_file, row_error
from episodic_absa.errors import DatasetError
from episodic_absa.serialization.quoted_value import shortened


@dataclass(slots=True)
class XmlNode:
    """One element of the document."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["XmlNode"] = field(default_factory=list)
    text: str = ""
    """The characters directly inside the element, without those of its children."""

    def named(self, tag: str) -> Iterator["XmlNode"]:
        """Yield the direct children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def below(self, *tags: str) -> Iterator["XmlNode"]:
        """Yield the nodes reached by walking down these tags."""
        first, *rest = tags
        for child in self.named(first):
            if rest:
                yield from child.below(*rest)
            else:
                yield child


def read_xml(path: Path) -> XmlNode:
    """Read the whole document and return its root element.

    Raises:
        DatasetError: the file cannot be read, is not valid XML or declares a document type; it names file and line.
    """
    tree = _TreeHandler()
    try:
        parseString(read_file(path), tree, forbid_dtd=True)
    except SAXParseException as error:
        problem = f"not valid XML ({shortened(error.getMessage())}); correct the file there"
        raise row_error(path, error.getLineNumber() or 1, problem) from error
    except DTDForbidden as error:
        problem = "a document type declaration is refused, because entities can hide other files; remove <!DOCTYPE>"
        raise row_error(path, tree.line, problem) from error
    except (LookupError, ValueError) as error:
        raise DatasetError(
            f"{path}: cannot be decoded ({shortened(str(error))}); save it as UTF-8", path=path
        ) from error
    return tree.document.children[0]


class _TreeHandler(ContentHandler):
    """Builds the nodes from the parser's events; the parser's locator gives the lines."""

    def __init__(self) -> None:
        super().__init__()
        self.document = XmlNode("", {}, 1)
        self._open_nodes = [self.document]
        self._place = Locator()

    @property
    def line(self) -> int:
        """The line the parser is at."""
        return self._place.getLineNumber() or 1

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802 - a name of SAX
        self._place = locator

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802 - a name of SAX
        node = XmlNode(name, dict(attrs.items()), self.line)
        self._open_nodes[-1].children.append(node)
        self._open_nodes.append(node)

    def endElement(self, name: str) -> None:  # noqa: N802, ARG002 - a name of SAX
        self._open_nodes.pop()

    def characters(self, content: str) -> None:
        self._open_nodes[-1].text += content

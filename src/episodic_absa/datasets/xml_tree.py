"""Reads an XML file into nodes that know their line. Document types are refused, and with them all entity tricks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from episodic_absa.datasets.dataset_file import read_file, row_error
from episodic_absa.errors import DatasetError


@dataclass(slots=True)
class XmlNode:
    """One element."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["XmlNode"] = field(default_factory=list)
    text: str = ""
    """The characters directly inside, without those of its children."""

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
    """Read the whole document and return its root element."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    open_nodes: list[XmlNode] = [XmlNode("", {}, 1)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        node = XmlNode(tag, attributes, parser.CurrentLineNumber)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def characters(text: str) -> None:
        open_nodes[-1].text += text

    def refuse_document_type(*_: object) -> NoReturn:
        problem = "a document type declaration is refused, because entities can hide other files; remove <!DOCTYPE>"
        raise row_error(path, parser.CurrentLineNumber, problem)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: open_nodes.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        parser.Parse(read_file(path), True)  # noqa: FBT003 - expat's signature: this is all of it
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise row_error(path, error.lineno, f"not valid XML ({reason}); correct the file there") from error
    except (LookupError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be decoded ({error}); save it as UTF-8", path=path) from error
    return open_nodes[0].children[0]

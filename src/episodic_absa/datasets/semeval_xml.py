"""Reads SemEval ABSA files: the 2014 form (aspectTerms, aspectCategories) and that of 2015 and 2016 (Opinions)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder

from defusedxml.common import DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser, ParseError
from pydantic import JsonValue

from episodic_absa.datasets.dataset_file import read_file, read_int, row_error, tidy
from episodic_absa.datasets.gold_files import build_gold_tuple, ground_tuples, odd_polarities, span_or_none
from episodic_absa.datasets.tabular_files import Place, readable_text
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.serialization.quoted_value import shortened
from episodic_absa.vocabulary import Split

_CONFLICT: Final = "conflict"
_IMPLICIT_TARGET: Final = "NULL"
_LINE: Final = "\0line"
"""The attribute that holds the line of an element; no XML file can hold one of this name."""


class _Annotation(NamedTuple):
    """One annotated element of a sentence with its term and category."""

    node: Element
    term: str
    category: str | None


_FindAnnotations = Callable[[Element], list[_Annotation]]


def read_semeval_xml(path: Path, split: Split) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the line and the sample of each sentence. If no sentence is annotated, no sample has gold."""
    root = read_xml(path)
    sentences = list(_sentences(root, path))
    find = _annotation_finder(root.tag, [sentence for _, sentence in sentences])
    is_annotated = any(find(sentence) for _, sentence in sentences)
    for number, (metadata, sentence) in enumerate(sentences, start=1):
        place = Place(path, line_of(sentence), number)
        annotations = find(sentence) if is_annotated else None
        yield line_of(sentence), _sample(sentence, place, split, annotations, metadata)


def _sentences(root: Element, path: Path) -> Iterator[tuple[dict[str, JsonValue], Element]]:
    """Yield the metadata and the node of each sentence."""
    match root.tag:
        case "sentences":
            for sentence in root.findall("sentence"):
                categories: list[JsonValue] = [
                    attributes_of(node) for node in sentence.findall("aspectCategories/aspectCategory")
                ]
                yield {"aspect_categories": categories} if categories else {}, sentence
        case "Reviews":
            for review in root.findall("Review"):
                about_review = {"review_id": review.attrib["rid"]} if "rid" in review.attrib else {}
                for sentence in review.findall("sentences/sentence"):
                    is_out = sentence.attrib.get("OutOfScope", "").lower() == "true"
                    yield {**about_review, **({"out_of_scope": True} if is_out else {})}, sentence
        case other:
            instead = f"found <{shortened(other)}>; check input_format"
            raise row_error(path, line_of(root), f"<sentences> (2014) or <Reviews> (2015, 2016) is expected, {instead}")


def _annotation_finder(form: str, sentences: list[Element]) -> _FindAnnotations:
    if form == "Reviews":
        return _opinions
    # In 2014 terms and categories describe the same opinions: categories count only in a file without terms.
    has_terms = any(_aspect_terms(sentence) for sentence in sentences)
    return _aspect_terms if has_terms else _aspect_categories


def _aspect_terms(sentence: Element) -> list[_Annotation]:
    nodes = sentence.findall("aspectTerms/aspectTerm")
    return [_Annotation(node, node.attrib.get("term", ""), None) for node in nodes]


def _aspect_categories(sentence: Element) -> list[_Annotation]:
    nodes = sentence.findall("aspectCategories/aspectCategory")
    return [_Annotation(node, "", node.attrib.get("category")) for node in nodes]


def _opinions(sentence: Element) -> list[_Annotation]:
    nodes = sentence.findall("Opinions/Opinion")
    targets = ((node, node.attrib.get("target", _IMPLICIT_TARGET)) for node in nodes)
    return [
        _Annotation(node, "" if target == _IMPLICIT_TARGET else target, node.attrib.get("category"))
        for node, target in targets
    ]


def _sample(
    sentence: Element,
    place: Place,
    split: Split,
    annotations: list[_Annotation] | None,
    metadata: dict[str, JsonValue],
) -> LabelledSample:
    path, line, _ = place
    node = sentence.find("text")
    text = readable_text(None if node is None else text_of(node), path, line if node is None else line_of(node))
    uid = tidy(sentence.attrib.get("id", "")) or place.fallback_uid
    sample = Sample(uid=uid, text=text, split=split)
    if annotations is None:
        return LabelledSample(sample=sample, metadata=metadata)
    opinions = [annotation for annotation in annotations if not _is_conflict(annotation)]
    gold = [_gold_tuple(annotation, path) for annotation in opinions]
    conflicts = [_gold_tuple(annotation, path) for annotation in annotations if _is_conflict(annotation)]
    if conflicts:
        dumped: list[JsonValue] = [
            gold_tuple.model_dump(mode="json", exclude={"polarity"}, exclude_none=True)
            for gold_tuple in ground_tuples(conflicts, text)
        ]
        metadata = {**metadata, "conflict_tuples": dumped}
    odd = odd_polarities(annotation.node.attrib.get("polarity") for annotation in opinions)
    return LabelledSample(sample=sample, gold=ground_tuples(gold, text), odd_polarities=odd, metadata=metadata)


def _is_conflict(annotation: _Annotation) -> bool:
    return annotation.node.attrib.get("polarity", "").strip().lower() == _CONFLICT


def _gold_tuple(annotation: _Annotation, path: Path) -> GoldTuple:
    node, term, category = annotation
    span = span_or_none(_offset(node, "from", path), _offset(node, "to", path))
    return build_gold_tuple(term, node.attrib.get("polarity"), aspect_ref=category, span=span)


def _offset(node: Element, name: str, path: Path) -> int | None:
    digits = node.attrib.get(name)
    if digits is None:
        return None
    try:
        return read_int(digits) if digits.isascii() and digits.isdigit() else int("")
    except ValueError:
        raise row_error(path, line_of(node), f"{name} of <{node.tag}> must be a whole number") from None


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

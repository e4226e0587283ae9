"""Reads SemEval ABSA files: the 2014 form (aspectTerms, aspectCategories) and that of 2015 and 2016 (Opinions)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import JsonValue

from episodic_absa.datasets.dataset_file import read_int, row_error, tidy
from episodic_absa.datasets.gold_files import build_gold_tuple, ground_tuples, odd_polarities, span_or_none
from episodic_absa.datasets.tabular_files import Place, readable_text
from episodic_absa.datasets.xml_tree import XmlNode, read_xml
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.serialization.quoted_value import shortened
from episodic_absa.vocabulary import Split

_CONFLICT: Final = "conflict"
_IMPLICIT_TARGET: Final = "NULL"


class _Annotation(NamedTuple):
    """One annotated element of a sentence with its term and category."""

    node: XmlNode
    term: str
    category: str | None


_FindAnnotations = Callable[[XmlNode], list[_Annotation]]


def read_semeval_xml(path: Path, split: Split) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the line and the sample of each sentence. If no sentence is annotated, no sample has gold."""
    root = read_xml(path)
    sentences = list(_sentences(root, path))
    find = _annotation_finder(root.tag, [sentence for _, sentence in sentences])
    is_annotated = any(find(sentence) for _, sentence in sentences)
    for number, (metadata, sentence) in enumerate(sentences, start=1):
        place = Place(path, sentence.line, number)
        annotations = find(sentence) if is_annotated else None
        yield sentence.line, _sample(sentence, place, split, annotations, metadata)


def _sentences(root: XmlNode, path: Path) -> Iterator[tuple[dict[str, JsonValue], XmlNode]]:
    """Yield the metadata and the node of each sentence."""
    match root.tag:
        case "sentences":
            for sentence in root.named("sentence"):
                categories: list[JsonValue] = [
                    dict(node.attributes) for node in sentence.below("aspectCategories", "aspectCategory")
                ]
                yield {"aspect_categories": categories} if categories else {}, sentence
        case "Reviews":
            for review in root.named("Review"):
                about_review = {"review_id": review.attributes["rid"]} if "rid" in review.attributes else {}
                for sentence in review.below("sentences", "sentence"):
                    is_out = sentence.attributes.get("OutOfScope", "").lower() == "true"
                    yield {**about_review, **({"out_of_scope": True} if is_out else {})}, sentence
        case other:
            instead = f"found <{shortened(other)}>; check input_format"
            raise row_error(path, root.line, f"<sentences> (2014) or <Reviews> (2015, 2016) is expected, {instead}")


def _annotation_finder(form: str, sentences: list[XmlNode]) -> _FindAnnotations:
    if form == "Reviews":
        return _opinions
    # In 2014 terms and categories describe the same opinions: categories count only in a file without terms.
    has_terms = any(_aspect_terms(sentence) for sentence in sentences)
    return _aspect_terms if has_terms else _aspect_categories


def _aspect_terms(sentence: XmlNode) -> list[_Annotation]:
    nodes = sentence.below("aspectTerms", "aspectTerm")
    return [_Annotation(node, node.attributes.get("term", ""), None) for node in nodes]


def _aspect_categories(sentence: XmlNode) -> list[_Annotation]:
    nodes = sentence.below("aspectCategories", "aspectCategory")
    return [_Annotation(node, "", node.attributes.get("category")) for node in nodes]


def _opinions(sentence: XmlNode) -> list[_Annotation]:
    nodes = sentence.below("Opinions", "Opinion")
    targets = ((node, node.attributes.get("target", _IMPLICIT_TARGET)) for node in nodes)
    return [
        _Annotation(node, "" if target == _IMPLICIT_TARGET else target, node.attributes.get("category"))
        for node, target in targets
    ]


def _sample(
    sentence: XmlNode,
    place: Place,
    split: Split,
    annotations: list[_Annotation] | None,
    metadata: dict[str, JsonValue],
) -> LabelledSample:
    path, line, _ = place
    text_node = next(sentence.named("text"), None)
    text = readable_text(text_node.text if text_node else None, path, text_node.line if text_node else line)
    uid = tidy(sentence.attributes.get("id", "")) or place.fallback_uid
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
    odd = odd_polarities(annotation.node.attributes.get("polarity") for annotation in opinions)
    return LabelledSample(sample=sample, gold=ground_tuples(gold, text), odd_polarities=odd, metadata=metadata)


def _is_conflict(annotation: _Annotation) -> bool:
    return annotation.node.attributes.get("polarity", "").strip().lower() == _CONFLICT


def _gold_tuple(annotation: _Annotation, path: Path) -> GoldTuple:
    node, term, category = annotation
    span = span_or_none(_offset(node, "from", path), _offset(node, "to", path))
    return build_gold_tuple(term, node.attributes.get("polarity"), aspect_ref=category, span=span)


def _offset(node: XmlNode, name: str, path: Path) -> int | None:
    digits = node.attributes.get(name)
    if digits is None:
        return None
    try:
        return read_int(digits) if digits.isascii() and digits.isdigit() else int("")
    except ValueError:
        raise row_error(path, node.line, f"{name} of <{node.tag}> must be a whole number") from None

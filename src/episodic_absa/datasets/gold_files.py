"""Reads gold: gold files, gold tuples in JSON, and the span of a term in the normalised text."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.datasets.dataset_file import (
    UID_KEYS,
    RowProblems,
    kind_of,
    listed_names,
    read_json_lines,
    row_error,
    tidy,
)
from episodic_absa.errors import DatasetError
from episodic_absa.language import nearest_occurrence, read_polarity
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.serialization.quoted_value import quoted

_TUPLE_KEYS: Final = frozenset({"aspect_ref", "aspect_term", "polarity", "span"})


class Annotation(NamedTuple):
    """The gold of one text, and its polarity words that are not spelled as the documentation says."""

    tuples: tuple[GoldTuple, ...]
    odd_polarities: tuple[str, ...] = ()


class AttachedGold(NamedTuple):
    """Samples with their gold, and the uids of gold that belongs to none of them."""

    samples: tuple[LabelledSample, ...]
    unknown_uids: tuple[str, ...]


def load_gold(path: Path) -> Mapping[str, tuple[GoldTuple, ...]]:
    """Return the gold of a file by uid. Each line is an object with a uid and gold_tuples; spans are checked later."""
    return {uid: annotation.tuples for uid, annotation in load_annotations(path).items()}


def load_annotations(path: Path) -> Mapping[str, Annotation]:
    """Return what `load_gold` returns, with the polarity words that are odd."""
    gold: dict[str, Annotation] = {}
    lines: dict[str, int] = {}
    problems = RowProblems(path)
    for line, row in read_json_lines(path):
        try:
            uid, annotation = _read_annotation(row, path, line, lines)
        except DatasetError as error:
            problems.note(error)
        else:
            gold[uid], lines[uid] = annotation, line
    problems.raise_any()
    if not gold:
        raise DatasetError(
            f"{path} holds no gold; one JSON object with uid and gold_tuples per line is expected", path=path
        )
    return gold


def _read_annotation(row: dict[str, Any], path: Path, line: int, lines: Mapping[str, int]) -> tuple[str, Annotation]:
    uid = next((read_uid(row[key], key, path, line) for key in UID_KEYS if row.get(key) is not None), "")
    if not uid:
        raise row_error(path, line, "no uid; name the sample in one of the keys uid, text_id, id")
    if uid in lines:
        raise row_error(path, line, f"uid {quoted(uid)} is already used in line {lines[uid]}; keep one line per sample")
    if "gold_tuples" not in row:
        raise row_error(path, line, f"no gold_tuples for {quoted(uid)}; write [] where there is no opinion")
    return uid, read_gold_tuples(row["gold_tuples"], path, line)


def attach_gold(samples: Sequence[LabelledSample], gold: Mapping[str, Annotation]) -> AttachedGold:
    """Return the samples with the gold of their uid; a sample whose uid has no gold stays as it is."""
    known = {labelled.sample.uid for labelled in samples}
    attached = tuple(
        _annotated(labelled, gold[labelled.sample.uid]) if labelled.sample.uid in gold else labelled
        for labelled in samples
    )
    return AttachedGold(attached, tuple(uid for uid in gold if uid not in known))


def _annotated(labelled: LabelledSample, annotation: Annotation) -> LabelledSample:
    gold = ground_tuples(annotation.tuples, labelled.sample.text)
    return labelled.model_copy(update={"gold": gold, "odd_polarities": annotation.odd_polarities})


def read_uid(value: Any, key: str, path: Path, line: int) -> str:
    """Return a uid as text; the file may write it as a string or a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise row_error(path, line, f"{key} must be a string or a whole number, got {kind_of(value)}")
    return tidy(str(value))


def read_gold_tuples(value: Any, path: Path, line: int) -> Annotation:
    """Return the annotation of a `gold_tuples` value."""
    if not isinstance(value, list):
        raise row_error(path, line, f"gold_tuples must be a list of objects, got {kind_of(value)}")
    tuples = tuple(_read_gold_tuple(entry, path, line) for entry in value)
    return Annotation(tuples, odd_polarities(entry.get("polarity") for entry in value))


def odd_polarities(words: Iterable[str | None]) -> tuple[str, ...]:
    """Return the words that are neither positive, negative, neutral nor pos, neg, neu; "" for a missing one."""
    return tuple(word or "" for word in words if read_polarity(word).how != "exact")


def build_gold_tuple(
    aspect_term: str, polarity: str | None, *, aspect_ref: str | None = None, span: Span | None = None
) -> GoldTuple:
    """Return the gold tuple of an annotation; a word that is not a polarity (mixed, conflict) becomes None."""
    term = tidy(aspect_term)
    return GoldTuple(
        aspect_ref=aspect_ref,
        aspect_term=term,
        polarity=read_polarity(polarity).polarity,
        span=span if term else None,
    )


def ground_tuples(gold: Sequence[GoldTuple], text: str) -> tuple[GoldTuple, ...]:
    """Return the tuples with spans in the NFC text: a wrong span is corrected, or dropped if the term is not there."""
    return tuple(
        gold_tuple
        if gold_tuple.span is None
        else gold_tuple.model_copy(update={"span": ground_span(gold_tuple.aspect_term, gold_tuple.span, text)})
        for gold_tuple in gold
    )


def ground_span(term: str, span: Span, text: str) -> Span | None:
    """Return the span of the term in the NFC text that is nearest to the span given for the raw text."""
    if text[span.start : span.end] == term:
        return span
    start = _composed_start(term, span, text)
    occurrence = nearest_occurrence(term, text, span.start if start is None else start)
    return Span(start=occurrence[0], end=occurrence[1]) if occurrence else None


def _composed_start(term: str, span: Span, text: str) -> int | None:
    """Return the start of the span in the NFC text if it counts decomposed characters, as macOS writes them."""
    decomposed = unicodedata.normalize("NFD", text)
    if unicodedata.normalize("NFC", decomposed[span.start : span.end]) != term:
        return None
    return len(unicodedata.normalize("NFC", decomposed[: span.start]))


def _read_gold_tuple(value: Any, path: Path, line: int) -> GoldTuple:
    if not isinstance(value, dict):
        raise row_error(path, line, f"a gold tuple must be an object, got {kind_of(value)}")
    unknown = sorted(value.keys() - _TUPLE_KEYS)
    if unknown or "aspect_term" not in value:
        names = listed_names(unknown[:1])
        problem = f"a gold tuple has the unknown key {names}" if unknown else "a gold tuple has no aspect_term"
        raise row_error(path, line, f"{problem}; write aspect_term ('' if implicit), polarity, aspect_ref, span")
    for key in ("aspect_term", "polarity", "aspect_ref"):
        if not isinstance(value.get(key), str | None):
            raise row_error(path, line, f"{key} of a gold tuple must be a string or null, got {kind_of(value[key])}")
    return build_gold_tuple(
        value["aspect_term"] or "",
        value.get("polarity"),
        aspect_ref=value.get("aspect_ref"),
        span=_read_span(value.get("span"), path, line),
    )


def _read_span(value: Any, path: Path, line: int) -> Span | None:
    if value is None:
        return None
    if isinstance(value, dict) and value.keys() == {"start", "end"}:
        span = span_or_none(value["start"], value["end"])
        if span is not None:
            return span
    raise row_error(path, line, "a span must be {start, end} with 0 <= start < end; correct it or remove it")


def span_or_none(start: Any, end: Any) -> Span | None:
    """Return the span, or None if the two values do not form one."""
    are_counts = all(isinstance(at, int) and not isinstance(at, bool) for at in (start, end))
    return Span(start=start, end=end) if are_counts and 0 <= start < end else None

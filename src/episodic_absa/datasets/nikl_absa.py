"""Reads the JSONL of the NIKL ABSA 2022 corpus: sentence_form, and annotation as nested lists."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from episodic_absa.datasets.dataset_file import kind_of, read_json_lines, row_error
from episodic_absa.datasets.gold_files import Annotation, build_gold_tuple, odd_polarities, span_or_none
from episodic_absa.datasets.tabular_files import Place, sample_of_row
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.vocabulary import Split

_TEXT_KEY: Final = "sentence_form"
_FORM: Final = "[entity#attribute, [term or null, start, end], polarity]"


def read_nikl_absa(path: Path, split: Split) -> Iterator[tuple[int, LabelledSample]]:
    """Yield the number and the sample of each line; an empty annotation is gold without an opinion."""
    for number, (line, row) in enumerate(read_json_lines(path), start=1):
        annotation = row.pop("annotation", None)
        gold = None if annotation is None else _read_annotation(annotation, path, line)
        yield line, sample_of_row(row, Place(path, line, number), split, _TEXT_KEY, gold=gold, language_code="ko")


def _read_annotation(annotation: Any, path: Path, line: int) -> Annotation:
    if not isinstance(annotation, list):
        raise row_error(path, line, f"annotation must be a list of {_FORM}, got {kind_of(annotation)}")
    numbered = enumerate(annotation, start=1)
    tuples = tuple(_read_opinion(opinion, number, path, line) for number, opinion in numbered)
    return Annotation(tuples, odd_polarities(polarity for _, _, polarity in annotation))


def _read_opinion(opinion: Any, number: int, path: Path, line: int) -> GoldTuple:
    match opinion:
        case [str(category), [str() | None as term, int(start), int(end)], str() | None as polarity]:
            return build_gold_tuple(term or "", polarity, aspect_ref=category, span=span_or_none(start, end))
    raise row_error(path, line, f"an annotation must be {_FORM}; number {number} is not")

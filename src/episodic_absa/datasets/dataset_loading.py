"""Loads a split from any input format. A row that cannot become a sample is an error; no row is skipped."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, assert_never

from pydantic import JsonValue

from episodic_absa.datasets.dataset_file import row_error
from episodic_absa.datasets.gold_columns import NO_COLUMNS, GoldColumns
from episodic_absa.datasets.nikl_absa import read_nikl_absa
from episodic_absa.datasets.semeval_xml import read_semeval_xml
from episodic_absa.datasets.tabular_files import read_csv, read_jsonl
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.serialization.quoted_value import quoted
from episodic_absa.vocabulary import Split

InputFormat = Literal["csv", "jsonl", "semeval_xml", "nikl_absa_2022"]
_LONGEST_SHARED: Final = 40
_SAMPLE_FIELDS: Final = set(Sample.model_fields)
_LABELLED_FIELDS: Final = set(LabelledSample.model_fields)


def load_split(
    path: Path,
    input_format: InputFormat,
    split: Split,
    *,
    text_column: str = "text",
    gold_columns: GoldColumns = NO_COLUMNS,
) -> tuple[LabelledSample, ...]:
    """Return all samples of a file in the order of the file.

    Args:
        path: the file.
        input_format: how the file is written.
        split: the split the samples belong to.
        text_column: the column or key that holds the text in csv and jsonl; the other formats define their own.
        gold_columns: the columns or keys of csv and jsonl that hold gold.

    Raises:
        DatasetError: the file cannot be read or holds no text, a row cannot become a sample, or a uid occurs twice.
    """
    samples: list[LabelledSample] = []
    lines: dict[str, int] = {}
    for line, labelled in _read(path, input_format, split, text_column, gold_columns):
        uid = labelled.sample.uid
        if uid in lines:
            raise row_error(
                path, line, f"uid {quoted(uid)} is already used in line {lines[uid]}; give every text a uid of its own"
            )
        lines[uid] = line
        samples.append(_compact(labelled))
    if not samples:
        raise DatasetError(f"{path} holds no text; check the file and data.input_format ({input_format})", path=path)
    return tuple(samples)


def _read(
    path: Path, input_format: InputFormat, split: Split, text_column: str, gold_columns: GoldColumns
) -> Iterator[tuple[int, LabelledSample]]:
    match input_format:
        case "csv":
            return read_csv(path, split, text_column, gold_columns)
        case "jsonl":
            return read_jsonl(path, split, text_column, gold_columns)
        case "semeval_xml":
            return read_semeval_xml(path, split)
        case "nikl_absa_2022":
            return read_nikl_absa(path, split)
        case _:
            assert_never(input_format)


def _compact(labelled: LabelledSample) -> LabelledSample:
    """Return an equal sample that takes less memory: what many samples have in common is held once.

    pydantic keeps a set of the given fields for every model, which takes more memory than a review.
    """
    fields: dict[str, Any] = {name: _shared(value) for name, value in labelled.sample}
    return LabelledSample.model_construct(
        _fields_set=_LABELLED_FIELDS,
        sample=Sample.model_construct(_fields_set=_SAMPLE_FIELDS, **fields),
        gold=labelled.gold,
        odd_polarities=labelled.odd_polarities,
        metadata={sys.intern(name): _shared(value) for name, value in labelled.metadata.items()},
    )


def _shared(value: JsonValue) -> JsonValue:
    return sys.intern(value) if isinstance(value, str) and len(value) <= _LONGEST_SHARED else value

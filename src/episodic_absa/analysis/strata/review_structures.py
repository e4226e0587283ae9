"""The structures of each review, as the signatures in traces.jsonl record them."""

from collections.abc import Collection, Iterable
from pathlib import Path

from pydantic import ConfigDict

from episodic_absa.runs.reading.jsonl_file import read_jsonl_file
from episodic_absa.runs.run_directory import TRACES
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.vocabulary import Structure


class _Excerpt(FrozenModel):
    model_config = ConfigDict(extra="ignore")


class _Signature(_Excerpt):
    detected_structure: tuple[Structure, ...]


class _Case(_Excerpt):
    case_id: str
    input_signature: _Signature


class _TracedReview(_Excerpt):
    """The part of a trace that says which structures a review has."""

    case_trace: _Case


def read_structures(cells: Iterable[Path], uids: Collection[str]) -> dict[str, tuple[Structure, ...]]:
    """Return the structures of the reviews.

    A structure depends on the text alone, so that a review of one cell need not be looked up in another.

    Args:
        cells: the directories of cells, read in this order until every review is known.
        uids: the reviews.
    """
    structures: dict[str, tuple[Structure, ...]] = {}
    for cell in cells:
        if structures.keys() >= set(uids):
            break
        for trace in read_jsonl_file(cell / TRACES, _TracedReview).valid():
            structures.setdefault(trace.case_trace.case_id, trace.case_trace.input_signature.detected_structure)
    return structures

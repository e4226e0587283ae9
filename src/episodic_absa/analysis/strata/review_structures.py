"""The structures of each review, as the signatures in their records say."""

from collections.abc import Collection, Iterable
from pathlib import Path

from episodic_absa.runs.samples_file import SAMPLES, read_samples
from episodic_absa.vocabulary import Structure


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
        for record in read_samples(cell / SAMPLES).records:
            structures.setdefault(record.uid, record.input.signature.detected_structure)
    return structures

"""The strata of a grid: every compared pair, by everything that the question of the grid names."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, get_args

from episodic_absa.analysis.asked_cells import ComparedCells, compared_cells
from episodic_absa.analysis.strata.stratum_table import StratumRow, stratum_rows, value_metric
from episodic_absa.runs.question import is_exploratory
from episodic_absa.runs.reading.finished_cells import FinishedCell, all_cards
from episodic_absa.runs.samples_file import SAMPLES, read_samples
from episodic_absa.schemas.run_files.question import Pair, Question
from episodic_absa.serialization.csv_text import csv_text
from episodic_absa.vocabulary import StratumName, Structure

STRATA_TABLE: Final = "strata.csv"


def strata_of(question: Question | None) -> tuple[StratumName, ...]:
    """Return what the question divides the reviews by; nothing without a question."""
    named = question.strata if question is not None else ()
    return tuple(by for by in get_args(StratumName) if by in named)


def grid_stratum_rows(cells: Sequence[FinishedCell], question: Question | None) -> tuple[StratumRow, ...]:
    """Return the tables of all pairs and strata of the question, pair by pair, in the primary metric.

    A pair is compared over the asked orders and seeds, if it has any.
    """
    strata = strata_of(question)
    if question is None or not strata:
        return ()
    first: dict[Pair, ComparedCells] = {}
    for compared in compared_cells(cells, question):
        first.setdefault(compared.pair, compared)
    uids = {card.uid for card in all_cards(cells)}
    structures = read_structures([cell.path for cell in cells], uids) if "structure" in strata else {}
    return tuple(
        row.model_copy(update={"exploratory": bool(compared.parts) or is_exploratory(question, stratum=by)})
        for (a, b), compared in first.items()
        for by in strata
        for row in stratum_rows(
            a,
            all_cards(compared.a),
            b,
            all_cards(compared.b),
            by=by,
            structures=structures,
            metric=value_metric(question.asked.primary_metric),
            count_backfilled=compared.a[0].count_backfilled,
        )
    )


def strata_text(rows: Sequence[StratumRow]) -> str:
    """Render a row per pair, stratum and its value."""
    return csv_text(tuple(StratumRow.model_fields), (tuple(dict(row).values()) for row in rows), quote_text=True)


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

"""The strata of a grid: every pair that its experiment compares, by everything that the experiment names."""

from collections.abc import Iterable, Sequence
from typing import Final

from episodic_absa.analysis.strata.review_structures import read_structures
from episodic_absa.analysis.strata.stratum_table import PRIMARY, StratumRow, stratum_rows
from episodic_absa.runs.reading.finished_cells import FinishedCell, all_cards, evaluated
from episodic_absa.serialization.csv_text import csv_text
from episodic_absa.vocabulary import Stratum

STRATA_TABLE: Final = "strata.csv"


def grid_stratum_rows(
    cells: Sequence[FinishedCell],
    pairs: Iterable[tuple[str, str]],
    strata: Sequence[Stratum],
    *,
    metric: str = PRIMARY,
) -> tuple[StratumRow, ...]:
    """Return the tables of all pairs and strata, pair by pair.

    Args:
        cells: the cells of the grid.
        pairs: the conditions to compare, A and B.
        strata: what divides the reviews, one table each.
        metric: a metric of PAIRED_METRICS.
    """
    by_condition = evaluated(cells)
    uids = {card.uid for card in all_cards(cells)}
    structures = read_structures([cell.path for cell in cells], uids) if "structure" in strata else {}
    return tuple(
        row
        for a, b in pairs
        for by in strata
        for row in stratum_rows(
            a,
            all_cards(by_condition[a]),
            b,
            all_cards(by_condition[b]),
            by=by,
            structures=structures,
            metric=metric,
            count_backfilled=by_condition[a][0].count_backfilled,
        )
    )


def strata_text(rows: Sequence[StratumRow]) -> str:
    """Render a row per pair, stratum and its value."""
    return csv_text(tuple(StratumRow.model_fields), (tuple(dict(row).values()) for row in rows), quote_text=True)

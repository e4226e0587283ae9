"""The tables of one cell as text: its metrics, the triptych of every sample, and the growth of the memory."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from episodic_absa.language import norm
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.csv_text import csv_text
from episodic_absa.serialization.jsonl import json_lines

STRUCTURAL_METRICS: Final = "structural_metrics.csv"
TRIPTYCH: Final = "triptych.csv"
MEMORY_GROWTH: Final = "memory_growth.jsonl"
_TRIPTYCH_COLUMNS: Final = (
    "uid",
    "stage1",
    "final",
    "gold",
    "changed",
    "risk_before",
    "risk_after",
    "memory_injected",
)
_NO_PAIRS: Final = "-"
"""Marks an empty set of pairs; a field is empty only where gold is missing."""


def structural_metrics_text(cell: FinishedCell) -> str:
    """Render every metric of the cell."""
    rows = (
        (metric.metric, metric.group, metric.kind, metric.value, metric.numerator, metric.denominator, metric.note)
        for metric in cell.metrics
    )
    return csv_text(("metric", "group", "kind", "value", "numerator", "denominator", "note"), rows)


def triptych_text(cell: FinishedCell) -> str:
    """Render the pairs of Stage1, final and gold side by side, a row per sample."""
    rows = (_triptych_row(card, count_backfilled=cell.count_backfilled) for card in cell.cards)
    return csv_text(_TRIPTYCH_COLUMNS, rows, quote_text=True)


def memory_growth_text(cell: FinishedCell) -> str:
    """Render a line per window of samples."""
    return json_lines(cell.growth)


CELL_TABLES: Final[Mapping[str, Callable[[FinishedCell], str]]] = {
    STRUCTURAL_METRICS: structural_metrics_text,
    TRIPTYCH: triptych_text,
    MEMORY_GROWTH: memory_growth_text,
}
"""Every derived file of a cell's directory, and what it must hold."""


def _triptych_row(card: Scorecard, *, count_backfilled: bool) -> tuple[Any, ...]:
    gold = None if card.gold_tuples is None else _pairs_text(card.gold_tuples)
    if card.status == "error":
        return (card.uid, None, None, gold, None, None, None, None)
    return (
        card.uid,
        _pairs_text(predictions(card, "stage1", count_backfilled=count_backfilled)),
        _pairs_text(predictions(card, count_backfilled=count_backfilled)),
        gold,
        card.stage_delta.changed if card.stage_delta else None,
        card.risk_before.severity_sum if card.risk_before else None,
        card.risk_after.severity_sum if card.risk_after else None,
        was_injected(card),
    )


def _pairs_text(tuples: Iterable[FinalTuple | GoldTuple]) -> str:
    # A gold tuple may lack a polarity, which is why quality metrics leave its sample out.
    pairs = dict.fromkeys(f"{norm(final_tuple.aspect_term)}:{final_tuple.polarity or ''}" for final_tuple in tuples)
    return " | ".join(pairs) or _NO_PAIRS

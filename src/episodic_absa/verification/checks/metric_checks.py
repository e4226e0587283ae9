"""Checks of the tables of a cell or grid: they follow from scorecards and manifest, and they add up."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from episodic_absa.analysis.cell_tables import CELL_TABLES, STRUCTURAL_METRICS, cell_metrics
from episodic_absa.analysis.grid_tables import (
    COMPARISONS,
    GRID_METRICS,
    compare_conditions,
    comparisons_text,
    grid_metrics_text,
)
from episodic_absa.analysis.principle_effect import PRINCIPLES, grid_effects, principles_text, tossed_coins
from episodic_absa.analysis.strata import STRATA_TABLE, grid_stratum_rows, strata_of, strata_text
from episodic_absa.errors import EpisodicAbsaError, RunDirectoryError
from episodic_absa.metrics.per_sample.gold_and_predictions import Tuples, valid_gold
from episodic_absa.metrics.per_sample.pair_scores import PAIR_SCORES
from episodic_absa.metrics.per_sample.structural_errors import BUCKETS
from episodic_absa.runs.question import load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import FinishedCell, evaluated, in_order
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.verification.checks.majority_checks import check_majority_agrees

# Not after_rep: gold may hold two polarities of one term, and a representative is one of them.
_PERFECT: Final = (
    "tuple_f1_explicit",
    "tuple_f1_overall",
    "tuple_f1_implicit",
    "tuple_f1_lenient",
    "exact_match",
    "generalized_f1@0.95",
)


def check_metrics_recomputed(cell: CellFiles) -> Findings:
    """Every derived file equals a recomputation from scorecards and manifest; a finished run has all or none."""
    present = [name for name in CELL_TABLES if (cell.path / name).exists()]
    if not present:
        raise NotApplicableError(f"not written: {', '.join(CELL_TABLES)}; `episodic-absa report` derives them")
    missing = [name for name in CELL_TABLES if name not in present] if cell.known_manifest.completed else []
    yield from (_missing(name) for name in missing)
    finished = _as_finished(cell)
    yield from (_recomputed(cell.path / name, CELL_TABLES[name](finished)) for name in present)


def check_gold_against_gold(cell: CellFiles) -> Findings:
    """Gold scored against itself is perfect, sample by sample."""
    for uid, card in cell.cards.items():
        gold = valid_gold(card)
        if gold is not None:
            scores = {metric: PAIR_SCORES[metric](_gold_as_prediction(card), gold) for metric in _PERFECT}
            wrong = [metric for metric, score in scores.items() if score not in (None, 1.0)]
            yield f"{uid}: gold scored against itself is not perfect in {', '.join(wrong)}" if wrong else None


def check_bucket_rates(cell: CellFiles) -> Findings:
    """Every sample is in one of the buckets of RQ1, so that their rates sum to 1."""
    path = cell.path / STRUCTURAL_METRICS
    named = [f"{bucket}_rate" for bucket in BUCKETS]
    if path.exists():
        rows = _rows_by_metric(path)
        shares = [(_number(rows, name, "value"), _number(rows, name, "denominator")) for name in named]
    else:
        values = {metric.metric: metric for metric in cell_metrics(_as_finished(cell))}
        shares = [(values[name].value, values[name].denominator) for name in named]
    if all(denominator == 0 for _, denominator in shares):
        raise NotApplicableError("no sample succeeded")
    rates = [value for value, _ in shares if value is not None]
    # Each of the rates is rounded to 6 decimals.
    adds_up = len(rates) == len(named) and abs(sum(rates) - 1) <= len(named) * 1e-6
    yield None if adds_up else f"{', '.join(named)} do not sum to 1"


METRIC_CHECKS: Final[Mapping[str, Check]] = {
    "metrics_recomputed": check_metrics_recomputed,
    "gold_against_gold": check_gold_against_gold,
    "bucket_rates": check_bucket_rates,
}


def check_grid_metrics(cells: Sequence[CellFiles]) -> Findings:
    """The grid's table equals a recomputation from all its cells."""
    return _grid_table(cells, GRID_METRICS, grid_metrics_text)


def check_comparisons(cells: Sequence[CellFiles]) -> Findings:
    """The grid's comparisons, claims among them, equal a recomputation from all its cells."""
    return _grid_table(cells, COMPARISONS, _comparisons_text)


def check_strata(cells: Sequence[CellFiles]) -> Findings:
    """The grid's strata equal a recomputation from all its cells."""
    if STRATA_TABLE not in _optional_tables(cells):
        raise NotApplicableError("the question names no strata")
    return _grid_table(cells, STRATA_TABLE, lambda *grid: strata_text(grid_stratum_rows(*grid)))


def check_principles(cells: Sequence[CellFiles]) -> Findings:
    """The effects of principles equal a recomputation from all cells of the grid."""
    if PRINCIPLES not in _optional_tables(cells):
        raise NotApplicableError("no condition withholds advice")
    return _grid_table(cells, PRINCIPLES, lambda *grid: principles_text(grid_effects(*grid)))


def check_tables_complete(cells: Sequence[CellFiles]) -> Findings:
    """A finished grid has all of its derived files, or none."""
    due = [cell.path / name for cell in cells for name in CELL_TABLES]
    if evaluated(map(_as_finished, cells)):
        due += [cells[0].path.parent / name for name in (GRID_METRICS, COMPARISONS, *_optional_tables(cells))]
    if not any(path.exists() for path in due):
        raise NotApplicableError("no table was written; `episodic-absa report` derives them")
    if not all(cell.known_manifest.completed for cell in cells):
        raise NotApplicableError("the grid is not finished")
    grid = cells[0].path.parent
    yield from (None if path.exists() else _missing(path.relative_to(grid).as_posix()) for path in due)


GRID_METRIC_CHECKS: Final[Mapping[str, Callable[[Sequence[CellFiles]], Findings]]] = {
    "majority_agrees": check_majority_agrees,
    "tables_complete": check_tables_complete,
    "grid_metrics_recomputed": check_grid_metrics,
    "comparisons_recomputed": check_comparisons,
    "strata_recomputed": check_strata,
    "principles_recomputed": check_principles,
}


def _grid_table(
    cells: Sequence[CellFiles], name: str, text_of: Callable[[Sequence[FinishedCell], Question | None], str]
) -> Findings:
    path = cells[0].path.parent / name if cells else None
    if path is None or not path.exists():
        raise NotApplicableError(f"not written: {name}; `episodic-absa report` derives it")
    try:
        text = text_of(in_order(map(_as_finished, cells)), load_question(path.parent))
    except EpisodicAbsaError as error:
        # The message names uids and files and quotes nothing.
        yield f"{name} cannot be recomputed: {error}"
        return
    yield _recomputed(path, text)


def _optional_tables(cells: Sequence[CellFiles]) -> tuple[str, ...]:
    """Return the tables that only some grids have."""
    if not cells:
        return ()
    try:
        strata = strata_of(load_question(cells[0].path.parent))
    except RunDirectoryError:
        strata = ()  # question_kept says what is wrong with the file
    is_due = {STRATA_TABLE: bool(strata), PRINCIPLES: tossed_coins([_as_finished(cell) for cell in cells])}
    return tuple(name for name, due in is_due.items() if due)


def _comparisons_text(cells: Sequence[FinishedCell], question: Question | None) -> str:
    return comparisons_text(compare_conditions(cells, question))


def _missing(name: str) -> str:
    return f"{name} is missing, though other tables are there; `episodic-absa report` derives it"


def _as_finished(cell: CellFiles) -> FinishedCell:
    return FinishedCell(cell.path, cell.known_manifest, cell.scorecards)


def _recomputed(path: Path, text: str) -> str | None:
    """Return the first line that differs. No line is quoted, since a triptych holds words of reviews."""
    due, written = text.encode().split(b"\n"), path.read_bytes().split(b"\n")
    differing = [place for place, (a, b) in enumerate(zip_longest(written, due), start=1) if a != b]
    if not differing:
        return None
    more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
    return f"{path.name}, line {differing[0]}{more}: not what scorecards and manifest give"


def _gold_as_prediction(card: Scorecard) -> Tuples:
    return tuple(
        FinalTuple(
            aspect_term=gold_tuple.aspect_term,
            polarity=gold_tuple.polarity,
            confidence=1.0,
            grounding="explicit" if gold_tuple.aspect_term else "implicit",
        )
        for gold_tuple in card.gold_tuples or ()
        if gold_tuple.polarity is not None
    )


def _rows_by_metric(path: Path) -> Mapping[str | None, Mapping[str, str]]:
    """Return the rows of a table that may be damaged; none if it is no CSV any more."""
    try:
        text = path.read_text("utf-8", errors="replace")
        return {row.get("metric"): row for row in csv.DictReader(io.StringIO(text, newline=""))}
    except csv.Error:
        return {}


def _number(rows: Mapping[str | None, Mapping[str, str]], metric: str, column: str) -> float | None:
    try:
        return float(rows[metric][column])
    except (KeyError, TypeError, ValueError):
        return None

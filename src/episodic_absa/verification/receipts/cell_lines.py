"""The lines of a cell that a metric counts, and the receipts of cells and conditions."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from episodic_absa.analysis.cell_tables import STRUCTURAL_METRICS
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import GRID_METRICS, stability_of
from episodic_absa.metrics.contribution import Share, combined, share_of
from episodic_absa.metrics.definitions import BASELINE, definition_of
from episodic_absa.runs.derived.derived_samples import SCORECARDS
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.verification.receipts.receipt import Contribution, Receipt, TableNumber
from episodic_absa.verification.receipts.table_rows import TableRows

_SUM = "the lines are added up"
_RATIO = "the numerators of the lines are added up, and divided by the sum of their denominators"
_SEEDS = "a line per review (and order): its seeds are compared with each other; sums as in a ratio"


def place_of(root: Path, cell: FinishedCell, name: str) -> str:
    """Return a file of a cell, relative to the run directory."""
    return name if cell.path.resolve() == root.resolve() else f"{cell.path.name}/{name}"


def numbered_cards(root: Path, cell: FinishedCell) -> Iterator[tuple[str, Scorecard]]:
    """Yield each scorecard of a cell with its file and line. The loader refuses a file with an unreadable line."""
    file = place_of(root, cell, SCORECARDS)
    for number, card in enumerate(cell.cards, start=1):
        yield f"{file}:{number}", card


def cell_lines(root: Path, cell: FinishedCell, metric: str) -> tuple[Contribution, ...]:
    """Return what each sample of a cell adds to a metric of the cell; samples that it leaves out are not listed."""
    lines = []
    for place, card in numbered_cards(root, cell):
        share = share_of(metric, card, majority=cell.manifest.majority, count_backfilled=cell.count_backfilled)
        if share.counts:
            lines.append(
                Contribution(uid=card.uid, places=(place,), numerator=share.numerator, denominator=share.denominator)
            )
    return tuple(lines)


def cell_receipt(run: FinishedRun, cell: FinishedCell, metric: str, tables: TableRows) -> Receipt:
    """Return the receipt of a metric in the table of its cell."""
    lines = cell_lines(run.root, cell, metric)
    return Receipt(
        name=cell.path.resolve().name,
        numbers=(_cell_number(run, cell, metric, lines, tables),),
        rule=_rule(lines),
        line_n=len(lines),
        lines=lines,
    )


def condition_receipts(run: FinishedRun, metric: str, tables: TableRows) -> Iterator[Receipt]:
    """Yield the receipts of a metric in the table of the grid, one per row."""
    if definition_of(metric).group == "baseline":
        yield from _baseline_receipts(run, metric, tables)
        return
    for condition, group in run.asked_groups.items():
        yield _condition_receipt(run, condition, group, metric, tables)
    for condition, group in run.by_condition.items():
        if len(run.asked_groups[condition]) < len(group):
            yield _condition_receipt(run, condition, group, metric, tables, nth=1)


def _baseline_receipts(run: FinishedRun, metric: str, tables: TableRows) -> Iterator[Receipt]:
    # Stage1 never sees memory: the table of the grid has the baseline of its first condition only.
    for group in list(run.asked_groups.values())[:1]:
        if metric == BASELINE:
            yield from (cell_receipt(run, cell, metric, tables) for cell in group)
        else:
            shown = metric.removeprefix(f"{BASELINE}_")
            yield _condition_receipt(run, BASELINE, group, metric, tables, shown=shown)


def _condition_receipt(
    run: FinishedRun,
    condition: str,
    group: Sequence[FinishedCell],
    metric: str,
    tables: TableRows,
    *,
    nth: int = 0,
    shown: str | None = None,
) -> Receipt:
    """Return the receipt of one row of the grid's table.

    Args:
        run: the grid.
        condition: as the table names it.
        group: the cells that the row covers.
        metric: as the tables of the cells name it.
        tables: of the run.
        nth: 1 for the row over all cells of a condition to which orders or seeds were added.
        shown: as the table of the grid names the metric, if that is another name.
    """
    row = {"condition": condition, "metric": shown or metric}
    if definition_of(metric).scope == "seeds":
        stability = stability_of(group)
        lines = _seed_lines(run, group, metric) if stability.eligible else ()
        mean = tables.number(GRID_METRICS, "mean", combined(_shares(lines)) if lines else None, nth=nth, **row)
        rule = _SEEDS if lines else stability.metrics[0].note
        return Receipt(name=condition, numbers=(mean,), rule=rule, line_n=len(lines), lines=lines)
    by_cell = [cell_lines(run.root, cell, metric) for cell in group]
    of_cells = [_cell_number(run, cell, metric, lines, tables) for cell, lines in zip(group, by_cell, strict=True)]
    known = [number.recomputed for number in of_cells if number.recomputed is not None]
    mean = tables.number(GRID_METRICS, "mean", fmean(known) if known else None, nth=nth, **row)
    lines = tuple(line for cell_part in by_cell for line in cell_part)
    over = f"; the figure is the mean over {len(group)} cells" if len(group) > 1 else ""
    return Receipt(
        name=condition, numbers=(mean, *of_cells), rule=f"{_rule(lines)}{over}", line_n=len(lines), lines=lines
    )


def _seed_lines(run: FinishedRun, group: Sequence[FinishedCell], metric: str) -> tuple[Contribution, ...]:
    """Return what each review adds to a metric that compares the seeds of a condition."""
    is_apart = any(cell.manifest.names_order for cell in group)
    places: dict[tuple[str, int], list[tuple[FinishedCell, str, Scorecard]]] = {}
    for cell in group:
        for place, card in numbered_cards(run.root, cell):
            places.setdefault((card.uid, card.order if is_apart else 0), []).append((cell, place, card))
    lines = []
    for (uid, _), trials in sorted(places.items()):
        alone = [FinishedCell(cell.path, cell.manifest, (card,)) for cell, _, card in trials]
        value = next(value for value in stability_of(alone).metrics if value.metric == metric)
        share = Share(value.numerator, value.denominator)
        if value.numerator is not None and share.counts:
            known = tuple(place for _, place, card in trials if card.status == "ok")
            lines.append(Contribution(uid=uid, places=known, numerator=share.numerator, denominator=share.denominator))
    return tuple(lines)


def _cell_number(
    run: FinishedRun, cell: FinishedCell, metric: str, lines: Sequence[Contribution], tables: TableRows
) -> TableNumber:
    value = combined(_shares(lines))
    if not lines and not _is_count(cell, metric):
        value = None
    return tables.number(place_of(run.root, cell, STRUCTURAL_METRICS), "value", value, metric=metric)


def _is_count(cell: FinishedCell, metric: str) -> bool:
    """Return whether the metric is a plain count, which is 0 without a line; a ratio has no value then."""
    return next(value for value in cell.metrics if value.metric == metric).denominator is None


def _shares(lines: Iterable[Contribution]) -> Iterator[Share]:
    return (Share(line.numerator, line.denominator) for line in lines)


def _rule(lines: Sequence[Contribution]) -> str:
    return _SUM if all(line.denominator is None for line in lines) else _RATIO

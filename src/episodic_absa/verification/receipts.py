"""`verify --explain`: the records that a metric is added up from, and what each of them adds."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from statistics import fmean
from typing import Final

from episodic_absa.analysis import FinishedRun, load_run
from episodic_absa.errors import ConfigError
from episodic_absa.metrics import MetricValue, all_definitions, definition_of, sample_value
from episodic_absa.metrics.per_sample.sample_values import MICRO_METRICS
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard

_NEAR_N: Final = 5
_FIRST_LINE: Final = 2
"""The header of samples.jsonl stands before the records."""


class Contribution(FrozenModel):
    """What one sample adds to a metric of its cell."""

    place: str
    """The line of its record: file:line, relative to the run directory."""
    uid: str
    numerator: float | None
    """None if it is unknown, such as the cost of a call without a price."""
    denominator: float | None = None
    """None for a plain count."""


class Receipt(FrozenModel):
    """The records behind a metric in one cell."""

    cell: str
    condition: str
    value: float | None
    line_n: Count
    """Samples that are part of the value."""
    lines: tuple[Contribution, ...]


class Explanation(FrozenModel):
    """The receipts of one metric in a run directory."""

    metric: str
    definition: str
    receipts: tuple[Receipt, ...]

    def shortened(self, shown_n: int) -> "Explanation":
        """Return the same with the first lines of each receipt; `line_n` still counts all."""
        short = [receipt.model_copy(update={"lines": receipt.lines[:shown_n]}) for receipt in self.receipts]
        return self.model_copy(update={"receipts": tuple(short)})


def explain(path: Path, metric: str, condition: str | None = None) -> Explanation:
    """Return where the values of a metric come from; reads the directory and writes nothing.

    Args:
        path: the directory of a cell or of a grid.
        metric: a name of docs/metrics.md.
        condition: the only condition; None takes all.

    Raises:
        ConfigError: no metric or no condition of the run has this name, or no single sample adds to the metric.
        RunDirectoryError: no run wrote this directory, or a file in it cannot be read.
    """
    _require_metric(metric)
    run = load_run(path)
    if condition is not None and condition not in run.by_condition:
        raise ConfigError(
            f"{path} has no condition {condition!r}; choose one of {', '.join(run.by_condition)}",
            path=path,
            key="condition",
        )
    cells = [cell for name, group in run.by_condition.items() if condition in (None, name) for cell in group]
    receipts = tuple(_receipt(run, cell, metric) for cell in cells or run.cells)
    return Explanation(metric=metric, definition=definition_of(metric).definition, receipts=receipts)


def _receipt(run: FinishedRun, cell: FinishedCell, metric: str) -> Receipt:
    file = SAMPLES if not run.is_grid else f"{cell.path.name}/{SAMPLES}"
    lines = tuple(_contributions(file, cell, metric))
    if definition_of(metric).scope == "sample":
        value = fmean(line.numerator or 0.0 for line in lines) if lines else None
    else:
        value = _value(cell, metric).value
    return Receipt(cell=cell.path.resolve().name, condition=cell.condition, value=value, line_n=len(lines), lines=lines)


def _contributions(file: str, cell: FinishedCell, metric: str) -> Iterator[Contribution]:
    """Yield what each sample adds; samples that the metric leaves out are not listed."""
    for number, card in enumerate(cell.cards, start=_FIRST_LINE):
        above, below = _share(cell, card, metric)
        if above is None or bool(above if below is None else below):
            yield Contribution(place=f"{file}:{number}", uid=card.uid, numerator=above, denominator=below)


def _share(cell: FinishedCell, card: Scorecard, metric: str) -> tuple[float | None, float | None]:
    """Return the numerator and the denominator of a metric over one sample alone."""
    if definition_of(metric).scope == "sample":
        value = sample_value(metric, card, count_backfilled=cell.count_backfilled)
        return value or 0.0, float(value is not None)
    alone = _value(FinishedCell(cell.path, cell.manifest, (card,)), metric)
    return alone.numerator, alone.denominator


def _value(cell: FinishedCell, metric: str) -> MetricValue:
    return next(value for value in cell.metrics if value.metric == metric)


def _require_metric(metric: str) -> None:
    known = all_definitions()
    if metric not in known:
        near = get_close_matches(metric, known, n=_NEAR_N, cutoff=0.5)
        near += [name for name in known if metric and metric in name and name not in near][: _NEAR_N - len(near)]
        hint = f"near names: {', '.join(near)}" if near else "no name is near"
        raise ConfigError(f"no metric is called {metric!r}; {hint}; docs/metrics.md lists all", key="explain")
    scope = definition_of(metric).scope
    if scope == "seeds" or (scope == "sample" and metric in MICRO_METRICS):
        raise ConfigError(
            f"{metric} is no sum over single samples; `episodic-absa verify` without --explain recomputes it",
            key="explain",
        )

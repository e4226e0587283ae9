"""`verify --explain`: the lines that the numbers of one metric come from, and the numbers computed from them again."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

from episodic_absa.analysis.finished_run import FinishedRun, load_run
from episodic_absa.errors import ConfigError
from episodic_absa.metrics.definitions import BASELINE, all_definitions, definition_of
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS
from episodic_absa.verification.receipts.cell_lines import cell_receipt, condition_receipts
from episodic_absa.verification.receipts.difference_receipts import difference_receipts
from episodic_absa.verification.receipts.receipt import Explanation, Receipt
from episodic_absa.verification.receipts.table_rows import TableRows

_NEAR_N = 5


def explain(path: Path, metric: str, condition: str | None = None) -> Explanation:
    """Return where the numbers of a metric come from; reads the directory and writes nothing.

    Args:
        path: the directory of a cell or of a grid.
        metric: a name of docs/metrics.md.
        condition: leaves out what is about other conditions; None keeps all.

    Raises:
        ConfigError: no metric or no condition of the run has this name, or the run has no such number.
        RunDirectoryError: no run wrote this directory, or a file in it cannot be read.
    """
    _require_metric(metric)
    return explain_run(load_run(path), metric, condition)


def explain_run(run: FinishedRun, metric: str, condition: str | None = None) -> Explanation:
    """Return the same of a loaded run."""
    _require_metric(metric)
    if condition is not None:
        _require_condition(run, condition)
    receipts = tuple(_receipts(run, metric, condition))
    if not receipts:
        raise ConfigError(_no_number(run, metric), path=run.root, key="explain")
    return Explanation(metric=metric, definition=definition_of(metric).definition, receipts=receipts)


def _receipts(run: FinishedRun, metric: str, condition: str | None) -> Iterator[Receipt]:
    tables, scope = TableRows(run.root), definition_of(metric).scope
    if not run.is_grid:
        if scope == "cell" and condition in (None, run.cells[0].condition):
            yield cell_receipt(run, run.cells[0], metric, tables)
        return
    if scope != "sample":
        if condition == BASELINE and f"{BASELINE}_{metric}" in all_definitions():
            metric, condition = f"{BASELINE}_{metric}", None
        for receipt in condition_receipts(run, metric, tables):
            # The baseline is of all conditions.
            if condition in (None, receipt.name) or definition_of(metric).group == "baseline":
                yield receipt
    if metric in PAIRED_METRICS and condition != BASELINE:
        for receipt in difference_receipts(run, metric, tables):
            if condition is None or condition in receipt.name.split(" minus "):
                yield receipt


def _require_metric(metric: str) -> None:
    if metric not in all_definitions():
        raise ConfigError(
            f"no metric is called {metric!r}; {_near(metric, all_definitions())}; docs/metrics.md lists all",
            key="explain",
        )


def _require_condition(run: FinishedRun, condition: str) -> None:
    known = [*dict.fromkeys(cell.condition for cell in run.cells if not cell.manifest.is_build), BASELINE]
    if condition not in known:
        raise ConfigError(
            f"{run.root} has no condition {condition!r}; choose one of {', '.join(known)}",
            path=run.root,
            key="condition",
        )


def _no_number(run: FinishedRun, metric: str) -> str:
    scope = definition_of(metric).scope
    if not run.is_grid and scope != "cell":
        return f"{metric} is about several cells; name the directory of the grid instead of {run.root}"
    if scope == "sample":
        return (
            f"{metric} stands in comparisons only, and {run.root} compares no conditions that were asked for here; "
            "name a grid with `experiment.comparisons`, or another condition"
        )
    return f"{run.root} has no number of {metric} for this condition; name another condition"


def _near(metric: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(metric, names, n=_NEAR_N, cutoff=0.5)
    near += [name for name in names if metric and metric in name and name not in near][: _NEAR_N - len(near)]
    return f"near names: {', '.join(near)}" if near else "no name is near"

"""Says at the end of `run` how many samples failed and why: a line per cause, however many samples it has."""

from collections.abc import Iterator
from typing import Any, Final

from episodic_absa.analysis.failures import RunFailures
from episodic_absa.cli.output import printable
from episodic_absa.runs.failure_causes import samples

_CAUSES_SHOWN: Final = 5
_CELLS_SHOWN: Final = 4


def failure_error(failures: RunFailures) -> str:
    """Return the error of a run in which most samples of a cell failed, "" for any other."""
    if not failures.mostly_failed:
        return ""
    names, more_n = failures.mostly_failed[:_CELLS_SHOWN], len(failures.mostly_failed) - _CELLS_SHOWN
    cells = ", ".join(names) + (f" and {more_n} more" if more_n > 0 else "")
    summary = f"{failures.failed_n:,} of {samples(failures.sample_n)} failed, more than half of those of {cells}"
    if not failures.causes:
        return summary
    commonest = failures.causes[0]
    return f"{summary}; the commonest cause, {samples(commonest.sample_n)}: {commonest.message}"


def failure_lines(failures: RunFailures, command: str) -> Iterator[str]:
    """Yield a line per cause, and how to run the failed samples again; nothing if none failed.

    Args:
        failures: of the run.
        command: the line that runs them again.
    """
    if not failures.failed_n:
        return
    if not failures.mostly_failed:
        yield f"{failures.failed_n:,} of {samples(failures.sample_n)} failed"
    told_n = 1 if failures.mostly_failed else 0
    for cause in failures.causes[told_n:_CAUSES_SHOWN]:
        yield f"{cause.sample_n:,} failed: {printable(cause.message)}"
    rest = failures.causes[_CAUSES_SHOWN:]
    if rest:
        yield f"{sum(cause.sample_n for cause in rest):,} failed for {len(rest)} other causes; see traces.jsonl"
    yield f"run the failed samples again with: {command}"


def failures_json(failures: RunFailures) -> dict[str, Any]:
    """Return the failures as a JSON value."""
    return {
        "samples": failures.failed_n,
        "mostly_failed_cells": list(failures.mostly_failed),
        "causes": [{"message": cause.message, "samples": cause.sample_n} for cause in failures.causes],
    }

"""Shows the summary at the end of `run`: a row per condition, means over orders and seeds."""

from collections.abc import Iterator
from typing import Any, Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.analysis.failures import RunFailures
from episodic_absa.analysis.summary import BUILD, ConditionSummary, GridSummary
from episodic_absa.cli.amounts import mean_text, money_text, short_number
from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable
from episodic_absa.metrics.definitions import BASELINE
from episodic_absa.runs.config.experiment_config import ExperimentConfig, ExperimentSettings
from episodic_absa.runs.failure_causes import samples
from episodic_absa.runs.progress import RequestCounts

_SCORE_TITLE: Final = "tuple_f1\nexplicit"


def summary_json(
    config: ExperimentConfig, summary: GridSummary, requests: RequestCounts, *, was_finished: bool
) -> dict[str, Any]:
    """Return the summary as a JSON value."""
    usage = requests.usage
    return {
        "run_id": config.file.run_id,
        "results": str(config.out_dir.resolve()),
        "was_finished": was_finished,
        "conditions": [condition.model_dump(mode="json") for condition in summary.conditions],
        "cells": [cell.model_dump(mode="json") for cell in summary.cells],
        "baseline_majority": summary.baseline.model_dump(mode="json") if summary.baseline else None,
        "this_invocation": {
            "sent": requests.sent_n,
            "from_cache": requests.cached_n,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "cost_usd": usage.cost_usd,
        },
    }


def summary_view(
    config: ExperimentConfig, summary: GridSummary, requests: RequestCounts, *, has_comparisons: bool = True
) -> ConsoleRenderable:
    """Lay the summary out: what was run, the table, and how to read it."""
    backbone, repeated = config.file.backbone, _repetition_words(config.file.experiment)
    head = Text.assemble(
        (printable(config.file.run_id), "bold"), f"  {backbone.provider}:{backbone.model}  ", (repeated, "dim")
    )
    table = FirstThatFits(
        lambda: _table(summary, padding=1),
        lambda: _table(summary, padding=0),
        lambda: _table(summary, padding=0, baseline=BASELINE.replace("_", "_\n")),
    )
    notes = Constrain(Group(*_notes(summary, requests, has_comparisons=has_comparisons)), PAGE_WIDTH)
    return Group(head, Text(), table, Text(), notes)


def _repetition_words(experiment: ExperimentSettings) -> str:
    orders, seeds = experiment.orders or (), experiment.seeds
    if len(experiment.repetitions) == 1:
        return experiment.repetitions[0].words(with_order=bool(orders))
    counts = [(len(orders), "order"), (len(seeds), "seed")][not orders :]
    return f"mean of {' x '.join(f'{number} {noun}' + 's' * (number > 1) for number, noun in counts)}"


def _table(summary: GridSummary, *, padding: int, baseline: str = BASELINE) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold cyan"
    )
    table.add_column("condition", vertical="bottom", overflow="fold")
    for title in (
        "samples",
        "failed",
        "memory\nshown",
        "changed",
        "stored",
        _SCORE_TITLE,
        "n",
        "calls",
        "tokens",
        "cost",
    ):
        table.add_column(title, justify="right", vertical="bottom", no_wrap=True)
    for condition in summary.conditions:
        table.add_row(*_row(condition), style="dim" if condition.condition == BUILD else None)
    if summary.baseline is not None:
        score, score_n = summary.baseline.tuple_f1_explicit, summary.baseline.tuple_f1_explicit_n
        table.add_row(baseline, *[""] * 5, _score_text(score), mean_text(score_n), style="dim")
    return table


def _row(summary: ConditionSummary) -> list[Text]:
    return [
        Text(printable(summary.condition), style="bold"),
        Text(mean_text(summary.samples)),
        Text(mean_text(summary.failed), style="bold red" if summary.failed else ""),
        Text(mean_text(summary.memory_shown)),
        Text(mean_text(summary.changed)),
        Text(mean_text(summary.stored)),
        Text(_score_text(summary.tuple_f1_explicit)),
        Text(mean_text(summary.tuple_f1_explicit_n)),
        Text(short_number(summary.calls)),
        Text(short_number(summary.tokens_in + summary.tokens_out)),
        Text(money_text(summary.cost_usd)),
    ]


def _score_text(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


def _notes(summary: GridSummary, requests: RequestCounts, *, has_comparisons: bool) -> list[Text]:
    notes = ["changed: final tuples that differ from those of Stage1. stored: new episodes."]
    if any(condition.tuple_f1_explicit is not None for condition in summary.conditions):
        place = "comparisons.csv has the intervals" if has_comparisons else "report.html has its interval"
        notes.append(
            f"tuple_f1_explicit: mean F1 over explicit (term, polarity) pairs of n samples with such gold; {place}."
        )
    if summary.baseline is not None:
        polarity, source = summary.baseline.polarity, summary.baseline.source
        notes.append(f"{BASELINE}: Stage1's terms, all {polarity}, the majority of {source} gold.")
    if requests.sent_n or requests.cached_n:
        usage = requests.usage
        spent = f"{short_number(usage.tokens_in + usage.tokens_out)} tokens, cost {money_text(usage.cost_usd)}"
        notes.append(
            "calls, tokens and cost are those of a cell run alone. This time "
            f"{requests.sent_n:,} requests were sent ({spent}) and {requests.cached_n:,} answered from the cache."
        )
    return [Text(note, style="dim") for note in notes]


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

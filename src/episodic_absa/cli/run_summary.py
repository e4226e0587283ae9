"""What `run` prints at its end: a row per condition, means over seeds."""

from typing import Any

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.amounts import mean_text, money_text, short_number
from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable
from episodic_absa.experiments.experiment_config import ExperimentConfig
from episodic_absa.experiments.request_counts import RequestCounts
from episodic_absa.experiments.summary import BUILD, ConditionSummary, GridSummary


def summary_json(
    config: ExperimentConfig, summary: GridSummary, requests: RequestCounts, *, was_finished: bool
) -> dict[str, Any]:
    """Return the summary as a JSON value."""
    usage = requests.usage
    return {
        "run_id": config.file.run_id,
        "results": str(config.out_dir.resolve()),
        "was_finished": was_finished,
        "conditions": [one.model_dump(mode="json") for one in summary.conditions],
        "cells": [one.model_dump(mode="json") for one in summary.cells],
        "this_invocation": {
            "sent": requests.sent_n,
            "from_cache": requests.cached_n,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "cost_usd": usage.cost_usd,
        },
    }


def summary_view(config: ExperimentConfig, summary: GridSummary, requests: RequestCounts) -> ConsoleRenderable:
    """Lay the summary out: what was run, the table, and how to read it."""
    backbone, seeds = config.file.backbone, config.file.experiment.seeds
    several = f"mean of {len(seeds)} seeds" if len(seeds) > 1 else f"seed {seeds[0]}"
    head = Text.assemble(
        (printable(config.file.run_id), "bold"), f"  {backbone.provider}:{backbone.model}  ", (several, "dim")
    )
    table = FirstThatFits(lambda: _table(summary, padding=1), lambda: _table(summary, padding=0))
    notes = Constrain(Group(*_notes(summary, requests)), PAGE_WIDTH)
    return Group(head, Text(), table, Text(), notes)


def _table(summary: GridSummary, *, padding: int) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold cyan"
    )
    table.add_column("condition", vertical="bottom", overflow="fold")
    for title in ("samples", "failed", "memory\nshown", "changed", "stored", "F1*", "calls", "tokens", "cost"):
        table.add_column(title, justify="right", vertical="bottom", no_wrap=True)
    for one in summary.conditions:
        table.add_row(*_row(one), style="dim" if one.condition == BUILD else None)
    return table


def _row(one: ConditionSummary) -> list[Text]:
    score = "-" if one.f1_explicit_preview is None else f"{one.f1_explicit_preview:.3f}"
    return [
        Text(printable(one.condition), style="bold"),
        Text(mean_text(one.samples)),
        Text(mean_text(one.failed), style="bold red" if one.failed else ""),
        Text(mean_text(one.memory_shown)),
        Text(mean_text(one.changed)),
        Text(mean_text(one.stored)),
        Text(score),
        Text(short_number(one.calls)),
        Text(short_number(one.tokens_in + one.tokens_out)),
        Text(money_text(one.cost_usd)),
    ]


def _notes(summary: GridSummary, requests: RequestCounts) -> list[Text]:
    notes = ["changed: the reviewed result was adopted. stored: new episodes."]
    if any(one.f1_explicit_preview is not None for one in summary.conditions):
        notes.append("* a preview: micro F1 over explicit (term, polarity) pairs, without intervals or tests.")
    if requests.sent_n or requests.cached_n:
        usage = requests.usage
        spent = f"{short_number(usage.tokens_in + usage.tokens_out)} tokens, cost {money_text(usage.cost_usd)}"
        notes.append(
            "calls, tokens and cost are those of a cell run alone. This time "
            f"{requests.sent_n:,} requests were sent ({spent}) and {requests.cached_n:,} answered from the cache."
        )
    return [Text(note, style="dim") for note in notes]

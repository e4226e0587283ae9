"""Shows the estimate of `run --dry-run`: the size of the grid, and calls, tokens and cost in three columns."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.cli.amounts import money_text, short_number
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.estimate.dry_run import Bound, RunEstimate


def dry_run_json(config: ExperimentConfig, estimate: RunEstimate) -> dict[str, Any]:
    """Return the estimate as a JSON value."""
    return {
        "run_id": config.file.run_id,
        **asdict(estimate),
        "calls_per_sample": {**estimate.calls_per_sample._asdict(), "total": estimate.calls_per_sample.total},
    }


def dry_run_view(config: ExperimentConfig, estimate: RunEstimate) -> ConsoleRenderable:
    """Lay the estimate out."""
    backbone = config.file.backbone
    head = Text.assemble(
        (printable(config.file.run_id), "bold"),
        f"  {backbone.provider}:{printable(backbone.model)}  ",
        ("dry run: nothing is sent", "dim"),
    )
    notes = Constrain(Group(*(Text(note, style="dim") for note in _notes(config, estimate))), PAGE_WIDTH)
    return Group(head, Text(), _grid(config, estimate), Text(), _bounds(estimate), Text(), notes)


def _grid(config: ExperimentConfig, estimate: RunEstimate) -> Table:
    seeds = len(config.file.experiment.seeds)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    conditions = f"{len(config.conditions)} conditions x {seeds} seeds, {estimate.samples_per_cell:,} samples each"
    table.add_row("cells", f"{estimate.evaluated_n} ({conditions})")
    if estimate.build_n:
        table.add_row("builds", f"{estimate.build_n} (one per seed, {estimate.samples_per_build:,} samples each)")
    calls = estimate.calls_per_sample
    table.add_row(
        "calls per sample", f"{calls.total} (stage1 {calls.stage1}, debate {calls.debate}, stage2 {calls.stage2})"
    )
    table.add_row(
        "memory could show", f"in {estimate.may_show_n:,} of {estimate.samples_per_cell:,} samples, by the gates"
    )
    return table


def _bounds(estimate: RunEstimate) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold cyan")
    table.add_column("")
    for title in ("lower", "estimate", "upper"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "estimate" else "")
    rows: list[tuple[str, Callable[[Bound], str]]] = [
        ("calls sent", lambda bound: f"{bound.sent:,}"),
        ("calls shared", lambda bound: f"{bound.shared:,}"),
        ("tokens in", lambda bound: short_number(bound.tokens_in)),
        ("tokens out", lambda bound: short_number(bound.tokens_out)),
        ("cost", lambda bound: money_text(bound.cost_usd)),
    ]
    for name, text_of in rows:
        table.add_row(name, *(text_of(bound) for bound in (estimate.lower, estimate.estimate, estimate.upper)))
    return table


def _notes(config: ExperimentConfig, estimate: RunEstimate) -> Iterator[str]:
    facts = facts_of(config.file.backbone)
    if facts.is_local:
        where = f"{facts.title} answers on this machine and costs nothing"
        yield f"{where}; calls and tokens are those of a model in its place."
    yield "lower: the cells of a seed share every answer. upper: they share none."
    yield "estimate: they share all but debate and stage2 of samples where memory could be shown."
    if config.file.cache.share == "condition":
        yield "cache.share is condition: conditions share no answers, so all three are nearly equal."
    yield (
        "tokens are guessed: from the length of the prompts (a token per 4 Latin or 1.5 Hangul characters) and an "
        "assumed length of each role's answer. Repaired answers are not counted, nor is what the cache already holds."
    )
    if estimate.no_price:
        yield f"cost unknown: {printable(estimate.no_price)}"

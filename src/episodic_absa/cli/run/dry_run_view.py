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
from episodic_absa.cli.amounts import mean_text, money_text, short_number
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.runs.config import ExperimentConfig
from episodic_absa.runs.estimate import Bound, ConditionCalls, RunEstimate


def dry_run_json(config: ExperimentConfig, estimate: RunEstimate) -> dict[str, Any]:
    """Return the estimate as a JSON value."""
    build = estimate.calls_per_build_sample
    return {
        "run_id": config.file.run_id,
        **asdict(estimate),
        "calls_per_sample": {name: _calls_json(calls) for name, calls in estimate.calls_per_sample.items()},
        "calls_per_build_sample": build and _calls_json(build),
    }


def dry_run_view(config: ExperimentConfig, estimate: RunEstimate) -> ConsoleRenderable:
    """Lay the estimate out."""
    backbone = config.file.backbone
    head = Text.assemble(
        (printable(config.file.run_id), "bold"),
        f"  {backbone.provider}:{printable(backbone.model)}  ",
        ("dry run: nothing is sent", "dim"),
    )
    cells = Text(f"{estimate.evaluated_n} cells of {estimate.samples_per_cell:,} samples")
    if estimate.build_n:
        cells.append(f", {estimate.build_n} builds of {estimate.samples_per_build:,}")
    notes = Constrain(Group(*(Text(note, style="dim") for note in _notes(config, estimate))), PAGE_WIDTH)
    return Group(head, cells, Text(), _calls_table(config, estimate), Text(), _bounds(estimate), Text(), notes)


def _calls_json(calls: ConditionCalls) -> dict[str, Any]:
    return {**calls._asdict(), "total": calls.total}


def _calls_table(config: ExperimentConfig, estimate: RunEstimate) -> Table:
    """Lay the calls per sample out; conditions that take the same share a row."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("calls per sample", overflow="fold")
    for title in ("rules", "effort", "mean", "range", "stage1", "debate", "stage2"):
        table.add_column(title, justify="left" if title in ("rules", "effort") else "right", no_wrap=True)
    named: dict[ConditionCalls, list[str]] = {}
    for name, calls in estimate.calls_per_sample.items():
        named.setdefault(calls, []).append(printable(name))
    if estimate.calls_per_build_sample and config.build_condition:
        named.setdefault(estimate.calls_per_build_sample, []).append(f"build: {printable(config.build_condition.name)}")
    for calls, names in named.items():
        total_range = f"{calls.least}-{calls.most}" if calls.least < calls.most else str(calls.least)
        means = map(mean_text, (calls.stage1, calls.debate, calls.stage2))
        table.add_row(", ".join(names), calls.rules, calls.effort, mean_text(calls.total), total_range, *means)
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
    yield "lower: equal prompts share one answer, no prompt shows memory, and no answer leads to a further call."
    yield "estimate: memory shows in half of the samples, and answers lead to half of the further calls."
    yield "upper: nothing is shared, memory shows everywhere, and answers lead to every possible call."
    yield "Tokens are guessed from the characters of the reviews and the usual length of each role's prompt and answer."
    if estimate.no_price:
        yield f"cost unknown: {printable(estimate.no_price)}"

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
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.estimate.dry_run import Bound, CallsPerSample, ConditionCalls, RunEstimate


def dry_run_json(config: ExperimentConfig, estimate: RunEstimate) -> dict[str, Any]:
    """Return the estimate as a JSON value."""
    build = estimate.calls_per_build_sample
    return {
        "run_id": config.file.run_id,
        **asdict(estimate),
        "calls_per_sample": {name: _calls_json(calls) for name, calls in estimate.calls_per_sample.items()},
        "calls_per_build_sample": build and _calls_json(build),
    }


def _calls_json(condition: ConditionCalls) -> dict[str, Any]:
    return {
        "rules": condition.rules,
        "effort": condition.effort,
        **condition.calls._asdict(),
        "total": condition.calls.total,
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
    tables = [_grid(config, estimate), _calls_table(config, estimate), _bounds(estimate)]
    return Group(head, *(part for table in tables if table.row_count for part in (Text(), table)), Text(), notes)


def _grid(config: ExperimentConfig, estimate: RunEstimate) -> Table:
    orders, seed_n = config.file.experiment.orders, len(config.file.experiment.seeds)
    times = f"{seed_n} seed{'' if seed_n == 1 else 's'}"
    if orders:
        times = f"{len(orders)} order{'' if len(orders) == 1 else 's'} x {times}"
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    conditions = f"{len(config.conditions)} conditions x {times}, {estimate.samples_per_cell:,} samples each"
    table.add_row("cells", f"{estimate.evaluated_n} ({conditions})")
    if estimate.build_n:
        per = "order and seed" if orders else "seed"
        table.add_row("builds", f"{estimate.build_n} (one per {per}, {estimate.samples_per_build:,} samples each)")
    calls = _calls_of_all(estimate)
    if calls is not None:
        table.add_row("calls per sample", _calls_line(calls))
    table.add_row(
        "memory could show", f"in {estimate.may_show_n:,} of {estimate.samples_per_cell:,} samples, by the gates"
    )
    return table


def _calls_of_all(estimate: RunEstimate) -> CallsPerSample | None:
    """Return the calls of a sample if they are the same in every cell."""
    build = estimate.calls_per_build_sample
    of_all = {condition.calls for condition in (*estimate.calls_per_sample.values(), *([build] if build else []))}
    return of_all.pop() if len(of_all) == 1 else None


def _calls_line(calls: CallsPerSample) -> str:
    stages = f"stage1 {mean_text(calls.stage1)}, debate {mean_text(calls.debate)}, stage2 {mean_text(calls.stage2)}"
    between = f", from {calls.least} to {calls.most}" if calls.least < calls.most else ""
    return f"{mean_text(calls.total)} ({stages}){between}"


def _calls_table(config: ExperimentConfig, estimate: RunEstimate) -> Table:
    """Lay the calls per sample out by condition; without rows if they are the same in every cell."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold cyan")
    table.add_column("calls per sample", overflow="fold")
    for title in ("rules", "effort"):
        table.add_column(title, no_wrap=True)
    for title in ("mean", "range", "stage1", "debate", "stage2"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "mean" else "")
    if _calls_of_all(estimate) is not None:
        return table
    named: dict[ConditionCalls, list[str]] = {}
    for name, condition in estimate.calls_per_sample.items():
        named.setdefault(condition, []).append(printable(name))
    rows = [(", ".join(names), condition) for condition, names in named.items()]
    if (build := estimate.calls_per_build_sample) and config.build_condition:
        rows.append((f"build: {printable(config.build_condition.name)}", build))
    for title, condition in rows:
        calls = condition.calls
        total_range = f"{calls.least}-{calls.most}" if calls.least < calls.most else str(calls.least)
        means = (calls.stage1, calls.debate, calls.stage2)
        table.add_row(
            title, condition.rules, condition.effort, mean_text(calls.total), total_range, *map(mean_text, means)
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


def _measured_notes(config: ExperimentConfig, estimate: RunEstimate) -> Iterator[str]:
    """Yield what the three columns assume where the answers decide how many calls a sample takes."""
    build = estimate.calls_per_build_sample
    varying = [
        condition
        for condition in (*estimate.calls_per_sample.values(), *([build] if build else []))
        if condition.varies
    ]
    if any(condition.effort == "adaptive" for condition in varying):
        yield (
            "adaptive asks the model where the reader is in doubt, and debates where the answers leave a doubt: in the "
            "estimate by the reader's answers, in lower never, in upper always."
        )
    if varying and config.file.pipeline.enable_validator and config.file.pipeline.enable_stage2:
        yield (
            "rules v3 ask the second validator after an adopted change: in the estimate by the embedded engine's "
            "answers, in lower never, in upper always."
        )
    if varying and config.file.episodic_memory.referee:
        yield "the referee is counted with stage2 and asked after a change: as the second validator, at most once."


def _notes(config: ExperimentConfig, estimate: RunEstimate) -> Iterator[str]:
    facts = facts_of(config.file.backbone)
    if facts.is_local:
        where = f"{facts.title} answers on this machine and costs nothing"
        yield f"{where}; calls and tokens are those of a model in its place."
    yield "lower: no memory is shown; the cells of a seed share the answers to equal prompts. upper: they share none."
    yield "estimate: they share all of these but debate and stage2 of samples where memory could be shown."
    settings = [config.file.pipeline.under(condition) for condition in config.conditions]
    if len(config.file.experiment.seeds) > 1 and any(setting.votes > 1 for setting in settings):
        yield "votes are numbered, not seeded: in lower and estimate all seeds share them."
    yield from _measured_notes(config, estimate)
    if config.file.cache.share == "condition":
        yield "cache.share is condition: conditions share no answers, so all three are nearly equal."
    yield (
        "tokens are guessed: from the length of the prompts (a token per 4 Latin or 1.5 Hangul characters) and an "
        "assumed length of each role's answer. Repaired answers are not counted, nor is what the cache already holds."
    )
    if estimate.no_price:
        yield f"cost unknown: {printable(estimate.no_price)}"

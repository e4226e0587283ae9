"""The output of `plan`: what the configured grid can show, and which design shows the effect."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from math import sqrt
from typing import Any, Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.amounts import money_text, short_number
from episodic_absa.cli.output import PAGE_WIDTH, printable
from episodic_absa.contrib.plan.planned_run import PlannedDesign, PlannedRun, false_claims
from episodic_absa.metrics.statistics import POWER, orders_for

_NOTHING: Final = "-"
_FEW_ORDERS: Final = 0.06
"""More false claims than this are worth a note."""


def plan_json(planned: PlannedRun) -> dict[str, Any]:
    """Return the plan as a JSON value."""
    variances = planned.known.variances
    return {
        "run_id": planned.run_id,
        "pair": list(planned.pair),
        "metric": planned.metric,
        "effect": planned.effect,
        "power": POWER,
        "sd": sqrt(variances.reviews + variances.rest),
        "sd_source": planned.known.source,
        "order_sd": sqrt(variances.orders) if planned.known.order_source else None,
        "order_sd_source": planned.known.order_source or None,
        "available_reviews": planned.available,
        "configured": _design_json(planned.configured),
        "needed": planned.needed and _design_json(planned.needed),
        "designs": [design._asdict() for design in planned.designs],
        "no_price": planned.no_price,
        "notes": list(_notes(planned)),
    }


def _design_json(design: PlannedDesign) -> dict[str, Any]:
    return {
        **design.design._asdict(),
        "samples_per_cell": design.samples,
        "power": design.power,
        "detectable": design.detectable,
        **asdict(design.takes),
    }


def plan_view(planned: PlannedRun) -> ConsoleRenderable:
    """Lay the plan out: the answer, the two designs, other designs, and how to read it."""
    pair = f"{planned.pair[0]} minus {planned.pair[1]}"
    head = Text.assemble(
        (printable(planned.run_id), "bold"), f"  {printable(pair)}, {planned.metric}  ", ("nothing is sent", "dim")
    )
    answer = Constrain(Text(_answer(planned), style="bold"), PAGE_WIDTH)
    notes = Constrain(Group(*(Text(printable(note), style="dim") for note in _notes(planned))), PAGE_WIDTH)
    parts: list[ConsoleRenderable] = [head, Text(), answer, Text(), _table(planned), Text()]
    if len(planned.designs) > 1:
        parts += [_designs(planned), Text()]
    return Group(*parts, notes)


def _answer(planned: PlannedRun) -> str:
    effect = f"{planned.effect:g} in {planned.metric}"
    if planned.needed is None:
        return (
            f"No number of reviews in up to {planned.orders[-1]} orders shows a difference of {effect} with 80 % power."
        )
    reviews, orders, _ = planned.needed.design
    return (
        f"A difference of {effect} needs {reviews:,} reviews in {orders} order{'' if orders == 1 else 's'} "
        "for 80 % power."
    )


def _table(planned: PlannedRun) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold cyan")
    table.add_column("")
    designs = [planned.configured, planned.needed]
    for title in ("configured", "needed"):
        table.add_column(title, justify="right", no_wrap=True, style="bold" if title == "needed" else "")
    rows: dict[str, Callable[[PlannedDesign], str]] = {
        "reviews with gold": lambda design: f"{design.design.reviews:,}",
        "orders": lambda design: f"{design.design.orders}",
        f"power for {planned.effect:g}": lambda design: f"{100 * design.power:.0f} %",
        "shown with 80 % power": lambda design: _NOTHING if design.detectable is None else f"{design.detectable:.4f}",
        "samples per cell": lambda design: f"{design.samples:,}",
        "calls sent": lambda design: f"{design.takes.sent:,}",
        "tokens in": lambda design: short_number(design.takes.tokens_in),
        "tokens out": lambda design: short_number(design.takes.tokens_out),
        "cost": lambda design: money_text(design.takes.cost_usd),
    }
    for name, text_of in rows.items():
        table.add_row(name, *(_NOTHING if design is None else text_of(design) for design in designs))
    return table


def _designs(planned: PlannedRun) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold cyan")
    for title in ("orders", "reviews for 80 % power", "analysed"):
        table.add_column(title, justify="right", no_wrap=True)
    for design in planned.designs:
        is_best = planned.needed is not None and design == planned.needed.design
        analysed = f"{design.reviews * design.orders:,}"
        table.add_row(str(design.orders), f"{design.reviews:,}", analysed, style="bold" if is_best else "")
    return table


def _notes(planned: PlannedRun) -> Iterator[str]:
    variances, known = planned.known.variances, planned.known
    sd, order_sd = sqrt(variances.reviews + variances.rest), sqrt(variances.orders)
    yield f"SD of the paired differences between reviews: {sd:.4f} ({known.source})."
    if known.order_source:
        yield f"SD between orders: {order_sd:.4f} ({known.order_source})."
    elif planned.grows:
        yield (
            "SD between orders: unknown, taken as 0, so the numbers are optimistic; give --order-sd T, or a pilot with "
            "experiment.orders."
        )
    if planned.grows:
        yield (
            f"The memory grows: a claim of {planned.effect:g} needs at least {orders_for(planned.effect)} orders that "
            "agree, because a rare bad order is not seen among fewer. A frozen memory (store_write: false) does not."
        )
    false = false_claims(variances, planned.configured.design)
    if planned.configured.design.orders == 1 and false > _FEW_ORDERS:
        yield f"In one order {100 * false:.0f} % of runs without any effect would claim one: the order is taken for it."
    if planned.needed is not None and planned.needed.design.reviews > planned.available:
        yield f"The evaluated split holds {planned.available:,} reviews with gold for {planned.metric}."
    cells = f"{planned.condition_n} condition{'' if planned.condition_n == 1 else 's'}"
    seeds = f"{planned.seed_n} seed{'' if planned.seed_n == 1 else 's'}"
    yield f"Calls, tokens and cost are those of the whole grid: {cells}, {seeds}, the estimate of `run --dry-run`."
    if planned.no_price:
        yield f"cost: {planned.no_price}"

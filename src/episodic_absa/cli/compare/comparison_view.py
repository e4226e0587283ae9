"""The output of `compare`. Every claim comes with its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich import box
from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from episodic_absa.cli.output import PAGE_WIDTH, FirstThatFits, printable, shown_path
from episodic_absa.metrics.metric_value import MetricKind
from episodic_absa.metrics.statistics import (
    FEWEST_REVIEWS,
    NO_VARIATION,
    PROCESS_LABEL,
    Comparison,
    PairedDifference,
    equal_orders,
    few_reviews,
    power_sentence,
    verdict_sentence,
)
from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, p_text, plain, signed
from episodic_absa.metrics.statistics.verdict import these_orders

_KIND_TITLES: Final[Mapping[MetricKind, str]] = {
    "outcome": "outcome",
    "process": PROCESS_LABEL["en"],
    "efficiency": "efficiency",
}
_LAYOUTS: Final = (
    ("a", "b", "difference", "interval", "p", "orders", "holm", "dz", "n"),
    ("a", "b", "difference", "interval", "p", "orders", "holm", "n"),
    ("a", "b", "difference", "interval", "holm", "n"),
    ("a", "b", "difference", "interval", "n"),
    ("a", "b", "difference", "n"),
)
"""The columns of a wide terminal and of narrower ones; every layout has both values and their n."""
_TITLES: Final = {
    "difference": "A - B",
    "interval": "95 % CI",
    "p": "p",
    "orders": "p orders",
    "holm": "Holm p",
    "dz": "dz",
    "n": "n",
}
_METHODS: Final = {
    "percentile": "percentile bootstrap over reviews",
    "studentised": "the wider of percentile and studentised bootstrap over reviews",
    "crossed": "bootstrap crossed over reviews and orders, widened by t over orders",
    "equal": "exact bounds of the share of reviews unlike the drawn ones, which differ all alike",
}
_NOTHING: Final = "-"
_LONGEST_TITLE: Final = 12


@dataclass(frozen=True)
class ComparedRuns:
    """Everything that the page shows."""

    comparison: Comparison
    exploratory: tuple[str, ...]
    """Why the comparison is exploratory; empty if it was asked before the first sample."""
    warnings: tuple[str, ...]
    has_gold: bool
    changed: Mapping[str, int]
    """The number of changed samples by status."""
    changed_path: Path | None
    """None if the file could not be written."""
    detect: float | None
    """The value of `--detect`: a difference in the primary metric."""
    detect_n: int | None
    """The number of reviews that detects it with 80 % power; None if the differences do not vary."""


def comparison_view(compared: ComparedRuns) -> ConsoleRenderable:
    """Lay out the claim, warnings, the table, and how to read it."""
    comparison = compared.comparison
    table = FirstThatFits(
        partial(_table, comparison, _LAYOUTS[0], padding=2),
        partial(_table, comparison, _LAYOUTS[0], padding=1),
        *(partial(_table, comparison, columns, padding=1, is_narrow=True) for columns in _LAYOUTS),
    )
    head = Constrain(Group(*_head(compared)), PAGE_WIDTH)
    if not _pairs(comparison):
        return head
    notes = Constrain(Group(*(Text(printable(note), style="dim") for note in _notes(compared))), PAGE_WIDTH)
    shown: list[ConsoleRenderable] = [head, Text(), table, Text(), notes]
    if compared.changed_path is not None:
        path = printable(shown_path(compared.changed_path))
        shown.append(Text(f"changed  {path}", no_wrap=True, overflow="ignore"))
    return Group(*shown)


def _head(compared: ComparedRuns) -> Iterator[Text]:
    comparison = compared.comparison
    if not _pairs(comparison):
        yield Text("No sample succeeded on both sides, so there is nothing to compare.", style="bold")
    elif compared.has_gold:
        yield Text(printable(verdict_sentence(comparison.a, comparison.b, comparison.verdict())), style="bold")
    else:
        yield Text("Without gold, nothing can be said about quality; the table describes the process.", style="bold")
    if compared.exploratory:
        yield Text(printable(f"exploratory: {'; '.join(compared.exploratory)}"), style="yellow")
    for warning in compared.warnings:
        yield Text.assemble(("warning: ", "bold yellow"), (printable(warning), "yellow"))


def _table(comparison: Comparison, columns: Sequence[str], *, padding: int, is_narrow: bool = False) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold cyan"
    )
    table.add_column("metric", no_wrap=True)
    names = ("A", "B") if is_narrow else _condition_titles(comparison)
    titles = {**_TITLES, "a": names[0], "b": names[1]}
    has_orders = any(metric.p_orders is not None for metric in comparison.metrics)
    columns = [column for column in columns if has_orders or column != "orders"]
    for column in columns:
        table.add_column(titles[column], justify="right", no_wrap=True)
    for kind, title in _KIND_TITLES.items():
        differences = [metric for metric in comparison.metrics if metric.kind == kind and metric.n_uids]
        if differences:
            table.add_row(Text(title, style="italic dim"))
        for difference in differences:
            style = "bold" if difference.claim != "none" else None
            cells = _cells(difference)
            table.add_row(Text(f"  {difference.metric}"), *(cells[column] for column in columns), style=style)
    return table


def _condition_titles(comparison: Comparison) -> tuple[str, str]:
    names = printable(comparison.a), printable(comparison.b)
    return names if max(map(len, names)) <= _LONGEST_TITLE else ("A", "B")


def _cells(paired: PairedDifference) -> dict[str, Text]:
    if paired.ci_low is None or paired.ci_high is None:
        interval = Text(NO_VARIATION["en"] if paired.n_uids > 1 else "one review", style="dim")
    else:
        interval = Text(interval_text(paired.ci_low, paired.ci_high))
    return {
        "a": Text(_NOTHING if paired.mean_a is None else plain(paired.mean_a)),
        "b": Text(_NOTHING if paired.mean_b is None else plain(paired.mean_b)),
        "difference": Text(_NOTHING if paired.difference is None else signed(paired.difference)),
        "interval": interval,
        "p": Text(_NOTHING if paired.p_value is None else p_text(paired.p_value)),
        "orders": Text(_NOTHING if paired.p_orders is None else p_text(paired.p_orders)),
        "holm": Text(_NOTHING if paired.p_holm is None else p_text(paired.p_holm)),
        "dz": Text(_NOTHING if paired.dz is None else f"{paired.dz:+.2f}"),
        "n": Text(f"{paired.n_uids:,}"),
    }


def _notes(compared: ComparedRuns) -> Iterator[str]:
    comparison = compared.comparison
    primary = comparison.primary
    methods = dict.fromkeys(metric.method for metric in comparison.metrics if metric.variation)
    made = "; ".join(_METHODS[method] for method in methods) or "none without variation"
    yield (
        f"A = {comparison.a}, B = {comparison.b}. CI: {made}. p: paired permutation test over reviews. "
        "dz: mean over standard deviation of the differences. n: reviews, their orders and seeds averaged."
    )
    if compared.has_gold:
        yield (
            f"Holm p: {primary.metric} is tested first, the distinct tests of the other outcomes after it. "
            "Metrics that end in _micro are ratios of sums; all others are means over reviews."
        )
    yield from _order_note(comparison)
    outcomes = [metric for metric in comparison.metrics if metric.kind == "outcome"]
    if any(metric.excludes_zero and metric.claim == "none" for metric in outcomes):
        yield (
            "A metric whose interval excludes 0 is not claimed if a test or Holm's correction does not reject, if "
            "reviews, orders or failed samples that were not seen could undo it, or if recall fell."
        )
    if 0 < primary.n_uids < FEWEST_REVIEWS:
        yield few_reviews(primary.n_uids)
    yield from _mcnemar_note(comparison)
    power = power_sentence(primary)
    if power:
        yield power
    if compared.detect is not None:
        yield f"A difference of {compared.detect:g} in {primary.metric} with 80 % power: {_detected_by(compared)}."
    yield _changed_note(compared)


def _order_note(comparison: Comparison) -> Iterator[str]:
    """Yield what the orders of the samples allow to say."""
    orders_n, orders_run = max(metric.orders_n for metric in comparison.metrics), comparison.orders_run
    if orders_run == 1:
        yield (
            "All samples were run in one order. If a condition learns while it runs, another order may give another "
            "difference, and this interval does not include that."
        )
    elif counted := equal_orders(orders_run, orders_n):
        yield counted
    if any(metric.method == "crossed" for metric in comparison.metrics):
        yield "The order changes the differences."
    elif orders_n > 1:
        yield f"Every review has the same difference in all {orders_n} orders."
    if comparison.primary.is_of_these_orders and orders_run > 1:
        yield f"The memory grows: every interval is about the difference {these_orders(orders_n)} and no others."
    if any(metric.p_orders is not None for metric in comparison.metrics):
        yield (
            f"p orders: t test over the means of the {orders_n} orders, whether the difference of these very reviews "
            "holds from order to order. A claim needs p and p orders below .05."
        )


def _detected_by(compared: ComparedRuns) -> str:
    """Return what the difference of `--detect` needs."""
    primary, needed = compared.comparison.primary, compared.detect_n
    if needed is None:
        return "more orders are needed" if primary.variation else "unknown without variation"
    enough = f"; these {primary.n_uids:,} are enough" if needed <= primary.n_uids else ""
    return f"about {needed:,} reviews{enough}"


def _mcnemar_note(comparison: Comparison) -> Iterator[str]:
    matched = comparison.mcnemar
    if matched is None:
        return
    counts = f"reviews that are exactly right only under A {matched.a_only:,}, only under B {matched.b_only:,}"
    if matched.p_value is None or matched.p_holm is None:
        test = f"; {NO_VARIATION['en']}"
    else:
        ratio = "" if matched.odds_ratio is None else f", odds ratio {matched.odds_ratio:.2f}"
        test = f", exact {p_equals(matched.p_value)}, Holm {p_equals(matched.p_holm)}{ratio}"
    yield f"McNemar: {counts}, ties dropped {matched.ties_dropped:,}{test}."


def _changed_note(compared: ComparedRuns) -> str:
    counts = ", ".join(
        f"{words} {compared.changed.get(status, 0):,}"
        for status, words in (
            ("better", "nearer to gold under A"),
            ("worse", "nearer under B"),
            ("different", "equally near or without gold"),
        )
    )
    changed_n, pair_n = sum(compared.changed.values()), _pairs(compared.comparison)
    return f"Samples whose final pairs differ: {changed_n:,} of {pair_n:,} ({counts})."


def _pairs(comparison: Comparison) -> int:
    """Return how many samples succeeded on both sides: those over which some metric is paired."""
    return max(metric.n_pairs for metric in comparison.metrics)

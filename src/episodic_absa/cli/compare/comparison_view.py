"""How `compare` lays out what it found. Every number of a claim stands beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    NO_VARIATION,
    PROCESS_LABEL,
    Comparison,
    PairedDifference,
    claim_sentence,
    claim_strength,
    excludes_zero,
    power_sentence,
)
from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, p_text, plain, signed

_KIND_TITLES: Final[Mapping[MetricKind, str]] = {
    "outcome": "outcome",
    "process": PROCESS_LABEL["en"],
    "efficiency": "efficiency",
}
_NOTHING: Final = "-"
_LONGEST_TITLE: Final = 12


@dataclass(frozen=True)
class ComparedRuns:
    """Everything that is told."""

    comparison: Comparison
    warnings: tuple[str, ...]
    has_gold: bool
    changed: Mapping[str, int]
    """Samples by status."""
    changed_path: Path | None
    """None if it could not be written."""
    detect: float | None
    """A difference in the primary metric that was asked about, and the reviews that it needs."""
    detect_n: int | None


def comparison_view(found: ComparedRuns) -> ConsoleRenderable:
    """Lay out a sentence, warnings, the table, and how to read it."""
    comparison = found.comparison
    table = FirstThatFits(
        lambda: _table(comparison, padding=2, with_means=True),
        lambda: _table(comparison, padding=1, with_means=True),
        lambda: _table(comparison, padding=1, with_means=False),
    )
    head = Constrain(Group(*_head(found)), PAGE_WIDTH)
    if not _pairs(comparison):
        return head
    notes = Constrain(Group(*(Text(printable(note), style="dim") for note in _notes(found))), PAGE_WIDTH)
    shown: list[ConsoleRenderable] = [head, Text(), table, Text(), notes]
    if found.changed_path is not None:
        path = printable(shown_path(found.changed_path))
        shown.append(Text(f"changed  {path}", no_wrap=True, overflow="ignore"))
    return Group(*shown)


def _head(found: ComparedRuns) -> Iterator[Text]:
    comparison = found.comparison
    if not _pairs(comparison):
        yield Text("No sample ended well on both sides, so there is nothing to compare.", style="bold")
    elif found.has_gold:
        yield Text(printable(claim_sentence(comparison.a, comparison.b, comparison.metrics[0])), style="bold")
    else:
        yield Text("Without gold nothing can be said about quality; what is left describes the process.", style="bold")
    for warning in found.warnings:
        yield Text.assemble(("warning: ", "bold yellow"), (printable(warning), "yellow"))


def _table(comparison: Comparison, *, padding: int, with_means: bool) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold cyan"
    )
    table.add_column("metric", no_wrap=True)
    for title in (*(_titles(comparison) if with_means else ()), "A - B", "95 % CI", "p", "Holm p", "dz", "n"):
        table.add_column(title, justify="right", no_wrap=True)
    for kind, title in _KIND_TITLES.items():
        rows = [one for one in comparison.metrics if one.kind == kind and one.n_uids]
        if rows:
            table.add_row(Text(title, style="italic dim"))
        for one in rows:
            table.add_row(*_cells(one, with_means=with_means), style="bold" if claim_strength(one) != "none" else None)
    return table


def _titles(comparison: Comparison) -> tuple[str, str]:
    names = printable(comparison.a), printable(comparison.b)
    return names if max(map(len, names)) <= _LONGEST_TITLE else ("A", "B")


def _cells(one: PairedDifference, *, with_means: bool) -> Iterator[Text]:
    yield Text(f"  {one.metric}")
    if with_means:
        yield from (Text(_NOTHING if mean is None else plain(mean)) for mean in (one.mean_a, one.mean_b))
    yield Text(_NOTHING if one.difference is None else signed(one.difference))
    if one.ci_low is None or one.ci_high is None:
        yield Text(NO_VARIATION["en"] if one.n_uids > 1 else "one review", style="dim")
    else:
        yield Text(interval_text(one.ci_low, one.ci_high))
    for p_value in (one.p_value, one.p_holm):
        yield Text(_NOTHING if p_value is None else p_text(p_value))
    yield Text(_NOTHING if one.dz is None else f"{one.dz:+.2f}")
    yield Text(f"{one.n_uids:,}")


def _notes(found: ComparedRuns) -> Iterator[str]:
    comparison = found.comparison
    primary, matched = comparison.metrics[0], comparison.mcnemar
    yield (
        f"A = {comparison.a}, B = {comparison.b}. CI: percentile bootstrap over reviews. p: paired permutation test. "
        "Holm p: corrected for all outcome tests of this pair. dz: mean over standard deviation of the differences. "
        "n: reviews, their seeds averaged."
    )
    if any(excludes_zero(one) and claim_strength(one) == "none" for one in comparison.metrics if one.kind == "outcome"):
        yield "Where an interval excludes 0 and p is not below .05, too few reviews differ to trust the interval alone."
    if matched is not None:
        counts = f"reviews that are exactly right only under A {matched.a_only:,}, only under B {matched.b_only:,}"
        yield f"McNemar: {counts}, ties dropped {matched.ties_dropped:,}{_mcnemar_test(comparison)}."
    power = power_sentence(primary)
    if power:
        yield power
    if found.detect is not None:
        needed = "cannot be told without variation" if found.detect_n is None else f"about {found.detect_n:,} reviews"
        yield f"A difference of {found.detect:g} in {primary.metric} with 80 % power: {needed}."
    counts_text = ", ".join(
        f"{words} {found.changed.get(status, 0):,}"
        for status, words in (
            ("better", "nearer to gold under A"),
            ("worse", "nearer under B"),
            ("different", "equally near or without gold"),
        )
    )
    yield f"Samples with other final pairs: {sum(found.changed.values()):,} of {_pairs(comparison):,} ({counts_text})."


def _mcnemar_test(comparison: Comparison) -> str:
    matched = comparison.mcnemar
    if matched is None or matched.p_value is None or matched.p_holm is None:
        return f"; {NO_VARIATION['en']}"
    ratio = "" if matched.odds_ratio is None else f", odds ratio {matched.odds_ratio:.2f}"
    return f", exact {p_equals(matched.p_value)}, Holm {p_equals(matched.p_holm)}{ratio}"


def _pairs(comparison: Comparison) -> int:
    """Samples that ended well on both sides: those that some metric could be paired over."""
    return max(one.n_pairs for one in comparison.metrics)

"""Compares two sides sample by sample, as `episodic-absa compare` and `Run.compare` report it."""

from episodic_absa.analysis.comparability import require_pairs
from episodic_absa.analysis.compared_runs import Side
from episodic_absa.metrics.statistics import SEED, Comparison
from episodic_absa.metrics.statistics import compare as compare_cards


def count_backfilled_on_both(a: Side, b: Side) -> bool:
    """Return whether backfills count: only if both experiments count them, so that one rule holds for both sides."""
    return a.count_backfilled and b.count_backfilled


def compare_sides(a: Side, b: Side, *, seed: int | None = None) -> Comparison:
    """Return the paired differences A minus B.

    Args:
        a: one side.
        b: the other side.
        seed: seeds the resampling, not the runs; None for the fixed one.

    Raises:
        RunDirectoryError: the sides have no sample in common.
    """
    require_pairs(a, b)
    return compare_cards(
        a.name,
        a.cards,
        b.name,
        b.cards,
        count_backfilled=count_backfilled_on_both(a, b),
        seed=SEED if seed is None else seed,
    )

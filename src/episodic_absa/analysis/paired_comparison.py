"""Compares two sides sample by sample, as `episodic-absa compare` and `Run.compare` report it."""

from episodic_absa.analysis.comparability import require_pairs
from episodic_absa.analysis.compared_runs import Side
from episodic_absa.metrics.statistics import SEED, Comparison
from episodic_absa.metrics.statistics import compare as compare_cards
from episodic_absa.runs.question import criterion_of, exploratory_parts, left_out_parts, load_question, recorded_parts


def count_backfilled_on_both(a: Side, b: Side) -> bool:
    """Return whether backfills count: only if both experiments count them, so that one rule holds for both sides."""
    return a.count_backfilled and b.count_backfilled


def exploratory_of(a: Side, b: Side) -> tuple[str, ...]:
    """Return why the comparison of two sides is exploratory; nothing if it was asked before the first sample.

    Raises:
        RunDirectoryError: question.json cannot be read.
    """
    if a.grid != b.grid:
        return ("no question covers two grids",)
    question = load_question(a.grid)
    conditions = [{manifest.condition.name for manifest in side.manifests} for side in (a, b)]
    pair = (min(conditions[0]), min(conditions[1]))
    paired = a.keys & b.keys
    covered = {"orders": {order for _, order, _ in paired}, "seeds": {seed for _, _, seed in paired}}
    parts = (
        *exploratory_parts(question, pair, **covered),
        *left_out_parts(question, **covered),
        *recorded_parts(question, (*a.manifests, *b.manifests)),
    )
    return tuple(part.text for part in parts)


def compare_sides(a: Side, b: Side, *, seed: int | None = None) -> Comparison:
    """Return the paired differences A minus B, decided by the asked metric and smallest effect of their grid.

    Args:
        a: one side.
        b: the other side.
        seed: seeds the resampling, not the runs; None for the fixed one.

    Raises:
        RunDirectoryError: the sides have no sample in common.
    """
    require_pairs(a, b)
    is_one_grid = a.grid == b.grid
    criterion = criterion_of(load_question(a.grid) if is_one_grid else None)
    return compare_cards(
        a.name,
        a.cards,
        b.name,
        b.cards,
        count_backfilled=count_backfilled_on_both(a, b),
        seed=SEED if seed is None else seed,
        primary=criterion.primary,
        smallest_effect=criterion.smallest_effect,
        same_by_construction=is_one_grid and a.manifests[0].condition.answers_like(b.manifests[0].condition),
    )

"""What one scorecard adds to a metric of its cell: every cell metric is a sum, or a ratio of two sums, over samples."""

from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.efficiency import compute_efficiency
from episodic_absa.metrics.majority_baseline import compute_baseline
from episodic_absa.metrics.memory_use import compute_impact, compute_memory_use
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import successful_cards
from episodic_absa.metrics.process import compute_process
from episodic_absa.metrics.quality import compute_quality
from episodic_absa.metrics.structural_error_rates import compute_structural_errors
from episodic_absa.schemas.run_files.majority import Majority
from episodic_absa.schemas.run_files.scorecard import Scorecard


class Share(NamedTuple):
    """The part of a sample in a metric."""

    numerator: float | None
    """None if the part is unknown, such as the cost of a call without a price."""
    denominator: float | None
    """None for a plain count."""

    @property
    def counts(self) -> bool:
        """Whether the sample is part of the number: a count has it only if it adds something."""
        return self.numerator is None or bool(self.numerator if self.denominator is None else self.denominator)


def share_of(metric: str, card: Scorecard, *, majority: Majority | None, count_backfilled: bool = False) -> Share:
    """Return what one sample adds to a metric of its cell.

    Args:
        metric: a metric whose scope is the cell.
        card: the scorecard of the sample.
        majority: the polarity of the baseline, from the manifest; None without gold.
        count_backfilled: whether a backfilled tuple counts as a prediction.

    Raises:
        KeyError: no metric of a cell has this name.
    """
    definition = definition_of(metric)
    values = _values_of_group(definition.group, (card,), majority, count_backfilled=count_backfilled)
    value = next((value for value in values if value.metric == metric), None)
    if value is None:
        raise KeyError(metric)
    return Share(value.numerator, value.denominator)


def combined(shares: Iterable[Share]) -> float | None:
    """Return the number that the parts of all samples give; None if a part is unknown or a ratio is empty."""
    parts = list(shares)
    numerators = [part.numerator for part in parts if part.numerator is not None]
    if len(numerators) < len(parts):
        return None
    denominators = [part.denominator for part in parts if part.denominator is not None]
    if not denominators:
        return fsum(numerators)
    total = fsum(denominators)
    return fsum(numerators) / total if total else None


def _values_of_group(
    group: str, cards: Sequence[Scorecard], majority: Majority | None, *, count_backfilled: bool
) -> Iterator[MetricValue]:
    """Yield the metrics among which those of the group are."""
    if group == "efficiency":
        return compute_efficiency(cards)
    ok = successful_cards(cards)
    if group == "quality":
        return compute_quality(ok, count_backfilled=count_backfilled)
    if group == "baseline":
        return compute_baseline(ok, majority)
    if group == "rq1":
        return compute_structural_errors(ok, count_backfilled=count_backfilled)
    if group == "memory":
        return compute_memory_use(ok)
    if group == "impact":
        return compute_impact(ok)
    return compute_process(ok, count_backfilled=count_backfilled)

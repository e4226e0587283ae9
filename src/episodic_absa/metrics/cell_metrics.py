"""All metrics of one cell. Every cell has the same metrics in the same order."""

from collections.abc import Sequence

from episodic_absa.metrics.definitions import all_definitions
from episodic_absa.metrics.efficiency import compute_efficiency
from episodic_absa.metrics.majority_baseline import compute_baseline
from episodic_absa.metrics.memory_use import compute_impact, compute_memory_use
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.per_sample.gold_and_predictions import successful_cards
from episodic_absa.metrics.per_sample.sample_values import ScoredSample
from episodic_absa.metrics.process import compute_process
from episodic_absa.metrics.quality import compute_quality
from episodic_absa.metrics.structural_error_rates import compute_structural_errors
from episodic_absa.schemas.run_files.manifest import Majority
from episodic_absa.schemas.run_files.scorecard import Scorecard


def compute_cell_metrics(
    cards: Sequence[Scorecard], *, majority: Majority | None, count_backfilled: bool = False
) -> tuple[MetricValue, ...]:
    """Return the metrics of one cell (one condition with one seed), in the order of the tables.

    A metric with an empty denominator has the value None. `compute_stability` compares the seeds of a condition.

    Args:
        cards: the scorecards of the cell, failed samples included.
        majority: the polarity of the baseline, from the manifest; None without gold.
        count_backfilled: whether a backfilled tuple counts as a prediction.
    """
    ok = successful_cards(cards)
    samples = [ScoredSample(card, count_backfilled=count_backfilled) for card in ok]
    values = (
        *compute_quality(samples),
        *compute_baseline(ok, majority),
        *compute_structural_errors(samples),
        *compute_process(samples),
        *compute_memory_use(ok),
        *compute_impact(ok),
        *compute_efficiency(cards),
    )
    by_name = {value.metric: value for value in values}
    return tuple(by_name[metric] for metric, definition in all_definitions().items() if definition.scope == "cell")

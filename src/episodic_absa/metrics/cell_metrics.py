"""Every metric of one cell, always the same ones in the same order."""

from collections.abc import Sequence

from episodic_absa.metrics.definitions import all_definitions
from episodic_absa.metrics.efficiency import compute_efficiency
from episodic_absa.metrics.majority import compute_baseline
from episodic_absa.metrics.memory_use import compute_impact, compute_memory_use
from episodic_absa.metrics.metric_value import MetricValue
from episodic_absa.metrics.one_sample.samples import ended_well
from episodic_absa.metrics.quality import compute_quality
from episodic_absa.metrics.rq1 import compute_structural_errors
from episodic_absa.metrics.rq3 import compute_process
from episodic_absa.schemas.majority import Majority
from episodic_absa.schemas.scorecard import Scorecard


def compute_cell_metrics(
    cards: Sequence[Scorecard], *, majority: Majority | None, count_backfilled: bool = False
) -> tuple[MetricValue, ...]:
    """Compute the metrics of one condition with one seed; what needs several seeds is in `stability`.

    Args:
        cards: the scorecards of the cell, failed samples included.
        majority: the polarity of the baseline, from the manifest; None without gold.
        count_backfilled: whether a backfill counts as a prediction.
    """
    ok = ended_well(cards)
    found = (
        *compute_quality(ok, count_backfilled=count_backfilled),
        *compute_baseline(ok, majority),
        *compute_structural_errors(ok, count_backfilled=count_backfilled),
        *compute_process(ok, count_backfilled=count_backfilled),
        *compute_memory_use(ok),
        *compute_impact(ok),
        *compute_efficiency(cards),
    )
    by_name = {one.metric: one for one in found}
    return tuple(by_name[metric] for metric, known in all_definitions().items() if known.scope == "cell")

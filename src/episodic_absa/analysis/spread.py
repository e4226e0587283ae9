"""How the values of one condition spread over its orders and over its seeds."""

from collections.abc import Sequence
from math import sqrt
from operator import mul
from statistics import fmean, stdev, variance
from typing import Final, Literal, NamedTuple

from episodic_absa.metrics import Stability
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.run_files.manifest import Repetition

Values = Sequence[float | None]
"""One value per cell."""
_NEVER_SHOWN: Final = "the seeds are one trial: the backend ignores them and memory is never shown"
_SAME_ORDER: Final = "the seeds are one trial: the backend ignores them and the order is not shuffled"
_SEEDS_IGNORED: Final = "the seeds are one trial: the backend ignores them"
_ORDERS_NEVER_SHOWN: Final = "the orders are one trial: memory is never shown"


class Spread(NamedTuple):
    """The orders and seeds of one condition's cells, and which of them are separate trials."""

    repetitions: tuple[Repetition, ...]
    """Of each cell; all orders are 0 where the seed sets them."""
    same_seeds: str
    """Why several seeds count as one trial; an empty text if they do not, or if there is one seed."""
    same_orders: str
    """Why several orders count as one trial; an empty text if they do not, or if there is one order."""

    @property
    def order_n(self) -> int:
        """How many orders there are."""
        return len({repetition.order for repetition in self.repetitions})

    def sd_of_seeds(self, values: Values) -> float | None:
        """Return the standard deviation over seeds, pooled over orders by their degrees of freedom."""
        by_order = [known for known in self._by_order(values) if len(known) > 1]
        if not by_order or self.same_seeds:
            return None
        if len(by_order) == 1:
            return stdev(by_order[0])
        freedom = [len(known) - 1 for known in by_order]
        return sqrt(sum(map(mul, freedom, map(variance, by_order))) / sum(freedom))

    def sd_of_orders(self, values: Values) -> float | None:
        """Return the standard deviation over the means of orders."""
        means = [fmean(known) for known in self._by_order(values) if known]
        return stdev(means) if len(means) > 1 and not self.same_orders else None

    def known_n(self, values: Values, axis: Literal["order", "seed"]) -> int:
        """Return how many orders or seeds have a value."""
        pairs = zip(self.repetitions, values, strict=True)
        return len({getattr(repetition, axis) for repetition, value in pairs if value is not None})

    def _by_order(self, values: Values) -> list[list[float]]:
        by_order: dict[int, list[float]] = {}
        for repetition, value in zip(self.repetitions, values, strict=True):
            of_order = by_order.setdefault(repetition.order, [])
            if value is not None:
                of_order.append(value)
        return list(by_order.values())


def spread_of(cells: Sequence[FinishedCell], stability: Stability) -> Spread:
    """Return the spread of a condition's cells.

    Args:
        cells: of the condition.
        stability: of the same cells; it says how many trials the seeds are.
    """
    manifests = [cell.manifest for cell in cells]
    has_orders = any(manifest.names_order for manifest in manifests)
    repetitions = tuple(Repetition(manifest.order if has_orders else 0, manifest.seed) for manifest in manifests)
    same_seeds = ""
    if stability.trials < len({repetition.seed for repetition in repetitions}):
        shuffled = any(manifest.config.experiment.shuffle for manifest in manifests)
        same_seeds = _SEEDS_IGNORED if has_orders else _NEVER_SHOWN if shuffled else _SAME_ORDER
    flags = manifests[0].condition
    is_shown = flags.exposed_to_debate or flags.exposed_to_stage2
    # Answers that the cells did not share may differ between orders although no memory is shown.
    is_one_order = has_orders and not is_shown and all(manifest.answers_shared for manifest in manifests)
    return Spread(repetitions, same_seeds, _ORDERS_NEVER_SHOWN if is_one_order else "")

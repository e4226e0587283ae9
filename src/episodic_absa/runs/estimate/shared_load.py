"""Adds up the requests of a sample over the conditions, orders and seeds of a grid, by what they share."""

from typing import Literal, NamedTuple

from episodic_absa.runs.estimate.request_load import Load
from episodic_absa.runs.estimate.sample_loads import ConditionLoad, MeasuredRequest, SampleLoad

Column = Literal["lower", "estimate", "upper"]


class Sharing(NamedTuple):
    """Who may share the answer to an equal request."""

    seed_n: int
    across_conditions: bool
    order_n: int = 1
    """Orders of each seed. They share every answer without memory: only memory depends on the order."""


class Total(NamedTuple):
    """What is sent, and how many calls ask for it."""

    sent: Load = Load()
    asked_n: float = 0.0

    def plus(self, other: "Total") -> "Total":
        """Return the sum of two totals."""
        return Total(self.sent.plus(other.sent), self.asked_n + other.asked_n)

    def times(self, factor: float) -> "Total":
        """Multiply the total."""
        return Total(self.sent.times(factor), self.asked_n * factor)


def total_of(sample: SampleLoad, column: Column, sharing: Sharing) -> Total:
    """Return what all cells of a sample take together.

    - lower: equal requests are sent once, no memory is shown, and answers lead to no further request.
    - estimate: a condition asks for itself in every order where memory could be shown; all other equal requests are
      sent once.
    - upper: no answer is shared, and answers lead to every possible request.
    """
    asked_n = sharing.seed_n * sharing.order_n * sum(len(_requests(load, column)) for load in sample.values())
    return Total(_unshared(sample, sharing) if column == "upper" else _shared(sample, column, sharing), asked_n)


def _requests(load: ConditionLoad, column: Column) -> tuple[MeasuredRequest, ...]:
    return {"lower": load.certain, "estimate": load.requests, "upper": load.possible}[column]


def _shared(sample: SampleLoad, column: Column, sharing: Sharing) -> Load:
    distinct: dict[tuple[str, str], MeasuredRequest] = {}
    for name, load in sample.items():
        for request in _requests(load, column):
            if column == "estimate" and _sees_memory(load, request):
                with_memory = request.load.plus(load.slot).times(sharing.order_n)
                distinct[name, request.key] = request._replace(load=with_memory)
            else:
                distinct["" if sharing.across_conditions else name, request.key] = request
    total = Load()
    for request in distinct.values():
        total = total.plus(request.load.times(sharing.seed_n if request.is_per_seed else 1))
    return total


def _unshared(sample: SampleLoad, sharing: Sharing) -> Load:
    total = Load()
    for load in sample.values():
        for request in _requests(load, "upper"):
            slot = load.slot if _sees_memory(load, request) else Load()
            total = total.plus(request.load).plus(slot)
    return total.times(sharing.seed_n * sharing.order_n)


def _sees_memory(load: ConditionLoad, request: MeasuredRequest) -> bool:
    return load.gate_opens and request.may_see_memory

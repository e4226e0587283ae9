"""What stands against a claim about a difference, whatever its metric."""

from __future__ import annotations

from typing import Final, Literal, Protocol

from episodic_absa.metrics.statistics.power import ALPHA

Doubt = Literal[
    "", "interval", "few_orders", "test", "orders", "unseen_reviews", "unseen_orders", "failed", "recall", "kind"
]
"""Why there is no claim: the interval includes 0; a memory that grows was seen in fewer than three different orders; p
over reviews; p over orders; reviews or orders that were not drawn could undo it; failed samples could undo it; worse
recall; the metric is not an outcome."""
FEWEST_GROWN: Final = 3
"""Different orders that a claim about a growing memory needs at least."""


class Evidence(Protocol):
    """The numbers of a difference by which a claim stands or falls."""

    @property
    def difference(self) -> float | None: ...
    @property
    def excludes_zero(self) -> bool: ...
    @property
    def hangs_on_few_orders(self) -> bool: ...
    @property
    def p_value(self) -> float | None: ...
    @property
    def p_orders(self) -> float | None: ...
    @property
    def unseen_reviews(self) -> float: ...
    @property
    def unseen_orders(self) -> float: ...
    @property
    def failed_low(self) -> float | None: ...
    @property
    def failed_high(self) -> float | None: ...


def doubt_of(evidence: Evidence) -> Doubt:
    """Return the first reason against a claim; "" for none."""
    size = abs(evidence.difference or 0.0)
    rises = (evidence.difference or 0.0) > 0
    worst = evidence.failed_low if rises else evidence.failed_high
    if not evidence.excludes_zero:
        return "interval"
    if evidence.hangs_on_few_orders:
        return "few_orders"
    if evidence.p_value is None or evidence.p_value >= ALPHA:
        return "test"
    if evidence.p_orders is not None and evidence.p_orders >= ALPHA:
        return "orders"
    if size <= evidence.unseen_reviews:
        return "unseen_reviews"
    if size <= evidence.unseen_orders:
        return "unseen_orders"
    if worst is not None and (worst <= 0 if rises else worst >= 0):
        return "failed"
    return ""

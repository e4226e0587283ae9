"""What stands against a claim about a difference, whatever its metric."""

from __future__ import annotations

from collections.abc import Mapping
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
DOUBT_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "interval": (
        "; the interval includes 0, so the data are consistent with no difference",
        "신뢰구간이 0을 포함하므로 차이가 없다는 가설과 모순되지 않습니다",
    ),
    "few_orders": (
        f"; the memory grows, and fewer than {FEWEST_GROWN} different orders support no claim about it",
        f"메모리가 쌓이며, 서로 다른 순서가 {FEWEST_GROWN}개보다 적어 차이를 주장하지 않습니다",
    ),
    "test": (
        "; the interval excludes 0 but the permutation test does not reject, so no claim is made",
        "신뢰구간은 0을 포함하지 않지만 순열 검정에서 기각되지 않아 차이를 주장하지 않습니다",
    ),
    "orders": (
        "; the test over orders does not reject, so no claim is made",
        "순서에 대한 검정에서 기각되지 않아 차이를 주장하지 않습니다",
    ),
    "unseen_reviews": (
        "; reviews that were not drawn could undo it, so no claim is made",
        "뽑히지 않은 리뷰가 이 차이를 없앨 수 있어 차이를 주장하지 않습니다",
    ),
    "unseen_orders": (
        "; a rare bad order would not be seen among so few and could undo it, so no claim is made",
        "드물게 나쁜 순서가 있어도 이만한 순서에서는 보이지 않을 수 있어 차이를 주장하지 않습니다",
    ),
    "failed": (
        "; the failed samples could undo it, so no claim is made",
        "실패한 샘플이 이 차이를 없앨 수 있어 차이를 주장하지 않습니다",
    ),
    "recall": ("; recall fell, so no claim is made", "재현율이 떨어졌으므로 차이를 주장하지 않습니다"),
}
"""Each doubt as the end of an English sentence, and as a Korean one."""


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

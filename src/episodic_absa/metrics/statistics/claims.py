"""Short texts about a paired difference: its tests, its label in a table, what it can show."""

from typing import Final, Literal

from episodic_absa.metrics.statistics.number_text import p_equals
from episodic_absa.metrics.statistics.paired.difference import PairedDifference
from episodic_absa.metrics.statistics.power import FEWEST_REVIEWS

ClaimLanguage = Literal["en", "ko"]
PROCESS_LABEL: Final = {"en": "process, not outcome", "ko": "결과 지표가 아닌 과정 지표"}
NO_VARIATION: Final = {"en": "no variation", "ko": "변동 없음"}
_LABELS: Final = {
    "en": {True: "A significantly better", False: "A significantly worse"},
    "ko": {True: "A 유의하게 우수", False: "A 유의하게 나쁨"},
}


def p_values_text(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return the p-values of a difference as a sentence; that it does not vary, where there is none."""
    if difference.difference is None:
        return ""
    if difference.p_value is None:
        return f"{difference.metric}: {NO_VARIATION[language]}."
    p_values = [p_equals(difference.p_value)]
    if difference.p_orders is not None:
        over_orders = p_equals(difference.p_orders)
        p_values.append(f"{over_orders} over orders" if language == "en" else f"순서 {over_orders}")
    p_values += [f"Holm {p_equals(difference.p_holm)}"] if difference.p_holm is not None else []
    return f"{difference.metric}: {', '.join(p_values)}."


def claim_label(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return the label of a table row: the claim, "process, not outcome", "no variation", or "" for no claim."""
    if difference.kind == "process":
        return PROCESS_LABEL[language]
    if not difference.variation:
        return NO_VARIATION[language] if difference.n_uids > 1 else ""
    return "" if difference.claim == "none" else _LABELS[language][difference.favours_a]


def power_sentence(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return the smallest difference that this many reviews can show; empty where they can show none."""
    if difference.detectable is None:
        return ""
    smallest, n = f"{difference.detectable:.3f}", difference.n_uids
    if language == "ko":
        orders = f"(순서 {difference.orders_n}개)" if difference.orders_n > 1 else ""
        size = f"{difference.metric}의 차이가 {smallest} 이상일 때"
        failed = " 실패한 샘플은 넣지 않은 값입니다." if difference.failed_n else ""
        return f"리뷰 {n:,}건{orders}으로는 {size} 80 % 검정력으로 검출할 수 있습니다.{failed}"
    data = f"{_reviews(n)} in {difference.orders_n} orders" if difference.orders_n > 1 else _reviews(n)
    failed = ", if the failed samples are left aside" if difference.failed_n else ""
    return f"{data} can show a difference in {difference.metric} of {smallest} or more with 80 % power{failed}."


def equal_orders(orders_run: int, orders_n: int, language: ClaimLanguage = "en") -> str:
    """Return that some orders count as one because their samples ended alike; empty if all orders are different."""
    if orders_run == orders_n or orders_run == 1:
        return ""
    if language == "ko":
        if orders_n == 1:
            return f"순서 {orders_run}개에서 모든 샘플의 결과가 같아 순서 하나로 셉니다."
        return f"순서 {orders_run}개 중 서로 다른 것은 {orders_n}개입니다. 결과가 같은 순서는 하나로 셉니다."
    if orders_n == 1:
        return f"The {orders_run} orders ended alike in every sample, so that they count as one."
    return f"Of the {orders_run} orders {orders_n} are different; equal ones count as one."


def few_reviews(n: int, language: ClaimLanguage = "en") -> str:
    """Return the sentence about figures of fewer reviews than 30."""
    if language == "ko":
        limits = f"{FEWEST_REVIEWS}건이 안 되는 리뷰의 수치로는 다른 리뷰를 거의 알 수 없습니다."
        return f"리뷰가 {n:,}건뿐입니다. {limits}"
    return f"Only {_reviews(n)}: figures of fewer than {FEWEST_REVIEWS} describe these reviews and hardly any others."


def _reviews(n: int) -> str:
    return f"{n:,} review{'' if n == 1 else 's'}"

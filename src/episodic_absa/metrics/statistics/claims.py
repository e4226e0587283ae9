"""Which claim a paired difference supports, and the sentences that state it in English and Korean.

A claim needs an interval that excludes 0 and a permutation test with p below .05. The interval alone is not enough:
if four of two hundred reviews differ, all in the same direction, the percentile interval excludes 0 although the
exact test gives p = 0.125. Where the order of the samples changes results, the t test over orders must reject too.
"""

from typing import Final, Literal

from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, signed
from episodic_absa.metrics.statistics.paired.difference import PairedDifference
from episodic_absa.metrics.statistics.paired.doubts import DOUBT_WORDS
from episodic_absa.metrics.statistics.paired.order_test import FEWEST_CLAIMED
from episodic_absa.metrics.statistics.power import FEWEST_REVIEWS

ClaimLanguage = Literal["en", "ko"]

PROCESS_LABEL: Final = {"en": "process, not outcome", "ko": "결과 지표가 아닌 과정 지표"}
_KINDS: Final = {
    "en": {
        "process": f"; {PROCESS_LABEL['en']}",
        "efficiency": "; cost, not quality",
        "outcome": "; neither direction is better",
    },
    "ko": {
        "process": f"{PROCESS_LABEL['ko']}입니다",
        "efficiency": "품질이 아닌 비용 지표입니다",
        "outcome": "더 나은 방향이 없습니다",
    },
}
NO_VARIATION: Final = {"en": "no variation", "ko": "변동 없음"}

_LABELS: Final = {
    "en": {
        "direction": {True: "A better", False: "A worse"},
        "significant": {True: "A significantly better", False: "A significantly worse"},
    },
    "ko": {
        "direction": {True: "A 우수", False: "A 나쁨"},
        "significant": {True: "A 유의하게 우수", False: "A 유의하게 나쁨"},
    },
}


def claim_sentence(a: str, b: str, difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return one or two sentences about the difference of A minus B, with a claim only where the numbers support it.

    Args:
        a: the name of condition A.
        b: the name of condition B.
        difference: the metric's difference, from `compare`.
        language: "en" or "ko".
    """
    return (_korean if language == "ko" else _english)(a, b, difference)


def claim_label(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return the label of a table row: the claim, "process, not outcome", "no variation", or "" for no claim."""
    if difference.kind == "process":
        return PROCESS_LABEL[language]
    if not difference.variation:
        return NO_VARIATION[language] if difference.n_uids > 1 else ""
    strength = difference.claim
    return "" if strength == "none" else _LABELS[language][strength][difference.favours_a]


def power_sentence(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return the smallest difference that this many reviews can show; empty for a difference without variation."""
    if difference.detectable is None:
        return ""
    smallest, n = f"{difference.detectable:.3f}", difference.n_uids
    if language == "ko":
        size = f"{difference.metric}의 차이가 {smallest} 이상일 때"
        return f"리뷰 {n:,}건으로는 {size} 80 % 검정력으로 검출할 수 있습니다."
    return f"{_reviews(n)} can show a difference in {difference.metric} of {smallest} or more with 80 % power."


def few_reviews(n: int, language: ClaimLanguage = "en") -> str:
    """Return the sentence about figures of fewer reviews than 30."""
    if language == "ko":
        return f"리뷰가 {n:,}건뿐입니다. {FEWEST_REVIEWS}건보다 적은 수치는 이 리뷰들만 설명합니다."
    return f"Only {_reviews(n)}: figures of fewer than {FEWEST_REVIEWS} describe these reviews and hardly any others."


def _english(a: str, b: str, paired: PairedDifference) -> str:
    if paired.difference is None:
        return f"{paired.metric}: no review has a value under both {a} and {b}, so they cannot be compared."
    start = f"{paired.metric}, {a} minus {b}"
    if paired.ci_low is None or paired.ci_high is None:
        why = NO_VARIATION["en"] if paired.n_uids > 1 else "too few for an interval"
        return f"{start}: {signed(paired.difference)} over {_reviews(paired.n_uids)}, {why}."
    interval = interval_text(paired.ci_low, paired.ci_high)
    numbers = f"{signed(paired.difference)}, 95 % CI {interval}, {_data(paired)}, {_tests(paired)}"
    strength = paired.claim
    if strength == "none":
        return f"{start}: {numbers}{_no_claim(paired, 'en')}."
    comparative = "better" if paired.favours_a else "worse"
    if strength == "significant":
        return f"{a} is significantly {comparative} than {b} in {paired.metric}: {numbers}."
    limit = "the Holm correction over the outcome tests of this pair does not confirm it"
    if paired.has_few_orders:
        limit = f"fewer than {FEWEST_CLAIMED} orders cannot confirm it"
    return f"{a} is {comparative} than {b} in {paired.metric}: {numbers}; {limit}."


def _no_claim(paired: PairedDifference, language: ClaimLanguage) -> str:
    if paired.no_claim == "kind":
        return _KINDS[language][paired.kind]
    return DOUBT_WORDS[paired.no_claim][language == "ko"]


def _korean(a: str, b: str, paired: PairedDifference) -> str:
    if paired.difference is None:
        return f"{paired.metric}: {a} 및 {b} 양쪽에 모두 값이 있는 리뷰가 없어 비교할 수 없습니다."
    start = f"{paired.metric}의 차이({a} − {b})는"
    if paired.ci_low is None or paired.ci_high is None:
        why = "차이에 변동이 없습니다" if paired.n_uids > 1 else "리뷰가 너무 적어 신뢰구간을 구할 수 없습니다"
        return f"{start} 리뷰 {paired.n_uids:,}건에서 {signed(paired.difference)}입니다. {why}."
    interval = interval_text(paired.ci_low, paired.ci_high)
    orders = f"(순서 {paired.orders_n}개)" if paired.orders_n > 1 else ""
    details = f"95 % 신뢰구간 {interval}, 리뷰 {paired.n_uids:,}건{orders}, {_tests(paired)}"
    strength = paired.claim
    if strength == "none":
        return f"{start} {signed(paired.difference)}입니다({details}). {_no_claim(paired, 'ko')}."
    adverb = "유의하게 " if strength == "significant" else ""
    predicate = "우수합니다" if paired.favours_a else "나쁩니다"
    limit = " 이 쌍의 결과 지표 검정에 Holm 보정을 하면 확인되지 않습니다."
    if paired.has_few_orders:
        limit = f" 순서가 {FEWEST_CLAIMED}개보다 적어 확인할 수 없습니다."
    if strength == "significant":
        limit = ""
    # "쪽이" fits any name; the particle after a bare name would depend on how the name is read aloud.
    claim = f"{a} 쪽이 {b}보다 {paired.metric} 기준으로 {adverb}{predicate}"
    return f"{claim}({signed(paired.difference)}, {details}).{limit}"


def _tests(paired: PairedDifference) -> str:
    p_values = [p_equals(paired.p_value)] if paired.p_value is not None else []
    p_values += [f"{p_equals(paired.p_orders)} over orders"] if paired.p_orders is not None else []
    p_values += [f"Holm {p_equals(paired.p_holm)}"] if paired.p_holm is not None else []
    return ", ".join(p_values)


def _data(paired: PairedDifference) -> str:
    reviews = _reviews(paired.n_uids)
    return f"{reviews} in {paired.orders_n} orders" if paired.orders_n > 1 else reviews


def _reviews(n: int) -> str:
    return f"{n:,} review{'' if n == 1 else 's'}"

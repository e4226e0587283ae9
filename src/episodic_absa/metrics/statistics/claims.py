"""What may be said of a difference, and the sentences that say it, in English and Korean.

Words of victory stand only beside an interval that excludes 0. We ask for one thing more: that the permutation test
rejects as well. Where few reviews differ (four of two hundred, all the same way) a percentile interval excludes 0
although an exact test gives p = 0.125; the interval alone would say too much.
"""

from typing import Final, Literal

from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.statistics.comparison import PairedDifference
from episodic_absa.metrics.statistics.number_text import interval_text, p_equals, signed
from episodic_absa.metrics.statistics.power import ALPHA

Claim = Literal["none", "direction", "significant"]
ClaimLanguage = Literal["en", "ko"]

PROCESS_LABEL: Final = {"en": "process, not outcome", "ko": "과정 지표이며 결과 지표가 아님"}
NO_VARIATION: Final = {"en": "no variation", "ko": "변동 없음"}

_VERDICTS: Final = {
    "en": {
        "direction": {True: "A better", False: "A worse"},
        "significant": {True: "A significantly better", False: "A significantly worse"},
    },
    "ko": {
        "direction": {True: "A 우수", False: "A 나쁨"},
        "significant": {True: "A 유의하게 우수", False: "A 유의하게 나쁨"},
    },
}


def excludes_zero(difference: PairedDifference) -> bool:
    """Say whether there is an interval and 0 lies outside of it."""
    low, high = difference.ci_low, difference.ci_high
    return low is not None and high is not None and (low > 0 or high < 0)


def claim_strength(difference: PairedDifference) -> Claim:
    """Return which words a difference carries: none, better and worse, or significantly so."""
    if difference.kind != "outcome" or not definition_of(difference.metric).better or not excludes_zero(difference):
        return "none"
    if difference.p_value is None or difference.p_value >= ALPHA:
        return "none"
    return "significant" if difference.p_holm is not None and difference.p_holm < ALPHA else "direction"


def claim_sentence(a: str, b: str, difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Say what is known of one metric of A minus B, and no more than that."""
    return (_korean if language == "ko" else _english)(a, b, difference)


def claim_label(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Return what a table writes beside the interval of A minus B; empty where there is nothing to say."""
    if difference.kind == "process":
        return PROCESS_LABEL[language]
    if not difference.variation:
        return NO_VARIATION[language] if difference.n_uids > 1 else ""
    strength = claim_strength(difference)
    return "" if strength == "none" else _VERDICTS[language][strength][_favours_a(difference)]


def power_sentence(difference: PairedDifference, language: ClaimLanguage = "en") -> str:
    """Say what so many reviews can show and how many the observed difference needs; empty without variation."""
    if difference.detectable is None:
        return ""
    smallest, n, needed = f"{difference.detectable:.3f}", difference.n_uids, difference.needed_n
    if language == "ko":
        first = f"리뷰 {n:,}건으로는 {difference.metric}의 차이가 {smallest} 이상일 때 80 % 검정력으로 볼 수 있습니다"
        return f"{first}. 관측된 차이를 보려면 약 {needed:,}건이 필요합니다." if needed else f"{first}."
    first = f"{_reviews(n)} can show a difference in {difference.metric} of {smallest} or more with 80 % power"
    return f"{first}; the observed one would need about {needed:,}." if needed else f"{first}."


def _english(a: str, b: str, one: PairedDifference) -> str:
    if one.difference is None:
        return f"{one.metric}: no review has a value under both {a} and {b}, so nothing can be said."
    start = f"{one.metric}, {a} minus {b}"
    if one.ci_low is None or one.ci_high is None:
        return f"{start}: {signed(one.difference)} over {_reviews(one.n_uids)}, {_why_untested_en(one)}."
    found = f"{signed(one.difference)}, 95 % CI {interval_text(one.ci_low, one.ci_high)}, {_reviews(one.n_uids)}"
    strength = claim_strength(one)
    if strength != "none":
        word = "better" if _favours_a(one) else "worse"
        how = "significantly " if strength == "significant" else ""
        rest = "" if strength == "significant" else "; with all outcome tests of this pair counted it is not confirmed"
        return f"{a} is {how}{word} than {b} in {one.metric}: {found}, {_tests(one)}{rest}."
    return f"{start}: {found}, {_tests(one)}; {_no_claim_en(one)}."


def _no_claim_en(one: PairedDifference) -> str:
    if one.kind == "process":
        return PROCESS_LABEL["en"]
    if one.kind == "efficiency":
        return "a matter of cost, not of quality"
    if excludes_zero(one):
        return "the interval excludes 0 but the permutation test does not reject, so no claim is made"
    return "the interval holds 0, so the data fit no difference as well"


def _why_untested_en(one: PairedDifference) -> str:
    return NO_VARIATION["en"] if one.n_uids > 1 else "too few for an interval"


def _korean(a: str, b: str, one: PairedDifference) -> str:
    if one.difference is None:
        return f"{one.metric}: {a} 및 {b} 양쪽에 값이 있는 리뷰가 없어 아무것도 말할 수 없습니다."
    start = f"{one.metric}, {a} 빼기 {b}"
    if one.ci_low is None or one.ci_high is None:
        why = NO_VARIATION["ko"] if one.n_uids > 1 else "구간을 구하기에는 리뷰가 너무 적음"
        return f"{start}: {signed(one.difference)}, 리뷰 {one.n_uids:,}건, {why}."
    interval = interval_text(one.ci_low, one.ci_high)
    found = f"{signed(one.difference)}, 95 % 신뢰구간 {interval}, 리뷰 {one.n_uids:,}건"
    strength = claim_strength(one)
    if strength != "none":
        word = "우수합니다" if _favours_a(one) else "나쁩니다"
        how = "유의하게 " if strength == "significant" else ""
        rest = "" if strength == "significant" else "; 이 쌍의 결과 지표 검정을 모두 고려하면 확증되지는 않음"
        # "쪽이" fits any name; the particle after a bare name would depend on how the name is read aloud.
        return f"{a} 쪽이 {b}보다 {one.metric} 기준으로 {how}{word}: {found}, {_tests(one)}{rest}."
    return f"{start}: {found}, {_tests(one)}; {_no_claim_ko(one)}."


def _no_claim_ko(one: PairedDifference) -> str:
    if one.kind == "process":
        return PROCESS_LABEL["ko"]
    if one.kind == "efficiency":
        return "품질이 아닌 비용 지표"
    if excludes_zero(one):
        return "구간은 0을 포함하지 않지만 순열 검정이 기각하지 않으므로 주장하지 않음"
    return "구간이 0을 포함하므로 차이가 없다는 가정과도 맞음"


def _favours_a(one: PairedDifference) -> bool:
    rises = one.difference is not None and one.difference > 0
    return rises == (definition_of(one.metric).better == "higher")


def _tests(one: PairedDifference) -> str:
    found = [p_equals(one.p_value)] if one.p_value is not None else []
    found += [f"Holm {p_equals(one.p_holm)}"] if one.p_holm is not None else []
    return ", ".join(found)


def _reviews(n: int) -> str:
    return f"{n:,} review{'' if n == 1 else 's'}"

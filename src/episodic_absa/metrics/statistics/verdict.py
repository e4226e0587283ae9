"""The answer to the question of a comparison, and the plain sentence that states it in English and Korean."""

from typing import Final, Literal

from episodic_absa.metrics.statistics.number_text import interval_text, signed
from episodic_absa.metrics.statistics.paired.difference import PairedDifference
from episodic_absa.metrics.statistics.paired.doubts import DOUBT_WORDS, Doubt
from episodic_absa.metrics.statistics.paired.equivalence import FEW_DIFFERING
from episodic_absa.metrics.statistics.paired.order_test import FEWEST_CLAIMED
from episodic_absa.metrics.statistics.paired.unseen import orders_for
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel

VerdictKind = Literal["raised", "lowered", "no_larger_effect", "same", "undecided"]
Undecided = Literal[Doubt, "no_pairs", "no_variation", "few_differ"]
Language = Literal["en", "ko"]

_NAMES: Final = {
    "en": {
        "tuple_f1_explicit": "mean F1 (tuple_f1_explicit)",
        "tuple_f1_explicit_micro": "micro F1 (tuple_f1_explicit_micro)",
        "tuple_precision_explicit_micro": "micro precision (tuple_precision_explicit_micro)",
        "tuple_recall_explicit_micro": "micro recall (tuple_recall_explicit_micro)",
    },
    "ko": {
        "tuple_f1_explicit": "평균 F1(tuple_f1_explicit)",
        "tuple_f1_explicit_micro": "마이크로 F1(tuple_f1_explicit_micro)",
        "tuple_precision_explicit_micro": "마이크로 정밀도(tuple_precision_explicit_micro)",
        "tuple_recall_explicit_micro": "마이크로 재현율(tuple_recall_explicit_micro)",
    },
}


class Verdict(FrozenModel):
    """What a comparison says about its primary metric, A against B."""

    kind: VerdictKind
    """"raised" or "lowered": a significant difference. "no_larger_effect": the data rule out the smallest effect of
    interest. "same": the conditions cannot differ, and they do not. "undecided": none of these."""
    metric: str
    difference: float | None
    ci_low: float | None
    """The 95 % interval."""
    ci_high: float | None
    smallest_effect: float
    n_uids: Count
    needed_n: int | None
    """Reviews that would decide, more than there are; None where no number of reviews would."""
    orders_n: Count = 1
    ci90_low: float | None = None
    """The 90 % interval, by which "no_larger_effect" is judged."""
    ci90_high: float | None = None
    reason: Undecided = ""
    """Why a verdict is undecided, apart from too wide an interval."""
    differing_n: Count = 0
    """Reviews whose difference is not 0."""
    grows: Flag = False
    """Whether a memory grew: then the verdict is about these orders."""
    failed_n: Count = 0
    """Pairs of samples of which one failed or both did."""
    failed_low: float | None = None
    """The lower bound of the interval if every failed sample had gone against A; None without one."""
    failed_high: float | None = None


def verdict_of(primary: PairedDifference) -> Verdict:
    """Return the verdict on the primary metric."""
    reason = _reason(primary)
    kind: VerdictKind = "undecided"
    if primary.same_by_construction and primary.n_uids and not primary.differing_n:
        kind, reason = "same", ""
    elif reason:
        kind = "undecided"
    elif primary.claim == "significant":
        kind = "raised" if (primary.difference or 0.0) > 0 else "lowered"
    elif primary.equivalence == "no_larger_effect":
        kind = "no_larger_effect"
    elif not primary.variation:
        reason = "no_variation"
    names = Verdict.model_fields.keys() & PairedDifference.model_fields.keys()
    shared = {name: getattr(primary, name) for name in names}
    needed = primary.needed_n if kind == "undecided" and reason in ("", "no_variation") else None
    return Verdict(**{**shared, "kind": kind, "reason": reason, "needed_n": needed})


def _reason(primary: PairedDifference) -> Undecided:
    """Return what keeps a verdict open apart from too wide an interval; "" for nothing."""
    if primary.difference is None:
        return "no_pairs"
    if primary.hangs_on_few_orders:
        return "few_orders"
    if primary.equivalence == "no_larger_effect":
        return ""
    if primary.claim == "direction":
        return "few_orders"
    if primary.no_claim not in ("", "interval", "kind"):
        return primary.no_claim
    low, high, effect = primary.ci90_low, primary.ci90_high, primary.smallest_effect
    if low is None or high is None or primary.claim != "none" or not -effect < low <= high < effect:
        return ""
    # The interval rules the smallest effect out, and yet there is no verdict.
    return "few_differ" if primary.differing_n <= FEW_DIFFERING else "failed"


def verdict_sentence(a: str, b: str, verdict: Verdict, language: Language = "en") -> str:
    """Return the verdict in one plain sentence with its numbers.

    Args:
        a: the name of condition A.
        b: the name of condition B.
        verdict: from `Comparison.verdict`.
        language: "en" or "ko".

    Example:
        >>> verdict = Verdict(kind="no_larger_effect", metric="tuple_f1_explicit", difference=0.001, ci_low=-0.004,
        ...                   ci_high=0.006, ci90_low=-0.003, ci90_high=0.005, smallest_effect=0.01, n_uids=800,
        ...                   needed_n=None, orders_n=5)
        >>> start, numbers = verdict_sentence("C2", "C1", verdict).split(": ")
        >>> print(start)
        C2 did not change mean F1 (tuple_f1_explicit) by more than 0.01 compared with C1
        >>> print(numbers)
        +0.001, 90 % CI [-0.003, +0.005], 800 reviews in 5 orders.
    """
    metric = _NAMES[language].get(verdict.metric, verdict.metric)
    return (_korean if language == "ko" else _english)(a, b, metric, verdict)


def _english(a: str, b: str, metric: str, verdict: Verdict) -> str:
    effect, data = f"{verdict.smallest_effect:g}", _data_en(verdict)
    if verdict.difference is None:
        return f"No review has a value of {metric} under both {a} and {b}, so they cannot be compared."
    interval = _interval(verdict, "CI")
    short = f"{signed(verdict.difference)}{interval}" if interval else f"the difference is {signed(verdict.difference)}"
    numbers = f"{short}, {data}"
    if verdict.kind == "same":
        same = f"{a} and {b} give the same answers by construction, because neither shows memory to the model"
        return f"{same}: {metric} is equal in all of {data}."
    if verdict.kind in ("raised", "lowered"):
        small = abs(verdict.difference) < verdict.smallest_effect
        limit = f"; that is less than {effect}, the smallest effect of interest" if small else ""
        return f"{a} {verdict.kind} {metric} compared with {b}: {numbers}{_failed_en(verdict)}{limit}."
    if verdict.kind == "no_larger_effect":
        scope = f"In these {verdict.orders_n} orders, " if verdict.grows and verdict.orders_n > 1 else ""
        start = f"{scope}{a} did not change {metric} by more than {effect} compared with {b}"
        if verdict.ci90_low is None:
            return f"{start}: it is equal in all of {data}{_failed_en(verdict)}."
        return f"{start}: {numbers}{_failed_en(verdict)}."
    if verdict.reason == "recall":
        # A metric such as an error rate is better if it is lower.
        way = "higher" if verdict.difference > 0 else "lower"
        return f"No claim about {metric}: {a} has a {way} value than {b} but misses more gold pairs: {numbers}."
    if verdict.reason == "few_orders":
        why = f"; a claim needs at least {FEWEST_CLAIMED} orders"
        return f"Whether {a} changes {metric} compared with {b} cannot be told from {data}: {short}{why}."
    if verdict.reason == "few_differ":
        few = f"Only {verdict.differing_n:,} of {data} differ between {a} and {b}"
        return f"{few}, too few to tell what other reviews would give: {metric} {short}{_failed_en(verdict)}."
    start = f"Whether {a} changes {metric} by {effect} or more compared with {b} cannot be told from {data}"
    if verdict.reason == "no_variation":
        return f"{start}: the difference is {signed(verdict.difference)} in all of them{_needed_en(verdict)}."
    if verdict.reason in DOUBT_WORDS:
        why = f"{DOUBT_WORDS[verdict.reason][0]}{_orders_needed(verdict, '; about {:,} orders would be needed')}"
        return f"No claim about {metric}, {a} against {b}: {numbers}{_failed_en(verdict)}{why}."
    return f"{start}: {short}{_failed_en(verdict)}{_needed_en(verdict)}."


def _korean(a: str, b: str, metric: str, verdict: Verdict) -> str:
    effect, data = f"{verdict.smallest_effect:g}", _data_ko(verdict)
    if verdict.difference is None:
        return f"{a} 및 {b} 양쪽에 {metric} 값이 있는 리뷰가 없어 비교할 수 없습니다."
    short = f"{signed(verdict.difference)}{_interval(verdict, '신뢰구간')}"
    numbers = f"{short}, {data}"
    # "쪽" fits any name; the particle after a bare name would depend on how the name is read aloud.
    if verdict.kind == "same":
        same = f"{a} 쪽과 {b} 쪽은 모델에 메모리를 보여 주지 않아 구성상 답이 같습니다"
        return f"{same}. {data} 모두에서 {metric} 값이 같습니다."
    if verdict.kind in ("raised", "lowered"):
        verb = "높였습니다" if verdict.kind == "raised" else "낮췄습니다"
        small = abs(verdict.difference) < verdict.smallest_effect
        limit = f" 이 차이는 관심 있는 최소 효과 {effect}보다 작습니다." if small else ""
        return f"{a} 쪽이 {b}보다 {metric} 값을 {verb}({numbers}).{_failed_ko(verdict)}{limit}"
    if verdict.kind == "no_larger_effect":
        scope = f"이 순서 {verdict.orders_n}개에서 " if verdict.grows and verdict.orders_n > 1 else ""
        start = f"{scope}{a} 쪽은 {b} 쪽과 비교해 {metric} 값을 {effect}보다 크게 바꾸지 않았습니다"
        shown = f"{data}에서 모두 같음" if verdict.ci90_low is None else numbers
        return f"{start}({shown}).{_failed_ko(verdict)}"
    if verdict.reason == "recall":
        way = "높지만" if verdict.difference > 0 else "낮지만"
        return f"{a} 쪽의 {metric} 값은 {b}보다 {way} 놓친 정답 쌍이 더 많아 주장하지 않습니다({numbers})."
    if verdict.reason == "few_orders":
        start = f"{a} 쪽이 {b} 쪽과 비교해 {metric} 값을 바꾸는지는 {data}만으로 알 수 없습니다({short})."
        return f"{start} 주장하려면 순서가 {FEWEST_CLAIMED}개 이상 필요합니다."
    if verdict.reason == "few_differ":
        few = f"{data} 중 {verdict.differing_n:,}건만 {a} 쪽과 {b} 쪽의 답이 다릅니다"
        return f"{few}({metric} {short}). 다른 리뷰에서는 어떨지 알 수 없습니다.{_failed_ko(verdict)}"
    start = f"{a} 쪽이 {b} 쪽과 비교해 {metric} 값을 {effect} 이상 바꾸는지는 {data}만으로 알 수 없습니다"
    if verdict.reason == "no_variation":
        return f"{start}. 모든 리뷰에서 차이가 {signed(verdict.difference)}입니다.{_needed_ko(verdict)}"
    if verdict.reason in DOUBT_WORDS:
        why = f"{DOUBT_WORDS[verdict.reason][1]}.{_orders_needed(verdict, ' 순서가 약 {:,}개 필요합니다.')}"
        return f"{a} 쪽과 {b} 쪽의 {metric} 차이({numbers}): {why}{_failed_ko(verdict)}"
    return f"{start}({short}).{_failed_ko(verdict)}{_needed_ko(verdict)}"


def _interval(verdict: Verdict, words: str) -> str:
    level, low, high = 95, verdict.ci_low, verdict.ci_high
    if verdict.kind == "no_larger_effect":
        level, low, high = 90, verdict.ci90_low, verdict.ci90_high
    return "" if low is None or high is None else f", {level} % {words} {interval_text(low, high)}"


def _data_en(verdict: Verdict) -> str:
    reviews = f"{verdict.n_uids:,} review{'' if verdict.n_uids == 1 else 's'}"
    return f"{reviews} in {verdict.orders_n} orders" if verdict.orders_n > 1 else reviews


def _data_ko(verdict: Verdict) -> str:
    orders = f"(순서 {verdict.orders_n}개)" if verdict.orders_n > 1 else ""
    return f"리뷰 {verdict.n_uids:,}건{orders}"


def _failed_en(verdict: Verdict) -> str:
    if verdict.failed_low is None or verdict.failed_high is None:
        return ""
    reach = interval_text(verdict.failed_low, verdict.failed_high)
    return f"; with {verdict.failed_n:,} failed pairs counted against and for it, {reach}"


def _failed_ko(verdict: Verdict) -> str:
    if verdict.failed_low is None or verdict.failed_high is None:
        return ""
    reach = interval_text(verdict.failed_low, verdict.failed_high)
    return f" 실패한 쌍 {verdict.failed_n:,}개를 가장 불리하게, 가장 유리하게 세면 {reach}입니다."


def _orders_needed(verdict: Verdict, words: str) -> str:
    return words.format(orders_for(verdict.difference or 0.0)) if verdict.reason == "unseen_orders" else ""


def _needed_en(verdict: Verdict) -> str:
    if verdict.needed_n is not None:
        return f"; about {verdict.needed_n:,} reviews would be needed"
    return "; more orders would be needed" if verdict.orders_n > 1 else ""


def _needed_ko(verdict: Verdict) -> str:
    if verdict.needed_n is not None:
        return f" 리뷰가 약 {verdict.needed_n:,}건 필요합니다."
    return " 순서가 더 필요합니다." if verdict.orders_n > 1 else ""

"""The answer to the question of a comparison, and the plain sentence that states it in English and Korean."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from episodic_absa.metrics.statistics.number_text import interval_text, signed
from episodic_absa.metrics.statistics.paired.difference import NoClaim, PairedDifference
from episodic_absa.metrics.statistics.paired.equivalence import FEW_DIFFERING
from episodic_absa.metrics.statistics.power import FEWEST_ORDERS, largest_share, orders_for
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel

VerdictKind = Literal["raised", "lowered", "no_larger_effect", "same", "undecided"]
Undecided = Literal[NoClaim, "no_pairs", "no_variation", "few_differ", "failed_hide"]
Language = Literal["en", "ko"]

_NAMES: Final = {
    "tuple_f1_explicit": ("mean F1", "평균 F1"),
    "tuple_f1_explicit_micro": ("micro F1", "마이크로 F1"),
    "tuple_precision_explicit_micro": ("micro precision", "마이크로 정밀도"),
    "tuple_recall_explicit_micro": ("micro recall", "마이크로 재현율"),
}
_WHY: Final[Mapping[str, tuple[str, str]]] = {
    "test": (
        "the interval excludes 0 but the permutation test does not reject",
        "신뢰구간은 0을 포함하지 않지만 순열 검정에서 기각되지 않습니다.",
    ),
    "orders": ("the test over orders does not reject", "순서에 대한 검정에서 기각되지 않습니다."),
    "unseen_reviews": (
        "reviews that were not drawn could undo it",
        "뽑히지 않은 리뷰가 이 차이를 없앨 수 있습니다.",
    ),
    "unseen_orders": (
        "a rare bad order would not be seen among so few and could undo it",
        "드물게 나쁜 순서가 있어도 이만한 순서에서는 보이지 않을 수 있어 이 차이를 없앨 수 있습니다.",
    ),
    "failed": ("the failed samples could undo it", "실패한 샘플이 이 차이를 없앨 수 있습니다."),
    "recall": ("more gold pairs are missed", "놓친 정답 쌍이 더 많습니다."),
}
"""Why a difference whose interval excludes 0 is not claimed: the end of an English sentence, and a Korean one."""

_DECIDED_BY_MORE: Final = ("", "no_variation", "few_orders", "unseen_orders")
"""The reasons that more reviews or orders would remove."""


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
    needed_orders: int | None = None
    """Orders that a decision needs at least, more than there are; None where there are enough."""
    claim_orders: int | None = None
    """Orders that agree which a claim about the smallest effect needs, where a memory grows and no difference is seen;
    None where there are enough."""
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
    is_of_these_orders: Flag = False
    """Whether the interval is about the orders that were run alone."""
    failed_n: Count = 0
    """Pairs of samples of which one failed or both did."""
    failed_low: float | None = None
    """The lower bound of the interval if every failed sample had gone against A; None without one."""
    failed_high: float | None = None


def verdict_of(primary: PairedDifference) -> Verdict:
    """Return the verdict on the primary metric."""
    kind: VerdictKind = "undecided"
    reason: Undecided = ""
    if primary.difference is None:
        reason = "no_pairs"
    elif primary.same_by_construction and not primary.differing_n:
        kind = "same"
    elif primary.claim == "significant":
        kind = "raised" if primary.difference > 0 else "lowered"
    elif primary.equivalence == "no_larger_effect":
        kind = "no_larger_effect"
    else:
        reason = _reason(primary)
    values: dict[str, Any] = {
        name: getattr(primary, name) for name in Verdict.model_fields.keys() - {"kind", "reason", "claim_orders"}
    }
    if kind != "undecided" or reason not in _DECIDED_BY_MORE:
        values.update(needed_n=None, needed_orders=None)
    elif primary.grows and not primary.excludes_zero:
        for_claim = orders_for(primary.smallest_effect)
        values["claim_orders"] = for_claim if for_claim > max(primary.orders_n, FEWEST_ORDERS) else None
    else:
        values["needed_n"] = None if primary.excludes_zero else values["needed_n"]
    return Verdict(kind=kind, reason=reason, **values)


def _reason(primary: PairedDifference) -> Undecided:
    """Return what keeps a verdict open apart from too wide an interval; "" for nothing."""
    if primary.has_few_orders:
        return "few_orders"
    if primary.no_claim not in ("interval", "kind"):
        return primary.no_claim
    low, high, effect = primary.ci90_low, primary.ci90_high, primary.smallest_effect
    rules_out = not primary.variation if low is None or high is None else -effect < low <= high < effect
    few_differ = primary.differing_n <= FEW_DIFFERING and largest_share(primary.differing_n, primary.n_uids) >= effect
    if rules_out and not few_differ:
        # The interval rules the smallest effect out, and yet there is no verdict.
        return "failed_hide"
    if not primary.variation:
        return "no_variation"
    return "few_differ" if rules_out else ""


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
    name = _NAMES.get(verdict.metric)
    if language == "ko":
        return _korean(a, b, f"{name[1]}({verdict.metric})" if name else verdict.metric, verdict)
    return _english(a, b, f"{name[0]} ({verdict.metric})" if name else verdict.metric, verdict)


def _english(a: str, b: str, metric: str, verdict: Verdict) -> str:
    effect, data, failed = f"{verdict.smallest_effect:g}", _data(verdict), _failed(verdict)
    if verdict.difference is None:
        return f"No review has a value of {metric} under both {a} and {b}, so they cannot be compared."
    short = f"{signed(verdict.difference)}{_interval(verdict)}"
    numbers = f"{short}, {data}{failed}"
    if verdict.kind == "same":
        same = f"{a} and {b} give the same answers by construction, because neither shows memory to the model"
        return f"{same}: {metric} is equal in all of {data}{failed}."
    if verdict.kind in ("raised", "lowered"):
        small = abs(verdict.difference) < verdict.smallest_effect
        limit = f"; that is less than {effect}, the smallest effect of interest" if small else ""
        return f"{a} {verdict.kind} {metric} compared with {b}: {numbers}{limit}."
    if verdict.kind == "no_larger_effect":
        scope = f"In these {verdict.orders_n} orders, " if verdict.grows else ""
        shown = f"it is equal in all of {data}{failed}" if verdict.ci90_low is None else numbers
        return f"{scope}{a} did not change {metric} by more than {effect} compared with {b}: {shown}."
    if verdict.reason in _WHY:
        why = f"{_WHY[verdict.reason][0]}, so no claim is made{_needed(verdict)}"
        return f"No claim about {metric}, {a} against {b}: {numbers}; {why}."
    if verdict.reason == "few_differ":
        few = f"Only {verdict.differing_n:,} of {data} differ in {metric} between {a} and {b}"
        return f"{few}, too few to tell what other reviews would give: {short}{failed}."
    size = "" if verdict.reason == "few_orders" else f" by {effect} or more"
    if verdict.ci_low is None:
        short = f"the difference is {short} in all of them" if verdict.n_uids > 1 else f"the difference is {short}"
    hidden = "; the failed samples could hide it" if verdict.reason == "failed_hide" else _needed(verdict)
    start = f"Whether {a} changes {metric}{size} compared with {b} cannot be told from {data}"
    return f"{start}: {short}{failed}{hidden}."


def _korean(a: str, b: str, metric: str, verdict: Verdict) -> str:
    effect, data, failed = f"{verdict.smallest_effect:g}", _data_ko(verdict), _failed_ko(verdict)
    if verdict.difference is None:
        return f"{a} 및 {b} 양쪽에 {metric} 값이 있는 리뷰가 없어 비교할 수 없습니다."
    short = f"{signed(verdict.difference)}{_interval_ko(verdict)}"
    numbers = f"{short}, {data}"
    # "쪽" fits any name; the particle after a bare name would depend on how the name is read aloud.
    if verdict.kind == "same":
        same = f"{a} 쪽과 {b} 쪽은 모델에 메모리를 보여 주지 않아 구성상 답이 같습니다"
        return f"{same}. {data} 모두에서 {metric} 값이 같습니다.{failed}"
    if verdict.kind in ("raised", "lowered"):
        verb = "높였습니다" if verdict.kind == "raised" else "낮췄습니다"
        small = abs(verdict.difference) < verdict.smallest_effect
        limit = f" 이 차이는 관심 있는 최소 효과 {effect}보다 작습니다." if small else ""
        return f"{a} 쪽이 {b}보다 {metric} 값을 {verb}({numbers}).{failed}{limit}"
    if verdict.kind == "no_larger_effect":
        scope = f"이 순서 {verdict.orders_n}개에서 " if verdict.grows else ""
        start = f"{scope}{a} 쪽은 {b} 쪽과 비교해 {metric} 값을 {effect}보다 크게 바꾸지 않았습니다"
        shown = f"{data}에서 모두 같음" if verdict.ci90_low is None else numbers
        return f"{start}({shown}).{failed}"
    if verdict.reason in _WHY:
        why = f"{_WHY[verdict.reason][1]} 그래서 차이를 주장하지 않습니다."
        return f"{a} 쪽과 {b} 쪽의 {metric} 차이는 {numbers}입니다.{failed} {why}{_needed_ko(verdict)}"
    if verdict.reason == "few_differ":
        few = f"{data} 중 {verdict.differing_n:,}건만 {a} 쪽과 {b} 쪽의 {metric} 값이 다릅니다"
        return f"{few}({short}).{failed} 다른 리뷰에서는 어떨지 알 수 없습니다."
    size = "바꾸는지는" if verdict.reason == "few_orders" else f"{effect} 이상 바꾸는지는"
    shown = short if verdict.ci_low is not None else f"모든 리뷰에서 차이가 {short}"
    hidden = " 실패한 샘플이 그런 차이를 가릴 수 있습니다." if verdict.reason == "failed_hide" else _needed_ko(verdict)
    return f"{a} 쪽이 {b} 쪽과 비교해 {metric} 값을 {size} {data}만으로 알 수 없습니다({shown}).{failed}{hidden}"


def _bounds(verdict: Verdict) -> tuple[int, str] | None:
    """Return the level of the interval that the verdict rests on, and its bounds."""
    level, low, high = 95, verdict.ci_low, verdict.ci_high
    if verdict.kind == "no_larger_effect":
        level, low, high = 90, verdict.ci90_low, verdict.ci90_high
    return None if low is None or high is None else (level, interval_text(low, high))


def _interval(verdict: Verdict) -> str:
    bounds = _bounds(verdict)
    if bounds is None:
        return ""
    scope = f" {these_orders(verdict.orders_n)}" if _is_limited(verdict) else ""
    return f", {bounds[0]} % CI {bounds[1]}{scope}"


def _interval_ko(verdict: Verdict) -> str:
    bounds = _bounds(verdict)
    if bounds is None:
        return ""
    scope = f"{these_orders(verdict.orders_n, 'ko')} " if _is_limited(verdict) else ""
    return f", {scope}{bounds[0]} % 신뢰구간 {bounds[1]}"


def _is_limited(verdict: Verdict) -> bool:
    """Return whether the interval needs the words that it is about these orders; a sentence may begin with them."""
    return verdict.is_of_these_orders and verdict.kind != "no_larger_effect"


def these_orders(orders_n: int, language: Language = "en") -> str:
    """Return the words for an interval that is about the orders that were run alone."""
    if language == "ko":
        return f"이 순서 {orders_n}개에서의" if orders_n > 1 else "이 한 순서에서의"
    return f"in these {orders_n} orders" if orders_n > 1 else "in this order"


def _data(verdict: Verdict) -> str:
    reviews = f"{verdict.n_uids:,} review{'' if verdict.n_uids == 1 else 's'}"
    return f"{reviews} in {verdict.orders_n} orders" if verdict.orders_n > 1 else reviews


def _data_ko(verdict: Verdict) -> str:
    orders = f"(순서 {verdict.orders_n}개)" if verdict.orders_n > 1 else ""
    return f"리뷰 {verdict.n_uids:,}건{orders}"


def _failed(verdict: Verdict) -> str:
    if verdict.failed_low is None or verdict.failed_high is None:
        return ""
    pairs = f"{verdict.failed_n:,} failed pair{'' if verdict.failed_n == 1 else 's'}"
    return f"; with {pairs} counted against and for it, {interval_text(verdict.failed_low, verdict.failed_high)}"


def _failed_ko(verdict: Verdict) -> str:
    if verdict.failed_low is None or verdict.failed_high is None:
        return ""
    reach = interval_text(verdict.failed_low, verdict.failed_high)
    return f" 실패한 쌍 {verdict.failed_n:,}개를 가장 불리하게, 가장 유리하게 세면 {reach}입니다."


def _needed(verdict: Verdict) -> str:
    """Return what would decide. No number of reviews makes up for orders, so that both may be needed."""
    agreeing = " that agree" if verdict.reason == "unseen_orders" else ""
    parts = [f"about {verdict.needed_n:,} reviews"] if verdict.needed_n is not None else []
    parts += [f"at least {verdict.needed_orders:,} orders{agreeing}"] if verdict.needed_orders is not None else []
    if not parts and not verdict.reason and verdict.orders_n > 1:
        parts = ["more orders, and perhaps more reviews,"]
    claim = ""
    if verdict.claim_orders:
        claim = f", and {verdict.claim_orders:,} orders that agree for a claim of {verdict.smallest_effect:g}"
    return f"; {' and '.join(parts)} would be needed{claim}" if parts else ""


def _needed_ko(verdict: Verdict) -> str:
    agreeing = "방향이 같은 " if verdict.reason == "unseen_orders" else ""
    parts = [f"리뷰가 약 {verdict.needed_n:,}건"] if verdict.needed_n is not None else []
    parts += [f"{agreeing}순서가 {verdict.needed_orders:,}개 이상"] if verdict.needed_orders is not None else []
    if not parts and not verdict.reason and verdict.orders_n > 1:
        parts = ["순서가 더, 경우에 따라 리뷰도 더"]
    claim = ""
    if verdict.claim_orders:
        effect = f"{verdict.smallest_effect:g}"
        claim = f" {effect}만큼의 차이를 주장하려면 방향이 같은 순서가 {verdict.claim_orders:,}개 필요합니다."
    return f" {', '.join(parts)} 필요합니다.{claim}" if parts else ""

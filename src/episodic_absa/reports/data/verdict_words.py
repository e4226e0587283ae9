"""The words of a report for verdicts: a sentence for the first screen, a few words for a table."""

from typing import Final

from episodic_absa.metrics.statistics import Comparison, PairedDifference, Verdict, p_values_text, verdict_sentence
from episodic_absa.metrics.statistics.verdict import Language, these_orders
from episodic_absa.reports.bilingual import Bilingual

_LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")
_KINDS: Final = {
    "raised": Bilingual(en="raised", ko="높였음"),
    "lowered": Bilingual(en="lowered", ko="낮췄음"),
    "same": Bilingual(en="the same answers by construction", ko="구성상 같은 답"),
    "undecided": Bilingual(en="undecided", ko="판단할 수 없음"),
}
_REASONS: Final = {
    "no_pairs": Bilingual(en="no review in common", ko="공통 리뷰 없음"),
    "few_orders": Bilingual(en="undecided: too few orders", ko="판단할 수 없음: 순서가 너무 적음"),
    "few_differ": Bilingual(en="undecided: few reviews differ", ko="판단할 수 없음: 다른 리뷰가 적음"),
    "failed_hide": Bilingual(
        en="undecided: failed samples could hide it", ko="판단할 수 없음: 실패한 샘플이 가릴 수 있음"
    ),
    "test": Bilingual(en="no claim: the test does not reject", ko="주장하지 않음: 검정에서 기각되지 않음"),
    "orders": Bilingual(en="no claim: orders disagree", ko="주장하지 않음: 순서마다 다름"),
    "unseen_reviews": Bilingual(
        en="no claim: other reviews could undo it", ko="주장하지 않음: 다른 리뷰에서 뒤집힐 수 있음"
    ),
    "unseen_orders": Bilingual(
        en="no claim: other orders could undo it", ko="주장하지 않음: 다른 순서에서 뒤집힐 수 있음"
    ),
    "failed": Bilingual(en="no claim: failed samples could undo it", ko="주장하지 않음: 실패한 샘플이 뒤집을 수 있음"),
    "recall": Bilingual(en="no claim: more gold pairs are missed", ko="주장하지 않음: 놓친 정답 쌍이 더 많음"),
}


def answer_of(comparison: Comparison) -> Bilingual:
    """Return the answer of a comparison in one plain sentence."""
    a, b, verdict = comparison.a, comparison.b, comparison.verdict()
    return Bilingual(en=verdict_sentence(a, b, verdict, "en"), ko=verdict_sentence(a, b, verdict, "ko"))


def verdict_words(verdict: Verdict) -> Bilingual:
    """Return a verdict in a few words, with the orders that its interval is about where it is not about all."""
    words = _REASONS.get(verdict.reason) or _KINDS.get(verdict.kind) or no_larger_effect(verdict.smallest_effect)
    if not verdict.is_of_these_orders or verdict.ci_low is None:
        return words
    scope = {language: these_orders(verdict.orders_n, language) for language in _LANGUAGES}
    return Bilingual(en=f"{words.en}; interval {scope['en']}", ko=f"{words.ko}; {scope['ko']} 구간")


def numbers_of(primary: PairedDifference) -> Bilingual:
    """Return the tests of the primary metric, and the orders that all intervals are about where not about all."""
    en, ko = (p_values_text(primary, language) for language in _LANGUAGES)
    if primary.is_of_these_orders:
        of_these = {language: these_orders(primary.orders_n, language) for language in _LANGUAGES}
        en = f"{en} The memory grows: every interval is about the difference {of_these['en']} and no others."
        ko = f"{ko} 메모리가 쌓이므로 모든 구간은 {of_these['ko']} 차이만 다룹니다."
    return Bilingual(en=en, ko=ko)


def equivalence_words(paired: PairedDifference) -> Bilingual | None:
    """Return that the data rule out the smallest effect of interest; None if they do not."""
    return no_larger_effect(paired.smallest_effect) if paired.equivalence == "no_larger_effect" else None


def no_larger_effect(size: float) -> Bilingual:
    """Return that there is no effect above a size."""
    return Bilingual(en=f"no change larger than {size:g}", ko=f"{size:g}보다 큰 변화 없음")

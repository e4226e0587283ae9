"""The words of a report for verdicts: a sentence for the first screen, a few words for a table."""

from typing import Final

from episodic_absa.metrics.statistics import Comparison, PairedDifference, Verdict, verdict_sentence
from episodic_absa.reports.bilingual import Bilingual

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
    """Return a verdict in a few words."""
    if verdict.kind == "no_larger_effect":
        return no_larger_effect(verdict.smallest_effect)
    return _REASONS.get(verdict.reason) or _KINDS[verdict.kind]


def equivalence_words(paired: PairedDifference) -> Bilingual | None:
    """Return that the data rule out the smallest effect of interest; None if they do not."""
    return no_larger_effect(paired.smallest_effect) if paired.equivalence == "no_larger_effect" else None


def no_larger_effect(size: float) -> Bilingual:
    """Return that there is no effect above a size."""
    return Bilingual(en=f"no change larger than {size:g}", ko=f"{size:g}보다 큰 변화 없음")

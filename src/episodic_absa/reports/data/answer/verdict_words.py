"""The words of a report for verdicts: a sentence for the first screen, a few words for a table."""

from typing import Final

from episodic_absa.metrics.statistics import Comparison, PairedDifference, Verdict, verdict_sentence
from episodic_absa.reports.data.bilingual import Bilingual

_KINDS: Final = {
    "raised": Bilingual(en="raised", ko="높였음"),
    "lowered": Bilingual(en="lowered", ko="낮췄음"),
    "undecided": Bilingual(en="undecided", ko="판단할 수 없음"),
}
_REASONS: Final = {
    "no_pairs": Bilingual(en="no review in common", ko="공통 리뷰 없음"),
    "few_orders": Bilingual(en="undecided: too few orders", ko="판단할 수 없음: 순서가 너무 적음"),
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

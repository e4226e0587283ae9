"""The first sentence of a comparison: what it says for every verdict, in both languages."""

from typing import Any

import pytest

from episodic_absa.metrics.statistics import PairedDifference, Verdict, find_unsupported_claims, verdict_sentence
from episodic_absa.metrics.statistics.verdict import verdict_of

DIFFERENCE: dict[str, Any] = {
    "metric": "tuple_f1_explicit",
    "kind": "outcome",
    "n_uids": 800,
    "n_pairs": 4000,
    "unpaired_a": 0,
    "unpaired_b": 0,
    "mean_a": 0.5,
    "mean_b": 0.48,
    "difference": 0.02,
    "ci_low": 0.008,
    "ci_high": 0.031,
    "ci90_low": 0.01,
    "ci90_high": 0.029,
    "p_value": 0.001,
    "p_holm": 0.004,
    "p_orders": 0.004,
    "dz": 0.1,
    "variation": True,
    "orders_n": 5,
    "method": "crossed",
    "equivalence": "undecided",
    "is_primary": True,
    "needed_n": 1_234,
}
NARROW = {"ci_low": -0.004, "ci_high": 0.006, "ci90_low": -0.003, "ci90_high": 0.005, "difference": 0.001}
FROM = "mean F1 (tuple_f1_explicit)"
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "raised", f"C2 raised {FROM} compared with C1: +0.020, 95 % CI [+0.008, +0.031], "),
    (
        {"difference": -0.02, "ci_low": -0.031, "ci_high": -0.008},
        "lowered",
        f"C2 lowered {FROM} compared with C1: -0.020, 95 % CI [-0.031, -0.008], 800 reviews in 5 orders.",
    ),
    (
        {**NARROW, "equivalence": "no_larger_effect"},
        "no_larger_effect",
        f"C2 did not change {FROM} by more than 0.01 compared with C1: +0.001, 90 % CI [-0.003, +0.005], ",
    ),
    (
        {"ci_low": -0.02},
        "undecided",
        f"Whether C2 changes {FROM} by 0.01 or more compared with C1 cannot be told from 800 reviews in 5 orders: ",
    ),
    (
        {"orders_n": 3},
        "undecided",
        f"Whether C2 changes {FROM} compared with C1 cannot be told from ",
    ),
    (
        {"recall_worse": True},
        "undecided",
        f"No claim about {FROM}: C2 has a higher value than C1 but",
    ),
    (
        {"metric": "exact_match", "difference": None, "ci_low": None, "ci_high": None, "p_value": None, "n_uids": 0},
        "undecided",
        "No review has a value of exact_match under both C2 and C1, so they cannot be compared.",
    ),
    (
        {"orders_n": 1, "method": "percentile", "p_orders": None, "grows": True},
        "undecided",
        f"Whether C2 changes {FROM} compared with C1 cannot be told from 800 reviews: +0.020, 95 % CI ",
    ),
    (
        {**NARROW, "orders_n": 1, "p_orders": None, "grows": True, "equivalence": "no_larger_effect"},
        "undecided",
        f"Whether C2 changes {FROM} compared with C1 cannot be told from 800 reviews: ",
    ),
    (
        {"orders_n": 1, "method": "percentile", "p_orders": None},
        "raised",
        f"C2 raised {FROM} compared with C1: +0.020, 95 % CI [+0.008, +0.031], 800 reviews.",
    ),
]


def verdict(changes: dict[str, Any]) -> Verdict:
    return verdict_of(PairedDifference(**{**DIFFERENCE, **changes}))


@pytest.mark.parametrize(("changes", "kind", "sentence"), CASES)
def test_a_verdict_is_one_plain_sentence_with_its_numbers(changes: dict[str, Any], kind: str, sentence: str) -> None:
    found = verdict(changes)
    assert found.kind == kind
    assert verdict_sentence("C2", "C1", found).startswith(sentence)
    for language in ("en", "ko"):
        assert find_unsupported_claims(verdict_sentence("C2", "C1", found, language)) == ()


def test_an_open_question_says_how_many_reviews_would_close_it() -> None:
    sentence = verdict_sentence("C2", "C1", verdict({"ci_low": -0.02}))
    assert sentence.endswith(": +0.020, 95 % CI [-0.020, +0.031]; about 1,234 reviews would be needed.")


def test_a_verdict_in_korean() -> None:
    told = [verdict_sentence("C2", "C1", verdict(changes), "ko") for changes, _, _ in CASES]
    assert told[0] == (
        "C2 쪽이 C1보다 평균 F1(tuple_f1_explicit) 값을 높였습니다"
        "(+0.020, 95 % 신뢰구간 [+0.008, +0.031], 리뷰 800건(순서 5개))."
    )
    assert "낮췄습니다" in told[1]
    assert "0.01보다 크게 바꾸지 않았습니다(+0.001, 90 % 신뢰구간 [-0.003, +0.005]" in told[2]
    assert told[3].endswith("알 수 없습니다(+0.020, 95 % 신뢰구간 [-0.020, +0.031]). 리뷰가 약 1,234건 필요합니다.")
    assert "순서가 5개 이상 필요합니다" in told[4]
    assert "놓친 정답 쌍이 더 많아" in told[5]


def test_an_effect_smaller_than_the_smallest_of_interest_is_said_to_be_small() -> None:
    small = verdict({"difference": 0.006, "ci_low": 0.003, "ci_high": 0.009})
    assert verdict_sentence("C2", "C1", small).endswith("; that is less than 0.01, the smallest effect of interest.")


@pytest.mark.parametrize(
    "text", ["C2 raised F1.", "C2 lowered exact_match: 95 % CI [-0.01, +0.02].", "C2 쪽이 F1 값을 높였습니다."]
)
def test_a_verdict_without_an_interval_that_supports_it_is_found(text: str) -> None:
    assert len(find_unsupported_claims(text)) == 1


def test_advice_that_lowered_a_risk_is_no_claim() -> None:
    assert find_unsupported_claims("Keeping the words lowered the risk before.") == ()

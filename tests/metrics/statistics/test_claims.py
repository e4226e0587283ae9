"""Words of victory stand only where the numbers beside them carry them."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.statistics.four_term_cards import make_cards

from episodic_absa.metrics import PAIRED_METRICS, definition_of
from episodic_absa.metrics.statistics import (
    PairedDifference,
    bootstrap_intervals,
    claim_label,
    claim_sentence,
    compare,
    find_unsupported_claims,
    interval_text,
    p_equals,
    p_text,
    power_sentence,
    signed,
)

BOUNDS = st.floats(-1, 1, allow_nan=False)


def made(
    low: float | None = 0.01,
    high: float | None = 0.05,
    *,
    metric: str = "tuple_f1_explicit",
    p_value: float | None = 0.01,
    p_holm: float | None = 0.2,
    n: int = 72,
) -> PairedDifference:
    middle = None if low is None or high is None else (low + high) / 2
    kind = definition_of(metric).kind
    return PairedDifference(
        metric=metric,
        kind=kind,
        n_uids=n,
        n_pairs=n,
        unpaired_a=0,
        unpaired_b=0,
        mean_a=0.5,
        mean_b=0.5,
        difference=0.0 if middle is None else middle,
        ci_low=low,
        ci_high=high,
        p_value=p_value,
        p_holm=p_holm if kind == "outcome" else None,
        dz=0.3,
        variation=low is not None,
        detectable=0.04,
        needed_n=130,
    )


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (made(), "direction"),
        (made(-0.05, -0.01), "direction"),
        (made(p_holm=0.04), "significant"),
        (made(-0.01, 0.05, p_holm=0.04), "none"),
        (made(0.0, 0.05, p_holm=0.04), "none"),
        (made(-0.05, 0.0, p_holm=0.04), "none"),
        (made(-0.05, -0.01, p_holm=0.04), "significant"),
        (made(p_holm=0.05), "direction"),
        (made(p_holm=None), "direction"),
        (made(0.0, 0.0, p_value=None, p_holm=None), "none"),
        (made(p_value=0.0625), "none"),  # the interval excludes 0, the test does not reject
        (made(None, None, p_value=None, p_holm=None), "none"),
        (made(metric="changed", p_value=0.001), "none"),  # process
        (made(metric="tokens_in", p_value=0.001), "none"),  # efficiency
    ],
)
def test_a_claim_needs_an_interval_without_0_a_test_that_rejects_and_an_outcome(
    difference: PairedDifference, expected: str
) -> None:
    assert difference.claim == expected


def test_sentences_in_english() -> None:
    assert claim_sentence("C2", "C1", made(p_holm=0.012)) == (
        "C2 is significantly better than C1 in tuple_f1_explicit: "
        "+0.030, 95 % CI [+0.010, +0.050], 72 reviews, p = 0.010, Holm p = 0.012."
    )
    assert claim_sentence("C2", "C1", made(metric="severe_polarity_error")) == (
        "C2 is worse than C1 in severe_polarity_error: +0.030, 95 % CI [+0.010, +0.050], 72 reviews, p = 0.010, "
        "Holm p = 0.200; the Holm correction over the outcome tests of this pair does not confirm it."
    )
    assert claim_sentence("C2", "C1", made(-0.01, 0.05, p_value=0.3)) == (
        "tuple_f1_explicit, C2 minus C1: +0.020, 95 % CI [-0.010, +0.050], 72 reviews, p = 0.300, Holm p = 0.200; "
        "the interval includes 0, so the data are consistent with no difference."
    )
    assert claim_sentence("C2", "C1", made(None, None, p_value=None, p_holm=None)) == (
        "tuple_f1_explicit, C2 minus C1: 0 over 72 reviews, no variation."
    )
    assert claim_sentence("C2", "C1", made(metric="changed")).endswith("; process, not outcome.")
    assert power_sentence(made()) == (
        "72 reviews can show a difference in tuple_f1_explicit of 0.040 or more with 80 % power."
    )


def test_sentences_in_korean() -> None:
    assert claim_sentence("C2", "C1", made(p_holm=0.012), "ko") == (
        "C2 쪽이 C1보다 tuple_f1_explicit 기준으로 유의하게 우수합니다"
        "(+0.030, 95 % 신뢰구간 [+0.010, +0.050], 리뷰 72건, p = 0.010, Holm p = 0.012)."
    )
    assert claim_sentence("C2", "C1", made(), "ko").endswith(
        "Holm p = 0.200). 이 쌍의 결과 지표 검정에 Holm 보정을 하면 확인되지 않습니다."
    )
    assert claim_sentence("C2", "C1", made(-0.01, 0.05, p_value=0.3), "ko") == (
        "tuple_f1_explicit의 차이(C2 − C1)는 +0.020입니다"
        "(95 % 신뢰구간 [-0.010, +0.050], 리뷰 72건, p = 0.300, Holm p = 0.200). "
        "신뢰구간이 0을 포함하므로 차이가 없다는 가설과 모순되지 않습니다."
    )
    assert claim_sentence("C2", "C1", made(None, None, p_value=None, p_holm=None), "ko").endswith(
        "0입니다. 차이에 변동이 없습니다."
    )
    assert "리뷰 72건으로는" in power_sentence(made(), "ko")


@given(st.sampled_from(PAIRED_METRICS), BOUNDS, BOUNDS, st.floats(0, 1), st.floats(0, 1), st.integers(0, 3_000))
def test_no_sentence_claims_more_than_its_numbers(
    metric: str, one: float, other: float, p_value: float, p_holm: float, n: int
) -> None:
    difference = made(min(one, other), max(one, other), metric=metric, p_value=p_value, p_holm=p_holm, n=n)
    for language in ("en", "ko"):
        sentence = claim_sentence("C2", "C1", difference, language)
        assert find_unsupported_claims(sentence) == ()
        assert find_unsupported_claims(power_sentence(difference, language)) == ()
        has_word = any(word in sentence for word in ("better", "worse", "우수", "나쁩"))
        assert has_word == (difference.claim != "none")
        assert ("significant" in sentence or "유의" in sentence) == (difference.claim == "significant")
        assert bool(claim_label(difference, language)) == (difference.claim != "none" or difference.kind == "process")


@pytest.mark.parametrize(
    "word",
    [
        *("improves", "Improvement", "improved", "better", "BETTER", "worse", "worsened", "outperforms", "significant"),
        *("significantly", "insignificant", "non-significant", "향상되었다", "개선", "우수한", "유의미한"),
    ],
)
def test_a_claim_without_an_interval_is_found(word: str) -> None:
    for text in (f"C2 {word} here.", f"C2 {word}: 95 % CI [-0.010, +0.050], Holm p = 0.010."):
        (found,) = find_unsupported_claims(f"Before. {text}\nAfter: 95 % CI [+0.010, +0.050], Holm p = 0.010.")
        assert found.sentence == text
        assert found.word.lower() in word.lower()


@pytest.mark.parametrize(
    ("p_text_", "is_supported"),
    [("Holm p = 0.049", True), ("Holm p < 0.001", True), ("Holm p = 0.050", False), ("p = 0.001", False), ("", False)],
)
def test_significant_needs_a_small_holm_p_as_well(p_text_: str, is_supported: bool) -> None:
    for text in (
        f"C2 is significantly higher, 95 % CI [+0.010, +0.050], {p_text_}.",
        f"유의하게 높음, 95 % 신뢰구간 [−0.050, −0.010], {p_text_}.",
    ):
        assert (not find_unsupported_claims(text)) == is_supported
    assert find_unsupported_claims("C2 is better, 95 % CI [+0.010, +0.050].") == ()


@pytest.mark.parametrize("text", ["changed_improved_rate 0.5", "letterbetter", "The bettering_n column", ""])
def test_names_are_no_claims(text: str) -> None:
    assert find_unsupported_claims(text) == ()


@given(BOUNDS, BOUNDS)
def test_a_printed_interval_excludes_0_if_and_only_if_the_interval_does(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    shown = [float(bound) for bound in interval_text(low, high)[1:-1].split(", ")]
    assert (shown[0] > 0, shown[1] < 0) == (low > 0, high < 0)


@given(st.floats(0, 1))
def test_a_printed_p_is_below_05_if_and_only_if_p_is(p_value: float) -> None:
    shown = p_text(p_value)
    assert (float(shown.removeprefix("<")) < 0.05) == (p_value < 0.05)
    assert p_equals(p_value).replace("p = ", "").replace("p < ", "<") == shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123, "+0.012"),
        (-0.5, "-0.500"),
        (0.00031, "+0.00031"),
        (0.0, "0"),
        (1234.56, "+1,234.6"),
        (-1e-9, "-0.0000000010"),
    ],
)
def test_small_differences_do_not_round_to_nothing(value: float, text: str) -> None:
    assert signed(value) == text


def test_four_changed_reviews_of_two_hundred_are_no_ground_for_a_claim() -> None:
    better, worse = make_cards([4] * 200), make_cards([0] * 4 + [4] * 196)
    found = compare("C2", better, "C1", worse).primary
    plain = bootstrap_intervals([[1.0] * 4 + [0.0] * 196])[0]
    assert plain is not None
    assert plain[0] > 0
    assert found.ci_low is not None
    assert found.ci_low < 0
    assert (found.p_value, found.claim) == (0.125, "none")


def test_the_verdict_of_a_table_names_the_side() -> None:
    shown = {
        (metric, low): claim_label(made(low, low + 0.02, metric=metric), "en")
        for metric, low in product(("exact_match", "unsupported"), (0.01, -0.03))
    }
    assert shown == {
        ("exact_match", 0.01): "A better",
        ("exact_match", -0.03): "A worse",
        ("unsupported", 0.01): "A worse",
        ("unsupported", -0.03): "A better",
    }

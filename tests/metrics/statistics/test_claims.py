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
    compare,
    equal_orders,
    find_unsupported_claims,
    interval_text,
    p_equals,
    p_text,
    p_values_text,
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
        (made(), "none"),  # Holm's correction does not confirm it
        (made(p_holm=0.04), "significant"),
        (made(-0.01, 0.05, p_holm=0.04), "none"),
        (made(0.0, 0.05, p_holm=0.04), "none"),
        (made(-0.05, 0.0, p_holm=0.04), "none"),
        (made(-0.05, -0.01, p_holm=0.04), "significant"),
        (made(p_holm=0.05), "none"),
        (made(p_holm=None), "none"),
        (made(0.0, 0.0, p_value=None, p_holm=None), "none"),
        (made(p_value=0.0625, p_holm=0.04), "none"),  # the interval excludes 0, the test does not reject
        (made(None, None, p_value=None, p_holm=None), "none"),
        (made(metric="changed", p_value=0.001, p_holm=0.04), "none"),  # process
        (made(metric="tokens_in", p_value=0.001, p_holm=0.04), "none"),  # efficiency
    ],
)
def test_a_claim_needs_an_interval_without_0_a_test_that_rejects_and_an_outcome(
    difference: PairedDifference, expected: str
) -> None:
    assert difference.claim == expected


def test_the_tests_are_told_in_both_languages() -> None:
    found = made(p_holm=0.012).model_copy(update={"p_orders": 0.0002})
    assert p_values_text(found) == "tuple_f1_explicit: p = 0.010, p < 0.001 over orders, Holm p = 0.012."
    assert p_values_text(found, "ko") == "tuple_f1_explicit: p = 0.010, 순서 p < 0.001, Holm p = 0.012."
    assert p_values_text(made(None, None, p_value=None), "ko") == "tuple_f1_explicit: 변동 없음."


def test_what_a_sample_size_shows_is_told_with_its_orders() -> None:
    found = made()
    assert power_sentence(found) == (
        "72 reviews can show a difference in tuple_f1_explicit of 0.040 or more with 80 % power."
    )
    assert "72 reviews in 5 orders can show" in power_sentence(found.model_copy(update={"orders_n": 5}))
    assert "리뷰 72건(순서 5개)으로는" in power_sentence(found.model_copy(update={"orders_n": 5}), "ko")
    assert power_sentence(found.model_copy(update={"detectable": None})) == ""


@given(st.sampled_from(PAIRED_METRICS), BOUNDS, BOUNDS, st.floats(0, 1), st.floats(0, 1), st.integers(0, 3_000))
def test_no_label_claims_more_than_its_numbers(
    metric: str, one: float, other: float, p_value: float, p_holm: float, n: int
) -> None:
    difference = made(min(one, other), max(one, other), metric=metric, p_value=p_value, p_holm=p_holm, n=n)
    is_claimed = difference.excludes_zero and difference.kind == "outcome" and max(p_value, p_holm) < 0.05
    assert difference.claim == ("significant" if is_claimed and definition_of(metric).better else "none")
    for language in ("en", "ko"):
        for text in (p_values_text(difference, language), power_sentence(difference, language)):
            assert find_unsupported_claims(text) == ()
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
        (metric, low): claim_label(made(low, low + 0.02, metric=metric, p_holm=0.04), "en")
        for metric, low in product(("exact_match", "unsupported"), (0.01, -0.03))
    }
    assert shown == {
        ("exact_match", 0.01): "A significantly better",
        ("exact_match", -0.03): "A significantly worse",
        ("unsupported", 0.01): "A significantly worse",
        ("unsupported", -0.03): "A significantly better",
    }


@pytest.mark.parametrize(
    ("orders_run", "orders_n", "english", "korean"),
    [
        (1, 1, "", ""),
        (3, 3, "", ""),
        (2, 1, "The 2 orders ended alike in every sample, so that they count as one.", "순서 하나로 셉니다"),
        (5, 2, "Of the 5 orders 2 are different; equal ones count as one.", "서로 다른 것은 2개입니다"),
    ],
)
def test_orders_that_count_as_one_are_said_to(orders_run: int, orders_n: int, english: str, korean: str) -> None:
    assert equal_orders(orders_run, orders_n) == english
    assert korean in equal_orders(orders_run, orders_n, "ko")
    assert bool(korean) is bool(equal_orders(orders_run, orders_n, "ko"))

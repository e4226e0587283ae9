"""The first sentence of a comparison agrees with every number beside it, for every verdict and in both languages."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.hand_made_cards import make_memory
from tests.metrics.statistics.four_term_cards import make_card, make_cards

from episodic_absa.metrics.statistics import (
    Comparison,
    PairedDifference,
    Verdict,
    compare,
    find_unsupported_claims,
    interval_text,
    verdict_sentence,
)
from episodic_absa.metrics.statistics.verdict import verdict_of
from episodic_absa.schemas.run_files.scorecard import Scorecard

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
    "variation": True,
    "orders_n": 5,
    "method": "crossed",
    "equivalence": "undecided",
    "is_primary": True,
    "needed_n": 1_234,
    "differing_n": 90,
}
NARROW = {"ci_low": -0.004, "ci_high": 0.006, "ci90_low": -0.003, "ci90_high": 0.005, "difference": 0.001}
FAILED = {"failed_n": 3, "failed_low": -0.02, "failed_high": 0.05}
FROM = "mean F1 (tuple_f1_explicit)"
NUMBERS = "+0.020, 95 % CI [+0.008, +0.031]"
OPEN = f"Whether C2 changes {FROM} by 0.01 or more compared with C1 cannot be told from"
HIDDEN = "; with 3 failed pairs counted against and for it, [-0.020, +0.050]"
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "raised", f"C2 raised {FROM} compared with C1: {NUMBERS}, 800 reviews in 5 orders."),
    (
        {"difference": -0.02, "ci_low": -0.031, "ci_high": -0.008},
        "lowered",
        f"C2 lowered {FROM} compared with C1: -0.020, 95 % CI [-0.031, -0.008], 800 reviews in 5 orders.",
    ),
    (
        {"difference": 0.006, "ci_low": 0.003, "ci_high": 0.009},
        "raised",
        (
            f"C2 raised {FROM} compared with C1: +0.006, 95 % CI [+0.003, +0.009], 800 reviews in 5 orders; "
            "that is less than 0.01, the smallest effect of interest."
        ),
    ),
    (
        {**NARROW, "equivalence": "no_larger_effect"},
        "no_larger_effect",
        (
            f"C2 did not change {FROM} by more than 0.01 compared with C1: +0.001, 90 % CI [-0.003, +0.005], "
            "800 reviews in 5 orders."
        ),
    ),
    (
        {**NARROW, "equivalence": "no_larger_effect", "grows": True, "unseen_orders": 0.135},
        "no_larger_effect",
        (
            f"In these 5 orders, C2 did not change {FROM} by more than 0.01 compared with C1: +0.001, 90 % CI "
            "[-0.003, +0.005], 800 reviews in 5 orders."
        ),
    ),
    (
        {"ci_low": -0.02},
        "undecided",
        f"{OPEN} 800 reviews in 5 orders: +0.020, 95 % CI [-0.020, +0.031]; about 1,234 reviews would be needed.",
    ),
    (
        {"ci_low": -0.02, "grows": True, "unseen_orders": 0.135},
        "undecided",
        (
            f"{OPEN} 800 reviews in 5 orders: +0.020, 95 % CI [-0.020, +0.031] in these 5 orders; "
            "about 1,234 reviews would be needed, and 89 orders that agree for a claim of 0.01."
        ),
    ),
    (
        {"orders_n": 3, "needed_orders": 5},
        "undecided",
        (
            f"Whether C2 changes {FROM} compared with C1 cannot be told from 800 reviews in 3 orders: {NUMBERS}; "
            "at least 5 orders would be needed."
        ),
    ),
    (
        {"orders_n": 1, "method": "percentile", "p_orders": None, "grows": True, "needed_orders": 44, **FAILED},
        "undecided",
        (
            f"Whether C2 changes {FROM} compared with C1 cannot be told from 800 reviews: {NUMBERS} in this order"
            f"{HIDDEN}; at least 44 orders would be needed."
        ),
    ),
    (
        {"grows": True, "unseen_orders": 0.135, "needed_orders": 44},
        "undecided",
        (
            f"No claim about {FROM}, C2 against C1: {NUMBERS} in these 5 orders, 800 reviews in 5 orders; a rare bad "
            "order would not be seen among so few and could undo it, so no claim is made; at least 44 orders that "
            "agree would be needed."
        ),
    ),
    (
        {"orders_n": 50, "grows": True, "unseen_orders": 0.018},
        "raised",
        f"C2 raised {FROM} compared with C1: {NUMBERS} in these 50 orders, 800 reviews in 50 orders.",
    ),
    (
        {"recall_worse": True, **FAILED, "failed_low": 0.001},
        "undecided",
        (
            f"No claim about {FROM}, C2 against C1: {NUMBERS}, 800 reviews in 5 orders; with 3 failed pairs counted "
            "against and for it, [+0.001, +0.050]; more gold pairs are missed, so no claim is made."
        ),
    ),
    (
        FAILED,
        "undecided",
        (
            f"No claim about {FROM}, C2 against C1: {NUMBERS}, 800 reviews in 5 orders{HIDDEN}; "
            "the failed samples could undo it, so no claim is made."
        ),
    ),
    (
        {**NARROW, **FAILED},
        "undecided",
        f"{OPEN} 800 reviews in 5 orders: +0.001, 95 % CI [-0.004, +0.006]{HIDDEN}; the failed samples could hide it.",
    ),
    (
        {"metric": "exact_match", "difference": None, "ci_low": None, "ci_high": None, "p_value": None, "n_uids": 0},
        "undecided",
        "No review has a value of exact_match under both C2 and C1, so they cannot be compared.",
    ),
]


@pytest.mark.parametrize(("changes", "kind", "sentence"), CASES)
def test_a_verdict_is_one_plain_sentence_with_its_numbers(changes: dict[str, Any], kind: str, sentence: str) -> None:
    found = verdict_of(PairedDifference(**{**DIFFERENCE, **changes}))
    assert (found.kind, verdict_sentence("C2", "C1", found)) == (kind, sentence)
    korean = verdict_sentence("C2", "C1", found, "ko")
    # The same numbers in both languages, whatever their order.
    numbers = [sorted(re.findall(r"\d[\d.,]*\d|\d", text)) for text in (sentence, korean)]
    assert set(numbers[0]) == set(numbers[1])
    for text in (sentence, korean):
        assert find_unsupported_claims(text) == ()


def headline(found: Comparison, language: str = "en") -> str:
    return verdict_sentence(found.a, found.b, found.verdict(), language)  # type: ignore[arg-type]


def grown(cards: list[Scorecard], order: int) -> list[Scorecard]:
    shown = make_memory(memory_mode="on", exposed_to_debate=True, exposed_to_stage2=True, prompt_injection_chars=9)
    update = {"memory": shown, "store_decision": "stored", "order": order}
    return [card.model_copy(update=update) for card in cards]


def ordered(cards: list[Scorecard], order: int) -> list[Scorecard]:
    return [card.model_copy(update={"order": order}) for card in cards]


def test_reviews_that_are_all_worse_by_the_same_amount_are_a_claim_with_exact_bounds() -> None:
    found = compare("A", make_cards([0] * 60), "B", make_cards([4] * 60), resamples=300)
    primary = found.primary
    assert (primary.method, primary.sd, primary.claim) == ("equal", 0.0, "significant")
    assert primary.p_value == pytest.approx(2.0**-59, abs=1e-12)
    assert (primary.ci_low, primary.ci_high) == pytest.approx((-1.0, -1 + 2 * (1 - 0.025 ** (1 / 60))))
    assert headline(found).startswith(
        "A lowered mean F1 (tuple_f1_explicit) compared with B: -1.000, 95 % CI [-1.000, "
    )
    # Four such reviews leave too much room.
    few = compare("A", make_cards([0] * 4), "B", make_cards([4] * 4), resamples=300).primary
    assert (few.claim, few.p_value) == ("none", 0.125)


def test_few_reviews_differ_in_the_metric_and_not_in_their_answers() -> None:
    counts = [3] * 156
    found = compare("C2", make_cards([4, 2, 3, 4, *counts[4:]]), "C1", make_cards(counts), smallest_effect=0.02)
    assert (found.verdict().reason, found.verdict().needed_n) == ("few_differ", None)
    assert headline(found).startswith("Only 3 of 156 reviews differ in mean F1 (tuple_f1_explicit) between C2 and C1, ")
    assert "3건만 C2 쪽과 C1 쪽의 평균 F1(tuple_f1_explicit) 값이 다릅니다" in headline(found, "ko")


def test_equal_reviews_beside_failed_ones_say_what_keeps_the_question_open() -> None:
    equal = make_cards([3] * 345)
    holes = [make_card(card.uid, failed=True) if place < 9 else card for place, card in enumerate(equal)]
    found = compare("A", holes, "B", equal, resamples=300)
    assert found.verdict().reason == "failed_hide"
    assert (
        "336 reviews: the difference is 0 in all of them; with 9 failed pairs counted against and for it, [-0."
        in headline(found)
    )
    assert headline(found).endswith("; the failed samples could hide it.")
    assert headline(compare("A", equal, "B", equal)).endswith("it is equal in all of 345 reviews.")
    few = compare("A", equal[:100], "B", equal[:100])
    assert headline(few).endswith(
        "from 100 reviews: the difference is 0 in all of them; about 299 reviews would be needed."
    )


def test_the_figures_of_merged_orders_are_those_of_everything_that_was_run() -> None:
    random = np.random.default_rng(3)
    results = [random.choice([1, 3, 4], 80).tolist() for _ in range(2)]
    run_as = (0, 0, 0, 1, 1, 0)
    a = [card for order, result in enumerate(run_as) for card in grown(make_cards(results[result]), order)]
    b = [card for order in range(6) for card in ordered(make_cards([2] * 80), order)]
    found = compare("A", a, "B", b, resamples=300)
    plain = compare("A", [card for card in a if card.order < 1], "B", b, resamples=300)
    for metric in ("tuple_f1_explicit", "tuple_recall_explicit_micro", "exact_match"):
        row = found.of(metric)
        one, other = (
            compare("A", grown(make_cards(result), 0), "B", make_cards([2] * 80), resamples=300).of(metric).mean_a
            for result in results
        )
        assert one is not None
        assert other is not None
        assert row.orders_n == 2
        assert row.mean_a == pytest.approx((4 * one + 2 * other) / 6)
        assert row.difference == pytest.approx((row.mean_a or 0.0) - (row.mean_b or 0.0))
    assert plain.primary.orders_n == 1


def test_arms_that_cannot_differ_are_named_so() -> None:
    cards = make_cards([1, 2, 3] * 5)
    found = compare("C2_silent", cards, "C1", cards, same_by_construction=True)
    assert (found.verdict().kind, found.verdict().needed_n) == ("same", None)
    assert headline(found).startswith("C2_silent and C1 give the same answers by construction")
    assert "구성상 답이 같습니다" in headline(found, "ko")
    # A model that answers the same prompt differently breaks the construction, and the numbers say so.
    differs = compare("C2_silent", make_cards([1, 2, 3] * 4 + [1, 2, 4]), "C1", cards, same_by_construction=True)
    assert differs.verdict().kind != "same"
    # Nor do samples that failed, or other pairs that the metric does not see.
    failed = [cards[0].model_copy(update={"status": "error", "final_tuples": ()}), *cards[1:]]
    other = cards[0].final_tuples[0].model_copy(update={"aspect_term": "elsewhere"})
    unseen = [cards[0].model_copy(update={"final_tuples": (*cards[0].final_tuples[:-1], other)}), *cards[1:]]
    for changed in (failed, unseen):
        for sides in ((changed, cards), (cards, changed)):
            found = compare("C2_silent", sides[0], "C1", sides[1], same_by_construction=True)
            assert found.verdict().kind != "same"
            assert not found.primary.same_by_construction


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60),
    st.sampled_from([0.005, 0.02, 0.1, 0.5]),
)
def test_a_headline_never_contradicts_its_interval_and_its_n(counts: list[tuple[int, int]], effect: float) -> None:
    a, b = (make_cards([pair[side] for pair in counts]) for side in (0, 1))
    found = compare("A", a, "B", b, resamples=200, smallest_effect=effect)
    sentence, primary = headline(found), found.primary
    for number in re.findall(r"about ([\d,]+) reviews", sentence):
        assert int(number.replace(",", "")) > len(counts)
    low, high = primary.ci90_low, primary.ci90_high
    if "by " in sentence and "or more compared" in sentence and low is not None and high is not None:
        assert low <= -effect or high >= effect
    if re.search(r"\b(raised|lowered)\b", sentence):
        assert primary.excludes_zero
        assert primary.claim == "significant"
    # What is shown with 80 % power needs no more reviews than there are, and what is not needs more.
    if primary.detectable is not None and primary.detectable < 1:
        assert (primary.reviews_for(primary.detectable * 1.001) or 0) <= len(counts)
        assert (primary.reviews_for(primary.detectable * 0.98) or len(counts) + 1) >= len(counts)


@pytest.mark.parametrize(("low", "high"), [(-0.0004, 0.0004), (-1e-6, 0.2), (0.00004, 0.1)])
def test_signs_of_bounds_survive_rounding(low: float, high: float) -> None:
    shown = [float(bound) for bound in interval_text(low, high)[1:-1].split(", ")]
    assert [np.sign(bound) for bound in shown] == [np.sign(low), np.sign(high)]


@pytest.mark.parametrize(
    "text", ["C2 raised F1.", "C2 lowered exact_match: 95 % CI [-0.01, +0.02].", "C2 쪽이 F1 값을 높였습니다."]
)
def test_a_verdict_without_an_interval_that_supports_it_is_found(text: str) -> None:
    assert len(find_unsupported_claims(text)) == 1


def test_advice_that_lowered_a_risk_is_no_claim() -> None:
    assert find_unsupported_claims("Keeping the words lowered the risk before.") == ()


def test_a_verdict_of_python_needs_only_its_numbers() -> None:
    made = Verdict(
        kind="raised",
        metric="exact_match",
        difference=0.03,
        ci_low=0.01,
        ci_high=0.05,
        smallest_effect=0.01,
        n_uids=1,
        needed_n=None,
    )
    assert verdict_sentence("C2", "C1", made).endswith("+0.030, 95 % CI [+0.010, +0.050], 1 review.")

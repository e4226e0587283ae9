"""Failed samples at their worst, equal orders, and headlines that agree with their numbers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.hand_made_cards import make_memory
from tests.metrics.statistics.four_term_cards import make_card, make_cards

from episodic_absa.metrics.statistics import Comparison, compare, interval_text, verdict_sentence
from episodic_absa.schemas.run_files.scorecard import Scorecard

F1 = "tuple_f1_explicit"


def headline(found: Comparison, language: str = "en") -> str:
    return verdict_sentence(found.a, found.b, found.verdict(), language)  # type: ignore[arg-type]


def test_a_third_of_the_losses_failing_makes_no_claim() -> None:
    # B finds two of four terms everywhere; A finds three in most reviews and loses all in one of four.
    b = make_cards([2] * 120)
    whole = make_cards([0 if place % 4 == 0 else 3 for place in range(120)])
    holes = [make_card(card.uid, failed=True) if place % 12 == 0 else card for place, card in enumerate(whole)]
    assert compare("A", whole, "B", b, resamples=500).verdict().kind != "raised"
    found = compare("A", holes, "B", b, resamples=500)
    assert (found.primary.failed_n, found.primary.claim) == (10, "none")
    assert found.primary.failed_low is not None
    assert found.primary.failed_low < 0


def test_the_headline_carries_the_bounds_that_failed_samples_leave() -> None:
    a = [make_card(f"r{place:03d}", found=4, failed=place < 2) for place in range(200)]
    found = compare("A", a, "B", make_cards([2] * 100 + [3] * 100), resamples=500)
    primary = found.primary
    assert (primary.failed_n, primary.claim) == (2, "significant")
    assert primary.failed_low is not None
    assert primary.ci_low is not None
    assert 0 < primary.failed_low < primary.ci_low
    assert "; with 2 failed pairs counted against and for it, [+0." in headline(found)
    assert "실패한 쌍 2개" in headline(found, "ko")


def test_failed_samples_that_could_undo_a_difference_withhold_the_claim_with_the_reason() -> None:
    a = [make_card(f"r{place:03d}", found=3, failed=place < 40) for place in range(120)]
    found = compare("A", a, "B", make_cards([2, 3, 2] * 40), resamples=500)
    assert (found.primary.no_claim, found.verdict().reason) == ("failed", "failed")
    assert "the failed samples could undo it, so no claim is made" in headline(found)


def test_a_sample_that_failed_without_gold_bounds_nothing() -> None:
    a = [*make_cards([4] * 40), make_card("r9", failed=True, has_gold=False)]
    b = [*make_cards([2, 3] * 20), make_card("r9", has_gold=False)]
    assert compare("A", a, "B", b, resamples=300).primary.failed_n == 0


def grown(cards: list[Scorecard], order: int) -> list[Scorecard]:
    shown = make_memory(memory_mode="on", exposed_to_debate=True, exposed_to_stage2=True, prompt_injection_chars=9)
    update = {"memory": shown, "store_decision": "stored", "order": order}
    return [card.model_copy(update=update) for card in cards]


def ordered(cards: list[Scorecard], order: int) -> list[Scorecard]:
    return [card.model_copy(update={"order": order}) for card in cards]


def test_equal_orders_count_as_one_and_a_growing_memory_needs_three_different_ones() -> None:
    random = np.random.default_rng(3)
    results = [random.choice([3, 4], 80).tolist() for _ in range(3)]
    b = [card for order in range(4) for card in ordered(make_cards([0] * 80), order)]
    equal = [card for order in range(4) for card in grown(make_cards(results[0]), order)]
    found = compare("A", equal, "B", b, resamples=500)
    assert (found.orders_run, found.primary.orders_n, found.primary.no_claim) == (4, 1, "few_orders")
    two = [card for order in range(4) for card in grown(make_cards(results[order % 2]), order)]
    found = compare("A", two, "B", b, resamples=500)
    assert (found.primary.orders_n, found.primary.no_claim) == (2, "few_orders")
    three = [card for order in range(4) for card in grown(make_cards(results[order % 3]), order)]
    found = compare("A", three, "B", b, resamples=500)
    assert (found.primary.orders_n, found.primary.claim) == (3, "direction")


def test_arms_that_cannot_differ_are_named_so() -> None:
    cards = make_cards([1, 2, 3] * 5)
    found = compare("C2_silent", cards, "C1", cards, same_by_construction=True)
    assert (found.verdict().kind, found.verdict().needed_n) == ("same", None)
    assert headline(found).startswith("C2_silent and C1 give the same answers by construction")
    assert "구성상 답이 같습니다" in headline(found, "ko")
    # A model that answers the same prompt differently breaks the construction, and the numbers say so.
    differs = compare("C2_silent", make_cards([1, 2, 3] * 4 + [1, 2, 4]), "C1", cards, same_by_construction=True)
    assert differs.verdict().kind != "same"


def test_a_verdict_that_rests_on_few_differing_reviews_says_so_and_names_no_number() -> None:
    counts = [3] * 156
    found = compare("C2", make_cards([4, 2, 3, 4, *counts[4:]]), "C1", make_cards(counts), smallest_effect=0.02)
    assert (found.verdict().reason, found.verdict().needed_n) == ("few_differ", None)
    assert headline(found).startswith("Only 3 of 156 reviews differ between C2 and C1, too few to tell")


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


@pytest.mark.parametrize(("low", "high"), [(-0.0004, 0.0004), (-1e-6, 0.2), (0.00004, 0.1)])
def test_signs_of_bounds_survive_rounding(low: float, high: float) -> None:
    shown = [float(bound) for bound in interval_text(low, high)[1:-1].split(", ")]
    assert [np.sign(bound) for bound in shown] == [np.sign(low), np.sign(high)]

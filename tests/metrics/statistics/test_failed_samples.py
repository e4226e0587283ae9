"""Failed samples at their worst, equal orders, and headlines that agree with their numbers."""

import numpy as np
from tests.metrics.statistics.four_term_cards import make_card, make_cards
from tests.metrics.statistics.test_verdict import grown, headline, ordered

from episodic_absa.metrics.statistics import compare

F1 = "tuple_f1_explicit"


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
    # The other way round the upper bound stands against the claim, and few failures leave it.
    mirrored = compare("B", make_cards([2, 3, 2] * 40), "A", a, resamples=500).primary
    assert (mirrored.no_claim, mirrored.failed_high) == ("failed", -(found.primary.failed_low or 0.0))
    few = [make_card(f"r{place:03d}", found=4, failed=place < 2) for place in range(120)]
    assert compare("B", make_cards([2, 3, 2] * 40), "A", few, resamples=500).primary.claim == "significant"
    assert "the failed samples could undo it, so no claim is made" in headline(found)


def test_a_sample_that_failed_without_gold_bounds_nothing() -> None:
    a = [*make_cards([4] * 40), make_card("r9", failed=True, has_gold=False)]
    b = [*make_cards([2, 3] * 20), make_card("r9", has_gold=False)]
    assert compare("A", a, "B", b, resamples=300).primary.failed_n == 0


def test_equal_orders_count_as_one_and_a_growing_memory_needs_five_different_ones() -> None:
    random = np.random.default_rng(3)
    results = [random.choice([3, 4], 80).tolist() for _ in range(5)]
    b = [card for order in range(6) for card in ordered(make_cards([0] * 80), order)]
    for different, no_claim in ((1, "few_orders"), (2, "few_orders"), (4, "few_orders"), (5, "")):
        a = [card for order in range(6) for card in grown(make_cards(results[order % different]), order)]
        found = compare("A", a, "B", b, resamples=500)
        assert (found.orders_run, found.primary.orders_n, found.primary.no_claim) == (6, different, no_claim)

"""A difference that no review contradicts must outweigh the reviews that were not drawn."""

import numpy as np
from tests.metrics.statistics.test_claims import made

from episodic_absa.metrics.statistics import claim_sentence
from episodic_absa.metrics.statistics.paired import PairedCells, assess


def cells(*differences: float, n: int = 50) -> PairedCells:
    return PairedCells.of_differences(np.array([*differences, *[0.0] * (n - len(differences))])[:, None])


def test_eight_small_gains_and_no_loss_among_fifty_reviews_support_no_claim() -> None:
    tables = [cells(*[0.2] * 8), cells(*[1.0] * 8), cells(*[0.2] * 11, -0.1), cells(*[-0.2] * 8)]
    few, enough, opposed, losses = assess(tables, orders_are_random=False, resamples=1_000)
    for assessment in (few, enough, opposed, losses):
        assert assessment.excludes_zero
        assert assessment.p_value is not None
        assert assessment.p_value < 0.05
    assert (few.unopposed, few.has_direction, few.is_significant) == (True, False, False)
    assert (enough.unopposed, enough.is_significant) == (True, True)
    assert (opposed.unopposed, opposed.is_significant) == (False, True)
    assert (losses.unopposed, losses.has_direction) == (True, False)


def test_a_failed_sample_does_not_lift_the_rule() -> None:
    differences = np.zeros((50, 5))
    differences[:6] = 0.2
    differences[0, 1] = 0.25
    present = np.ones((50, 5), dtype=np.bool_)
    present[49, 4] = False
    [found] = assess([PairedCells.of_differences(differences, present)], resamples=1_000)
    assert found.excludes_zero
    assert (found.unopposed, found.has_direction) == (True, False)


def test_the_sentence_says_why_there_is_no_claim() -> None:
    difference = made(0.012, 0.052, p_value=0.0078, p_holm=0.0078, n=50).model_copy(update={"unopposed": True})
    assert (difference.no_claim, difference.claim) == ("unseen", "none")
    assert difference.model_copy(update={"n_uids": 100}).claim == "significant"
    assert claim_sentence("C2", "C1", difference).endswith(
        "; no review differs the other way, and reviews not drawn could undo it, so no claim is made."
    )
    assert "뽑히지 않은 리뷰" in claim_sentence("C2", "C1", difference, "ko")

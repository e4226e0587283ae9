"""The bucket of one sample."""

from typing import Any

import pytest
from tests.metrics.hand_made_cards import judged, make_card, measure

from episodic_absa.metrics.per_sample.structural_errors import Bucket, bucket_of
from episodic_absa.schemas.run_files.scorecard import ModeratorScore

NO_LABEL = ModeratorScore(selected_stage="stage1", applied_rules=("Z",))


@pytest.mark.parametrize(
    ("bucket", "fields"),
    [
        ("explicit", {"sentiments_judged": (judged(),)}),
        ("unsupported", {"sentiments_judged": (judged(evidence=False),)}),
        ("explicit_failure", {"sentiments_judged": (judged(grounded=False),)}),
        ("explicit_failure", {"sentiments_judged": (judged(grounded=False, evidence=False),)}),
        ("implicit", {"sentiments_judged": (judged(grounded=False),), "implicit_grounding_candidate": True}),
        (
            "explicit_failure",
            {
                "sentiments_judged": (judged(grounded=False),),
                "implicit_grounding_candidate": True,
                "moderator": NO_LABEL,
            },
        ),
        ("implicit", {"sentiments_judged": (judged("", grounded=False),)}),
        ("implicit", {"final_tuples": (), "sentiments_judged": ()}),
        ("unsupported", {"final_tuples": (), "sentiments_judged": (), "moderator": NO_LABEL}),
    ],
)
def test_the_first_tuple_decides_the_bucket(bucket: Bucket, fields: dict[str, Any]) -> None:
    card = make_card([("food", "positive")], **fields)
    assert bucket_of(card, count_backfilled=False) == bucket
    assert measure(card)(f"{bucket}_rate").value == 1.0


def test_a_backfill_is_no_first_tuple() -> None:
    card = make_card([], backfilled=[("food", "neutral")], moderator=NO_LABEL)
    assert bucket_of(card, count_backfilled=False) == "unsupported"
    assert bucket_of(card, count_backfilled=True) == "explicit"

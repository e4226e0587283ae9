"""The patch, step by step and in order."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.schemas.absa import Span
from episodic_absa.seed.patch import PatchResult

b: Any = builders


def stage1(*proposals: Any, sentiments: Any = None, risks: Any = ()) -> Any:
    found = sentiments or [b.sentiment("food", "positive", 0.8), b.sentiment("service", "negative", 0.6)]
    return b.stage1_of([b.aspect("food"), b.aspect("service")], found, risks, proposals)


def entries(result: PatchResult, step: str) -> list[tuple[str, str, bool]]:
    return [(one.what, one.aspect_term, one.applied) for one in result.log if one.step == step]


def applied_change_ids(result: PatchResult) -> frozenset[str]:
    return frozenset(entry.change_id for entry in result.log if entry.applied and entry.change_id)


def of(result: PatchResult, term: str) -> Any:
    (one,) = [item for item in result.sentiments if item.aspect_term == term]
    return one


@pytest.mark.parametrize(
    ("old", "new"), [("positive", "negative"), ("negative", "positive"), ("neutral", "neutral"), (None, None)]
)
@pytest.mark.parametrize(("confidence", "raised"), [(0.3, 0.9), (0.95, 0.95)])
def test_a_flip_proposal_turns_a_polar_sentiment_and_leaves_the_others(
    old: Any, new: Any, confidence: float, raised: float
) -> None:
    result = b.patched(stage1(b.proposal("FLIP_POLARITY", "food"), sentiments=[b.sentiment("food", old, confidence)]))
    one = of(result, "food")
    assert one.polarity == new
    flipped = old in {"positive", "negative"}
    assert one.confidence == (raised if flipped else confidence)
    assert entries(result, "proposal") == [("FLIP_POLARITY", "food", flipped)]
    assert result.proposal_or_verdict_applied is flipped
    if flipped:
        assert one.polarity_distribution[new] == pytest.approx(0.9)
        assert sorted(v for v in one.polarity_distribution.values() if v) == pytest.approx([0.1, 0.9])


TWICE = "food here, and food there"


@pytest.mark.parametrize(("revised", "start"), [((15, 19), 15), (None, 0)])
def test_a_span_proposal_needs_its_revised_span(revised: Any, start: int) -> None:
    first = b.stage1_of(
        [b.aspect("food", TWICE)],
        [b.sentiment("food", "positive", text=TWICE)],
        proposals=[b.proposal("REVISE_SPAN", "food", revised)],
    )
    result = b.patched(first, text=TWICE)
    assert result.aspects[0].span == Span(start=start, end=start + 4)
    assert entries(result, "proposal") == [("REVISE_SPAN", "food", revised is not None)]


@pytest.mark.parametrize(
    ("old", "revised", "new"),
    [
        ("positive", None, "negative"),
        ("negative", None, "positive"),
        ("positive", "negative", "negative"),
        ("positive", "neutral", "neutral"),
        ("neutral", "negative", "negative"),
        ("neutral", None, None),
    ],
)
@pytest.mark.parametrize(("confidence", "raised"), [(0.4, 0.9), (0.95, 0.95)])
def test_a_flip_review_sets_the_revised_polarity_else_the_inverse(
    old: Any, revised: Any, new: Any, confidence: float, raised: float
) -> None:
    first = stage1(sentiments=[b.sentiment("food", old, confidence)])
    result = b.patched(first, [], [b.atsa_verdict("flip_polarity", "food", revised)])
    one = of(result, "food")
    assert (one.polarity, one.confidence) == ((old, confidence) if new is None else (new, raised))
    assert ("chg_002" in applied_change_ids(result)) is (new is not None)


@pytest.mark.parametrize(("old", "new"), [(0.8, 0.6), (0.2, 0.0), (0.1, 0.0), (0.0, 0.0)])
def test_reducing_confidence_takes_a_fifth_down_to_zero(old: float, new: float) -> None:
    result = b.patched(
        stage1(sentiments=[b.sentiment("food", "positive", old)]), [], [b.atsa_verdict("reduce_confidence", "food")]
    )
    one = of(result, "food")
    assert one.confidence == pytest.approx(new)
    assert one.polarity == "positive"


def test_proposals_come_before_verdicts() -> None:
    result = b.patched(stage1(b.proposal("FLIP_POLARITY", "food")), [], [b.atsa_verdict("flip_polarity", "food")])
    assert of(result, "food").polarity == "positive"
    assert [one.step for one in result.log] == ["proposal", "atsa_review"]


def test_aspect_verdicts_come_before_sentiment_verdicts() -> None:
    result = b.patched(stage1(), [b.ate_verdict("drop", "food")], [b.atsa_verdict("flip_polarity", "food")])
    assert b.pairs_of(result.sentiments) == [("service", "negative")]
    assert list(applied_change_ids(result)) == ["chg_001"]


def strong_debate(term: str = "food", polarity: str = "negative", **more: Any) -> Any:
    return b.debate_of(
        {"epm": [b.edit("set_polarity", term, polarity)], "tan": [b.edit("set_polarity", term, polarity)]},
        patch=[b.ruling("set_polarity", term, polarity)],
        **more,
    )


def test_the_override_gate_comes_after_the_verdicts() -> None:
    result = b.patched(stage1(), [], [b.atsa_verdict("flip_polarity", "food")], strong_debate())
    assert of(result, "food").polarity == "negative"
    assert result.override.decisions[0].reason == "already_confident"
    assert result.override.applied is None


@pytest.mark.parametrize(
    ("speakers", "judge", "gone"),
    [
        ({"epm": ["food"]}, ["food"], True),
        ({"tan": ["food"], "cj": ["service"]}, ["food"], True),
        ({}, ["food"], False),
        ({"epm": ["service"]}, ["food"], False),
        ({"epm": ["food"], "tan": ["food"], "cj": ["food"]}, [], False),
        ({"epm": ["zebra"]}, ["food"], False),
    ],
)
def test_a_judges_drop_needs_a_speaker_who_drops_the_same_aspect(
    speakers: dict[str, list[str]], judge: list[str], gone: bool
) -> None:
    debate = b.debate_of(
        {name: [b.edit("drop_tuple", term) for term in found] for name, found in speakers.items()},
        patch=[b.ruling("drop_tuple", term) for term in judge],
    )
    result = b.patched(stage1(), debate=debate)
    left = [("service", "negative")] if gone else [("food", "positive"), ("service", "negative")]
    assert b.pairs_of(result.sentiments) == left
    assert result.debate_acted is gone


LIFE = "battery life is long, the battery was cheap and the screen is dim"


@pytest.mark.parametrize(
    ("term", "aspects", "renamed"),
    [
        ("life", ["battery life"], "battery life"),
        ("Battery Life", ["battery life"], "battery life"),
        ("the screen", ["screen"], "screen"),
        ("batter", ["battery", "battery life"], "battery life"),
        ("screen", ["battery life"], "screen"),
        ("", ["battery life"], ""),
        ("zebra", ["battery life"], None),
    ],
)
def test_the_anchor_guard_renames_keeps_or_drops(term: str, aspects: list[str], renamed: str | None) -> None:
    first = b.stage1_of(
        [b.aspect(one, LIFE) for one in aspects], [b.sentiment(one, "positive", text=LIFE) for one in aspects]
    )
    result = b.patched(first, [], [b.atsa_verdict("add", term, "negative")], text=LIFE)
    negative = [one.aspect_term for one in result.sentiments if one.polarity == "negative"]
    assert negative == ([] if renamed is None else [renamed])
    if renamed is None:
        assert any(one.aspect_term == term and one.reason for one in result.log)


CONFLICT = [
    b.sentiment("food", "positive", 0.8),
    b.sentiment("service", "positive", 0.9),
    b.sentiment("service", "negative", 0.4),
]


@pytest.mark.parametrize(
    ("judge", "kept"),
    [
        ([], ("service", "positive")),
        ([("service", "negative")], ("service", "negative")),
        ([("service", "positive")], ("service", "positive")),
        ([("service", "neutral")], ("service", "positive")),
    ],
)
def test_reduction_keeps_the_judges_existing_polarity_else_the_surest(
    judge: list[tuple[str, str]], kept: tuple[str, str]
) -> None:
    debate = strong_debate("food", "negative", tuples=[b.judged(*one) for one in judge])
    result = b.patched(stage1(sentiments=CONFLICT), debate=debate)
    assert result.debate_acted
    assert b.pairs_of(result.sentiments) == [("food", "negative"), kept]


@pytest.mark.parametrize(
    ("ruled", "review", "acted"),
    [
        (("service", "positive"), ("flip_polarity", "service", "positive"), True),
        (("service", "positive"), ("flip_polarity", "service", None), True),
        (("price", "positive"), ("add", "price", "positive"), False),
        (("service", "negative"), ("flip_polarity", "service", "positive"), False),
        (("food", "positive"), ("flip_polarity", "service", "positive"), False),
    ],
)
def test_a_judges_polarity_that_equals_an_applied_review_is_a_debate_action(
    ruled: tuple[str, str], review: tuple[Any, ...], acted: bool
) -> None:
    debate = b.debate_of({}, patch=[b.ruling("set_polarity", *ruled)])
    result = b.patched(stage1(), [], [b.atsa_verdict(*review)], debate)
    assert applied_change_ids(result)
    assert result.debate_acted is acted


@pytest.mark.parametrize(
    ("judge", "unsettled"),
    [
        ([], True),
        ([("service", "positive")], False),
        ([("service", "negative")], False),
        ([("service", "positive"), ("service", "negative")], True),
        ([("food", "negative")], True),
    ],
)
def test_a_new_conflict_is_settled_only_by_a_single_judge_polarity(
    judge: list[tuple[str, str]], unsettled: bool
) -> None:
    debate = strong_debate("food", "negative", tuples=[b.judged(*one) for one in judge])
    result = b.patched(stage1(), [], [b.atsa_verdict("add", "service", "positive")], debate)
    assert result.debate_acted
    assert result.unsettled_conflict is unsettled
    assert len([one for one in result.sentiments if one.aspect_term == "service"]) == 1

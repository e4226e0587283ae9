"""The patch, step by step and in order."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.pipeline_settings import PipelineSettings
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


def terms(result: PatchResult) -> list[str]:
    return [one.aspect_term for one in result.aspects]


def test_without_verdicts_and_debate_the_patch_is_a_copy() -> None:
    first = stage1()
    result = b.patched(first)
    assert result.aspects == first.ate.aspects
    assert result.sentiments == first.atsa.sentiments
    assert not result.proposal_or_verdict_applied
    assert not result.debate_acted
    assert not applied_change_ids(result)


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


def test_a_flip_proposal_turns_only_the_first_matching_sentiment() -> None:
    two = [b.sentiment("food", "positive", 0.5), b.sentiment("food", "positive", 0.6)]
    result = b.patched(stage1(b.proposal("FLIP_POLARITY", "food"), sentiments=two))
    assert b.pairs_of(result.sentiments) == [("food", "negative"), ("food", "positive")]


def test_a_drop_proposal_removes_the_aspect_and_its_sentiments() -> None:
    result = b.patched(stage1(b.proposal("DROP_ASPECT", "food")))
    assert terms(result) == ["service"]
    assert b.pairs_of(result.sentiments) == [("service", "negative")]
    assert entries(result, "proposal") == [("DROP_ASPECT", "food", True)]


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


def test_check_span_only_repairs_a_wrong_span() -> None:
    wrong = b.aspect("food").model_copy(update={"span": Span(start=0, end=3)})
    first = b.stage1_of([wrong], [b.sentiment("food", "positive")], proposals=[b.proposal("CHECK_SPAN", "food")])
    result = b.patched(first)
    assert result.aspects[0].span == Span(start=4, end=8)
    assert result.aspects[0].aspect_term == "food"
    assert b.pairs_of(result.sentiments) == [("food", "positive")]


@pytest.mark.parametrize("kind", ["FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN"])
def test_a_proposal_on_an_unknown_term_is_logged_as_not_applied_with_a_reason(kind: str) -> None:
    first = stage1(b.proposal(kind, "zebra", (4, 8)))
    result = b.patched(first)
    assert result.sentiments == first.atsa.sentiments
    assert result.aspects == first.ate.aspects
    assert entries(result, "proposal") == [(kind, "zebra", False)]
    assert result.log[0].reason
    assert not result.proposal_or_verdict_applied


def test_an_aspect_review_may_drop_an_aspect_with_its_sentiments() -> None:
    result = b.patched(stage1(), [b.ate_verdict("drop", "food")])
    assert terms(result) == ["service"]
    assert b.pairs_of(result.sentiments) == [("service", "negative")]
    assert list(applied_change_ids(result)) == ["chg_001"]


@pytest.mark.parametrize(("term", "added"), [("price", True), ("PRICE", True), ("zebra", False)])
def test_an_aspect_review_may_add_a_term_of_the_text_only(term: str, added: bool) -> None:
    result = b.patched(stage1(), [b.ate_verdict("add", term)])
    assert terms(result) == (["food", "service", "price"] if added else ["food", "service"])
    assert entries(result, "ate_review") == [("add", term, added)]
    assert ("chg_001" in applied_change_ids(result)) is added
    if added:
        new = result.aspects[-1]
        assert (new.confidence, new.span) == (0.8, b.span_of("price"))


@pytest.mark.parametrize("revised", [(15, 19), None])
def test_an_aspect_review_of_a_span_needs_the_span(revised: Any) -> None:
    first = b.stage1_of([b.aspect("food", TWICE)], [b.sentiment("food", "positive", text=TWICE)])
    result = b.patched(first, [b.ate_verdict("revise_span", "food", revised)], text=TWICE)
    assert (result.aspects[0].span == Span(start=15, end=19)) is (revised is not None)
    assert ("chg_001" in applied_change_ids(result)) is (revised is not None)


def test_keeping_is_no_change() -> None:
    first = stage1()
    result = b.patched(first, [b.ate_verdict("keep", "food")], [b.atsa_verdict("keep", "service")])
    assert result.sentiments == first.atsa.sentiments
    assert not result.proposal_or_verdict_applied


def test_a_sentiment_review_may_drop() -> None:
    result = b.patched(stage1(), [], [b.atsa_verdict("drop", "food")])
    assert b.pairs_of(result.sentiments) == [("service", "negative")]
    assert terms(result) == ["food", "service"]
    assert "chg_002" in applied_change_ids(result)


@pytest.mark.parametrize("polarity", ["positive", "negative", "neutral", None])
def test_a_sentiment_review_adds_only_with_a_polarity(polarity: Any) -> None:
    result = b.patched(stage1(), [], [b.atsa_verdict("add", "price", polarity)])
    added = [one for one in result.sentiments if one.aspect_term == "price"]
    assert [(one.polarity, one.confidence) for one in added] == ([] if polarity is None else [(polarity, 0.9)])
    assert ("chg_002" in applied_change_ids(result)) is (polarity is not None)


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


@pytest.mark.parametrize("action", ["flip_polarity", "reduce_confidence", "drop"])
def test_a_review_of_an_unknown_term_is_logged_as_not_applied(action: str) -> None:
    first = stage1()
    result = b.patched(first, [], [b.atsa_verdict(action, "zebra", "positive")])
    assert result.sentiments == first.atsa.sentiments
    assert not applied_change_ids(result)
    (entry,) = [one for one in result.log if one.change_id == "chg_002"]
    assert not entry.applied
    assert entry.reason


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


def test_an_override_acts_on_the_debate() -> None:
    result = b.patched(stage1(), [], [], strong_debate())
    assert of(result, "food").polarity == "negative"
    assert result.override.applied is not None
    assert result.debate_acted
    assert not result.unsettled_conflict


def test_without_debate_override_nothing_is_overridden() -> None:
    first = stage1()
    result = b.patched(first, debate=strong_debate(), settings=PipelineSettings(enable_debate_override=False))
    assert result.sentiments == first.atsa.sentiments
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
    assert result.judge_dropped == (frozenset({"food"}) if gone else frozenset())
    assert result.debate_acted is gone


@pytest.mark.parametrize("op", ["merge_tuples", "set_aspect_ref"])
def test_merging_and_renaming_change_no_tuple(op: str) -> None:
    first = stage1()
    debate = b.debate_of({"tan": [b.edit(op, "food", "service")]}, patch=[b.ruling(op, "food", "service")])
    result = b.patched(first, debate=debate)
    assert (result.aspects, result.sentiments) == (first.ate.aspects, first.atsa.sentiments)
    assert not result.debate_acted


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


def test_a_placeholder_stands_where_changes_left_no_sentiment() -> None:
    first = stage1(sentiments=[b.sentiment("food", "positive")])
    result = b.patched(first, [], [b.atsa_verdict("drop", "food")])
    (one,) = result.sentiments
    assert (one.aspect_term, one.polarity, one.confidence) == ("", "neutral", 0.5)
    assert one.is_backfilled
    assert one.neutral_reason == "stage2_placeholder_no_sentiments"


def test_no_placeholder_stands_where_nothing_was_changed() -> None:
    first = b.stage1_of([b.aspect("food")])
    assert b.patched(first).sentiments == ()
    assert b.patched(first, [], [b.atsa_verdict("drop", "zebra")]).sentiments == ()


def test_no_placeholder_stands_where_the_anchor_guard_took_the_last_one() -> None:
    first = stage1(sentiments=[b.sentiment("food", "positive")])
    result = b.patched(first, [], [b.atsa_verdict("drop", "food"), b.atsa_verdict("add", "zebra", "negative", 3)])
    assert result.sentiments == ()


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


def test_without_a_debate_action_nothing_is_reduced() -> None:
    debate = b.debate_of({}, tuples=[b.judged("service", "negative")])
    first = stage1(sentiments=CONFLICT)
    assert b.patched(first, debate=debate).sentiments == first.atsa.sentiments
    reviewed = b.patched(first, [], [b.atsa_verdict("reduce_confidence", "food")], debate)
    assert len(reviewed.sentiments) == 3


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


def test_a_conflict_stage1_already_had_blocks_nothing() -> None:
    result = b.patched(stage1(sentiments=CONFLICT), debate=strong_debate("food", "negative"))
    assert not result.unsettled_conflict


def test_implicit_and_polarity_free_sentiments_pass_the_patch() -> None:
    first = stage1(sentiments=[b.sentiment("", "negative", 0.7), b.sentiment("service", None, 0.5)])
    result = b.patched(first, [b.ate_verdict("add", "price")])
    assert b.pairs_of(result.sentiments) == [("", "negative"), ("service", None)]

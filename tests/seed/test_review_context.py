"""What the debate leaves for Stage2."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.schemas.absa import EditTarget
from episodic_absa.seed import build_review_context

b: Any = builders

STAGE1 = b.stage1_of(
    [b.aspect("food"), b.aspect("service")],
    [b.sentiment("food", "positive", 0.9), b.sentiment("service", "negative", 0.6)],
)
SOLE = b.stage1_of([b.aspect("food")], [b.sentiment("food", "positive", 0.9)])


def hints(debate: Any, stage1: Any = STAGE1) -> dict[str, list[tuple[str, float, str]]]:
    context = build_review_context(stage1, debate, b.TEXT).context
    return {
        term: [(one.polarity, one.weight, one.source) for one in found]
        for term, found in context.aspect_hints.items()
        if found
    }


@pytest.mark.parametrize(
    ("edit", "polarity", "speaker", "judge"),
    [
        (("set_polarity", "food", "negative", None), "negative", 0.5, 0.8),
        (("set_polarity", "food", "neutral", None), "neutral", 0.5, 0.8),
        (("set_polarity", "food", "NEG", "positive"), "negative", 0.5, 0.8),
        (("confirm_tuple", "food", None, "positive"), "positive", 0.5, 0.8),
        (("confirm_tuple", "food", None, "negative"), "negative", 0.5, 0.8),
        (("confirm_tuple", "service", None, None), "negative", 0.5, 0.8),
        (("drop_tuple", "food", None, "positive"), "positive", -0.8, -0.8),
        (("drop_tuple", "service", None, None), "negative", -0.8, -0.8),
    ],
)
def test_every_edit_weighs_as_the_table_says(
    edit: tuple[Any, ...], polarity: str, speaker: float, judge: float
) -> None:
    op, ref, value, target = edit
    spoken = b.debate_of({"tan": [b.edit(op, ref, value, target)]})
    ruled = b.debate_of({}, patch=[b.ruling(op, ref, value, target)])
    assert hints(spoken) == {ref: [(polarity, speaker, "tan")]}
    assert hints(ruled) == {ref: [(polarity, judge, "judge")]}


def test_a_drop_of_one_of_two_tuples_is_against_the_named_one() -> None:
    stage1 = b.stage1_of([b.aspect("food")], [b.sentiment("food", "positive", 0.9), b.sentiment("food", "negative")])
    debate = b.debate_of({"epm": [b.edit("drop_tuple", "food", polarity="negative")]})
    assert hints(debate, stage1) == {"food": [("negative", -0.8, "epm")]}


@pytest.mark.parametrize(
    ("ref", "term", "mapped"),
    [
        ("food", "service", "food"),
        ("service", "food", "service"),
        ("food", None, "food"),
        ("unknown thing", "service", "service"),
        ("unknown thing", "another", None),
        ("unknown thing", None, None),
        ("FOOD", None, "food"),
        ('"food".', None, "food"),
    ],
)
def test_aspect_ref_is_read_before_aspect_term(ref: str, term: str | None, mapped: str | None) -> None:
    debate = b.debate_of({"epm": [b.edit("set_polarity", ref, "negative", term=term)]})
    built = build_review_context(STAGE1, debate, b.TEXT)
    assert built.terms.of(EditTarget(aspect_ref=ref, aspect_term=term)) == mapped
    if mapped is not None:
        assert hints(debate) == {mapped: [("negative", 0.5, "epm")]}
        assert built.context.mapping_stats == {"direct": 1, "fallback": 0, "none": 0}


UNKNOWN_POSITIVE = [("set_polarity", "zebra", "positive")]


def mapping(stage1: Any, edits: list[Any]) -> tuple[str, dict[str, int], tuple[str, ...]]:
    debate = b.debate_of({"epm": [b.edit(*one) for one in edits]})
    context = build_review_context(stage1, debate, b.TEXT).context
    (how,) = [name for name, count in context.mapping_stats.items() if count]
    return how, {key: n for key, n in context.mapping_fail_reasons.items() if n}, context.aspect_map["1:epm"]


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("an edit maps", ("direct", {}, ("food",))),
        ("only one term", ("fallback", {"fallback_used": 1}, ("food",))),
        ("only one term and no polarity", ("fallback", {"fallback_used": 1}, ("food",))),
        ("the surest of the turn's polarity", ("fallback", {"fallback_used": 1}, ("price",))),
        ("the surest of all", ("fallback", {"fallback_used": 1}, ("service",))),
        ("no aspects", ("none", {"no_aspects": 1}, ())),
        ("no polarity", ("none", {"neutral_stance": 1}, ())),
        ("no edit", ("none", {"neutral_stance": 1}, ())),
        ("no sentiment", ("none", {"no_match": 1}, ())),
    ],
)
def test_a_turn_maps_directly_by_fallback_or_not_at_all(case: str, expected: Any) -> None:
    several = b.stage1_of(
        [b.aspect("food"), b.aspect("service"), b.aspect("price")],
        [
            b.sentiment("food", "positive", 0.6),
            b.sentiment("service", "negative", 0.9),
            b.sentiment("price", "positive", 0.7),
        ],
    )
    bare = b.stage1_of([b.aspect("food"), b.aspect("service")])
    cases: dict[str, tuple[Any, list[Any]]] = {
        "an edit maps": (several, [("set_polarity", "zebra", "positive"), ("confirm_tuple", "food", None, "positive")]),
        "only one term": (SOLE, UNKNOWN_POSITIVE),
        "only one term and no polarity": (SOLE, [("merge_tuples", "zebra", "lion")]),
        "the surest of the turn's polarity": (several, UNKNOWN_POSITIVE),
        "the surest of all": (several, [("set_polarity", "zebra", "neutral")]),
        "no aspects": (b.stage1_of(), UNKNOWN_POSITIVE),
        "no polarity": (several, [("merge_tuples", "zebra", "lion")]),
        "no edit": (several, []),
        "no sentiment": (bare, UNKNOWN_POSITIVE),
    }
    assert mapping(*cases[case]) == expected


@pytest.mark.parametrize(
    ("edits", "polarity"),
    [
        ([("set_polarity", "zebra", "negative")], "negative"),
        ([("confirm_tuple", "zebra", None, "neutral")], "neutral"),
        ([("merge_tuples", "zebra", "lion"), ("set_polarity", "zebra", "negative")], "negative"),
        ([("set_polarity", "zebra", "negative"), ("set_polarity", "lion", "positive")], "negative"),
    ],
)
def test_a_fallback_turn_hints_its_first_polarity_on_an_aspect_nobody_edited(edits: list[Any], polarity: str) -> None:
    debate = b.debate_of({"epm": [b.edit(*one) for one in edits]})
    assert hints(debate, SOLE) == {"food": [(polarity, 0.5, "epm")]}


@pytest.mark.parametrize(
    ("values", "counts", "polarities"),
    [
        (["positive"], (1, 0), ["positive"]),
        (["pozitive"], (1, 0), ["positive"]),
        (["mixed"], (0, 1), []),
        (["positive", "banana", "NEG"], (2, 1), ["positive", "negative"]),
    ],
)
def test_hint_polarities_are_canonicalised_and_counted(
    values: list[str], counts: tuple[int, int], polarities: list[str]
) -> None:
    debate = b.debate_of({"epm": [b.edit("set_polarity", "food", value) for value in values]})
    built = build_review_context(STAGE1, debate, b.TEXT)
    assert tuple(built.hint_counts) == counts
    assert [one.polarity for one in built.context.aspect_hints.get("food", ())] == polarities

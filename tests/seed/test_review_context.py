"""What the debate leaves for Stage2."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.schemas.absa import AspectHint, EditTarget, ReviewContext
from episodic_absa.seed import TermMap, build_review_context, synonyms_of

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


@pytest.mark.parametrize("op", ["set_aspect_ref", "merge_tuples"])
def test_renaming_and_merging_are_log_only(op: str) -> None:
    debate = b.debate_of(
        {"tan": [b.edit(op, "food", "service", "positive")]}, patch=[b.ruling(op, "food", "service", "positive")]
    )
    assert hints(debate) == {}


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


def test_a_judge_edit_on_an_unknown_term_maps_to_nothing() -> None:
    assert hints(b.debate_of({}, patch=[b.ruling("set_polarity", "zebra", "negative")])) == {}
    assert hints(b.debate_of({}, patch=[b.ruling("set_polarity", "zebra", "negative")]), SOLE) == {}


def test_terms_are_found_by_key_without_non_word_characters_and_the_first_wins() -> None:
    text = "the battery life and the battery-life and the screen"
    terms = TermMap(["battery life", "battery-life", "screen"], text)
    assert terms.find("Battery_Life") in {None, "battery life"}  # the underscore is a word character
    assert terms.find("battery-life") == "battery life"
    assert terms.find("BATTERY LIFE!") == "battery life"
    assert terms.find("screen") == "screen"
    assert terms.find("keyboard") is None
    assert terms.find(None) is None


def test_listed_synonyms_lead_to_their_term() -> None:
    words = synonyms_of("food")
    assert words
    terms = TermMap(["service", "food"], b.TEXT)
    assert {terms.find(word) for word in words} == {"food"}
    context = build_review_context(STAGE1, None, b.TEXT).context
    assert context.synonym_hints["food"] == words


def test_an_empty_name_means_the_implicit_opinion_only_where_one_exists() -> None:
    assert TermMap(["food", ""], b.TEXT).find("") == ""
    assert TermMap(["food"], b.TEXT).find("") is None


def test_aspect_terms_are_those_of_ate_then_atsa_once_each() -> None:
    stage1 = b.stage1_of(
        [b.aspect("service"), b.aspect("food")],
        [b.sentiment("food", "positive"), b.sentiment("", "negative"), b.sentiment("price", "neutral")],
    )
    context = build_review_context(stage1, None, b.TEXT).context
    assert context.aspect_terms == ("service", "food", "", "price")


def test_without_an_implicit_sentiment_the_empty_term_is_no_aspect() -> None:
    assert "" not in build_review_context(STAGE1, None, b.TEXT).context.aspect_terms


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


def test_mapping_statistics_count_every_turn_once() -> None:
    debate = b.debate_of(
        {
            "epm": [b.edit("set_polarity", "food", "negative"), b.edit("set_polarity", "service", "positive")],
            "tan": [b.edit("set_polarity", "zebra", "positive")],
            "cj": [],
        }
    )
    context = build_review_context(STAGE1, debate, b.TEXT).context
    assert context.mapping_stats == {"direct": 1, "fallback": 1, "none": 1}
    assert context.mapping_fail_reasons == {"fallback_used": 1, "neutral_stance": 1}
    assert context.aspect_map == {"1:epm": ("food", "service"), "1:tan": ("food",), "1:cj": ()}


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


@pytest.mark.parametrize("by_judge", [False, True])
def test_a_fallback_turn_adds_nothing_where_an_edit_speaks(by_judge: bool) -> None:
    turns = {"epm": [b.edit("set_polarity", "zebra", "negative")]}
    if by_judge:
        debate = b.debate_of(turns, patch=[b.ruling("set_polarity", "food", "positive")])
        expected = [("positive", 0.8, "judge")]
    else:
        debate = b.debate_of({**turns, "cj": [b.edit("confirm_tuple", "food", polarity="positive")]})
        expected = [("positive", 0.5, "cj")]
    assert hints(debate, SOLE) == {"food": expected}


def test_a_drop_alone_is_no_turn_polarity() -> None:
    debate = b.debate_of({"epm": [b.edit("drop_tuple", "zebra", polarity="positive")]})
    assert hints(debate, SOLE) == {}


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


def test_hints_of_speakers_and_judge_add_up_on_one_aspect() -> None:
    debate = b.debate_of(
        {
            "epm": [b.edit("set_polarity", "service", "positive")],
            "cj": [b.edit("drop_tuple", "service", polarity="negative")],
        },
        patch=[b.ruling("set_polarity", "service", "positive")],
    )
    assert sorted(hints(debate)["service"]) == [
        ("negative", -0.8, "cj"),
        ("positive", 0.5, "epm"),
        ("positive", 0.8, "judge"),
    ]


def test_the_payload_has_the_keys_of_the_specification_in_order() -> None:
    assert list(ReviewContext.model_fields) == [
        "review_guidance",
        "summary",
        "aspect_terms",
        "synonym_hints",
        "rebuttal_points",
        "aspect_map",
        "aspect_hints",
        "mapping_stats",
        "mapping_fail_reasons",
        "provenance_template",
    ]


def test_without_a_debate_there_are_no_hints() -> None:
    built = build_review_context(STAGE1, None, b.TEXT)
    assert not any(built.context.aspect_hints.values())
    assert built.context.mapping_stats == {"direct": 0, "fallback": 0, "none": 0}
    assert tuple(built.hint_counts) == (0, 0)
    assert AspectHint(polarity="positive", weight=0.5, source="epm").weight == 0.5

"""What a small model writes for a short answer is read, whatever form it has, if it has one meaning."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    ItemsAnswer,
    JointAnswer,
    JudgementsAnswer,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPairsAnswer,
)

P = '{"quote": "great food", "term": "food", "polarity": "positive"}'
Q = '{"quote": "slow", "term": "service", "polarity": "negative"}'
FOOD = ("great food", "food", "positive")
SERVICE = ("slow", "service", "negative")
ANSWERS = tuple(ItemsAnswer.__subclasses__())


def read(text: str, model: type[ItemsAnswer]) -> list[Any]:
    """Return the items of an answer as tuples of their fields."""
    answer = parse_reply(text, model)
    items = next(value for name, value in answer if name != "is_partial")
    return [tuple(dict(item).values()) if not isinstance(item, str) else item for item in items]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (f"[{P}, {Q}]", [FOOD, SERVICE]),
        (f"```json\n[{P}]\n```", [FOOD]),
        (f"Here are the pairs:\n[{P}, {Q}]", [FOOD, SERVICE]),
        (P, [FOOD]),
        (f"{P}\n{Q}", [FOOD, SERVICE]),
        (f"{P},{Q}]", [FOOD, SERVICE]),
        (f'{{"pairs": {P}}}', [FOOD]),
        (f'{{"pairs": [[{P}]]}}', [FOOD]),
        (f'"pairs": [{P}]', [FOOD]),
        (f'{{"result": {{"pairs": [{P}]}}}}', [FOOD]),
        (f'{{"answer": [{P}], "note": "done"}}', [FOOD]),
        (f'{{"Pairs": [{P}]}}', [FOOD]),
        ('{"쌍": [{"인용": "great food", "용어": "food", "극성": "긍정"}]}', [FOOD]),
        (json.dumps(f'{{"pairs": [{P}]}}'), [FOOD]),
        (f'{{"pairs": []}} wait, {{"pairs": [{Q}]}}', [SERVICE]),
        (f'{{"text": "The food."}}\n{{"pairs": [{P}]}}', [FOOD]),
        (f"The form is {{quote, term}}. [{P}]", [FOOD]),
        (f'{{"pairs": [{P}, {{"term": "tea", "polarity": "banana"}}, {Q}]}}', [FOOD, SERVICE]),
        ('{"pairs": [["great food", "food", "positive"]]}', [FOOD]),
        ('{"pairs": ["great food", "food", "positive"]}', [FOOD]),
        (
            '{"pairs": ["food: positive", "service (negative)"]}',
            [("", "food", "positive"), ("", "service", "negative")],
        ),
        ('{"food": "positive", "service": "negative"}', [("", "food", "positive"), ("", "service", "negative")]),
        ('{"pairs": {"food": {"polarity": "positive", "quote": "great food"}}}', [FOOD]),
        ('{"pairs": [{"quote": null, "term": ["food"], "polarity": ["positive"]}]}', [("", "food", "positive")]),
        ('{"pairs": [{"quote": "great", "term": null, "polarity": "positive"}]}', [("great", "", "positive")]),
        ('{"pairs": [{"quote": "great", "polarity": "positive"}]}', [("great", "", "positive")]),
        *((empty, []) for empty in ("[]", "{}", "null", "none", "없음", '{"pairs": null}', '{"pairs": "none"}')),
    ],
)
def test_pairs_are_read_in_every_form_that_has_one_meaning(text: str, pairs: list[Any]) -> None:
    assert read(text, JointAnswer) == pairs


@pytest.mark.parametrize(
    ("model", "text", "items"),
    [
        (TermsAnswer, '["food", "service"]', ["food", "service"]),
        (TermsAnswer, '{"terms": ["food", {"term": "tea"}, null, "serv', ["food", "tea"]),
        (TermsAnswer, '{"terms": "food, tea"}', ["food", "tea"]),
        (TargetsAnswer, '{"targets": ["food", {"quote": "slow", "pair": "tea"}]}', [("", "food"), ("slow", "tea")]),
        (JudgementsAnswer, '{"judgments": [{"target": "food", "verdict": "positive"}]}', [("food", "", "positive")]),
        (JudgementsAnswer, '{"판단": {"음식": "부정"}}', [("음식", "", "negative")]),
        (WrongPairsAnswer, '{"wrong": [{"pair": "food", "polarity": "negative"}]}', [("food", "", "negative")]),
        (WrongPairsAnswer, "none", []),
        (DecisionsAnswer, '{"decisions": {"food": "keep"}}', [("food", "", "keep")]),
        (DecisionsAnswer, '{"decisions": ["food: keep"]}', [("food", "", "keep")]),
        (DecisionsAnswer, '[{"대상": "음식", "판정": "유지"}]', [("음식", "", "유지")]),
        (TargetVerdictsAnswer, '{"verdicts": [{"target": "food", "decision": "drop"}]}', [("food", "drop")]),
        (PairVerdictsAnswer, '{"verdicts": [{"pair": "food", "should_be": "negative"}]}', [("food", "", "negative")]),
        (
            PairVerdictsAnswer,
            '{"verdicts": [{"target": "food", "verdict": "flip", "new_polarity": "negative"}]}',
            [("food", "", "negative")],
        ),
        (RisksAnswer, '{"risks": [{"quote": "so", "risk": "IRONY"}]}', [("so", "IRONY")]),
        (RisksAnswer, '{"risks": ["negation"]}', [("", "NEGATION_SCOPE")]),
    ],
)  # fmt: skip
def test_every_list_is_read_as_leniently(model: type[ItemsAnswer], text: str, items: list[Any]) -> None:
    assert read(text, model) == items


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (JointAnswer, '{"pairs": [{"quote": "great", "term": "food", "polarity": "banana"}]}'),
        (JointAnswer, '{"text": "The food was great."}'),
        (JointAnswer, '{"$defs": {}, "properties": {"pairs": []}}'),
        (JointAnswer, '{"pairs": [{"quote": "great fo'),
        (JointAnswer, "There are some pairs."),
        (WrongPairsAnswer, '{"wrong": ["food: positive"]}'),
        (PairVerdictsAnswer, '{"text": "The food.", "pairs": ["food: positive"]}'),
        (PairVerdictsAnswer, '["food: positive"]'),
        (PairVerdictsAnswer, '{"verdicts": ["keep"]}'),
    ],
)
def test_an_answer_of_which_nothing_can_be_read_or_that_copies_the_question_is_refused(
    model: type[ItemsAnswer], text: str
) -> None:
    with pytest.raises(UnusableReplyError):
        parse_reply(text, model)


@pytest.mark.parametrize("label", ['"복합"', '"Mixed"', '["mixed"]'])
def test_a_label_is_read_in_korean_and_in_a_list(label: str) -> None:
    answer = parse_reply(f'{{"decisions": [], "label": {label}}}', DecisionsAnswer)
    assert (answer.label or "").lower() == "mixed"


def test_a_field_beside_the_list_that_cannot_be_read_is_left_out() -> None:
    verdicts = '"verdicts": [{"target": "food", "verdict": "keep"}]'
    for add in ("null", '"none"', '["tea"]', '[{"target": "tea"}]', "7"):
        assert parse_reply(f'{{{verdicts}, "add": {add}}}', TargetVerdictsAnswer).add == ()
    decided = parse_reply('{"decisions": [], "label": 1, "label_quotes": null}', DecisionsAnswer)
    assert (decided.label, decided.label_quotes) == (None, ())


@pytest.mark.parametrize(
    ("text", "is_partial"),
    [
        ('{"targets": [{"target": "food"}]}', False),
        ('{"targets": []}', False),
        ('{"targets": ["food",]}', False),
        ('{"targets": [{"target": "food"}, {"target": "te', True),
        ('{"targets": [{"target": "food"}, {"quote": "x"}]}', True),
        ('{"targets": [{"target": "food"}, 7]}', True),
        ("{}", True),
    ],
)
def test_an_answer_says_whether_a_part_of_it_is_lost(text: str, *, is_partial: bool) -> None:
    assert parse_reply(text, TargetsAnswer).is_partial is is_partial


@pytest.mark.parametrize("model", ANSWERS)
def test_no_model_is_asked_whether_its_answer_is_partial(model: type[ItemsAnswer]) -> None:
    assert "is_partial" not in json.dumps(json_schema(model))


NAMES = st.sampled_from(["pairs", "targets", "target", "quote", "polarity", "verdicts", "label", "add", "food", "text"])
WORDS = st.sampled_from(["", "food", "positive", "keep", "food: positive", "none", "긍정", "IRONY"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80)
@given(value=VALUES, model=st.sampled_from(ANSWERS), length=st.integers(min_value=0, max_value=120))
def test_any_json_cut_anywhere_is_read_or_refused(value: Any, model: type[ItemsAnswer], length: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for reply in (text, text[:length]):
        with suppress(UnusableReplyError):
            assert isinstance(parse_reply(reply, model), model)

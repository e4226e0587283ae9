"""Of an answer that was cut off the complete items are kept; the rest of the contract stays strict."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.loose_json import LooseValue, read_loosely
from episodic_absa.schemas.answers import (
    JointAnswer,
    JudgementsAnswer,
    TargetVerdictsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.seed_answers import AteAnswer

POLARITIES = ("positive", "negative", "neutral")
FOOD = {"quote": "great", "term": "food", "polarity": "positive"}
SERVICE = {"quote": "slow", "term": "service", "polarity": "negative"}
WORDS = st.text(alphabet='ab{}[]",\\: 가', max_size=8)
ITEMS = st.lists(
    st.fixed_dictionaries({"target": WORDS, "quote": WORDS, "polarity": st.sampled_from(POLARITIES)}), max_size=5
)


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ('{"pairs":[{"term":"food"},{"te', {"pairs": [{"term": "food"}]}),
        ('{"pairs":[{"term":"food"}', {"pairs": [{"term": "food"}]}),
        ('{"pairs":[{"term":"food"}]', {"pairs": [{"term": "food"}]}),
        ('{"verdicts":[{"a":"b"}],"add":[{"a":"c"},{"a', {"verdicts": [{"a": "b"}], "add": [{"a": "c"}]}),
        ('{"pairs":[{"term":"a ] } \\" b"},{"term":"', {"pairs": [{"term": 'a ] } " b'}]}),
        ('{"pairs":[[{"term":"food"},', {"pairs": [[{"term": "food"}]]}),
        ('["food","serv', ["food"]),
        ('[{"a":"b"},{"c" "d"},{"e":"f"}]', [{"a": "b"}, {"e": "f"}]),
        ('[{"Galaxy","quote":"b"}]', [{"quote": "b"}]),
        ('{"a":[{"b":"c"}], ???}', {"a": [{"b": "c"}]}),
    ],
)
def test_what_can_be_read_of_broken_json_is_kept_and_the_loss_is_known(cut: str, whole: Any) -> None:
    loose = read_loosely(cut, 0)
    assert loose is not None
    assert (loose.value, loose.is_partial) == (whole, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":[{"b":"c"},]}', {"a": [{"b": "c"}]}),
        ('[{"a":"b",} {"c":"d"}]', [{"a": "b"}, {"c": "d"}]),
        ('[{"a":"the "best" pizza","b":"x"}]', [{"a": 'the "best" pizza', "b": "x"}]),
        ('[{"a":"the "best", they say","b":"x"}]', [{"a": 'the "best", they say', "b": "x"}]),
        ("{'a': ['don't', 'b']}", {"a": ["don't", "b"]}),
        ("{a: [{b: “c”, d: positive, e: null}]}", {"a": [{"b": "c", "d": "positive", "e": None}]}),
        ('[{"quote","loudly","term":"x"}]', [{"quote": "loudly", "term": "x"}]),
        ('[{"a":"b", {"c":"d"}]', [{"a": "b"}, {"c": "d"}]),
        ('{"a":["b"] // done\n}', {"a": ["b"]}),
    ],
)
def test_other_syntax_loses_nothing(text: str, value: Any) -> None:
    assert read_loosely(text, 0) == LooseValue(value, len(text), is_partial=False)


@pytest.mark.parametrize("cut", ["", "{", '{"pairs":{', '{"a":"b', '{"a":"b"', "]", "{quote, term}"])
def test_a_text_without_anything_complete_is_not_read(cut: str) -> None:
    assert read_loosely(cut, 0) is None


@pytest.mark.parametrize("part", ['[{"a":', "[", '{"a":"', '"', "/*,", '[{"a" ', '{"a":"b","'])
def test_a_looping_model_is_read_in_one_pass(part: str) -> None:
    with pytest.raises(UnusableReplyError):
        parse_reply("[" + part * 5_000, JointAnswer)


@given(items=ITEMS, length=st.integers(min_value=0, max_value=400))
def test_a_cut_answer_is_read_as_a_prefix_of_the_whole_or_refused(items: list[Any], length: int) -> None:
    text = json.dumps({"judgements": items}, ensure_ascii=False)
    whole = parse_reply(text, JudgementsAnswer).judgements
    try:
        kept = parse_reply(text[:length], JudgementsAnswer).judgements
    except UnusableReplyError:
        return
    assert kept == whole[: len(kept)]


def test_a_short_answer_that_was_cut_off_is_read_item_by_item() -> None:
    text = json.dumps({"pairs": [FOOD, SERVICE]})
    assert [pair.term for pair in parse_reply(text[:-20], JointAnswer).pairs] == ["food"]
    assert [pair.term for pair in parse_reply(f"Sure:\n```json\n{text[:-20]}", JointAnswer).pairs] == ["food"]


def test_an_answer_of_seed_rules_that_was_cut_off_is_refused() -> None:
    cut = '{"aspects":[{"aspect_term":"food"},{"asp'
    with pytest.raises(UnusableReplyError, match="no complete JSON object"):
        parse_reply(cut, AteAnswer)


def test_an_unreadable_item_is_left_out_and_a_repeated_one_kept_once() -> None:
    text = json.dumps({"pairs": [FOOD, {"term": "price"}, 7, FOOD, SERVICE, FOOD]})
    assert [pair.term for pair in parse_reply(text, JointAnswer).pairs] == ["food", "service"]


def test_an_answer_none_of_whose_items_can_be_read_is_refused() -> None:
    with pytest.raises(UnusableReplyError, match="no item of the list can be read"):
        parse_reply('{"wrong":[{"target":"food"},"drop it"]}', WrongPairsAnswer)


@pytest.mark.parametrize("name", ["target", "term", "aspect_term", "aspect"])
@pytest.mark.parametrize("quote", ["quote", "evidence", "reason"])
def test_other_names_of_a_field_are_understood(name: str, quote: str) -> None:
    item = {name: "food", quote: "great", "sentiment": "positive", "confidence": 0.9}
    (judgement,) = parse_reply(json.dumps({"judgements": [item], "note": "done"}), JudgementsAnswer).judgements
    assert (judgement.target, judgement.quote, judgement.polarity) == ("food", "great", "positive")


def test_the_second_list_of_an_answer_may_be_missing() -> None:
    answer = parse_reply('{"verdicts":[{"target":"food","action":"keep"}]}', TargetVerdictsAnswer)
    assert (answer.verdicts[0].verdict, answer.add) == ("keep", ())

"""A label agrees with the pairs beside it; without pairs it is the label of the whole text."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders as b
from tests.runs.derived_from import derived_from

from episodic_absa.conditions import load_condition
from episodic_absa.final_tuples import extract_tuples, label_of_pairs, predicted
from episodic_absa.pipeline.decision import moderated_label, whole_text_label
from episodic_absa.schemas.absa import DebateSummary, ModeratorOutput, SentimentItem, ValidatorOutput
from episodic_absa.vocabulary import POLARITIES

LABELS = ("positive", "negative", "neutral", "mixed", None)
SENTIMENTS = st.lists(
    st.builds(
        b.sentiment,
        st.sampled_from(["food", "service", "price", ""]),
        st.sampled_from([*POLARITIES, None]),
        st.sampled_from([0.0, 0.3, 0.5, 0.9]),
        backfilled=st.booleans(),
    ),
    max_size=5,
)


def label(
    sentiments: list[SentimentItem], suggested: Any = None, sentence: Any = None, words: tuple[str, ...] = ()
) -> ModeratorOutput:
    """Return the label; `words` are what the judge shows for its own."""
    validator = ValidatorOutput(suggested_label=suggested, confidence=0.6)
    summary = DebateSummary(sentence_polarity=sentence, sentence_evidence_spans=words)
    return moderated_label(extract_tuples(sentiments), whole_text_label(summary, validator), adopted=False)


@settings(max_examples=150, deadline=None)
@given(SENTIMENTS, st.sampled_from(LABELS), st.sampled_from(LABELS))
def test_a_label_agrees_with_the_pairs_beside_it(
    sentiments: list[SentimentItem], suggested: Any, sentence: Any
) -> None:
    output = label(sentiments, suggested, sentence)
    polarities = {pair.polarity for pair in predicted(extract_tuples(sentiments))}
    if {"positive", "negative"} <= polarities:
        assert output.final_label == "mixed"
    elif polarities:
        assert output.final_label in polarities
        assert output.final_label != "neutral" or polarities == {"neutral"}
    elif sentence or suggested:
        assert output.final_label == (sentence or suggested)
    else:
        assert (output.final_label, output.confidence) == ("neutral", 0.0)
    assert output.rationale == f"{output.applied_rules[0]}: {output.decision_reason}"


@settings(max_examples=150, deadline=None)
@given(SENTIMENTS, st.sampled_from(LABELS), st.sampled_from(LABELS), st.sampled_from([(), ("",), ("slow",)]))
def test_a_label_contradicts_only_unsure_pairs_of_one_side_and_shows_its_words(
    sentiments: list[SentimentItem], suggested: Any, sentence: Any, words: tuple[str, ...]
) -> None:
    output = label(sentiments, suggested, sentence, words=words)
    found = predicted(extract_tuples(sentiments))
    agreeing = label_of_pairs(found)
    may_contradict = (
        bool(found)
        and agreeing != "mixed"
        and all(pair.confidence < 0.6 for pair in found)
        and sentence is not None
        and any(words)
    )
    if agreeing is not None:
        assert output.final_label == (sentence if may_contradict else agreeing)
    if agreeing not in (None, output.final_label):
        assert (output.applied_rules[-1], output.label_source) == ("T", "judge")


@pytest.mark.parametrize(
    ("confidence", "words", "expected"),
    [
        (0.59, ("slow",), "negative"),
        (0.6, ("slow",), "positive"),
        (0.59, (), "positive"),
        (0.59, ("",), "positive"),
    ],
)
def test_a_pair_is_sure_from_six_tenths_on(confidence: float, words: tuple[str, ...], expected: str) -> None:
    pairs = [b.sentiment("food", "positive", confidence), b.sentiment("price", "neutral", 0.1)]
    assert label(pairs, None, "negative", words=words).final_label == expected


@pytest.mark.parametrize("quote", ["slow", "sluggish", ""])
def test_only_words_of_the_text_can_contradict_the_pairs(tmp_path: Path, quote: str) -> None:
    answers: dict[str, dict[str, Any]] = {
        "joint": {"pairs": [{"term": "food", "quote": "great", "polarity": "positive"}]},
        "judge": {"decisions": [], "label": "negative", "label_quotes": [quote]},
    }
    result = b.run_default_sample(b.default_backend(answers), tmp_path / "store.jsonl")
    assert result.final_result.final_tuples[0].confidence == 0.5
    assert result.label == ("negative" if quote == "slow" else "positive")


@pytest.mark.parametrize(
    ("sentiments", "expected", "confidence"),
    [
        ([b.sentiment("food", "positive", 0.9), b.sentiment("price", "negative", 0.7)], "mixed", 0.7),
        ([b.sentiment("food", "positive", 0.5), b.sentiment("price", "positive", 0.4)], "positive", 0.5),
        ([b.sentiment("food", "neutral", 0.9), b.sentiment("", "positive", 0.7)], "positive", 0.7),
        ([b.sentiment("food", "neutral", 0.4)], "neutral", 0.4),
    ],
)
def test_rule_p_takes_the_confidence_of_the_pairs(sentiments: Any, expected: str, confidence: float) -> None:
    output = label(sentiments, "negative", "negative")
    assert (output.final_label, output.confidence, output.label_source) == (expected, confidence, "pairs")
    assert output.applied_rules[-1] == "P"


@pytest.mark.parametrize(
    ("suggested", "sentence", "expected"),
    [
        ("negative", "positive", ("positive", "judge", ("T",))),
        ("negative", None, ("negative", "validator", ("T",))),
        (None, None, ("neutral", "pairs", ("Z",))),
    ],
)
def test_without_pairs_the_label_is_that_of_the_whole_text(suggested: Any, sentence: Any, expected: Any) -> None:
    output = label([b.sentiment("food", "neutral", backfilled=True)], suggested, sentence)
    assert (output.final_label, output.label_source, output.applied_rules) == expected


def test_the_labels_of_both_stages_are_read_by_the_same_rule(tmp_path: Path) -> None:
    pairs = [{"term": "food", "quote": "great", "polarity": "positive"}]
    pairs += [{"term": "service", "quote": "slow", "polarity": "negative"}]
    result = b.run_default_sample(b.default_backend({"joint": {"pairs": pairs}}), tmp_path / "store.jsonl")
    card = derived_from(result, load_condition("C1", "v3_0")).card
    assert (card.label, card.label_s1, card.label_s2) == ("mixed", "mixed", "mixed")
    assert card.stage_delta is not None
    assert not card.stage_delta.label_changed

"""A label agrees with the pairs beside it; without pairs it is the likelier one of the model's and the reader's."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders as b
from tests.runs.derived_from import derived_from

from episodic_absa.conditions import load_condition
from episodic_absa.final_tuples import extract_tuples, predicted
from episodic_absa.pipeline.decision import moderated_label
from episodic_absa.pipeline.decision.pair_label import likelier, model_label, reader_label
from episodic_absa.reader.readings import Reading
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
    sentiments: list[SentimentItem], suggested: Any = None, sentence: Any = None, read: Any = None
) -> ModeratorOutput:
    """Return the label; `read` is the reader's, with its probability."""
    own = model_label(DebateSummary(sentence_polarity=sentence), ValidatorOutput(suggested_label=suggested), p=0.7)
    reading = Reading("en") if read is None else Reading("en", label=read[0], label_p=read[1])
    return moderated_label(extract_tuples(sentiments), likelier(own, reader_label(reading)), changed=False)


@settings(max_examples=200, deadline=None)
@given(SENTIMENTS, st.sampled_from(LABELS), st.sampled_from(LABELS))
def test_a_label_never_contradicts_the_pairs_beside_it(
    sentiments: list[SentimentItem], suggested: Any, sentence: Any
) -> None:
    output = label(sentiments, suggested, sentence)
    polarities = {pair.polarity for pair in predicted(extract_tuples(sentiments))}
    if {"positive", "negative"} <= polarities:
        assert output.final_label == "mixed"
    elif polarities:
        assert output.final_label in polarities
        assert output.final_label != "neutral" or polarities == {"neutral"}
    else:
        said = sentence or suggested
        assert output.final_label == ("none" if said in (None, "neutral") else said)
    assert output.rationale == f"{output.applied_rules[0]}: {output.decision_reason}"


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
    output = label(sentiments, "negative", "negative", ("negative", 0.99))
    assert (output.final_label, output.confidence, output.label_source) == (expected, confidence, "pairs")
    assert output.applied_rules == ("P",)


@pytest.mark.parametrize(
    ("suggested", "sentence", "read", "expected"),
    [
        ("negative", "positive", None, ("positive", "judge", ("T",))),
        ("negative", None, None, ("negative", "validator", ("T",))),
        ("negative", None, ("none", 0.9), ("none", "reader", ("T",))),
        ("negative", None, ("none", 0.6), ("negative", "validator", ("T",))),
        ("neutral", None, None, ("none", "validator", ("T",))),
        (None, None, ("neutral", 0.6), ("neutral", "reader", ("T",))),
        (None, None, None, ("none", "pairs", ("Z",))),
    ],
)
def test_without_pairs_the_likelier_label_of_the_whole_text_holds(
    suggested: Any, sentence: Any, read: Any, expected: Any
) -> None:
    output = label([b.sentiment("food", "neutral", backfilled=True)], suggested, sentence, read)
    assert (output.final_label, output.label_source, output.applied_rules) == expected


def test_a_text_that_nobody_read_has_no_label() -> None:
    assert moderated_label((), None, changed=False, is_read=False).final_label == ""


def test_the_labels_of_both_stages_are_read_by_the_same_rule(tmp_path: Path) -> None:
    pairs = [{"term": "food", "quote": "great", "polarity": "positive"}]
    pairs += [{"term": "service", "quote": "slow", "polarity": "negative"}]
    result = b.run_default_sample(b.default_backend({"joint": {"pairs": pairs}}), tmp_path / "store.jsonl")
    card = derived_from(result, load_condition("C1", "v3_0")).card
    assert (card.label, card.label_s1, card.label_s2) == ("mixed", "mixed", "mixed")
    assert card.stage_delta is not None
    assert not card.stage_delta.label_changed

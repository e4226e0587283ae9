"""The confidence of a pair is what the reader holds it to be worth; it is written and never shown."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.pipeline.stage1 import UNKNOWN, with_confidence
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.vocabulary import POLARITIES

b: Any = builders
PROBABILITIES = st.floats(0, 1)
VIEWS = st.builds(ReaderView, PROBABILITIES, st.sampled_from(POLARITIES), PROBABILITIES)


@settings(max_examples=100, deadline=None)
@given(VIEWS, st.sampled_from(POLARITIES))
def test_the_confidence_is_the_probability_of_target_and_polarity(view: ReaderView, polarity: Any) -> None:
    item = b.sentiment("food", polarity, evidence="great")
    judged = with_confidence(item, b.TEXT, "en", b.TableReader({"food": view}))
    p = view.p_polarity if polarity == view.polarity else (1 - view.p_polarity) / 2
    assert judged.confidence == pytest.approx(view.p_target * p, abs=5e-5)
    assert judged == item.model_copy(update={"confidence": judged.confidence})
    whole = [
        with_confidence(b.sentiment("food", other), b.TEXT, "en", b.TableReader({"food": view})) for other in POLARITIES
    ]
    assert sum(pair.confidence for pair in whole) == pytest.approx(view.p_target, abs=2e-4)


@pytest.mark.parametrize(
    ("item", "reader"),
    [
        (b.sentiment("food", "positive", 0.9), None),
        (b.sentiment("food", "positive", 0.9), b.TableReader({})),
        (b.sentiment("", "positive", 0.9), b.TableReader({"": ReaderView(1.0, "positive", 1.0)})),
    ],
)
def test_where_no_reader_can_tell_the_confidence_is_one_half(item: Any, reader: Any) -> None:
    assert with_confidence(item, b.TEXT, "en", reader).confidence == UNKNOWN == 0.5


@pytest.mark.parametrize("item", [b.sentiment("food", "neutral", 0.3, backfilled=True), b.sentiment("food", None, 0.3)])
def test_what_is_no_pair_stays_the_identical_object(item: Any) -> None:
    assert with_confidence(item, b.TEXT, "en", b.TableReader({"food": ReaderView(0.9, "neutral", 0.9)})) is item


def test_only_a_changed_pair_gets_another_confidence(tmp_path: Path) -> None:
    views = {"food": ReaderView(0.8, "positive", 0.9), "service": ReaderView(0.9, "positive", 0.8)}
    added = {"tan": {"targets": [{"target": term} for term in ("food", "service", "price")]}}
    reader = b.TableReader({**views, "price": ReaderView(0.7, "positive", 0.6)})
    result = b.run_default_sample(b.default_backend(b.DEFAULT_FLIP, added), tmp_path / "store.jsonl", reader=reader)
    assert sorted((change.kind, change.adopted) for change in result.changes) == [("add", True), ("flip", True)]
    food, service, price = result.final_sentiments
    assert food is result.stage1.atsa.sentiments[0]
    assert [(item.aspect_term, item.confidence) for item in result.stage1.atsa.sentiments] == [
        ("food", 0.72),
        ("service", 0.09),
    ]
    assert [(item.polarity, item.confidence) for item in (service, price)] == [("positive", 0.72), ("positive", 0.42)]
    assert [pair.confidence for pair in result.final_result.final_tuples] == [0.72, 0.72, 0.42]

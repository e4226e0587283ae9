"""The fit of the decision's weights: it obeys the laws, learns from what it sees, and stays where it sees nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
pytest.importorskip("scipy")

from decision import f1_of, fit, is_right
from recorded_answers import DevText, LeftOutReader, Recorded, RecordedText
from tests.pipeline.decision.test_weighing import CONSERVATIVE, candidate

from episodic_absa.pipeline.decision import load_decision_weights
from episodic_absa.reader.readings import Reading

SMALL = load_decision_weights().named("small")
GOLD = frozenset({("food", "positive")})


def text(*candidates: tuple[str, Any, str], number: int = 0) -> RecordedText:
    source = DevText(f"dev:{number}", "The food was great, the service was slow.", "en", "hotel", GOLD)
    once = Recorded(source, tuple(candidate(*fields) for fields in candidates), 100, 1)
    return RecordedText(source, Reading("en"), once, None, None)


@pytest.mark.parametrize("prior", [CONSERVATIVE, SMALL])
def test_without_texts_the_fit_is_the_set_that_it_started_from(prior: Any) -> None:
    fitted = fit([text()], prior)
    for name, weight in fitted.weights.model_dump().items():
        assert weight == pytest.approx(getattr(prior.weights, name), abs=0.002)


def test_a_voice_that_is_always_wrong_loses_its_weight_and_never_changes_its_sign() -> None:
    wrong = [
        text(("food", "positive", "stage1+ cj-"), ("service", "negative", "cj+ tan+"), number=at) for at in range(60)
    ]
    fitted = fit(wrong, CONSERVATIVE)
    assert 0 <= fitted.weights.speaker_for < CONSERVATIVE.weights.speaker_for
    assert CONSERVATIVE.weights.speaker_against < fitted.weights.speaker_against <= 0
    decided = f1_of((sample.one_call, fitted) for sample in wrong)
    assert decided.f1 == 1.0


def test_a_candidate_without_anyone_for_it_is_none_where_a_witness_is_left_out() -> None:
    one = text(("food", "positive", "stage1+ reader+.9"), ("service", "negative", "reader+.8")).one_call
    assert [pair.aspect_term for pair in one.without("reader").candidates] == ["food"]
    assert [is_right(pair, one) for pair in one.candidates] == [True, False]


def test_a_left_out_reader_names_what_was_read_and_nothing_in_other_texts() -> None:
    line = {
        "pairs": [[4, 8, "positive", 0.9, "food"], [24, 31, "negative", 0.3, "service"]],
        "label": ["positive", 0.9],
    }
    reader = LeftOutReader({"The food was great, the service was slow.": line}, lambda score: round(score / 2, 3))
    reading = reader.read("The food was great, the service was slow.", "en")
    assert [(pair.term, pair.p) for pair in reading.pairs] == [("food", 0.45)]
    assert [pair.term for pair in reading.candidates] == ["service"]
    assert reader.read("Another text.", "en").pairs == ()
    view = reader.view("The food was great, the service was slow.", "en", "great")
    assert view is not None
    assert view.p_of("positive") < 0.1

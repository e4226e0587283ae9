"""What reader and referee make of a change, and what an episode holds of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders
from tests.pipeline.decision.test_weighing import CONSERVATIVE, candidate

from episodic_absa.backends.embedded import answer_of
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.episodes.episode_builder import outcome_of
from episodic_absa.pipeline.decision import PairChange, changes_of, weigh
from episodic_absa.pipeline.outcomes import is_narrowly_refused, outcomes_by_reader, stage1_stands_first
from episodic_absa.reader.reader import default_reader
from episodic_absa.schemas.answers import RefereeAnswer
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.role_inputs import ListedPair, RefereeInputs
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, OutcomeV1_3

b: Any = builders
NEARLY = {"judge": b.DEFAULT_FLIP["judge"]}
"""The judge alone wants the service turned round."""
STAGE1 = ["food: positive", "service: negative"]
CHANGED = ["food: positive", "service: positive"]


def made(*pairs: tuple[str, Any, str]) -> tuple[PairChange, ...]:
    """Return the changes that the conservative weights make of these candidates."""
    return changes_of(weigh([candidate(*pair) for pair in pairs], CONSERVATIVE))


@pytest.mark.parametrize(
    ("pairs", "outcome"),
    [
        ([("food", "positive", "stage1+ judge-"), ("food", "negative", "stage1- judge+ reader+.95")], "confirmed"),
        ([("food", "positive", "stage1+ judge-"), ("food", "negative", "stage1- judge+ reader-.05")], "contradicted"),
        ([("food", "positive", "stage1+ judge-"), ("food", "negative", "stage1- judge+ reader+.89")], "open"),
        ([("food", "positive", "stage1+ judge-"), ("food", "negative", "stage1- judge+ epm+")], "open"),
        ([("food", "positive", "stage1+ tan- reader-.05")], "confirmed"),
        ([("food", "positive", "stage1+ tan- reader+.95")], "contradicted"),
        ([("food", "positive", "stage1+ tan- judge-")], "open"),
        ([("food", "positive", "tan+ reader+.95")], "confirmed"),
        ([("food", "positive", "tan+ reader-.05")], "contradicted"),
    ],
)
def test_a_sure_reader_confirms_or_contradicts_a_change_made_or_not(pairs: Any, outcome: str) -> None:
    changes = made(*pairs)
    said = outcomes_by_reader(changes)[-1]
    assert (said.kind, said.adopted, said.outcome) == (changes[-1].kind, changes[-1].is_made, outcome)
    assert said.outcome_by == (None if outcome == "open" else "reader")


def decided(outcome: str, by: str | None = "reader", *, adopted: bool = True) -> ChangeOutcomeV1_2:
    fields = {"adopted": adopted, "kind": "drop", "outcome": outcome, "outcome_by": by}
    return ChangeOutcomeV1_2.model_validate(fields)


def test_one_contradicted_change_decides_before_confirmed_ones_and_a_refused_one_never() -> None:
    confirmed, contradicted = decided("confirmed"), decided("contradicted")
    still_open, refused = decided("open", None), decided("contradicted", "referee", adopted=False)
    assert outcome_of([confirmed, contradicted, still_open]) == OutcomeV1_3(by="reader", value="harm")
    assert outcome_of([still_open, confirmed, refused]) == OutcomeV1_3(by="reader", value="success")
    assert outcome_of([confirmed, decided("confirmed", "referee")]) == OutcomeV1_3(by="referee", value="success")
    assert outcome_of([still_open, refused]) == outcome_of([]) == OutcomeV1_3(by="reader", value="neutral")


def run(tmp_path: Path, *answers: Any, uid: str = "u1", **more: Any) -> tuple[Any, Any, Any]:
    """Run one sample of C2; return its backend, its result and its episode."""
    backend, store = b.default_backend(*answers), tmp_path / f"{uid}.jsonl"
    result = b.run_default_sample(backend, store, condition="C2", uid=uid, **more)
    with MemoryStore(store) as opened:
        (episode,) = opened.load()
    assert isinstance(episode, EpisodicMemoryEntryV1_3)
    return backend, result, episode


def test_no_risk_and_no_drop_makes_a_success(tmp_path: Path) -> None:
    dropping = {
        "tan": {"targets": [{"quote": "great", "target": "food"}]},
        "judge": {"decisions": [{"target": "service", "quote": "slow", "decision": "drop"}], "label": "positive"},
    }
    _, result, episode = run(tmp_path, b.DEFAULT_RISKY, dropping)
    assert [(entry.what, entry.applied) for entry in result.patch_log] == [("drop", True)]
    assert episode.evaluation.risk_after.severity_sum < episode.evaluation.risk_before.severity_sum
    assert episode.outcome == OutcomeV1_3(by="reader", value="neutral")
    assert [(change.kind, change.adopted) for change in episode.changes] == [("drop", True)]
    assert not failed(episode)


def said(answer: str) -> dict[str, Any]:
    return {"referee": {"better": answer}}


@pytest.mark.parametrize("uid", ["u1", "u2", "u3"])
def test_the_referee_sees_two_lists_whose_places_the_uid_fixes(tmp_path: Path, uid: str) -> None:
    lists = (STAGE1, CHANGED) if stage1_stands_first(uid) else (CHANGED, STAGE1)
    changed = "B" if stage1_stands_first(uid) else "A"
    backend, result, episode = run(tmp_path, b.DEFAULT_FLIP, said(changed), uid=uid, referee=True)
    assert json.loads(backend.asked("referee").prompt.user) == {"text": b.TEXT, "A": lists[0], "B": lists[1]}
    assert [ask.role for ask in backend.asks].count("referee") == 1
    assert episode.outcome == OutcomeV1_3(by="referee", value="success")
    judged = [(pair.outcome, pair.outcome_by) for pair in result.candidates if pair.outcome]
    assert judged == [("confirmed", "referee")]
    other = "A" if changed == "B" else "B"
    _, _, harmed = run(tmp_path / "other", b.DEFAULT_FLIP, said(other), uid=uid, referee=True)
    assert (harmed.outcome.value, failed(harmed)) == ("harm", True)


def test_the_referee_is_asked_only_about_made_and_narrowly_refused_changes(tmp_path: Path) -> None:
    stage1s = "A" if stage1_stands_first("u1") else "B"
    nearly, _, episode = run(tmp_path / "nearly", NEARLY, said(stage1s), referee=True)
    assert "referee" in nearly.roles
    assert [change.adopted for change in episode.changes] == [False]
    assert episode.outcome == OutcomeV1_3(by="reader", value="neutral")
    plain, _, _ = run(tmp_path / "plain", b.DEFAULT_RISKY, referee=True)
    unwanted, _, _ = run(tmp_path / "unwanted", b.DEFAULT_FLIP)
    assert not any("referee" in backend.roles for backend in (plain, unwanted))


def test_an_undecided_referee_leaves_the_reader_its_word(tmp_path: Path) -> None:
    reader = b.TableReader(finds={"service": ReaderView(0.98, "positive", 0.98)})
    _, _, equal = run(tmp_path / "equal", b.DEFAULT_FLIP, said("equal"), referee=True, reader=reader)
    assert equal.outcome == OutcomeV1_3(by="reader", value="success")


def test_a_proposed_change_is_narrowly_refused_if_the_probability_of_its_pair_is_in_doubt() -> None:
    def narrowly(*pairs: tuple[str, Any, str]) -> bool:
        return is_narrowly_refused(made(*pairs)[-1], CONSERVATIVE)

    assert narrowly(("food", "positive", "stage1+ judge-"))
    assert not narrowly(("food", "positive", "stage1+ judge- epm+ reader+.9"))
    assert not narrowly(("food", "positive", "stage1+ judge- epm-"))
    assert not narrowly(("food", "positive", "tan+ reader-.05"))


@pytest.mark.parametrize(
    ("reply", "better"), [("A", "A"), ("list b", "B"), ("b.", "B"), ("same", "equal"), ("Equal", "equal")]
)
def test_the_answer_of_a_referee_is_read_leniently(reply: str, better: str) -> None:
    assert RefereeAnswer.model_validate({"better": reply}).better == better
    assert RefereeAnswer.model_validate({"answer": reply, "why": "x"}).better == better


def test_the_embedded_engine_answers_the_referee_from_its_reading() -> None:
    def listed(*pairs: tuple[str, str]) -> tuple[ListedPair, ...]:
        return tuple(ListedPair.model_validate({"aspect_term": term, "polarity": said}) for term, said in pairs)

    right = listed(("room", "positive"), ("staff", "negative"))
    wrong = listed(("room", "positive"), ("staff", "positive"))
    text = "The room was clean but the staff was rude."
    answers = [
        answer_of(RefereeInputs(text=text, language="en", list_a=a, list_b=b), RefereeAnswer, default_reader())
        for a, b in ((right, wrong), (wrong, right), (right, right))
    ]
    assert [answer.model_dump()["better"] for answer in answers] == ["A", "B", "equal"]

"""The embedded engine: it answers every question of both rule sets from the reader, and changes nothing afterwards."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from episodic_absa import Analyzer
from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Request
from episodic_absa.backends.embedded import ENGINE_NAME, EmbeddedReplier, find_risks
from episodic_absa.language import strip_particle
from episodic_absa.reader.reader import default_reader
from episodic_absa.schemas.answers import JointAnswer
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AteAnswer
from episodic_absa.vocabulary import Language, Polarity

TEXTS = (
    "The room was clean, but the staff was rude.",
    "방은 깨끗했지만 직원이 불친절했어요.",
    "The soup is not good. Oh great, the screen broke again.",
    "N/A",
    "12345 67,8",
    "a" * 300,
    "“The food” was ‘great’—really!",
    "İstanbul is GREAT but İ is bad",
    "good\x00food is bad",
    "맛있어요😀\n서비스는 별로👎",
    "＊＊최고＊＊",
    "Das Essen war gut, not bad",
    "好吃",
)
RULES = {"seed": "v1_3", "default": "v3_0"}


@pytest.mark.parametrize("conditions", RULES.values(), ids=RULES)
@pytest.mark.parametrize("condition", ["C1", "C2"])
def test_every_question_gets_an_answer_that_the_text_bears_out(condition: str, conditions: str, tmp_path: Path) -> None:
    with Analyzer(condition=condition, conditions=conditions, store=tmp_path / "s.jsonl") as analyzer:
        for text in TEXTS:
            result = analyzer.analyze(text)
            assert all(call.attempts == 1 for call in result.calls)
            assert all(item.evidence in result.sample.text for item in result.stage1.atsa.sentiments)
            assert all(item.aspect_term in result.sample.text for item in result.stage1.atsa.sentiments)
            assert result.moderator.selected_stage == "stage1"
            assert not any(entry.applied for entry in result.patch_log)
            assert [pair.polarity for pair in result.final_result.final_tuples] == [
                pair.polarity for pair in result.final_result.stage1_tuples
            ]


@pytest.mark.parametrize("text", TEXTS)
def test_a_user_is_shown_the_readers_pairs_with_the_readers_probabilities(text: str) -> None:
    reading = default_reader().read(text)
    with Analyzer() as analyzer:
        shown = analyzer.analyze(text).aspects
    named = [(aspect.term, aspect.polarity) for aspect in shown if aspect.term]
    # The pipeline takes a particle off that the reader left on.
    assert named == [(strip_particle(pair.term, text), pair.polarity) for pair in reading.pairs]
    for aspect, pair in zip((aspect for aspect in shown if aspect.term), reading.pairs, strict=True):
        assert aspect.confidence == pytest.approx(pair.p, abs=0.002)
    assert [aspect.polarity for aspect in shown if not aspect.term] == ([reading.opinion] if reading.opinion else [])


def ask_of(text: str, model: Any, seed: int = 0) -> Ask[Any]:
    return Ask("joint", AteInputs(text=text, language="en"), Prompt("joint", "", ""), model, seed=seed)


def test_the_engine_says_what_it_is_and_costs_nothing() -> None:
    backend = RepairingBackend(EmbeddedReplier())
    answer = asyncio.run(backend.answer(ask_of("The food was great.", AteAnswer)))
    assert (backend.name, backend.honours_seed, answer.model) == (ENGINE_NAME, False, "embedded:reader-1")
    assert backend.fingerprint == default_reader().fingerprint
    assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.usage.cost_usd, answer.attempts) == (0, 0, 0.0, 1)
    asyncio.run(backend.close())


@pytest.mark.parametrize("text", [TEXTS[0], "\ud800 good food", "a \udfff b"])
def test_replies_are_the_same_each_time_and_for_every_seed(text: str) -> None:
    replies = {
        asyncio.run(EmbeddedReplier().reply(Request(ask_of(text, JointAnswer, seed)))).text for seed in (0, 1, 1)
    }
    assert len(replies) == 1
    replies.pop().encode()


@pytest.mark.parametrize(
    ("text", "language", "pairs", "types"),
    [
        ("The soup was good.", "en", [("soup", "positive")], []),
        ("The soup was not good.", "en", [("soup", "negative")], ["NEGATION_SCOPE"]),
        ("The soup was good. I do not eat bread.", "en", [("soup", "positive")], []),
        ("음식은 좋지만 방이 좁아요.", "ko", [("음식", "positive"), ("방", "negative")], []),
        ("음식은 좋지만 방이 좁아요.", "ko", [("음식", "negative"), ("방", "negative")], ["CONTRAST_SCOPE"]),
        ("Oh great, the soup is cold.", "en", [("soup", "positive")], ["IRONY"]),
        ("Oh great, the soup is cold.", "en", [("soup", "negative")], []),
        ("Not good.", "en", [("", "negative")], ["NEGATION_SCOPE"]),
        ("The soup was not good.", "en", [], []),
        ("The soup was not good.", "other", [("soup", "negative")], []),
    ],
)
def test_a_risk_is_a_cue_beside_a_judged_term(
    text: str, language: Language, pairs: list[tuple[str, Polarity]], types: list[str]
) -> None:
    assert [risk["type"] for risk in find_risks(text, language, pairs)] == types

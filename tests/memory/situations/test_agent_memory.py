"""The memory for other agents: recall and remember in closed words, over the store that runs use."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stored_lines import entries_of, rewrite

from episodic_absa import Advice, AgentMemory, Analyzer, InputError, MemoryStore, MemoryStoreError, Situation
from episodic_absa.language import find_polarity_word
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.advisory_builder import AdvisoryBuilder
from episodic_absa.memory.advice.outcome_advice import OUTCOME_VOICE
from episodic_absa.memory.episodes.leak_guard import refuse_forbidden_keys, refuse_open_vocabulary
from episodic_absa.memory.situations.situation import (
    Action,
    Outcome,
    SituationRisk,
    SituationStructure,
    signature_of,
    situation_episode,
)
from episodic_absa.vocabulary import Language, LengthBucket, Severity

TEXT = "The battery lasts long, but the screen is not bright at all."
NEGATED = Situation(language="en", structures={"negation"}, risks={"negation_scope"})
SITUATIONS = st.builds(
    Situation,
    language=st.sampled_from(get_args(Language)),
    structures=st.sets(st.sampled_from(get_args(SituationStructure))),
    risks=st.sets(st.sampled_from(get_args(SituationRisk))),
    severity=st.sampled_from(get_args(Severity)),
    conflict=st.booleans(),
    length=st.sampled_from(get_args(LengthBucket)),
    targets=st.integers(0, 9),
)


@pytest.fixture
def memory(tmp_path: Path) -> AgentMemory:
    return AgentMemory(tmp_path / "store.jsonl")


def test_what_helped_before_is_recalled_in_plain_words(memory: AgentMemory) -> None:
    assert memory.recall(NEGATED) == Advice()
    episode_id = memory.remember(NEGATED, "changed", "better")
    advice = memory.recall(NEGATED)
    assert advice.episode_ids == (episode_id,)
    assert advice.suggests == "change"
    (message,) = advice.messages
    assert message.endswith(" [a similar case: the answer was changed; that turned out better]")
    assert advice.as_prompt() == f"- {message}"


@pytest.mark.parametrize(
    ("action", "outcome", "suggested"),
    [("changed", "better", "change"), ("kept", "better", "hold"), ("kept", "worse", "change")],
)
def test_what_is_suggested_follows_the_outcome_of_the_similar_case(
    memory: AgentMemory, action: Action, outcome: Outcome, suggested: str
) -> None:
    situation = Situation(language="en", risks={"other"})
    memory.remember(situation, action, outcome)
    assert memory.recall(situation).suggests == suggested
    assert not memory.recall(Situation(language="ko", risks={"other"})), "advice does not cross languages"


def test_a_situation_of_no_text_says_what_to_write_instead() -> None:
    with pytest.raises(InputError, match=r"got NoneType; without a text write Situation\(language=\.\.\.\)"):
        Situation.of_text(None)  # type: ignore[arg-type]


def test_what_harmed_before_is_withheld_and_warned_of(memory: AgentMemory) -> None:
    memory.remember(NEGATED, "changed", "worse")
    advice = memory.recall(NEGATED)
    assert (advice.messages, advice.suggests) == ((), "hold")
    assert len(advice.warnings) == 1
    assert advice


def test_advice_speaks_the_language_of_the_situation(memory: AgentMemory) -> None:
    korean = Situation(language="ko", structures={"negation"}, risks={"negation_scope"})
    memory.remember(korean, "kept", "unclear")
    (message,) = memory.recall(korean).messages
    assert message.endswith("[비슷한 사례: 답을 그대로 두었고, 결과는 분명하지 않았습니다]")
    assert memory.recall(NEGATED) == Advice()


def test_at_most_three_cases_are_recalled_and_never_ones_own(memory: AgentMemory) -> None:
    for place in range(5):
        memory.remember(NEGATED, "changed", "better", case_id=f"case-{place}")
    assert memory.recall(NEGATED).episode_ids == ("epi_000005", "epi_000004", "epi_000003")
    assert "epi_000005" not in memory.recall(NEGATED, case_id="case-4").episode_ids


def test_a_situation_is_read_off_a_text_and_keeps_nothing_of_it(memory: AgentMemory, tmp_path: Path) -> None:
    situation = Situation.of_text(TEXT, risks={"contrast_scope"}, targets=2)
    assert (situation.language, situation.length, situation.structures) == ("en", "medium", ("negation", "contrast"))
    memory.remember(situation, "kept", "unclear", case_id="r1")
    memory.close()
    stored = (tmp_path / "store.jsonl").read_text("utf-8")
    assert not [word for word in ("battery", "screen", "bright") if word in stored]
    (episode,) = map(json.loads, entries_of(tmp_path / "store.jsonl"))
    assert episode["stage_snapshot"] is None
    assert episode["outcome"] == {"by": "agent", "value": "neutral"}


@settings(max_examples=60, deadline=None)
@given(SITUATIONS, st.sampled_from(get_args(Action)), st.sampled_from(get_args(Outcome)))
def test_every_case_keeps_the_promises_of_the_store(situation: Situation, action: Any, outcome: Any) -> None:
    catalogue = load_catalogue()
    draft = situation_episode(situation, action, outcome, "case", catalogue)
    refuse_forbidden_keys(draft.model_dump())
    refuse_open_vocabulary(draft, catalogue)
    assert situation == Situation(
        language=situation.language,
        structures=tuple(reversed(list(situation.structures))),
        risks=frozenset(situation.risks),
        severity=situation.severity,
        conflict=situation.conflict,
        length=situation.length,
        targets=situation.targets,
    )


def test_no_message_names_a_label(memory: AgentMemory) -> None:
    for language in get_args(Language):
        for action in get_args(Action):
            for outcome in get_args(Outcome):
                situation = Situation(language=language, risks={"irony"}, conflict=True)
                memory.remember(situation, action, outcome)
                advice = memory.recall(situation)
                assert not [line for line in (*advice.messages, *advice.warnings) if find_polarity_word(line)]


@pytest.mark.parametrize("conditions", ["v3_0", "v1_2"])
def test_agents_and_the_pipeline_share_one_store(tmp_path: Path, conditions: str) -> None:
    store = tmp_path / "store.jsonl"
    with Analyzer(condition="C2", conditions=conditions, store=store) as analyzer, AgentMemory(store) as memory:
        stored = analyzer.analyze(TEXT, uid="r1", language_code="en").store.episode_id
        advice = memory.recall(Situation.of_text(TEXT, risks={"negation_scope"}))
        memory.remember(NEGATED, "kept", "unclear")
        read = analyzer.analyze("The room was not clean, but the bed was soft.", uid="r2")
    assert advice.episode_ids == (stored,)
    assert "epi_000002" in read.memory.retrieved_ids
    assert len(MemoryStore(store).load()) >= 2


def test_default_rules_tell_what_an_agent_did_and_how_it_turned_out(tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    with AgentMemory(store) as memory:
        memory.remember(NEGATED, "changed", "worse")
        memory.remember(NEGATED, "kept", "better")
    builder = AdvisoryBuilder(load_catalogue().in_v3_wording(), OUTCOME_VOICE)
    with MemoryStore(store) as opened:
        messages = [
            advisory.message
            for advisory in builder.build_from_episodes(opened.load(), signature_of(NEGATED)).advisories
        ]
    assert "[Similar case: the first analysis was changed; this was contradicted]" in messages[0]
    assert "[Similar case: the first analysis was kept]" in messages[1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "english"},
        {"language": "en", "structures": {"negations"}},
        {"language": "en", "risks": ["NEGATION_SCOPE"]},
        {"language": "en", "risks": [7]},
        {"language": "en", "severity": "grave"},
        {"language": "en", "length": TEXT},
        {"language": "en", "targets": -1},
        {"language": "en", "targets": True},
        {"language": "en", "conflict": "yes"},
    ],
)
def test_a_word_outside_the_vocabulary_is_refused_with_the_words_that_are_known(wrong: Any) -> None:
    with pytest.raises(InputError) as caught:
        Situation(**wrong)
    assert caught.value.argument in str(caught.value)
    assert TEXT not in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [("action", "flipped"), ("outcome", "good"), ("case_id", TEXT), ("case_id", ""), ("situation", {"language": "en"})],
)
def test_what_cannot_be_remembered_is_refused_and_nothing_is_written(
    argument: str, wrong: Any, memory: AgentMemory, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"situation": NEGATED, "action": "kept", "outcome": "better", argument: wrong}
    with pytest.raises(InputError) as caught:
        memory.remember(**given)
    assert caught.value.argument == argument
    assert not (tmp_path / "store.jsonl").exists()


def test_a_damaged_store_is_told_with_its_line(memory: AgentMemory, tmp_path: Path) -> None:
    memory.remember(NEGATED, "changed", "better")
    memory.close()
    lines = entries_of(tmp_path / "store.jsonl")
    rewrite(tmp_path / "store.jsonl", [*lines, b"not an episode"])
    with pytest.raises(MemoryStoreError) as caught:
        memory.recall(NEGATED)
    assert caught.value.line == 2

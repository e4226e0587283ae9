"""What opens the gates under rules v3, alone and in both, and what of it is recorded and stored."""

from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.errors import ConfigError
from episodic_absa.pipeline.gate_reading import SHIPPED_GATES, GateReading, load_gate_rules
from episodic_absa.schemas.absa import StructuralRisk, ValidatorOutput
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.vocabulary import Language, RiskId

b: Any = builders

CUED = "The food was not great, the service was slow."
SURE = {"food": ReaderView(0.8, "positive", 0.95), "service": ReaderView(0.8, "negative", 0.95)}
"""Agrees with the pairs of DEFAULT_ANSWERS: their confidence is 0.76."""
DOUBTING = {**SURE, "food": ReaderView(0.6, "positive", 0.95)}
"""Agrees, with a confidence of 0.57."""
OTHER = {**SURE, "food": ReaderView(0.9, "negative", 0.95)}
LEANING = {**SURE, "food": ReaderView(0.9, "negative", 0.55)}
"""Would give another polarity, and is not sure of it: the confidence of the pair is 0.2."""


def reasons(result: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    memory = result.memory
    assert memory.injection_trigger_reason == (memory.injection_trigger_reasons or (None,))[0]
    assert memory.stage2_memory_gate_reason == (memory.stage2_memory_gate_reasons or (None,))[0]
    return memory.injection_trigger_reasons, memory.stage2_memory_gate_reasons


@pytest.mark.parametrize(
    ("text", "reader", "opened"),
    [
        (b.TEXT, builders.TableReader(SURE), ()),
        (CUED, builders.TableReader(SURE), ("structure",)),
        (b.TEXT, builders.TableReader(DOUBTING), ("unsure",)),
        (b.TEXT, builders.TableReader(OTHER), ("reader_disagrees",)),
        (b.TEXT, builders.TableReader(LEANING), ()),
        (b.TEXT, builders.TableReader({}), ()),
        (CUED, None, ("structure",)),
    ],
)
def test_each_reason_opens_both_gates_alone_and_is_recorded(
    tmp_path: Path, text: str, reader: Any, opened: tuple[str, ...]
) -> None:
    for condition in ("C1", "C2"):
        result = b.run_default_sample(
            b.default_backend(), tmp_path / f"{condition}.jsonl", condition=condition, text=text, reader=reader
        )
        assert reasons(result) == (opened, opened)
    stored = ("stored", "", ("gate_signal",)) if opened else ("skipped", "plain_sample", ())
    assert (result.store.store_decision, result.store.store_skip_reason, result.store.store_reason_tags) == stored


def test_seed_rules_know_none_of_the_three_reasons(tmp_path: Path) -> None:
    result = b.run_sample(b.ScriptedBackend(), tmp_path / "s.jsonl", condition="C2", text=CUED)
    assert reasons(result) == ((), ())
    assert result.store.store_reason_tags == ("novelty",)


def test_a_reader_that_does_not_know_the_language_is_silent(tmp_path: Path) -> None:
    result = b.run_default_sample(
        b.default_backend(), tmp_path / "s.jsonl", text=CUED, reader=builders.TableReader(OTHER), language_code="de"
    )
    assert reasons(result) == ((), ())


@pytest.mark.parametrize(
    ("text", "language", "term", "holds"),
    [
        ("The food was not great.", "en", "food", True),
        ("The room was clean but the food was cold.", "en", "food", True),
        ("The room was clean. The food was not great.", "en", "room", False),
        ("The food was clean. It was not great.", "en", "food", False),
        ("The food was great.", "en", "food", False),
        ("음식은 좋지만 방이 좁아요.", "ko", "음식", True),
        ("음식은 좋지만 방이 좁아요.", "ko", "방", False),
        ("방이 깨끗하지 않아요.", "ko", "방", True),
        ("The food was not great.", "other", "food", False),
    ],
)
def test_a_cue_counts_in_the_clause_of_an_aspect(text: str, language: Language, term: str, holds: bool) -> None:
    reading = GateReading(load_gate_rules(), None)
    stage1 = b.stage1_of([b.aspect(term, text)], [b.sentiment(term, "positive", text=text)])
    assert reading.signals(b.first_of(stage1, text, language)).has_structure is holds


@pytest.mark.parametrize(
    ("text", "language", "risk", "risk_n"),
    [
        (b.TEXT, "en", "CONTRAST_SCOPE", 0),
        ("The food was great, but the service was slow.", "en", "CONTRAST_SCOPE", 1),
        ("The food was great, but the service was slow.", "en", "NEGATION_SCOPE", 0),
        (CUED, "en", "NEGATION_SCOPE", 1),
        (b.TEXT, "en", "EVIDENCE_GAP", 1),
        (b.TEXT, "other", "CONTRAST_SCOPE", 1),
    ],
)
def test_a_risk_about_a_scope_counts_where_the_text_holds_its_cue(
    text: str, language: Language, risk: RiskId, risk_n: int
) -> None:
    stage1 = b.stage1_of([b.aspect("food", text)], [b.sentiment("food", "positive", text=text)])
    named = StructuralRisk(id="r1", type=risk)
    stage1 = stage1.model_copy(update={"validator": ValidatorOutput(structural_risks=(named,))})
    signals = GateReading(load_gate_rules(), None).signals(b.first_of(stage1, text, language))
    assert signals.structural_risk_n == risk_n


@pytest.mark.parametrize(
    ("answers", "tags"),
    [
        (b.DEFAULT_FLIP, ("change_adopted", "change_proposed")),
        ({"judge": b.DEFAULT_FLIP["judge"]}, ("change_proposed",)),
        (b.DEFAULT_RISKY, ("gate_signal",)),
    ],
)
def test_a_proposed_change_or_a_gate_makes_an_episode(tmp_path: Path, answers: Any, tags: tuple[str, ...]) -> None:
    result = b.run_default_sample(b.default_backend(answers), tmp_path / "s.jsonl", condition="C2")
    assert (result.store.store_decision, result.store.store_reason_tags) == ("stored", tags)


def test_open_gates_change_no_prompt_of_a_condition_that_hides_memory(tmp_path: Path) -> None:
    reader = builders.TableReader(OTHER)
    store = tmp_path / "s.jsonl"
    b.run_default_sample(b.default_backend(), store, condition="C2_silent", text=CUED, reader=reader, uid="teacher")
    asked = {}
    for condition in ("C1", "C2_eval_only", "C2_silent", "C2_frozen"):
        backend = b.default_backend()
        b.run_default_sample(backend, store, condition=condition, text=CUED, reader=reader)
        asked[condition] = [(ask.role, ask.prompt.system, ask.prompt.user) for ask in backend.asks]
    assert asked["C1"] == asked["C2_silent"] == asked["C2_eval_only"] != asked["C2_frozen"]
    shown = "".join(user for prompts in asked.values() for _, _, user in prompts)
    assert not any(reason in shown for reason in ("structure", "reader_disagrees", "unsure", "reader"))


def test_a_file_of_thresholds_with_a_mistake_names_its_key(tmp_path: Path) -> None:
    path = tmp_path / "gates.yaml"
    path.write_text(SHIPPED_GATES.read_text(encoding="utf-8").replace("0.6", "7"), encoding="utf-8")
    with pytest.raises(ConfigError, match="unsure_below"):
        load_gate_rules(path)

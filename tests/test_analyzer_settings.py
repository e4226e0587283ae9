"""Every key stands in one settings model, and a key given to another model is refused."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from episodic_absa import Analyzer, EpisodicMemorySettings
from episodic_absa.schemas.pipeline_settings import DebateSettings, PipelineSettings

RISKY = "The battery lasts long, but the screen is not dark."


@pytest.mark.parametrize(
    ("given", "home"),
    [
        ({"memory_prompt_injection_chars_cap": 0}, "PipelineSettings(memory_prompt_injection_chars_cap="),
        ({"memory_visible_to": ("epm",)}, "DebateSettings(memory_visible_to="),
    ],
)
def test_the_memory_refuses_a_key_of_the_pipeline_and_names_its_place(given: dict[str, Any], home: str) -> None:
    with pytest.raises(ValidationError) as raised:
        EpisodicMemorySettings(**given)
    assert next(iter(given)) in str(raised.value)
    assert home in str(raised.value)


def test_the_limits_of_the_pipeline_hold_in_the_memory_too(tmp_path: Path) -> None:
    pipeline = PipelineSettings(memory_prompt_injection_chars_cap=0, debate=DebateSettings(memory_visible_to=("epm",)))
    with Analyzer(condition="C2", store=tmp_path / "store.jsonl", pipeline=pipeline) as analyzer:
        first = analyzer.analyze(RISKY, uid="first")
        second = analyzer.analyze(RISKY, uid="second")
    assert first.store.store_decision == "stored"
    assert second.memory.retrieved_ids == (first.store.episode_id,)
    assert second.memory.injection_skip_reason == second.memory.stage2_injection_skip_reason == "char_cap"
    assert second.memory.memory_access_policy == {"debate": ("epm",)}


@pytest.mark.parametrize("wrong", [{"memory_prompt_injection_chars_cap": -1}, {"debate": {"memory_visible_to": ["x"]}}])
def test_the_pipeline_refuses_a_limit_that_cannot_be_obeyed(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PipelineSettings.model_validate(wrong)

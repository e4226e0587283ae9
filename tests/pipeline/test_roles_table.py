"""The tables of roles and speakers name everything, and the pipeline asks as they say."""

from pathlib import Path
from typing import get_args

import tests.pipeline.builders as b

from episodic_absa.backends.embedded import FORMS
from episodic_absa.pipeline.debate import PERSONAS
from episodic_absa.pipeline.prompt_files import PROMPT_FILES, prompt_versions
from episodic_absa.pipeline.roles import ROLE_SPECS, SEED_ROLES
from episodic_absa.schemas.pipeline_settings import DebateSettings
from episodic_absa.vocabulary import DEBATE_CALLS, SPEAKERS, Role


def test_every_role_has_an_entry_and_a_prompt_and_the_embedded_engine_answers_each_form() -> None:
    roles = list(get_args(Role))
    assert roles == list(ROLE_SPECS) == [*b.EVERY_ROLE, "joint", "referee"]
    assert list(SEED_ROLES) == list(b.EVERY_ROLE)
    assert all(PROMPT_FILES["seed"].instructions(role, "en") for role in SEED_ROLES)
    assert list(prompt_versions()) == [f"{role}.v1" for role in SEED_ROLES]
    assert {spec.answer for spec in ROLE_SPECS.values()} <= set(FORMS)


def test_every_speaker_has_a_persona_and_speaks_by_default() -> None:
    assert tuple(PERSONAS) == SPEAKERS == DebateSettings().order
    assert (*SPEAKERS, "judge") == DEBATE_CALLS == DebateSettings().memory_visible_to


def test_the_pipeline_asks_every_role_as_the_table_says(tmp_path: Path) -> None:
    backend = b.ScriptedBackend(b.RISKY_ANSWERS)
    b.run_sample(backend, tmp_path / "store.jsonl")
    assert {ask.role for ask in backend.asks} == set(SEED_ROLES)
    for ask in backend.asks:
        spec = ROLE_SPECS[ask.role]
        assert (type(ask.inputs), ask.output_model) == (spec.inputs, spec.answer)

"""Memories that leak on purpose: what the drill must catch."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from episodic_absa.backends.backend import Backend
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, SlotAnswer
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.schemas.absa import Stage1Ate, Stage1Atsa, Stage1Result, ValidatorOutput
from episodic_absa.schemas.run import Condition, StoreDecision


class EvidenceInAdvisories(EpisodicOrchestrator):
    """Copies the evidence of the last sample into every advisory of the next one."""

    last_evidence = ""

    def get_slot_payload_for_current_sample(
        self,
        text: str,
        stage1_ate: Stage1Ate,
        stage1_atsa: Stage1Atsa,
        stage1_validator: ValidatorOutput,
        language_code: str | None,
        *,
        sample_id: str | None = None,
    ) -> SlotAnswer:
        answer = super().get_slot_payload_for_current_sample(
            text, stage1_ate, stage1_atsa, stage1_validator, language_code, sample_id=sample_id
        )
        for advisory in answer.slot["retrieved"]:
            advisory["message"] = f"{advisory['message']} [evidence: {self.last_evidence}]"
        return answer

    def append_episode_if_needed(
        self, text: str, text_id: str, stage1: Stage1Result, *arguments: Any, **named: Any
    ) -> StoreDecision:
        self.last_evidence = "; ".join(item.evidence for item in stage1.atsa.sentiments)
        return super().append_episode_if_needed(text, text_id, stage1, *arguments, **named)


def build_with_evidence_in_advisories(
    *, backend: Backend, condition: Condition, store: Path, memory: EpisodicMemorySettings
) -> Pipeline:
    """Build the pipeline of a condition, with the leak."""
    pipeline = build_pipeline(backend=backend, condition=condition, store=store, memory=memory)
    return replace(pipeline, memory=EvidenceInAdvisories(condition, pipeline.store, settings=memory))

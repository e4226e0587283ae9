"""The original rules, frozen: their stages, prompts, patch, adoption and moderator. The pipeline alone sees them."""

from episodic_absa.seed.answer_processing import (
    ProcessedAtsa,
    backfill,
    is_valid_target,
    match_aspect,
    process_ate,
    process_atsa,
)
from episodic_absa.seed.memory_form import SEED_FORM
from episodic_absa.seed.moderator import moderate, stage_label
from episodic_absa.seed.review_context import TermMap, build_review_context
from episodic_absa.seed.rules import decide_adoption, override_flags
from episodic_absa.seed.stage2 import Verdicts, build_stage2_result
from episodic_absa.seed.validator_processing import process_validator, process_validator2

__all__ = [
    "SEED_FORM",
    "ProcessedAtsa",
    "TermMap",
    "Verdicts",
    "backfill",
    "build_review_context",
    "build_stage2_result",
    "decide_adoption",
    "is_valid_target",
    "match_aspect",
    "moderate",
    "override_flags",
    "process_ate",
    "process_atsa",
    "process_validator",
    "process_validator2",
    "stage_label",
]

"""One line of scorecards.jsonl. With the manifest's majority and seed_supported it suffices for every metric."""

from typing import Literal

from episodic_absa.schemas.absa import Drop, FinalTuple
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.sample_record import DebateScore
from episodic_absa.vocabulary import (
    AdoptReason,
    ErrorType,
    Language,
    MemoryMode,
    ModeratorRule,
    OverrideSkip,
    Polarity,
    ResultLabel,
    RiskId,
    Severity,
    Split,
    Stage,
)


class ScoredRisk(FrozenModel):
    """A risk without its place."""

    type: RiskId
    severity: Severity


class StageDelta(FrozenModel):
    """What changed between Stage1 and the final result."""

    changed: Flag
    label_changed: Flag
    n_s1_pairs: Count
    n_final_pairs: Count
    change_type: Literal["none", "guided", "unguided"]
    override_applied: Flag
    override_gate_applied_n: Count
    override_reason: OverrideSkip | Literal[""] | None = None


class OverrideScore(FrozenModel):
    """How overrides turned out."""

    success: Flag
    harm: Flag
    skip_counts: dict[OverrideSkip, int]


class AdoptionScore(FrozenModel):
    """Whether and why the patched result was adopted."""

    adopt: Flag
    reason: AdoptReason
    ev_score: Score
    ev_threshold: Score
    components: dict[str, float]


class ModeratorScore(FrozenModel):
    """The stage whose tuples were used, and the rules that fired."""

    selected_stage: Stage
    applied_rules: tuple[ModeratorRule, ...]


class JudgedSentiment(FrozenModel):
    """One final tuple, and whether the text supports it."""

    aspect_term: str
    polarity: Polarity
    term_in_text: Flag
    grounded: Flag
    evidence_in_text: Flag


class MappedTag(FrozenModel):
    """A risk tag and the principle of the first advisory about it."""

    risk_tag: RiskId
    principle_id: str


class Coverage(FrozenModel):
    """The risks that advisories are about."""

    risk_tag_to_principle_mapped: tuple[MappedTag, ...] = ()
    mapping_coverage_hit: Flag | None = None
    """None without risk tags."""


class UsageSums(FrozenModel):
    """Sums over all calls of a sample."""

    calls: Count = 0
    attempts: Count = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    cost_usd: float | None = None


class FailureFlags(FrozenModel):
    """How a sample failed."""

    parse_failed: Flag = False
    generate_failed: Flag = False


class Scorecard(FrozenModel):
    """One sample of one cell. No latency, clock or cache hit: equal runs give equal bytes.

    A failed sample has status error and nothing after `cfg_hash` but gold, usage and flags.
    """

    run_id: str
    uid: str
    sample_index: Count
    status: Literal["ok", "error"]
    error_type: ErrorType | None = None
    condition: str
    memory_mode: MemoryMode
    seed: int
    order: int = 0
    """Which order of the samples the cell used; 0 is the order of the file."""
    language_code: Language
    split: Split
    domain_id: str
    case_type: str
    cfg_hash: str
    stage1_tuples: tuple[FinalTuple, ...] = ()
    stage2_tuples: tuple[FinalTuple, ...] = ()
    final_tuples: tuple[FinalTuple, ...] = ()
    gold_tuples: tuple[GoldTuple, ...] | None = None
    """Added by the scorer, after the final result is fixed."""
    label: ResultLabel | None = None
    label_s1: ResultLabel | None = None
    label_s2: ResultLabel | None = None
    drops: tuple[Drop, ...] = ()
    span_repaired: Count = 0
    implicit_grounding_candidate: Flag | None = None
    risks_s1: tuple[ScoredRisk, ...] = ()
    risks_s2: tuple[ScoredRisk, ...] = ()
    risk_before: RiskVectorV1_1 | None = None
    risk_after: RiskVectorV1_1 | None = None
    stage_delta: StageDelta | None = None
    override: OverrideScore | None = None
    adoption: AdoptionScore | None = None
    moderator: ModeratorScore | None = None
    debate: DebateScore | None = None
    sentiments_judged: tuple[JudgedSentiment, ...] = ()
    memory: MemoryMeta | None = None
    store_decision: Literal["stored", "skipped"] | None = None
    store_size_after: Count | None = None
    coverage: Coverage | None = None
    stage1_structural_risk: Flag | None = None
    stage2_structural_risk: Flag | None = None
    usage: UsageSums = UsageSums()
    polarity_read_count: Count = 0
    """All polarity words read: what the two rates below are shares of."""
    polarity_repair_count: Count = 0
    polarity_invalid_count: Count = 0
    flags: FailureFlags = FailureFlags()

    @property
    def pair_key(self) -> tuple[str, int, int]:
        """The uid, order and seed: a sample is compared with the one of another condition that shares all three."""
        return self.uid, self.order, self.seed

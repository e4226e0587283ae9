"""The closed enumerations of the system. Files, prompts and reports use these spellings and no others."""

from typing import Final, Literal, get_args

Polarity = Literal["positive", "negative", "neutral"]
SentenceLabel = Literal["positive", "negative", "neutral", "mixed"]
ResultLabel = Literal[SentenceLabel, "none", ""]
"""The label of a result. `none`: the text holds no opinion; "": the text was not read. Seed rules know neither."""
Language = Literal["ko", "en", "other"]
Structure = Literal["negation", "contrast", "irony", "none"]
LengthBucket = Literal["short", "medium", "long"]
Split = Literal["train", "valid", "test", "unknown"]
ProcessSplit = Literal["train", "valid", "test"]
"""A split that a data file of an experiment can be."""
RiskId = Literal[
    "NEGATION_SCOPE",
    "CONTRAST_SCOPE",
    "IRONY",
    "POLARITY_MISMATCH",
    "EVIDENCE_GAP",
    "SPAN_MISMATCH",
    "MISSING_SECOND_ASPECT",
    "OTHER",
]
Severity = Literal["low", "mid", "high"]
ProposalType = Literal["FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN"]
EditOp = Literal["set_polarity", "set_aspect_ref", "merge_tuples", "drop_tuple", "confirm_tuple"]
AteAction = Literal["keep", "revise_span", "drop", "add"]
AtsaAction = Literal["keep", "flip_polarity", "reduce_confidence", "drop", "add"]
DropReason = Literal["alignment_failure", "filter_rejection", "semantic_hallucination"]
Stage = Literal["stage1", "stage2"]
MemoryMode = Literal["off", "on", "silent"]
AdvisoryType = Literal["successful_override", "failed_override_warning", "consistency_anchor"]
Strength = Literal["weak", "moderate", "strong"]
EpisodeType = Literal["success", "harm", "neutral"]
RiskType = Literal["L3", "conflict", "implicit"]
ActionTaken = Literal["polarity_flip", "abstain", "defer", "confidence_reduce", "neutral_fallback"]
ErrorCategory = Literal["negation", "contrast", "irony", "aspect_conflict", "implicit_opinion", "format_error", "none"]
Expects = Literal["change", "hold"]
ChangeKind = Literal["flip", "drop", "add", "span"]
"""The kinds of change of Stage1's pairs under rules v3; episodes of version 0.2 may hold a change of span."""
Outcome = Literal["confirmed", "contradicted", "open"]
"""Whether a change was right, as far as anybody but gold can say."""
OutcomeBy = Literal["reader", "referee", "person"]
Verdict = Literal["right", "wrong", "unsure"]
"""What a person says about a result."""
V3GateReason = Literal["structure", "reader_disagrees", "unsure"]
"""Reasons of both gates that only rules v3 know."""
DebateGateReason = Literal["conflict", "validator", "alignment", "explicit_grounding_failure", V3GateReason]
Stage2GateReason = Literal[
    "validator", "conflict", "explicit_grounding_failure", "alignment", "neutral_only", V3GateReason
]
InjectionSkip = Literal["", "not_exposed", "gate_closed", "empty_bundle", "char_cap"]
OverrideSkip = Literal[
    "max_one_override_per_sample",
    "neutral_only",
    "no_evidence_span",
    "evidence_span_not_in_text",
    "evidence_span_missing_trigger",
    "low_signal",
    "action_ambiguity",
    "l3_conservative",
    "implicit_soft_only",
    "already_confident",
]
AdoptReason = Literal[
    "risk_resolved",
    "debate_action",
    "grounding_improved",
    "conflict_blocked",
    "low_signal",
    "ev_below_threshold",
]
Reach = Literal["reader", "stage1", "full"]
"""How far `effort: adaptive` asks: no model; Stage1's asks; debate and Stage2 as well."""
StorageTag = Literal[
    "failure_asset", "utility", "novelty", "change_adopted", "change_proposed", "gate_signal", "gate_disabled"
]
"""Why an episode is stored: the first three under seed rules, the next three under rules v3."""
StoreSkip = Literal["", "store_write_disabled", "no_gate_passed", "plain_sample"]
"""Why no episode is stored; `no_gate_passed` belongs to seed rules, `plain_sample` to rules v3."""
Rules = Literal["seed", "v3"]
"""Which set of rules decides: the original requirement, or the second version."""
Effort = Literal["reader", "one_call", "stage1", "adaptive", "full"]
"""How much is asked per sample: no model; one ask; Stage1; what the decision may need; or everything."""
Speaker = Literal["epm", "tan", "cj"]
DebateCall = Literal[Speaker, "judge"]
Role = Literal[
    "ate", "atsa", "validator", DebateCall, "stage2_ate", "stage2_atsa", "stage2_validator", "joint", "referee"
]
"""The questions a sample asks of a model."""
CallStage = Literal["stage1", "debate", "stage2", "outcome"]
ModeratorRule = Literal["Z", "B", "M", "C", "A", "D", "E", "P", "T"]
"""P and T belong to rules v3."""
ErrorType = Literal[
    "provider_error", "timeout", "json_parse_error", "schema_validation_error", "contract_error", "leakage_error"
]
StratumName = Literal["language", "domain", "structure", "risk", "principle", "quarter"]
"""What paired differences are broken down by."""
DangerousAdvice = Literal["block", "demote"]
AdviceFrom = Literal["retrieved", "random", "donor", "constant", "placebo"]
"""Where the advice of a condition comes from."""
FirewallMode = Literal["drop", "strict"]
PrincipleRisk = RiskId | Literal["conflict", "implicit", "none", "any"]
"""The situation that a principle of the catalogue answers: a risk, a conflict, an implicit opinion, none, or any."""

POLARITIES: Final[tuple[Polarity, ...]] = get_args(Polarity)
RISK_IDS: Final[tuple[RiskId, ...]] = get_args(RiskId)
SPEAKERS: Final[tuple[Speaker, ...]] = get_args(Speaker)
DEBATE_CALLS: Final[tuple[DebateCall, ...]] = get_args(DebateCall)
STAGE_OF_ROLE: Final[dict[Role, CallStage]] = {
    "ate": "stage1",
    "atsa": "stage1",
    "validator": "stage1",
    **dict.fromkeys(DEBATE_CALLS, "debate"),
    "stage2_ate": "stage2",
    "stage2_atsa": "stage2",
    "stage2_validator": "stage2",
    "joint": "stage1",
    "referee": "outcome",
}
"""The stage that asks each question."""
STRUCTURES: Final[tuple[Structure, ...]] = get_args(Structure)
L3_RISKS: Final[frozenset[RiskId]] = frozenset({"NEGATION_SCOPE", "CONTRAST_SCOPE", "IRONY", "POLARITY_MISMATCH"})
"""Risks that may reverse a polarity."""

SEVERITY_WEIGHT: Final[dict[Severity, int]] = {"low": 1, "mid": 2, "high": 3}

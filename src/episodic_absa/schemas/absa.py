"""The values of Stage1, debate and Stage2. No type here can carry gold or metadata."""

import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, computed_field, field_validator, model_validator

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score, offered
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.memory_v1_2 import ChangeOutcomeV1_2
from episodic_absa.vocabulary import (
    POLARITIES,
    SEVERITY_WEIGHT,
    AdoptReason,
    AteAction,
    AtsaAction,
    DebateCall,
    DropReason,
    EditOp,
    ModeratorRule,
    Polarity,
    ProposalType,
    ResultLabel,
    RiskId,
    SentenceLabel,
    Severity,
    Speaker,
    Split,
    Stage,
)

Reason = Annotated[str, Field(min_length=1, max_length=400)]
PolarityWordOrNull = Annotated[str | None, offered(POLARITIES, or_null=True)]
ChangeId = Annotated[str, Field(pattern=r"^chg_[0-9]{3}$")]


class Sample(FrozenModel):
    """One text to analyse. It can carry neither gold nor metadata.

    Raises:
        ValidationError: the uid or the text is empty, or a key is unknown.

    Example:
        >>> from episodic_absa import Sample
        >>> sample = Sample(uid="r1", text="The screen is too dark.", language_code="en")
        >>> sample.domain_id
        'unknown'
    """

    uid: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    """NFC-normalised; spans refer to it."""
    split: Split = "unknown"
    language_code: str | None = None
    domain_id: str = "unknown"
    case_type: str = "unknown"

    @field_validator("text")
    @classmethod
    def _normalised(cls, text: str) -> str:
        return unicodedata.normalize("NFC", text)

    @field_validator("language_code", "domain_id", "case_type")
    @classmethod
    def _writable(cls, name: str | None) -> str | None:
        # pydantic checks this of strings with a length only.
        if name is not None and any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError("half of a surrogate pair, which no file can hold")
        return name


class Span(FrozenModel):
    """Characters [start, end) of the NFC-normalised text."""

    start: Count
    end: Count

    @model_validator(mode="after")
    def _must_not_be_empty(self) -> Self:
        if self.start >= self.end:
            raise ValueError(f"a span needs start < end, got {self.start}..{self.end}")
        return self


class AspectItem(FrozenModel):
    """One target that Stage1 found."""

    aspect_term: str
    span: Span | None = None
    confidence: Score = 0.5
    rationale: Annotated[str, Field(max_length=400)] = ""
    origin: Literal["model", "second_aspect_guess"] = "model"


class Drop(FrozenModel):
    """A term that Stage1 proposed and post-processing refused."""

    aspect_term: str
    drop_reason: DropReason


class SentimentItem(FrozenModel):
    """One judgement about one target; an empty term is an implicit opinion."""

    aspect_term: str
    span: Span | None = None
    polarity: Polarity | None
    """None means missing, never neutral."""
    evidence: str = ""
    confidence: Score = 0.5
    polarity_distribution: dict[Polarity, Score] = Field(default_factory=dict)
    is_backfilled: Flag = False
    neutral_reason: Literal["missing_atsa_for_aspect", "stage2_placeholder_no_sentiments"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_back(cls, data: Any) -> Any:
        """Read a written value: is_implicit follows from the term and must agree with it."""
        if not isinstance(data, dict) or "is_implicit" not in data:
            return data
        if data["is_implicit"] is not (data.get("aspect_term") == ""):
            raise ValueError("is_implicit must say whether aspect_term is empty")
        return {key: value for key, value in data.items() if key != "is_implicit"}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_implicit(self) -> bool:
        """Whether the opinion names no target."""
        return self.aspect_term == ""


class StructuralRisk(FrozenModel):
    """A structure of the text that may have misled the analysis."""

    id: Annotated[str, Field(pattern=r"^[rn][1-9][0-9]*$")]
    type: RiskId
    scope: Span | None = None
    severity: Severity = "mid"
    description: Annotated[str, Field(max_length=500)] = ""


class Proposal(FrozenModel):
    """A correction the validator suggests; it does not fix anything itself."""

    aspect_term: str
    proposal_type: ProposalType
    revised_span: Span | None = None
    rationale: str = ""


class ValidatorOutput(FrozenModel):
    """The validator's findings."""

    structural_risks: tuple[StructuralRisk, ...] = ()
    correction_proposals: tuple[Proposal, ...] = ()
    consistency_score: Score = 1.0
    suggested_label: SentenceLabel | None = None
    confidence: Score = 0.5


class Stage1Ate(FrozenModel):
    """Aspects that were kept, and what was dropped on the way."""

    aspects: tuple[AspectItem, ...] = ()
    drops: tuple[Drop, ...] = ()
    span_repaired: Count = 0


class Stage1Atsa(FrozenModel):
    """Sentiments after matching them to the kept aspects."""

    sentiments: tuple[SentimentItem, ...] = ()


class Stage1Result(FrozenModel):
    """The first analysis of a text."""

    ate: Stage1Ate = Stage1Ate()
    atsa: Stage1Atsa = Stage1Atsa()
    validator: ValidatorOutput = ValidatorOutput()


class ModeratorSummary(FrozenModel):
    """The decision in short: the label, the stage whose tuples were used, the reason, and the evidence value."""

    label: ResultLabel
    selected_stage: Stage
    adopt_reason: AdoptReason
    ev_score: Score = 0.0


class EditTarget(FrozenModel):
    """The tuple an edit is about. Its polarity is as the speaker wrote it; reading it may fail and is counted."""

    aspect_ref: str
    """Names a Stage1 term."""
    aspect_term: str | None = None
    polarity: PolarityWordOrNull = None


class ProposedEdit(FrozenModel):
    """One edit of a speaker."""

    op: EditOp
    target: EditTarget
    value: str | None = None
    evidence: str | None = None
    confidence: Score | None = None


class DebateTurn(FrozenModel):
    """What one speaker proposed."""

    agent: Speaker
    proposed_edits: tuple[ProposedEdit, ...] = ()


class DebateRound(FrozenModel):
    """One turn of every speaker."""

    round_index: Annotated[int, Field(ge=1)]
    turns: tuple[DebateTurn, ...]


class PatchEdit(FrozenModel):
    """One edit the judge settled on."""

    op: EditOp
    target: EditTarget
    value: str | None = None


class JudgeTuple(FrozenModel):
    """One tuple the judge believes in."""

    aspect_ref: str | None = None
    aspect_term: str
    polarity: Polarity


class DebateSummary(FrozenModel):
    """How the judge settled the debate."""

    final_patch: tuple[PatchEdit, ...] = ()
    final_tuples: tuple[JudgeTuple, ...] = ()
    unresolved_conflicts: tuple[str, ...] = ()
    sentence_polarity: SentenceLabel | None = None
    sentence_evidence_spans: tuple[str, ...] = ()
    aspect_evidence: dict[str, str] = Field(default_factory=dict)
    rationale: str = ""


class Persona(FrozenModel):
    """Who speaks."""

    name: str
    role: str
    goal: str


class DebateOutput(FrozenModel):
    """The whole debate."""

    topic: str
    personas: tuple[Persona, ...]
    rounds: tuple[DebateRound, ...]
    summary: DebateSummary

    @property
    def turns(self) -> tuple[DebateTurn, ...]:
        """All turns, in order."""
        return tuple(turn for debate_round in self.rounds for turn in debate_round.turns)


class AspectHint(FrozenModel):
    """How much the debate speaks for or against a polarity of an aspect."""

    polarity: Polarity
    weight: float
    """Above 0 for it, below 0 against it."""
    source: DebateCall


class ReviewContext(FrozenModel):
    """What the debate leaves for Stage2."""

    review_guidance: str
    summary: str
    aspect_terms: tuple[str, ...]
    synonym_hints: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    rebuttal_points: tuple[str, ...] = ()
    aspect_map: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Turn (`round:speaker`) -> the Stage1 terms it speaks about."""
    aspect_hints: dict[str, tuple[AspectHint, ...]] = Field(default_factory=dict)
    mapping_stats: dict[Literal["direct", "fallback", "none"], int]
    mapping_fail_reasons: dict[str, int] = Field(default_factory=dict)
    provenance_template: str


class AspectVerdict(FrozenModel):
    """Stage2's verdict on one aspect."""

    change_id: ChangeId
    aspect_term: str
    action: AteAction
    revised_span: Span | None = None
    reason: Reason
    provenance: str | None = None


class SentimentVerdict(FrozenModel):
    """Stage2's verdict on one judgement."""

    change_id: ChangeId
    aspect_term: str
    action: AtsaAction
    revised_polarity: Polarity | None = None
    reason: Reason
    provenance: str | None = None


class Validator2Output(ValidatorOutput):
    """Validator2's findings about the patched result; structural_risks holds remaining and new risks."""

    resolved_risk_ids: tuple[str, ...] = ()
    remaining_risk_ids: tuple[str, ...] = ()
    final_consistency_score: Score = 0.5


class Change(FrozenModel):
    """A verdict that was or was not applied, and why."""

    change_id: ChangeId
    reasoning: Annotated[str, Field(min_length=1, max_length=400)]


class Stage2Result(FrozenModel):
    """All verdicts of Stage2, and what became of them."""

    ate_reviews: tuple[AspectVerdict, ...] = ()
    atsa_reviews: tuple[SentimentVerdict, ...] = ()
    validator: Validator2Output = Validator2Output()
    accepted_changes: tuple[Change, ...] = ()
    rejected_changes: tuple[Change, ...] = ()
    advisories_present: Flag = False
    advisories_ids: tuple[str, ...] = ()


class ArbiterFlags(FrozenModel):
    """Facts that the moderator's rules recorded."""

    drop_guard: Flag = False
    confidence_margin_used: float = 0.0
    validator_override_applied: Flag = False
    rule_e_fired: Flag = False
    rule_e_block_reason: Literal["label_unchanged", "confidence_too_high", "inferred_empty"] | None = None


class ModeratorOutput(FrozenModel):
    """The label, and the rules that chose it."""

    final_label: ResultLabel
    confidence: Score
    rationale: str
    selected_stage: Stage
    label_source: Literal["stage1", "stage2", "validator", "judge", "merged", "pairs", "reader"]
    applied_rules: tuple[ModeratorRule, ...]
    decision_reason: str
    arbiter_flags: ArbiterFlags = ArbiterFlags()


class ReviewOutcome(FrozenModel):
    """The result after debate and Stage2, whether or not it was adopted."""

    aspects: tuple[AspectItem, ...]
    sentiments: tuple[SentimentItem, ...]
    structural_risks: tuple[StructuralRisk, ...] = ()
    """Validator2's risks: they describe the patched result."""
    override_applied: Flag = False
    override_success: Flag = False
    override_harm: Flag = False
    changes: tuple[ChangeOutcomeV1_2, ...] = ()
    """Under rules v3: every proposed change and whether it was right."""


def risk_vector(risks: Iterable[StructuralRisk]) -> RiskVectorV1_1:
    """Return the sum of the severity weights and the sorted types of the risks."""
    risks = tuple(risks)
    return RiskVectorV1_1(
        severity_sum=sum(SEVERITY_WEIGHT[risk.severity] for risk in risks),
        tags=tuple(sorted({risk.type for risk in risks})),
    )


class FinalTuple(FrozenModel):
    """One (term, polarity) of a result, with its place in the text."""

    aspect_ref: str | None = None
    aspect_term: str
    polarity: Polarity
    confidence: Score
    grounding: Literal["explicit", "implicit"]
    span: Span | None = None
    is_backfilled: Flag = False


class FinalResult(FrozenModel):
    """The answer: label and tuples of every stage, made by one extractor."""

    label: ResultLabel
    confidence: Score
    rationale: str
    stage1_tuples: tuple[FinalTuple, ...]
    stage2_tuples: tuple[FinalTuple, ...]
    final_tuples: tuple[FinalTuple, ...]

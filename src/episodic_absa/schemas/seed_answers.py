"""What a model is asked to answer, role by role: the output contract of the prompts.

Enumerated strings are offered as such in the JSON Schema but read leniently: a misspelt polarity or an unknown risk is
repaired or counted when the answer is processed, instead of costing another attempt.
"""

from typing import Annotated, ClassVar, get_args

from pydantic import Field

from episodic_absa.schemas.absa import PatchEdit, PolarityWordOrNull, ProposedEdit
from episodic_absa.schemas.frozen_model import FrozenModel, Score, offered
from episodic_absa.vocabulary import (
    POLARITIES,
    RISK_IDS,
    AteAction,
    AtsaAction,
    ProposalType,
    SentenceLabel,
    Severity,
)

PolarityWord = Annotated[str, offered(POLARITIES)]
LabelWordOrNull = Annotated[str | None, offered(get_args(SentenceLabel), or_null=True)]
RiskWord = Annotated[str, offered(RISK_IDS)]
SeverityWord = Annotated[str, offered(get_args(Severity))]
_FEW = Field(max_length=400)
"""Both lists of verdicts together must fit the three digits of a change id."""
ReasonText = Annotated[str, Field(min_length=1, max_length=400)]


class AnsweredSpan(FrozenModel):
    """Character offsets as a model gives them: often wrong, so not yet a Span."""

    start: int
    end: int


class AnsweredAspect(FrozenModel):
    """One target."""

    aspect_term: str
    span: AnsweredSpan | None = None
    confidence: Score = 0.5
    rationale: Annotated[str, Field(max_length=400)] = ""


class AteAnswer(FrozenModel):
    """All targets of a text."""

    frozen_schema: ClassVar[str] = "seed.ate"
    aspects: tuple[AnsweredAspect, ...]


class AnsweredSentiment(FrozenModel):
    """One judgement; an empty aspect_term is an implicit opinion."""

    aspect_term: str
    polarity: PolarityWordOrNull
    evidence: str = ""
    confidence: Score = 0.5
    polarity_distribution: dict[str, Score] = Field(default_factory=dict)


class AtsaAnswer(FrozenModel):
    """All judgements of a text."""

    frozen_schema: ClassVar[str] = "seed.atsa"
    sentiments: tuple[AnsweredSentiment, ...]


class AnsweredRisk(FrozenModel):
    """One structural risk. Only Stage2 gives an id: that of a Stage1 risk it speaks of again."""

    id: str | None = None
    type: RiskWord
    scope: AnsweredSpan | None = None
    severity: SeverityWord = "mid"
    description: Annotated[str, Field(max_length=500)] = ""


class AnsweredProposal(FrozenModel):
    """One suggested correction."""

    aspect_term: str
    proposal_type: ProposalType
    revised_span: AnsweredSpan | None = None
    rationale: str = ""


class ValidatorAnswer(FrozenModel):
    """The critic's findings."""

    frozen_schema: ClassVar[str] = "seed.validator"
    structural_risks: tuple[AnsweredRisk, ...] = ()
    correction_proposals: tuple[AnsweredProposal, ...] = ()
    consistency_score: Score
    suggested_label: LabelWordOrNull = None
    confidence: Score = 0.5


class TurnAnswer(FrozenModel):
    """What one speaker proposes."""

    frozen_schema: ClassVar[str] = "seed.turn"
    proposed_edits: tuple[ProposedEdit, ...]


class AnsweredTuple(FrozenModel):
    """One tuple the judge believes in."""

    aspect_ref: str | None = None
    aspect_term: str
    polarity: PolarityWord


class JudgeAnswer(FrozenModel):
    """The judge's settlement of the debate."""

    frozen_schema: ClassVar[str] = "seed.judge"
    final_patch: tuple[PatchEdit, ...] = ()
    final_tuples: tuple[AnsweredTuple, ...] = ()
    unresolved_conflicts: tuple[str, ...] = ()
    sentence_polarity: LabelWordOrNull = None
    sentence_evidence_spans: tuple[str, ...] = ()
    aspect_evidence: dict[str, str] = Field(default_factory=dict)
    rationale: str = ""


class AnsweredAspectReview(FrozenModel):
    """One verdict on a Stage1 aspect."""

    aspect_term: str
    action: AteAction
    revised_span: AnsweredSpan | None = None
    reason: ReasonText
    provenance: str | None = None


class AteReviewAnswer(FrozenModel):
    """The review of all aspects."""

    frozen_schema: ClassVar[str] = "seed.stage2_ate"
    reviews: Annotated[tuple[AnsweredAspectReview, ...], _FEW]


class AnsweredSentimentReview(FrozenModel):
    """One verdict on a Stage1 judgement."""

    aspect_term: str
    action: AtsaAction
    revised_polarity: PolarityWordOrNull = None
    reason: ReasonText
    provenance: str | None = None


class AtsaReviewAnswer(FrozenModel):
    """The review of all judgements."""

    frozen_schema: ClassVar[str] = "seed.stage2_atsa"
    reviews: Annotated[tuple[AnsweredSentimentReview, ...], _FEW]


class Validator2Answer(ValidatorAnswer):
    """The critic's findings about the patched result."""

    frozen_schema: ClassVar[str] = "seed.stage2_validator"
    resolved_risk_ids: tuple[str, ...] = ()
    remaining_risk_ids: tuple[str, ...] = ()
    final_consistency_score: Score = 0.5

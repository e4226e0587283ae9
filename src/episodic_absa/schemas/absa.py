"""Stage1 of the analysis and what the review made of it, as values. No type here can carry gold or metadata."""

from typing import Annotated, Literal, Self

from pydantic import Field, computed_field, model_validator

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel, Score
from episodic_absa.vocabulary import (
    AdoptReason,
    DropReason,
    Polarity,
    ProposalType,
    RiskId,
    SentenceLabel,
    Severity,
    Stage,
)

Reason = Annotated[str, Field(min_length=1, max_length=400)]


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
    """What the structural critic saw."""

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
    """The decision in four words: the label, whose tuples were used, why, and on what evidence value."""

    label: SentenceLabel
    selected_stage: Stage
    adopt_reason: AdoptReason
    ev_score: Score = 0.0


class ReviewOutcome(FrozenModel):
    """What debate and Stage2 made of Stage1: the patched result, whether or not it was adopted."""

    aspects: tuple[AspectItem, ...]
    sentiments: tuple[SentimentItem, ...]
    structural_risks: tuple[StructuralRisk, ...] = ()
    """Validator2's risks: they describe the patched result."""
    override_applied: Flag = False
    override_success: Flag = False
    override_harm: Flag = False


class FinalTuple(FrozenModel):
    """One (term, polarity) of a result, with where it stands in the text."""

    aspect_ref: str | None = None
    aspect_term: str
    polarity: Polarity
    confidence: Score
    grounding: Literal["explicit", "implicit"]
    span: Span | None = None
    is_backfilled: Flag = False

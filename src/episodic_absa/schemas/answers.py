"""What prompts v3 ask a model for: words of the text, polarities, verdicts. Everything else is the program's work.

Answers are read leniently (`backends/answer_reading.py`): several names and forms of a field are understood, an
unreadable item is left out, a repeated one is kept once. An answer none of whose items can be read is refused, so that
the model is asked again.
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, get_args

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from episodic_absa.schemas.frozen_model import FrozenModel, offered
from episodic_absa.vocabulary import POLARITIES, RISK_IDS, SentenceLabel

ItemT = TypeVar("ItemT", bound="LenientModel")
KEEP: Final = "keep"
DROP: Final = "drop"
Choice = Literal["A", "B", "equal"]

_Term = Annotated[str, Field(validation_alias=AliasChoices("term", "target", "aspect_term", "aspect"))]
_Target = Annotated[str, Field(validation_alias=AliasChoices("target", "term", "aspect_term", "aspect"))]
_Quote = Annotated[str, Field(validation_alias=AliasChoices("quote", "evidence", "reason"))]
_Polarity = Annotated[str, offered(POLARITIES), Field(validation_alias=AliasChoices("polarity", "sentiment"))]
_Label = Annotated[str | None, offered(get_args(SentenceLabel), or_null=True)]


class LenientModel(FrozenModel):
    """A value of which unknown keys are left out: a model that says more than asked has still answered."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class ItemsAnswer(LenientModel):
    """A list of short items."""

    is_partial: SkipJsonSchema[bool] = False
    """Whether a part of what the model wrote is lost: it was cut off or cannot be read. No model is asked for it."""


def _readable(model: type[ItemT]) -> Callable[[Any], Any]:
    def keep_readable(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        items: dict[ItemT, None] = {}
        errors: list[ValidationError] = []
        for item in value:
            try:
                items.setdefault(model.model_validate(item))
            except ValidationError as error:
                errors.append(error)
        if errors and not items:
            raise ValueError(f"no item of the list can be read: {errors[0].errors(include_url=False)[0]['msg']}")
        return tuple(items)

    return keep_readable


class Pair(LenientModel):
    """A target with the words that judge it; an empty term is an implicit opinion."""

    quote: _Quote = ""
    term: _Term
    polarity: _Polarity


class JointAnswer(ItemsAnswer):
    """All pairs of a text."""

    frozen_schema: ClassVar[str] = "joint"
    pairs: Annotated[tuple[Pair, ...], BeforeValidator(_readable(Pair))]


class TermsAnswer(ItemsAnswer):
    """All targets of a text."""

    frozen_schema: ClassVar[str] = "terms"
    terms: tuple[str, ...]


class Judgement(LenientModel):
    """One target, judged."""

    target: _Target
    quote: _Quote = ""
    polarity: _Polarity


class JudgementsAnswer(ItemsAnswer):
    """Every given target, judged."""

    frozen_schema: ClassVar[str] = "judgements"
    judgements: Annotated[tuple[Judgement, ...], BeforeValidator(_readable(Judgement))]


class NamedTarget(LenientModel):
    """One target with the words that judge it."""

    quote: _Quote = ""
    target: _Target


class TargetsAnswer(ItemsAnswer):
    """The targets that a speaker finds without having seen Stage1's."""

    frozen_schema: ClassVar[str] = "targets"
    targets: Annotated[tuple[NamedTarget, ...], BeforeValidator(_readable(NamedTarget))]


class WrongPair(LenientModel):
    """A pair that is wrong, and what it should be."""

    target: _Target
    quote: _Quote = ""
    should_be: Annotated[str, offered((*POLARITIES, DROP))]


class WrongPairsAnswer(ItemsAnswer):
    """The pairs that are wrong; none is a good answer."""

    frozen_schema: ClassVar[str] = "wrong_pairs"
    wrong: Annotated[tuple[WrongPair, ...], BeforeValidator(_readable(WrongPair))]


class JudgeDecision(LenientModel):
    """The judge's word on one claim."""

    target: _Target
    quote: _Quote = ""
    decision: Annotated[str, offered((KEEP, *POLARITIES, DROP))]


class DecisionsAnswer(ItemsAnswer):
    """The judge's decisions, and the label of the text."""

    frozen_schema: ClassVar[str] = "decisions"
    decisions: Annotated[tuple[JudgeDecision, ...], BeforeValidator(_readable(JudgeDecision))]
    label: _Label = None
    label_quotes: SkipJsonSchema[tuple[str, ...]] = ()
    """Words that decide the label. No model is asked for them; the embedded engine gives them."""


class TargetVerdict(LenientModel):
    """Stage2's verdict on one target."""

    target: _Target
    verdict: Annotated[str, offered((KEEP, DROP)), Field(validation_alias=AliasChoices("verdict", "action"))]


class TargetVerdictsAnswer(ItemsAnswer):
    """Stage2's verdicts on all targets, and the pairs that it misses."""

    frozen_schema: ClassVar[str] = "target_verdicts"
    verdicts: Annotated[tuple[TargetVerdict, ...], BeforeValidator(_readable(TargetVerdict))]
    add: Annotated[tuple[Judgement, ...], BeforeValidator(_readable(Judgement))] = ()


class PairVerdict(LenientModel):
    """Stage2's verdict on one pair: keep, or the polarity it should have."""

    target: _Target
    quote: _Quote = ""
    verdict: Annotated[str, offered((KEEP, *POLARITIES)), Field(validation_alias=AliasChoices("verdict", "action"))]


class PairVerdictsAnswer(ItemsAnswer):
    """Stage2's verdicts on all pairs."""

    frozen_schema: ClassVar[str] = "pair_verdicts"
    verdicts: Annotated[tuple[PairVerdict, ...], BeforeValidator(_readable(PairVerdict))]


class NamedRisk(LenientModel):
    """A structure of the text, quoted."""

    quote: _Quote = ""
    type: Annotated[str, offered(RISK_IDS)]


class RisksAnswer(ItemsAnswer):
    """The validator's risks, and the label of the text."""

    frozen_schema: ClassVar[str] = "risks"
    risks: Annotated[tuple[NamedRisk, ...], BeforeValidator(_readable(NamedRisk))]
    label: _Label = None


_NAMES_OF_CHOICES: Final[dict[str, Choice]] = {
    "a": "A",
    "b": "B",
    **dict.fromkeys(("equal", "same", "tie", "both", "neither", "none", "동일", "같음"), "equal"),
}


def _choice(value: Any) -> Any:
    """Return the list that is meant: `list A`, `a.` and `A` are one answer."""
    if not isinstance(value, str):
        return value
    words = value.casefold().replace("list", "").replace("목록", "").strip(" .:\"'")
    return _NAMES_OF_CHOICES.get(words, value)


class RefereeAnswer(LenientModel):
    """Which of two lists of pairs fits the text better."""

    frozen_schema: ClassVar[str] = "referee"
    better: Annotated[
        Choice, BeforeValidator(_choice), Field(validation_alias=AliasChoices("better", "answer", "choice", "verdict"))
    ]

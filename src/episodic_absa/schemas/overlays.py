"""What a condition changes of the advice and of the pipeline."""

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.vocabulary import AdviceFrom, Effort, Rules

_PrincipleId = Annotated[str, Field(strict=True, pattern=r"^P-[A-Z]{3}-[0-9]{2}$")]
_ONLY_FOR: Final[dict[str, AdviceFrom]] = {"store": "donor", "principle": "constant", "match_chars": "placebo"}
_NEEDED_BY: Final[dict[AdviceFrom, str]] = {"donor": "store", "constant": "principle"}
_NEVER_READS: Final[tuple[Effort, ...]] = ("reader", "one_call", "stage1")


class AdviceOverlay(FrozenModel):
    """The keys of `advice` that a condition may set. Without any, advice comes from the retrieved episodes.

    Example:
        >>> from episodic_absa import load_condition
        >>> overlay = load_condition("C2_trial").advice
        >>> overlay.source, overlay.withhold
        ('retrieved', 0.5)
    """

    model_config = ConfigDict(populate_by_name=True)

    source: AdviceFrom = Field(default="retrieved", alias="from")
    store: Path | None = None
    """donor: the store to retrieve from. A relative path starts from the folder of the experiment file."""
    principle: _PrincipleId | None = None
    """constant: the principle that every sample is offered."""
    match_chars: Flag | None = None
    """placebo: whether its texts are as long as those of retrieved advice; None is true."""
    withhold: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] = 0.0
    """The probability that the advice of a principle is left out, by a coin fixed by uid and principle."""
    topk: Annotated[int, Field(strict=True, ge=1, le=3)] | None = None
    """Replaces `episodic_memory.topk`; None keeps it."""
    catalogue: Path | None = None
    """A file that names retired principles. A relative path starts from the folder of the experiment file."""

    @property
    def matches_chars(self) -> bool:
        """Whether the texts of a placebo are as long as those of retrieved advice."""
        return self.source == "placebo" and self.match_chars is not False

    @model_serializer(mode="plain")
    def _named_keys_only(self) -> dict[str, Any]:
        named = {"from": self.source, **{key: getattr(self, key) for key in type(self).model_fields if key != "source"}}
        default = {"from": "retrieved", "withhold": 0.0}
        return {
            key: value.as_posix() if isinstance(value, Path) else value
            for key, value in named.items()
            if value != default.get(key)
        }


class CatalogueOverlay(FrozenModel):
    """The document that `advice.catalogue` names: principles that are never shown."""

    retired: tuple[Annotated[str, Field(strict=True)], ...] = ()


def advice_problem(overlay: AdviceOverlay, *, is_exposed: bool, effort: Effort | None) -> str | None:
    """Return which keys of `advice` contradict each other or the condition, None if none do.

    Args:
        overlay: the overlay of a condition.
        is_exposed: whether a prompt of the condition may show memory.
        effort: the effort that the condition sets; None leaves it open.
    """
    if overlay == AdviceOverlay():
        return None
    if not is_exposed:
        return "advice needs a condition that exposes memory; set exposed_to_debate or exposed_to_stage2, or remove it"
    if effort in _NEVER_READS:
        return f"advice needs a debate or Stage2; effort: {effort} has neither"
    for key, source in _ONLY_FOR.items():
        if getattr(overlay, key) is not None and overlay.source != source:
            return f"advice.{key} is for from: {source}; this overlay has from: {overlay.source}"
    needed = _NEEDED_BY.get(overlay.source)
    if needed is not None and getattr(overlay, needed) is None:
        return f"advice.from: {overlay.source} needs advice.{needed}; add it"
    if overlay.source == "placebo" and overlay.withhold > 0:
        return "advice.withhold leaves out principles, and a placebo has none; remove withhold or from: placebo"
    if overlay.source == "constant" and overlay.topk is not None:
        return "advice.topk has no effect with from: constant, which offers one advisory; remove topk"
    return None


VoteCount = Annotated[int, Field(strict=True, ge=1, le=99)]
Temperature = Annotated[float, Field(strict=True, ge=0.0, le=2.0)]


def effort_problem(rules: Rules, *, effort: Effort | None, votes: int | None, joint: bool | None) -> str | None:
    """Return which keys of `pipeline` contradict each other or the rules, None if none do. None leaves a key open."""
    votes_n = votes or 1
    if votes_n > 1 and effort not in (None, "one_call"):
        return f"votes: {votes_n} needs effort: one_call, got effort: {effort}"
    if effort == "one_call" and joint is False:
        return "effort: one_call is one joint ask; leave stage1.joint: false out"
    if rules == "v3":
        return None
    if effort in ("reader", "one_call", "adaptive"):
        return f"effort: {effort} needs rules v3; this condition has rules {rules}"
    if votes_n > 1:
        return f"votes: {votes_n} needs rules v3; this condition has rules {rules}"
    return f"stage1.joint needs rules v3; this condition has rules {rules}" if joint else None


class Stage1Overlay(FrozenModel):
    """The keys of `pipeline.stage1` that a condition may set."""

    joint: Flag | None = None


class PipelineOverlay(FrozenModel):
    """The keys of `pipeline` that a condition may set. A key that is left out keeps the experiment's value."""

    effort: Effort | None = None
    votes: VoteCount | None = None
    vote_temperature: Temperature | None = None
    reader: Flag | None = None
    stage1: Stage1Overlay = Stage1Overlay()

    @model_serializer(mode="wrap")
    def _named_keys_only(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {key: value for key, value in fields.items() if value is not None and value != {"joint": None}}

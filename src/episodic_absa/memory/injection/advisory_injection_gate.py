"""The gates of the debate and of Stage2: is there a reason to show memory? Pure functions of the first analysis."""

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.schemas.absa import FinalTuple, Stage1Ate, Stage1Atsa, ValidatorOutput
from episodic_absa.vocabulary import DebateGateReason, Stage2GateReason, V3GateReason

ReasonT = TypeVar("ReasonT", bound=str)


class GateSignals(NamedTuple):
    """The findings that open a gate. The last three hold under rules v3 alone."""

    has_conflict: bool
    """Whether an aspect has two polarities. Backfills and missing polarities do not count."""
    structural_risk_n: int
    alignment_failure_n: int
    explicit_grounding_failure: bool
    """Whether ATE named an explicit term, dropped at least one, and dropped all as alignment failures."""
    neutral_only: bool
    """Whether there are sentiments and none is positive or negative."""
    has_structure: bool = False
    """Whether a cue of negation, contrast or irony stands in a clause that holds an aspect."""
    reader_disagrees: bool = False
    """Whether the reader gives an aspect another polarity than Stage1."""
    is_unsure: bool = False
    """Whether the calibrated confidence of a pair is low."""


class GateDecision(NamedTuple, Generic[ReasonT]):
    """Whether a gate is open, and why. It unpacks like a tuple."""

    allowed: bool
    reason: ReasonT | None
    """The first reason in the gate's order; None if the gate is closed."""
    reasons: tuple[ReasonT, ...]
    """Every reason that holds, in the gate's order."""


def gate_signals(
    ate: Stage1Ate, atsa: Stage1Atsa, validator: ValidatorOutput, tuples: Sequence[FinalTuple] | None = None
) -> GateSignals:
    """Return the signals that Stage1 alone gives. A caller that knows more sets the other fields with `_replace`.

    `tuples` are those of `atsa`, if the caller has extracted them.
    """
    drop_reasons = [drop.drop_reason for drop in ate.drops]
    had_explicit_term = any(item.aspect_term for item in ate.aspects) or any(drop.aspect_term for drop in ate.drops)
    judged = [item.polarity for item in atsa.sentiments if item.polarity and not item.is_backfilled]
    return GateSignals(
        has_conflict=bool(conflicting_aspects(extract_tuples(atsa.sentiments) if tuples is None else tuples)),
        structural_risk_n=len(validator.structural_risks),
        alignment_failure_n=drop_reasons.count("alignment_failure"),
        # An analysis without drops is no grounding failure, although all([]) is true.
        explicit_grounding_failure=had_explicit_term
        and bool(drop_reasons)
        and all(reason == "alignment_failure" for reason in drop_reasons),
        neutral_only=bool(judged) and all(polarity == "neutral" for polarity in judged),
    )


def should_inject_advisory_with_reason(signals: GateSignals) -> GateDecision[DebateGateReason]:
    """Return whether the debate may see memory: one reason is enough.

    Example:
        >>> signals = GateSignals(False, 1, 0, False, False)
        >>> should_inject_advisory_with_reason(signals)
        GateDecision(allowed=True, reason='validator', reasons=('validator',))
    """
    tests: list[tuple[DebateGateReason, bool]] = [
        ("conflict", signals.has_conflict),
        ("validator", signals.structural_risk_n >= 1),
        ("alignment", signals.alignment_failure_n >= 2),
        ("explicit_grounding_failure", signals.explicit_grounding_failure),
        *_v3_tests(signals),
    ]
    return _decide(tests)


def should_inject_advisory(signals: GateSignals) -> bool:
    """Return whether the debate may see memory, without the reason: the name of the original requirement.

    Example:
        >>> should_inject_advisory(GateSignals(False, 0, 2, False, False))
        True
    """
    return should_inject_advisory_with_reason(signals).allowed


def should_inject_memory_for_stage2_with_reason(signals: GateSignals) -> GateDecision[Stage2GateReason]:
    """Return whether Stage2 may see memory: one reason is enough. The gate of the debate has no influence.

    Example:
        >>> signals = GateSignals(False, 0, 0, False, neutral_only=True)
        >>> should_inject_memory_for_stage2_with_reason(signals).reason
        'neutral_only'
    """
    tests: list[tuple[Stage2GateReason, bool]] = [
        ("validator", signals.structural_risk_n >= 1),
        ("conflict", signals.has_conflict),
        ("explicit_grounding_failure", signals.explicit_grounding_failure),
        ("alignment", signals.alignment_failure_n >= 1),
        ("neutral_only", signals.neutral_only),
        *_v3_tests(signals),
    ]
    return _decide(tests)


def opens_a_gate(signals: GateSignals) -> bool:
    """Return whether the debate or Stage2 may see memory."""
    debate, stage2 = should_inject_advisory_with_reason(signals), should_inject_memory_for_stage2_with_reason(signals)
    return debate.allowed or stage2.allowed


def _v3_tests(signals: GateSignals) -> list[tuple[V3GateReason, bool]]:
    return [
        ("structure", signals.has_structure),
        ("reader_disagrees", signals.reader_disagrees),
        ("unsure", signals.is_unsure),
    ]


def decide_by(reasons: Sequence[ReasonT]) -> GateDecision[ReasonT]:
    """Return the decision of a gate for which these reasons hold, in its order."""
    return GateDecision(bool(reasons), reasons[0] if reasons else None, tuple(reasons))


def _decide(tests: Iterable[tuple[ReasonT, bool]]) -> GateDecision[ReasonT]:
    return decide_by([reason for reason, holds in tests if holds])

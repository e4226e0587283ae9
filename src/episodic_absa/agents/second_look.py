"""How closely a sample is looked at again after Stage1. `effort: adaptive` looks only where something is at stake."""

from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from episodic_absa.agents.decision.change_rules import SURE_READER
from episodic_absa.agents.decision.changes import Reader
from episodic_absa.agents.decision.claims import is_pair
from episodic_absa.agents.decision.witnesses import ReaderThresholds
from episodic_absa.language import norm
from episodic_absa.memory import (
    GateSignals,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.schemas.absa import Stage1Result
from episodic_absa.vocabulary import Language, Look, Stake

_POLARITY_STAKES: Final = frozenset[Stake]({"conflict", "doubted_polarity", "validator", "neutral_only"})


class SecondLook(NamedTuple):
    """How closely to look again, and why."""

    look: Look
    stakes: tuple[Stake, ...] = ()


class LookRule(Protocol):
    """Decides how closely to look again."""

    def decide(self, text: str, language: Language, stage1: Stage1Result, signals: GateSignals) -> SecondLook:
        """Return the decision for one sample."""
        ...


class WholeLook:
    """Looks at every sample again, as closely as the settings allow."""

    def decide(self, text: str, language: Language, stage1: Stage1Result, signals: GateSignals) -> SecondLook:  # noqa: ARG002
        """Return a whole look."""
        return SecondLook("whole")


class AdaptiveLook:
    """Looks again where something is at stake.

    Where a reader is heard, it says what is at stake: without its consent hardly any change is adopted. Where none is,
    the gates of the memory decide; a small model's validator names a risk in three of four samples.

    Args:
        reader: the independent witness; None leaves it out.
        thresholds: from which probabilities the reader takes a stance.
    """

    def __init__(self, reader: Reader | None, thresholds: ReaderThresholds) -> None:
        self._reader = reader
        self._thresholds = thresholds

    def decide(self, text: str, language: Language, stage1: Stage1Result, signals: GateSignals) -> SecondLook:
        """Return no look, a look at the targets, or a whole look."""
        if self._reader is not None and self._reader.reads(language):
            stakes = tuple(self._reader_stakes(self._reader, text, language, stage1, signals))
        else:
            stakes = _gate_stakes(signals)
        if not stakes:
            return SecondLook("none")
        return SecondLook("targets" if _POLARITY_STAKES.isdisjoint(stakes) else "whole", stakes)

    def _reader_stakes(
        self, reader: Reader, text: str, language: Language, stage1: Stage1Result, signals: GateSignals
    ) -> Iterator[Stake]:
        items = [item for item in stage1.atsa.sentiments if is_pair(item) and item.aspect_term]
        views = [(item, view) for item in items if (view := reader.view(text, language, item.aspect_term)) is not None]
        if signals.has_conflict:
            yield "conflict"
        if any(view.polarity != item.polarity and view.p_polarity >= SURE_READER for item, view in views):
            yield "doubted_polarity"
        if any(view.p_target < self._thresholds.drop_for_below for _, view in views):
            yield "doubted_target"
        named = {norm(item.aspect_term) for item in items}
        likely = self._thresholds.add_for_from
        if any(pair.view.p_target >= likely and norm(pair.term) not in named for pair in reader.pairs(text, language)):
            yield "missed_target"


def _gate_stakes(signals: GateSignals) -> tuple[Stake, ...]:
    debate = should_inject_advisory_with_reason(signals).reasons
    stage2 = should_inject_memory_for_stage2_with_reason(signals).reasons
    return tuple(dict.fromkeys((*debate, *stage2)))

"""How closely a sample is looked at again after Stage1. `effort: adaptive` looks only where something is at stake."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.language import norm
from episodic_absa.memory import (
    GateSignals,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.pipeline.decision.change_rules import SURE_READER
from episodic_absa.pipeline.decision.changes import Reader
from episodic_absa.pipeline.decision.claims import Claim
from episodic_absa.pipeline.decision.witnesses import ReaderThresholds
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import Look, Stake

_POLARITY_STAKES: Final = frozenset[Stake]({"conflict", "doubted_polarity"})


class SecondLook(NamedTuple):
    """How closely to look again, and why."""

    look: Look
    stakes: tuple[Stake, ...] = ()
    doubted: tuple[str, ...] = ()
    """The terms that the reader holds to be no targets."""
    is_reader_heard: bool = True
    """Whether the reader speaks as a witness of these doubts; of what the embedded engine itself says it may not."""

    def needs_verdicts(self, claims: Sequence[Claim] | None) -> bool:
        """Return whether Stage2 is asked after the debate: not about targets whose doubt a speaker has settled.

        `claims` is None if nobody spoke.
        """
        if self.look != "targets" or claims is None or not self.is_reader_heard:
            return self.look != "none"
        denied = {norm(claim.term) for claim in claims if claim.is_target is False}
        return not denied.issuperset(map(norm, self.doubted))


WHOLE_LOOK: Final = SecondLook("whole")
"""At every sample, as closely as the settings allow."""


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

    def decide(self, first: FirstAnalysis, signals: GateSignals) -> SecondLook:
        """Return no look, a look at the targets, or a whole look."""
        text, language = first.text, first.language
        if self._reader is None or not self._reader.reads(language):
            stakes_of_gates = _gate_stakes(signals)
            return SecondLook("whole" if stakes_of_gates else "none", stakes_of_gates)
        items = [item for item in first.pairs if item.aspect_term]
        read = ((item, self._reader.view(text, language, item.aspect_term)) for item in items)
        views = [(item, view) for item, view in read if view is not None]
        sees_another = any(view.polarity != item.polarity and view.p_polarity >= SURE_READER for item, view in views)
        doubted_items = [item for item, view in views if self._is_doubted(view)]
        is_heard = all(
            self._is_doubted(self._reader.view_of_change(text, language, item.aspect_term, item.polarity, None))
            for item in doubted_items
        )
        doubted = tuple(item.aspect_term for item in doubted_items)
        named = {norm(item.aspect_term) for item in items}
        likely = [pair for pair in self._reader.pairs(text, language) if self._is_likely(pair)]
        stakes: dict[Stake, bool] = {
            "conflict": signals.has_conflict,
            "doubted_polarity": sees_another,
            "doubted_target": bool(doubted),
            "missed_target": any(norm(pair.term) not in named for pair in likely),
        }
        at_stake = tuple(stake for stake, holds in stakes.items() if holds)
        if not at_stake:
            return SecondLook("none")
        look: Look = "targets" if _POLARITY_STAKES.isdisjoint(at_stake) else "whole"
        return SecondLook(look, at_stake, doubted, is_heard)

    def _is_doubted(self, view: ReaderView | None) -> bool:
        return view is not None and view.p_target < self._thresholds.drop_for_below

    def _is_likely(self, pair: ReaderPair) -> bool:
        return pair.view.p_target >= self._thresholds.add_for_from


def _gate_stakes(signals: GateSignals) -> tuple[Stake, ...]:
    debate = should_inject_advisory_with_reason(signals).reasons
    stage2 = should_inject_memory_for_stage2_with_reason(signals).reasons
    return tuple(dict.fromkeys((*debate, *stage2)))

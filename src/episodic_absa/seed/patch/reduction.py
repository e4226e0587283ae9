"""Step 6 of the patch: one sentiment per aspect, and the conflicts that only a ruling of the debate settles."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.language import norm
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.seed.patch.patch_draft import PatchDraft
from episodic_absa.vocabulary import Polarity


class DebateRulings(NamedTuple):
    """What the debate decides about aspects, by their normalised names after the patch."""

    overridden: tuple[str, Polarity] | None
    """The aspect that an override changed, and its new polarity."""
    judge_polarities: Mapping[str, set[Polarity]]
    """The polarities of the judge's tuples."""

    def settles(self, aspect: str) -> bool:
        """Return whether an override or a single polarity of the judge decides between an aspect's polarities."""
        return bool(self.preferred(aspect))

    def preferred(self, aspect: str) -> list[Polarity]:
        """Return the polarities to keep for an aspect: the override's, then the judge's if there is just one."""
        preferred: list[Polarity] = []
        if self.overridden is not None and self.overridden[0] == aspect:
            preferred.append(self.overridden[1])
        ruled = self.judge_polarities.get(aspect, set())
        if len(ruled) == 1:
            preferred.extend(ruled)
        return preferred


def conflicts_of(sentiments: Sequence[SentimentItem]) -> frozenset[str]:
    """Return the normalised aspects with two or more polarities."""
    return conflicting_aspects(extract_tuples(sentiments))


def reduce_to_one_per_aspect(draft: PatchDraft, rulings: DebateRulings) -> None:
    """Keep, per aspect, the override's sentiment, else the judge's, else the most confident. No polarity changes."""
    groups: dict[str, list[int]] = {}
    for position, sentiment in enumerate(draft.sentiments):
        groups.setdefault(norm(sentiment.aspect_term), []).append(position)
    kept: set[int] = set()
    for aspect, positions in groups.items():
        position = _position_to_keep(draft.sentiments, positions, rulings.preferred(aspect))
        kept.add(position)
        if len(positions) > 1:
            draft.record("reduction", "keep_one", draft.sentiments[position].aspect_term)
    draft.sentiments = [sentiment for position, sentiment in enumerate(draft.sentiments) if position in kept]


def _position_to_keep(
    sentiments: Sequence[SentimentItem], positions: Sequence[int], preferred: Sequence[Polarity]
) -> int:
    for polarity in preferred:
        for position in positions:
            if sentiments[position].polarity == polarity and not sentiments[position].is_backfilled:
                return position
    return max(
        positions, key=lambda position: (not sentiments[position].is_backfilled, sentiments[position].confidence)
    )

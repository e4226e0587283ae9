"""Counts what a store holds. The detailed counts cover the live episodes: those that advice can come from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.memory_store import MemoryStore
from episodic_absa.schemas.stored.memory_v1_3 import PairVerdict, ReviewVerdict
from episodic_absa.vocabulary import RISK_IDS, ActionTaken, EpisodeType, Language


@dataclass(frozen=True)
class StoreStatistics:
    """The counts of one store."""

    stored_n: int
    """Episodes in the store, pruned ones included."""
    live_n: int
    """The newest `keep_last_n` at most; older ones are pruned, though still in the store."""
    bytes_on_disk: int
    first_id: str | None
    last_id: str | None
    failed_n: int
    """Live episodes that ended badly, as OPFB defines it."""
    by_language: Mapping[str, int]
    by_outcome: Mapping[str, int]
    by_action: Mapping[str, int]
    by_risk_before: Mapping[str, int]
    """Episodes with that risk; an episode may have several."""
    by_risk_after: Mapping[str, int]
    by_principle: Mapping[str, int]
    """The most frequent first."""
    answered_n: int
    """Reviews whose answers can be judged, episodes or not; rules v3 only."""
    by_verdict: Mapping[str, int]
    """The verdicts of people that stand."""


def statistics_of(store: MemoryStore) -> StoreStatistics:
    """Return the statistics of a store.

    Raises:
        MemoryStoreError: a row is not what was written.
    """
    numbers, live = store.numbers(), list(store.load())
    return StoreStatistics(
        stored_n=len(numbers),
        live_n=len(live),
        bytes_on_disk=store.dialect.size(),
        first_id=f"epi_{numbers[0]:06d}" if numbers else None,
        last_id=f"epi_{numbers[-1]:06d}" if numbers else None,
        failed_n=sum(map(failed, live)),
        by_language=_counted((episode.input_signature.language for episode in live), get_args(Language)),
        by_outcome=_counted((episode.outcome.value for episode in live), get_args(EpisodeType)),
        by_action=_counted((episode.action_taken for episode in live), get_args(ActionTaken)),
        by_risk_before=_counted((tag for episode in live for tag in episode.evaluation.risk_before.tags), RISK_IDS),
        by_risk_after=_counted((tag for episode in live for tag in episode.evaluation.risk_after.tags), RISK_IDS),
        by_principle=dict(
            sorted(
                Counter(episode.correction.principle_id for episode in live).items(),
                key=lambda item: (-item[1], item[0]),
            )
        ),
        answered_n=store.answered_n(),
        by_verdict=_counted(
            (verdict.verdict for verdict in store.standing_verdicts()),
            (*get_args(PairVerdict), *get_args(ReviewVerdict)),
        ),
    )


def _counted(words: Iterable[str], names: Iterable[str]) -> dict[str, int]:
    counts = Counter(words)
    return {name: counts[name] for name in names}

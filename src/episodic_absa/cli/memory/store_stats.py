"""Counts what a store holds. Details are of the live episodes: those that advice can come from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import get_args

from episodic_absa.cli.memory.store_file import LockState, extent_of, lock_state, newest_first, oldest
from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.store.bad_line import rejected_path
from episodic_absa.memory.store.memory_store import DEFAULT_KEEP_LAST_N, torn_path
from episodic_absa.vocabulary import RISK_IDS, ActionTaken, EpisodeType, Language


@dataclass(frozen=True)
class StoreStats:
    """What `memory stats` tells."""

    in_file_n: int
    live_n: int
    """The newest `DEFAULT_KEEP_LAST_N` at most; older ones are pruned, though still in the file."""
    bytes_on_disk: int
    first_id: str | None
    last_id: str | None
    failed_n: int
    """Live episodes that ended badly, as OPFB sees them."""
    by_language: Mapping[str, int]
    by_outcome: Mapping[str, int]
    by_action: Mapping[str, int]
    by_risk_before: Mapping[str, int]
    """Episodes with that risk; one may have several."""
    by_risk_after: Mapping[str, int]
    by_principle: Mapping[str, int]
    """Most frequent first."""
    torn_bytes: int
    rejected_n: int
    has_torn_file: bool
    lock: LockState


def compute_store_stats(path: Path) -> StoreStats:
    """Read the live episodes and count; the rest of the file is only measured."""
    extent = extent_of(path)
    first = oldest(path)
    last_id: str | None = None
    live_n = failed_n = 0
    languages, outcomes, actions, principles, before, after = (Counter[str]() for _ in range(6))
    for episode in islice(newest_first(path), DEFAULT_KEEP_LAST_N):
        last_id = last_id or episode.episode_id
        live_n += 1
        failed_n += failed(episode)
        languages[episode.input_signature.language] += 1
        outcomes[episode.episode_type] += 1
        actions[episode.action_taken] += 1
        principles[episode.correction.principle_id] += 1
        before.update(episode.evaluation.risk_before.tags)
        after.update(episode.evaluation.risk_after.tags)
    return StoreStats(
        in_file_n=extent.line_n,
        live_n=live_n,
        bytes_on_disk=extent.size,
        first_id=first.episode_id if first else None,
        last_id=last_id,
        failed_n=failed_n,
        by_language=_in_order(languages, get_args(Language)),
        by_outcome=_in_order(outcomes, get_args(EpisodeType)),
        by_action=_in_order(actions, get_args(ActionTaken)),
        by_risk_before=_in_order(before, RISK_IDS),
        by_risk_after=_in_order(after, RISK_IDS),
        by_principle=dict(sorted(principles.items(), key=lambda item: (-item[1], item[0]))),
        torn_bytes=extent.torn_bytes,
        rejected_n=extent_of(rejected_path(path)).line_n if rejected_path(path).exists() else 0,
        has_torn_file=torn_path(path).exists(),
        lock=lock_state(path),
    )


def _in_order(counts: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}

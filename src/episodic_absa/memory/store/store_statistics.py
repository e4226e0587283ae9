"""Counts what a store holds. The detailed counts cover the live episodes: those that advice can come from."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, get_args

from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.store.bad_line import bad_line_error, rejected_path
from episodic_absa.memory.store.memory_store import DEFAULT_KEEP_LAST_N, torn_path
from episodic_absa.memory.store.newest_episodes import newest_episodes, oldest_episode
from episodic_absa.memory.store.store_line import next_body, parse_line
from episodic_absa.memory.store.store_lock import LockState, lock_state
from episodic_absa.schemas.memory_v1_2 import (
    AnyEpisode,
    TallyV1_2,
    VerdictV1_2,
    is_episode_line,
    store_chain,
)
from episodic_absa.vocabulary import RISK_IDS, ActionTaken, EpisodeType, Language, Verdict

_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class StoreStatistics:
    """The counts of one store file and of the files beside it."""

    in_file_n: int
    """Episodes in the file, pruned ones included."""
    live_n: int
    """The newest `DEFAULT_KEEP_LAST_N` at most; older ones are pruned, though still in the file."""
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
    reviews_by_language: Mapping[str, int]
    """Analysed samples that familiarity counts, episodes or not; rules v2 only."""
    by_verdict: Mapping[str, int]
    """The verdicts of persons that stand."""
    torn_bytes: int
    rejected_n: int
    has_torn_file: bool
    lock: LockState


class FileExtent(NamedTuple):
    """How much a file holds."""

    line_n: int
    size: int
    torn_bytes: int
    """The bytes after the last whole line."""


def compute_store_statistics(path: Path) -> StoreStatistics:
    """Return the statistics of a store file. Of the episodes only live ones are parsed; older ones are counted.

    Raises:
        MemoryStoreError: the line of the first episode, of a live episode, of a tally or of a verdict is bad.
        OSError: the file cannot be read.
    """
    extent = file_extent(path)
    oldest = oldest_episode(path)
    counted = _CountedLines(path)
    live = _LiveCounts()
    for episode in islice(newest_episodes(path), DEFAULT_KEEP_LAST_N):
        live.add(episode)
    return StoreStatistics(
        in_file_n=counted.episode_n,
        live_n=live.episode_n,
        bytes_on_disk=extent.size,
        first_id=oldest.episode_id if oldest else None,
        last_id=live.last_id,
        failed_n=live.failed_n,
        by_language=_in_order(live.languages, get_args(Language)),
        by_outcome=_in_order(live.outcomes, get_args(EpisodeType)),
        by_action=_in_order(live.actions, get_args(ActionTaken)),
        by_risk_before=_in_order(live.risks_before, RISK_IDS),
        by_risk_after=_in_order(live.risks_after, RISK_IDS),
        by_principle=dict(sorted(live.principles.items(), key=lambda item: (-item[1], item[0]))),
        reviews_by_language=_in_order(counted.languages, get_args(Language)),
        by_verdict=_in_order(counted.verdicts, get_args(Verdict)),
        torn_bytes=extent.torn_bytes,
        rejected_n=file_extent(rejected_path(path)).line_n if rejected_path(path).exists() else 0,
        has_torn_file=torn_path(path).exists(),
        lock=lock_state(path),
    )


def file_extent(path: Path) -> FileExtent:
    """Return how many whole lines and bytes a file holds, without parsing it."""
    line_n = size = end = 0
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            line_n += chunk.count(b"\n")
            last = chunk.rfind(b"\n")
            end = size + last + 1 if last >= 0 else end
            size += len(chunk)
    return FileExtent(line_n, size, size - end)


class _CountedLines:
    """Counts the tallies and verdicts of a file as the index does: a source's first tally, an aspect's last verdict."""

    def __init__(self, path: Path) -> None:
        self.episode_n = 0
        languages: dict[str, str] = {}
        verdicts: dict[tuple[str, str | None], str] = {}
        lines = store_chain()
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    continue
                error_for = partial(bad_line_error, path, number)
                body = next_body(lines, line[:-1], error_for)
                if body is None or is_episode_line(body):
                    self.episode_n += body is not None
                    continue
                value = parse_line(body, error_for)
                if isinstance(value, TallyV1_2):
                    languages.setdefault(value.source_id, value.language)
                elif isinstance(value, VerdictV1_2):
                    verdicts[value.source_id, value.aspect] = value.verdict
        self.languages = Counter(languages.values())
        self.verdicts = Counter(verdicts.values())


class _LiveCounts:
    """Counts episodes that arrive newest first."""

    def __init__(self) -> None:
        self.episode_n = 0
        self.failed_n = 0
        self.last_id: str | None = None
        self.languages = Counter[str]()
        self.outcomes = Counter[str]()
        self.actions = Counter[str]()
        self.principles = Counter[str]()
        self.risks_before = Counter[str]()
        self.risks_after = Counter[str]()

    def add(self, episode: AnyEpisode) -> None:
        self.last_id = self.last_id or episode.episode_id
        self.episode_n += 1
        self.failed_n += failed(episode)
        self.languages[episode.input_signature.language] += 1
        self.outcomes[episode.episode_type] += 1
        self.actions[episode.action_taken] += 1
        self.principles[episode.correction.principle_id] += 1
        self.risks_before.update(episode.evaluation.risk_before.tags)
        self.risks_after.update(episode.evaluation.risk_after.tags)


def _in_order(counts: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    return {name: counts.get(name, 0) for name in names}

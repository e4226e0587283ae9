"""What a store says about itself: its counts, and the results of a check, a repair and a compaction."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, get_args

from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.store.store_lock import LockState
from episodic_absa.schemas.memory_v1_2 import AnyEpisode
from episodic_absa.vocabulary import RISK_IDS, ActionTaken, EpisodeType, Language, Verdict


class Finding(NamedTuple):
    """One line that is not as this package writes it, and why."""

    line: int
    reason: str


class StoreReport(NamedTuple):
    """The result of a check. A store with bad lines cannot be opened; one with remarks can."""

    episode_n: int
    tally_n: int
    verdict_n: int
    bad_lines: tuple[Finding, ...]
    remarks: tuple[Finding, ...]
    """Readable lines in another form, or with texts that the present catalogue does not contain."""
    torn_bytes: int
    damage: tuple[str, ...] = ()
    """What is wrong with the file as a whole: a missing header, lost last lines."""
    is_sealed: bool = True
    """Whether its lines have checksums. `compact_store` seals a store of an earlier version."""

    @property
    def is_sound(self) -> bool:
        """Whether the store can be opened."""
        return not self.bad_lines and not self.damage


class Repaired(NamedTuple):
    """The result of a repair."""

    kept_n: int
    """Episodes; tallies and verdicts are kept, too."""
    rejected: tuple[Finding, ...]
    torn_bytes: int
    damage: tuple[str, ...] = ()
    """What was wrong with the file as a whole."""


class Compacted(NamedTuple):
    """The result of compacting a store."""

    kept_n: int
    """Episodes, as in `dropped_n`. Every verdict that stands and the first tally of each sample are kept."""
    dropped_n: int
    bytes_before: int
    bytes_after: int


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
    """Analysed samples, episodes or not; rules v3 only."""
    by_verdict: Mapping[str, int]
    """The verdicts of persons that stand."""
    torn_bytes: int
    rejected_n: int
    has_torn_file: bool
    lock: LockState


class StoreSize(NamedTuple):
    """How much a store holds, and what lies beside it."""

    episode_n: int
    bytes_on_disk: int
    first_id: str | None
    lock: LockState
    torn_bytes: int = 0
    rejected_n: int = 0
    has_torn_file: bool = False


def store_statistics(
    size: StoreSize, live: Iterable[AnyEpisode], tallies_by_language: Mapping[str, int], verdicts: Mapping[str, int]
) -> StoreStatistics:
    """Return the statistics of a store.

    Args:
        size: how much it holds.
        live: the live episodes, newest first.
        tallies_by_language: analysed samples.
        verdicts: the verdicts that stand.
    """
    counts = _LiveCounts()
    for episode in live:
        counts.add(episode)
    return StoreStatistics(
        in_file_n=size.episode_n,
        live_n=counts.episode_n,
        bytes_on_disk=size.bytes_on_disk,
        first_id=size.first_id,
        last_id=counts.last_id,
        failed_n=counts.failed_n,
        by_language=_in_order(counts.languages, get_args(Language)),
        by_outcome=_in_order(counts.outcomes, get_args(EpisodeType)),
        by_action=_in_order(counts.actions, get_args(ActionTaken)),
        by_risk_before=_in_order(counts.risks_before, RISK_IDS),
        by_risk_after=_in_order(counts.risks_after, RISK_IDS),
        by_principle=dict(sorted(counts.principles.items(), key=lambda item: (-item[1], item[0]))),
        reviews_by_language=_in_order(tallies_by_language, get_args(Language)),
        by_verdict=_in_order(verdicts, get_args(Verdict)),
        torn_bytes=size.torn_bytes,
        rejected_n=size.rejected_n,
        has_torn_file=size.has_torn_file,
        lock=size.lock,
    )


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

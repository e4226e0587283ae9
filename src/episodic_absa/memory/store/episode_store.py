"""The protocol of a store of episodes. `open_store` opens one; tests of stores run on each of them."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Protocol, Self

from episodic_absa.memory.retrieval.past_index import LiveEpisodes
from episodic_absa.memory.store.store_report import Compacted, Repaired, StoreReport, StoreStatistics
from episodic_absa.schemas.memory_v1_2 import AnyDraft, AnyEpisode, StoreLine, TallyV1_2, VerdictV1_2

DEFAULT_KEEP_LAST_N: Final = 5000
DEFAULT_LOCK_TIMEOUT_S: Final = 30.0


class EpisodeStore(Protocol):
    """Episodes, tallies and verdicts that are appended durably, in one order, by any number of writers.

    Nothing is opened before it is needed; nothing is created before an append. Every method may raise
    MemoryStoreError: the store cannot be read or written safely.
    """

    @property
    def shown(self) -> str:
        """Where the store is, for messages; without credentials."""
        ...

    @property
    def name(self) -> str:
        """The name of the store, without its folder or server."""
        ...

    def exists(self) -> bool:
        """Return whether the store was created."""
        ...

    def load(self) -> LiveEpisodes:
        """Return the live episodes, oldest first, as the store is now."""
        ...

    def __len__(self) -> int: ...

    def get(self, episode_id: str) -> AnyEpisode | None:
        """Return the episode with that id, pruned ones included; None if there is none."""
        ...

    def append(self, draft: AnyDraft | Mapping[str, Any], *, tally: TallyV1_2 | None = None) -> AnyEpisode:
        """Write an episode, and the tally of its sample, in one append; return it with its id once it is on disk.

        Ids ascend without gaps in the order of the appends. A refused append uses up none.
        """
        ...

    def append_tally(self, tally: TallyV1_2) -> None:
        """Write the tally of a sample; return once it is on disk. Of several of one source only the first counts."""
        ...

    def append_verdict(self, verdict: VerdictV1_2) -> bool:
        """Write what a person said about a result, unless it stands already; return whether it is new."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Hold the writers' lock around several appends."""
        ...

    def lines_of(self, source_id: str) -> Iterator[StoreLine]:
        """Yield everything that the store knows about a sample."""
        ...

    def newest_episodes(self) -> Iterator[AnyEpisode]:
        """Yield all episodes, pruned ones included, newest first, as persons judged them; read as they are consumed."""
        ...

    def find_episode(self, number: int) -> AnyEpisode | None:
        """Return the episode with that number as it was stored, also from a store that has bad lines elsewhere."""
        ...

    def verdicts_on(self, source_id: str) -> tuple[VerdictV1_2, ...]:
        """Return the last verdict per aspect on the result of a sample, in the order in which they were given."""
        ...

    def statistics(self) -> StoreStatistics:
        """Count what the store holds."""
        ...

    def check(self) -> StoreReport:
        """Return everything that is wrong with the store. Changes nothing."""
        ...

    def repair(self) -> Repaired:
        """Move what is bad aside and keep all else."""
        ...

    def compact(self, keep_last_n: int, *, upgrade: bool = False) -> Compacted:
        """Remove all but the last episodes for good. Ids stay the same; every tally and verdict that counts stays.

        With `upgrade`, episodes of schema 1.1 become 1.2.
        """
        ...

    def close(self) -> None:
        """Give up files and connections. A later call opens them again."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

"""Where the same tests keep episodes. Another store is one class and one line in PLACES."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.postgres_server import PostgresServer
from tests.stored_lines import entries_of

from episodic_absa.memory import EpisodeStore, open_store
from episodic_absa.memory.store.episode_store import DEFAULT_KEEP_LAST_N, DEFAULT_LOCK_TIMEOUT_S
from episodic_absa.schemas.memory_v1_2 import AnyEpisode
from episodic_absa.serialization.canonical_json import canonical_json


class StorePlace(Protocol):
    """A place, and what tests do to it behind the back of the store."""

    @property
    def location(self) -> str:
        """What `--store` says."""
        ...

    def examples(self, of_file: int) -> int:
        """Return how many examples of a property to try, told how many a file gets; slow places get fewer."""
        ...

    def lines(self) -> list[bytes]:
        """Return the JSON of all lines in the order in which they were written."""
        ...

    def clear(self) -> None:
        """Make the place as if it had never been used."""
        ...

    def begin_with(self, episodes: Sequence[AnyEpisode]) -> list[AnyEpisode]:
        """Put episodes into an empty place and return them with the ids that they have there."""
        ...


class FilePlace:
    """A file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.location = str(path)

    def examples(self, of_file: int) -> int:
        return of_file

    def lines(self) -> list[bytes]:
        return entries_of(self.path)

    def clear(self) -> None:
        for beside in self.path.parent.glob(f"{self.path.name}*"):
            beside.unlink()

    def begin_with(self, episodes: Sequence[AnyEpisode]) -> list[AnyEpisode]:
        if episodes:
            self.path.write_text("".join(canonical_json(episode) + "\n" for episode in episodes), encoding="utf-8")
        return list(episodes)


class PostgresPlace:
    """A store in a database of a real server."""

    def __init__(self, server: PostgresServer, address: str) -> None:
        self.server = server
        self.location = address

    def examples(self, of_file: int) -> int:
        return max(15, of_file // 8)

    def lines(self) -> list[bytes]:
        from psycopg.errors import UndefinedTable

        tables = ("episodes", "tallies", "verdicts")
        every = " UNION ALL ".join(f"SELECT line, body FROM episodic_absa.{table}" for table in tables)  # noqa: S608
        try:
            return [bytes(body) for _, body in self.execute(f"{every} ORDER BY line")]
        except UndefinedTable:
            return []

    def clear(self) -> None:
        from psycopg.errors import UndefinedTable

        # Quicker than new tables; identities go on, as they would after a store was dropped.
        with contextlib.suppress(UndefinedTable):
            self.execute("DELETE FROM episodic_absa.stores")

    def drop_tables(self) -> None:
        """Make the database as if it had never been used."""
        self.execute("DROP SCHEMA IF EXISTS episodic_absa CASCADE")

    def begin_with(self, episodes: Sequence[AnyEpisode]) -> list[AnyEpisode]:
        with open_store(self.location) as store:
            return [store.append(episode.model_dump(mode="json")) for episode in episodes]

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement in the database."""
        return self.server.execute(statement, url=self.location)


def opened(
    place: StorePlace, *, keep_last_n: int = DEFAULT_KEEP_LAST_N, lock_timeout_s: float = DEFAULT_LOCK_TIMEOUT_S
) -> EpisodeStore:
    """Return the store of a place."""
    return open_store(place.location, keep_last_n=keep_last_n, lock_timeout_s=lock_timeout_s)


def _file(request: pytest.FixtureRequest) -> StorePlace:
    folder: Path = request.getfixturevalue("tmp_path")
    return FilePlace(folder / "store.jsonl")


def _postgres(request: pytest.FixtureRequest) -> StorePlace:
    place = PostgresPlace(request.getfixturevalue("postgres_server"), request.getfixturevalue("store_database"))
    place.clear()
    return place


PLACES: dict[str, Callable[[pytest.FixtureRequest], StorePlace]] = {"file": _file, "postgres": _postgres}

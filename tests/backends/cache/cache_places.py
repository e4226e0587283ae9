"""Where the same tests let a response cache keep its answers. Another place is one class and one line in PLACES."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from tests.postgres_server import PostgresServer

from episodic_absa.backends.cache import ResponseCache
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.backends.cache.postgres_cache import PostgresAnswers


class CachePlace(Protocol):
    """A place, and what tests do to it behind the back of the cache."""

    @property
    def location(self) -> Path | str:
        """What `cache.path` says."""
        ...

    def kept_texts(self) -> set[str]:
        """Return all kept texts, after the cache itself has had the chance to recover the place."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Keep all others from committing, as a slow disk would."""
        ...

    def clear(self) -> None:
        """Make the place as if it had never been used."""
        ...

    def refuse_commits(self, cache: ResponseCache) -> str:
        """Let large answers of this cache fail to be kept; return what the error advises."""
        ...

    def lose_patience(self, cache: ResponseCache) -> None:
        """Let this cache give up at once on what another process holds."""
        ...


class SqlitePlace:
    """A file."""

    def __init__(self, path: Path) -> None:
        self.location = path

    def kept_texts(self) -> set[str]:
        ResponseCache(self.location).close()
        with closing(sqlite3.connect(self.location)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return {text.decode() for (text,) in connection.execute("SELECT text FROM answers")}

    @contextmanager
    def held(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.location, isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            yield
            holder.execute("ROLLBACK")

    def clear(self) -> None:
        self.location.unlink(missing_ok=True)

    def refuse_commits(self, cache: ResponseCache) -> str:
        assert isinstance(cache._file, AnswerFile)
        cache._file._writer.execute("PRAGMA max_page_count = 1")
        return "disk is full); check space"

    def lose_patience(self, cache: ResponseCache) -> None:
        assert isinstance(cache._file, AnswerFile)
        cache._file._writer.execute("PRAGMA busy_timeout = 1")


class PostgresPlace:
    """A database of a real server."""

    def __init__(self, server: PostgresServer, address: str) -> None:
        self._server = server
        self.location = address

    def kept_texts(self) -> set[str]:
        ResponseCache(self.location).close()
        rows = self._server.execute("SELECT text FROM episodic_absa.answers", url=self.location)
        return {text.decode() for (text,) in rows}

    @contextmanager
    def held(self) -> Iterator[None]:
        import psycopg

        with psycopg.connect(self.location) as holder:
            holder.execute("LOCK TABLE episodic_absa.answers IN SHARE ROW EXCLUSIVE MODE")
            yield
            holder.rollback()

    def clear(self) -> None:
        self._server.execute("DROP SCHEMA IF EXISTS episodic_absa CASCADE", url=self.location)

    def refuse_commits(self, cache: ResponseCache) -> str:
        assert isinstance(cache._file, PostgresAnswers)
        statement = "ALTER TABLE episodic_absa.answers ADD CHECK (length(text) < 1000)"
        self._server.execute(statement, url=self.location)
        return "look at the log of the server"

    def lose_patience(self, cache: ResponseCache) -> None:
        assert isinstance(cache._file, PostgresAnswers)
        cache._file._writer.connection.execute("SET lock_timeout = '1ms'")


def _sqlite(request: pytest.FixtureRequest) -> CachePlace:
    folder: Path = request.getfixturevalue("tmp_path")
    return SqlitePlace(folder / "new" / "cache.sqlite")


def _postgres(request: pytest.FixtureRequest) -> CachePlace:
    address: str = request.getfixturevalue("cache_database")
    place = PostgresPlace(request.getfixturevalue("postgres_server"), address)
    place.clear()
    return place


PLACES: dict[str, Callable[[pytest.FixtureRequest], CachePlace]] = {"sqlite": _sqlite, "postgres": _postgres}

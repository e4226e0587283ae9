"""The seam of a response cache: where answers are kept between runs, a file or a database."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from episodic_absa.backends.backend import Reply
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.backends.cache.postgres_cache import PostgresAnswers
from episodic_absa.postgres.location import is_postgres


class KeptAnswers(Protocol):
    """Answers by key, shared by any number of processes. Lookups and writes come from two threads, one each."""

    looks_up_at_once: bool
    """Whether a lookup is fast enough for an event loop; other lookups wait in a thread."""

    def find(self, key: str) -> Reply | None:
        """Return the answer that is kept under a key, None if there is none."""
        ...

    def commit(self, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        """Write all or nothing, durable when it returns; return those answers that another process wrote first."""
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Remove answers; they are gone for good when it returns."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def open_answers(location: Path | str) -> KeptAnswers:
    """Open the answers that a path or the address of a database names.

    Raises:
        ConfigError: they cannot be used, or are of something else. Nothing is written then.
        MissingExtraError: a database is named, and psycopg is not installed.
    """
    return PostgresAnswers(str(location)) if is_postgres(location) else AnswerFile(Path(location))

"""Turns errors of the disk into errors of a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from episodic_absa.errors import RunDirectoryError
from episodic_absa.serialization.durable_file import why_not_written


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a disk error into one that says which file cannot be written, and what to do.

    Raises:
        RunDirectoryError: for every OSError within.
    """
    try:
        yield
    except OSError as error:
        raise RunDirectoryError(why_not_written(path, error), path=path) from error

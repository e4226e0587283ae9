"""Processes that ask through the cache, killed at random."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.backends.cache.cache_places import SqlitePlace
from tests.backends.cache.test_cache_processes import killed_asker
from tests.torture.chance import chance_for, scaled
from tests.torture.table import Row, Tally

_APPENDS = 4


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per way in which a writer dies."""
    with tempfile.TemporaryDirectory() as folder:
        yield _cache(Path(folder, "cache"), scaled(200, scale))


def _cache(folder: Path, kills: int) -> Row:
    """Processes that ask through the cache: an answer that was used is in it."""
    chance = chance_for("cache killed")
    tally = Tally("cache writers killed at random", "answers that were used; the file passes SQLite's integrity check")
    path, used = folder / "cache.sqlite", set[str]()
    for kill in range(kills):
        fresh, err = killed_asker(path, chance, kill)
        used |= fresh
        missing = used - SqlitePlace(path).kept_texts()
        tally.count(
            lost=len(missing), torn=bool(err), words=f"kill {kill}: {len(missing)} missing; {err.decode()[-200:]}"
        )
    return tally.row()

"""Writers of a store over SQL that are killed, several at once, and servers of PostgreSQL that crash under them."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.postgres_server import PostgresServer, missing_part
from tests.store.killed import Outcome, crash_server, kill_writers
from tests.store.places import PostgresPlace, SqlitePlace, draft, opened_at
from tests.torture.chance import chance_for, scaled, seed
from tests.torture.table import Row, Tally

from episodic_absa.store.maintenance import check_store

_AT_ONCE = 4


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per database and way to die."""
    with tempfile.TemporaryDirectory() as folder:
        place = SqlitePlace(Path(folder))
        kills = scaled(1000, scale, _AT_ONCE)
        outcome = kill_writers(place, kills, at_once=_AT_ONCE, seed=seed())
        yield _row("writers of one SQLite file killed", f"kill -9 of {_AT_ONCE} at once", outcome)
        yield _exporting(Path(folder), scaled(100, scale))
    if missing_part() is None:
        with PostgresServer() as server:
            place_in_server = PostgresPlace(server, server.new_database())
            outcome = kill_writers(place_in_server, scaled(200, scale, _AT_ONCE), at_once=_AT_ONCE, seed=seed())
            yield _row("writers of one PostgreSQL store killed", f"kill -9 of {_AT_ONCE} at once", outcome)
            outcome = crash_server(place_in_server, server, scaled(100, scale), at_once=_AT_ONCE, seed=seed())
            yield _row("the server of PostgreSQL crashes", f"under {_AT_ONCE} writers", outcome)


def _row(name: str, note: str, outcome: Outcome) -> Row:
    return Row(name, outcome.ends, len(outcome.lost), int(not outcome.is_sound), note=note)


def _exporting(folder: Path, kills: int) -> Row:
    """Kill a process that appends to a store, forgets, and writes its file of JSON lines, again and again."""
    chance = chance_for("killed while exporting")
    tally = Tally("killed while forgetting and exporting", "kill -9 at random; the file is always old or new")
    path = folder / "exported.jsonl"
    for kill in range(kills):
        child = os.fork()
        if child == 0:
            _use_without_end(path, kill)
        time.sleep(0.01 + chance.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with opened_at(path) as store:
            numbers = store.numbers()
            is_sound = check_store(store.dialect).is_sound
        last_line = path.read_bytes()[-1:] if path.exists() else b"\n"
        tally.count(torn=not is_sound or last_line not in (b"", b"\n"), words=f"kill {kill}: {len(numbers)} episodes")
    return tally.row()


def _use_without_end(path: Path, kill: int) -> None:
    try:
        number = 0
        while True:
            number += 1
            with opened_at(path) as store:
                store.append(draft(number, uid=f"{kill}-{number}"))
                store.append(draft(number, uid=f"{kill}-{number}-forgotten"))
                store.forget(f"{kill}-{number}-forgotten")
    finally:
        os._exit(1)

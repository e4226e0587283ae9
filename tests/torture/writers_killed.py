"""Kills of processes that append to a store or to the cache of answers: nothing acknowledged is ever missing."""

import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.backends.cache.cache_places import SqlitePlace
from tests.backends.cache.test_cache_processes import killed_asker
from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import KILLED, calls_of, moments_of, run_doomed
from tests.torture.stores import APPENDER, held, judge, said
from tests.torture.table import Row, Tally
from tests.warm_python import WarmProcess

_APPENDS = 4


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per way in which a writer dies."""
    with tempfile.TemporaryDirectory() as folder:
        yield _at_random(Path(folder, "random"), scaled(300, scale))
        yield _around_calls(Path(folder, "calls"), scale)
        yield _around_calls(Path(folder, "power"), scale, "--power-cut")
        yield _while_compacting(Path(folder, "compacting"), scaled(100, scale))
        yield _cache(Path(folder, "cache"), scaled(200, scale))


def _killed(path: Path, wait_s: float, *options: str) -> list[str]:
    """Start a writer, kill it after a while and return what it acknowledged."""
    with WarmProcess([APPENDER, path, *options], loads_engine=False) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(wait_s)
        child.send_signal(signal.SIGKILL)
        out, err = child.communicate()
    assert b"Traceback" not in err, err.decode()
    return said(out)


def _at_random(folder: Path, kills: int) -> Row:
    chance = chance_for("writers killed at random")
    tally = Tally("store writers killed at random", "kill -9 from outside, one store after another")
    path, known = folder / "0.jsonl", list[str]()
    for kill in range(kills):
        if kill % 25 == 0:
            path, known = folder / f"{kill}.jsonl", []
        slow = ("--slow",) if chance.random() < 0.7 else ()
        known += _killed(path, chance.uniform(0, 0.06), *slow)
        judge(tally, path, known, f"kill {kill}")
        known = held(path)
    return tally.row()


def _around_calls(folder: Path, scale: float, *options: str) -> Row:
    folder.mkdir()
    program = [APPENDER, folder / "whole" / "store.jsonl", "--count", _APPENDS]
    calls, done = calls_of(program)
    assert done.returncode == 0, done.stderr
    moments = list(moments_of(calls))
    chance = chance_for(f"writers killed around calls {options}")
    if scale < 1:
        moments = chance.sample(moments, scaled(len(moments), scale, 6))
    name = "store writers without power" if options else "store writers killed around writes and syncs"
    note = "what was not synced is gone" if options else f"every moment of {len(calls)} calls"
    tally = Tally(name, note)
    for number, moment in enumerate(moments):
        path = folder / str(number) / "store.jsonl"
        killed = run_doomed([APPENDER, path, "--count", _APPENDS], *moment.options, *options)
        assert killed.returncode == KILLED, (moment, killed)
        judge(tally, path, said(killed.stdout), f"{moment} {' '.join(options)}")
    return tally.row()


def _while_compacting(folder: Path, kills: int) -> Row:
    """Writers that compact to five episodes after each append."""
    chance = chance_for("writers killed while they compact")
    tally = Tally("store writers killed while they compact", "the last five episodes are always there")
    path, known = folder / "store.jsonl", list[str]()
    for kill in range(kills):
        known += _killed(path, chance.uniform(0, 0.06), "--compact-to", "5")
        there = held(path)
        numbers = [int(name[4:]) for name in there]
        # An episode that was written but not yet acknowledged counts among the five.
        last = numbers[-1] if numbers else 0
        missing = {name for name in known if int(name[4:]) > last - 5} - set(there)
        unbroken = not numbers or numbers == list(range(numbers[0], numbers[-1] + 1))
        repeated = len(known) - len(set(known))
        tally.count(
            lost=len(missing) + repeated,
            torn=not unbroken,
            words=f"kill {kill}: missing {sorted(missing)}, {repeated} given twice, unbroken {unbroken}",
        )
    return tally.row()


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

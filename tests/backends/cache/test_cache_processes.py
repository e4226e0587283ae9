"""One cache file under several processes, and under processes that are killed."""

import os
import random
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.backends.cache.cache_places import CachePlace, PostgresPlace
from tests.postgres_server import PostgresServer
from tests.warm_python import WarmProcess

ASKER = Path(__file__).with_name("asker.py")


class Asker(WarmProcess):
    """A process that asks through the cache as soon as it is told to."""

    def __init__(self, location: Path | str, *, first: int = 0, count: int = 10**6) -> None:
        read_end, self._told = os.pipe()
        command = [ASKER, location, "--first", first, "--count", count]
        try:
            super().__init__(command, stdin=read_end, loads_engine=False)
        finally:
            os.close(read_end)

    def heard(self) -> bytes:
        """Return the next line that the process says."""
        assert self.stdout is not None
        return self.stdout.readline()

    def go(self) -> None:
        """Tell it to begin."""
        os.write(self._told, b"go\n")
        os.close(self._told)


def acknowledged(lines: bytes) -> dict[int, str]:
    """Read what an asker said; a line cut short by a kill was not said."""
    whole = lines[: lines.rfind(b"\n") + 1].decode().splitlines()
    return {int(number): text for number, _, text in (line.partition("\t") for line in whole)}


def killed_asker(location: Path | str, chance: random.Random, kill: int) -> tuple[set[str], bytes]:
    """Kill a process that asks through the cache at a random moment; return the answers that it used and its errors."""
    with Asker(location, first=kill * 10**6) as asker:
        assert asker.heard() == b"ready\n"
        asker.go()
        heard = b"".join(asker.heard() for _ in range(chance.randint(1, 60)))
        asker.send_signal(signal.SIGKILL)
        rest, err = asker.communicate()
    return set(acknowledged(heard + rest).values()), err


@pytest.mark.parametrize(("place", "kills"), [("sqlite", 10), ("postgres", 3)], indirect=["place"])
def test_kills_lose_no_answer_that_was_used(place: CachePlace, kills: int) -> None:
    chance = random.Random(20)
    said: set[str] = set()
    for kill in range(kills):
        fresh, err = killed_asker(place.location, chance, kill)
        assert err == b"", err.decode()
        assert fresh
        said |= fresh
        assert said <= place.kept_texts()


@pytest.mark.parametrize(("place", "processes"), [("sqlite", 2), ("sqlite", 6), ("postgres", 3)], indirect=["place"])
def test_processes_at_one_place_all_use_the_answer_that_was_kept(place: CachePlace, processes: int) -> None:
    count = 200
    with ExitStack() as stack:
        askers = [stack.enter_context(Asker(place.location, count=count)) for _ in range(processes)]
        for asker in askers:
            assert asker.heard() == b"ready\n"
        for asker in askers:
            asker.go()
        outputs = [asker.communicate() for asker in askers]
    assert [err.decode() for _, err in outputs] == [""] * processes
    first, *others = [acknowledged(out) for out, _ in outputs]
    assert sorted(first) == list(range(count))
    assert all(other == first for other in others)
    assert place.kept_texts() == set(first.values())


def test_a_server_that_crashes_loses_no_answer_that_was_used(
    postgres_server: PostgresServer, cache_database: str
) -> None:
    place = PostgresPlace(postgres_server, cache_database)
    place.clear()
    with Asker(place.location) as asker:
        assert asker.stdout is not None
        assert asker.heard() == b"ready\n"
        asker.go()
        heard = asker.heard()
        postgres_server.stop("immediate")
        os.set_blocking(asker.stdout.fileno(), False)
        heard += asker.stdout.read(1_000_000) or b""
        os.set_blocking(asker.stdout.fileno(), True)
        postgres_server.start()
        # Without a server the asker can say no more than the eight answers that were committed last.
        heard += b"".join(asker.heard() for _ in range(50))
        asker.send_signal(signal.SIGKILL)
        rest, err = asker.communicate()
    assert err == b"", err.decode()
    said = set(acknowledged(heard + rest).values())
    assert len(said) > 50
    assert said <= place.kept_texts()

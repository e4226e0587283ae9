"""Writers that are killed at any moment, and servers that crash: what they were told is stored must be there."""

import os
import random
import signal
import time
from typing import NamedTuple

from tests.postgres_server import PostgresServer
from tests.store.places import Place, draft, opened

from episodic_absa.store.maintenance import check_store

_LONGEST_LIFE_S = 0.03


class Outcome(NamedTuple):
    """What became of the writers."""

    ends: int
    acknowledged: int
    lost: list[str]
    is_sound: bool


class Writer:
    """A forked process that appends without end and tells each acknowledged id."""

    def __init__(self, place: Place, name: str) -> None:
        self._pipe, telling = os.pipe()
        self._told = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._pipe)
            _append_without_end(place, name, telling)
        os.close(telling)

    def wait_for_first(self) -> None:
        """Wait until it has told one line, or has ended."""
        self._told = os.read(self._pipe, 65536)

    def killed(self) -> list[str]:
        """Kill it, and return what it told: id and uid of each acknowledged episode."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        while part := os.read(self._pipe, 65536):
            self._told += part
        os.close(self._pipe)
        return self._told.decode().split("\n")[:-1]


def kill_writers(place: Place, kills: int, *, at_once: int, seed: int) -> Outcome:
    """Kill writers, several of which write at once."""
    rng = random.Random(seed)
    told: list[str] = []
    for turn in range(kills // at_once):
        writers = [Writer(place, f"{turn}-{number}") for number in range(at_once)]
        for writer in writers:
            writer.wait_for_first()
        time.sleep(rng.random() * _LONGEST_LIFE_S)
        for writer in writers:
            told += writer.killed()
    return _outcome(place, kills, told)


def crash_server(place: Place, server: PostgresServer, crashes: int, *, at_once: int, seed: int) -> Outcome:
    """Crash the server while several processes write; each of them ends with a clear error."""
    rng = random.Random(seed)
    told: list[str] = []
    for turn in range(crashes):
        writers = [Writer(place, f"{turn}-{number}") for number in range(at_once)]
        for writer in writers:
            writer.wait_for_first()
        time.sleep(rng.random() * _LONGEST_LIFE_S)
        server.restart_after_crash()
        for writer in writers:
            told += writer.killed()
    return _outcome(place, crashes, told)


def _outcome(place: Place, ends: int, told: list[str]) -> Outcome:
    with opened(place) as store:
        lost = []
        for line in told:
            episode_id, uid = line.split(" ")
            episode = store.get(episode_id)
            if episode is None or episode.provenance.source_id != uid:
                lost.append(line)
        numbers = store.numbers()
        lost += [] if numbers == list(range(1, len(numbers) + 1)) else ["ids have gaps"]
    return Outcome(ends, len(told), lost, check_store(place.dialect()).is_sound)


def _append_without_end(place: Place, name: str, telling: int) -> None:
    try:
        store = opened(place)
        number = 0
        while True:
            number += 1
            uid = f"{name}-{number}"
            entry = store.append(draft(number, uid=uid))
            os.write(telling, f"{entry.episode_id} {uid}\n".encode())
    finally:
        os._exit(1)

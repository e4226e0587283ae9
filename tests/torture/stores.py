"""What trials ask of a store after a fault: what it holds, and whether every acknowledged episode is among it."""

import copy
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.torture.table import Tally

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import check_store

APPENDER = Path(__file__).parents[1] / "memory" / "store" / "appender.py"
_EPISODE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "memory" / "episode.json").read_text("utf-8"))


def draft(source_id: str = "s-1") -> dict[str, Any]:
    """Return an episode without id."""
    episode = copy.deepcopy(_EPISODE)
    episode["provenance"]["source_id"] = source_id
    return episode


def fill(path: Path, episodes: int) -> list[str]:
    """Append so many episodes and return their ids."""
    with MemoryStore(path) as store:
        return [store.append(draft(f"s-{number}")).episode_id for number in range(episodes)]


def held(path: Path) -> list[str]:
    """Return the ids that a newcomer reads."""
    with MemoryStore(path, keep_last_n=10**6) as store:
        return [episode.episode_id for episode in store.load()]


def judge(tally: Tally, path: Path, acknowledged: Sequence[str], what: str) -> None:
    """Count a trial: the store opens, ids ascend and do not repeat, and everything acknowledged is there.

    The next append must work too: it sets aside what a killed writer left, and gives an id that nobody had.
    """
    try:
        there = held(path)
        raw = path.read_bytes() if path.exists() else b""
        with MemoryStore(path, keep_last_n=10**6) as writer:
            fresh = writer.append(draft("after")).episode_id
        report = check_store(path)
    except MemoryStoreError as error:
        tally.count(lost=len(acknowledged), torn=True, words=f"{what}: {error}")
        return
    lost = len(set(acknowledged) - set(there))
    repeated = len(acknowledged) - len(set(acknowledged)) + (fresh in acknowledged)
    ascending = all(int(a[4:]) < int(b[4:]) for a, b in pairwise([*there, fresh]))
    whole = path.read_bytes().startswith(raw[: raw.rfind(b"\n") + 1])
    tally.count(
        lost=lost + repeated,
        torn=not (ascending and report.is_sound),
        differing=not whole,
        words=f"{what}: {lost} lost, {repeated} given twice, ascending {ascending}, sound {report.is_sound}, "
        f"earlier bytes kept {whole}",
    )


def said(out: bytes | str) -> list[str]:
    """Return the ids in what an appender said; a line cut short by a kill was not said."""
    text = out.decode() if isinstance(out, bytes) else out
    return [word for word in text[: text.rfind("\n") + 1].split() if word.startswith("epi_")]

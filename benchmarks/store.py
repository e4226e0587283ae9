"""Measures the store over SQL: reading, opening, appending, in SQLite and in PostgreSQL.

    python benchmarks/store.py                             # 5,000 and 1,000,000 episodes (minutes, 2 GB of disk)
    python benchmarks/store.py --sizes 5000                # the quick part
    python benchmarks/store.py --postgres postgresql://... # PostgreSQL, too; it gets a store per size

Reads are answered at two settings: the newest 5,000 episodes live, as by default, and all of them live. Appends are
measured in turns with a bare insert of the same bytes in its own commit. Results go to benchmarks/latest.json.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from synthetic_episodes import drafts

from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1, EpisodicMemoryEntryV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, EpisodicMemoryEntryV1_3, episode_body
from episodic_absa.store.additions import Additions
from episodic_absa.store.episode_forms import from_1_1
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N, EpisodeStore
from episodic_absa.store.open_store import open_episode_store
from episodic_absa.store.ranking import Query, Ranked, SignatureKey, tokens_of
from memory import Case, ToBundle, file_system_of, make_cases, quantile

LATEST: Final = Path(__file__).with_name("latest.json")
SEED: Final = 7
DISTINCT: Final = 20_000
AT_ONCE: Final = 50_000
READS: Final = 3000
WARM: Final = 200
APPENDS: Final = 300
TURNS: Final = 5


def admit(value: BaseModel) -> None:
    """Look at nothing: the guard is the caller's."""


def opened(location: str, keep_last_n: int = DEFAULT_KEEP_LAST_N) -> EpisodeStore:
    return open_episode_store(location, guard=admit, keep_last_n=keep_last_n)


def upgraded(old: EpisodeDraftV1_1) -> EpisodicMemoryEntryV1_3:
    return from_1_1(EpisodicMemoryEntryV1_1(episode_id="epi_000001", **dict(old)))


def made(count: int) -> Iterator[EpisodeDraftV1_3]:
    """Yield episodes; after the distinct ones further episodes repeat them with new uids."""
    rng = random.Random(SEED)
    templates = [upgraded(draft) for draft in islice(drafts(SEED), min(count, DISTINCT))]
    for number in range(count):
        episode = templates[number] if number < len(templates) else rng.choice(templates)
        provenance = episode.provenance.model_copy(update={"source_id": f"synthetic:{number:07d}"})
        yield episode.model_copy(update={"provenance": provenance})


def fill(location: str, count: int) -> None:
    episodes = made(count)
    with opened(location) as store:
        while part := list(islice(episodes, AT_ONCE)):
            with store.dialect.writing() as writer:
                additions = Additions(writer, store.shown)
                for episode in part:
                    additions.add_episode(episode, Ranked.of(episode))
                additions.finish()


def query_of(case: Case) -> Query:
    return Query(SignatureKey.of(case.signature), tokens_of(case.query), "synthetic:0000077", 3, True, True)  # noqa: FBT003


def bench_reads(location: str, size: int, clock: Callable[[], float]) -> dict[str, Any]:
    """Measure from a signature to the bundle of advisories.

    Args:
        location: of the store.
        size: its episodes.
        clock: the time of this thread for a file, as other processes may take the cores; any other for a server.
    """
    result: dict[str, Any] = {"episodes": size}
    to_bundle, cases = ToBundle(), make_cases(READS)
    for name, keep_last_n in (("5000_live", DEFAULT_KEEP_LAST_N), ("all_live", max(size, DEFAULT_KEEP_LAST_N))):
        start = time.perf_counter()
        with opened(location, keep_last_n) as store:
            store.search(query_of(cases[0]))
            result[f"open_s_{name}"] = round(time.perf_counter() - start, 3)
            times = []
            for case in cases[:WARM]:
                to_bundle(store.search(query_of(case)), case)  # type: ignore[arg-type]
            for case in cases:
                start = clock()
                to_bundle(store.search(query_of(case)), case)  # type: ignore[arg-type]
                times.append(clock() - start)
        times.sort()
        result[f"read_median_us_{name}"] = round(statistics.median(times) * 1e6, 1)
        result[f"read_p99_us_{name}"] = round(quantile(times, 0.99) * 1e6, 1)
    return result


def bench_appends(folder: Path) -> dict[str, Any]:
    """Append the same bytes in turns: a bare insert with its own commit, and the store."""
    episodes = list(made(APPENDS))
    bodies = [episode_body(episode, number) for number, episode in enumerate(episodes, start=1)]
    spent: dict[str, list[float]] = {"bare": [], "ours": []}
    for turn in range(TURNS):
        bare = sqlite3.connect(folder / f"bare_{turn}.sqlite", isolation_level=None)
        bare.execute("PRAGMA journal_mode=wal")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE episodes (number integer PRIMARY KEY, body blob)")
        with opened(str(folder / f"ours_{turn}.sqlite")) as store:
            for place, (body, episode) in enumerate(zip(bodies, episodes, strict=True)):
                for name in ("bare", "ours") if place % 2 else ("ours", "bare"):
                    start = time.perf_counter()
                    if name == "bare":
                        bare.execute("INSERT INTO episodes (body) VALUES (?)", (body,))
                    else:
                        store.append(episode)
                    spent[name].append(time.perf_counter() - start)
        bare.close()
    medians = {name: statistics.median(times) for name, times in spent.items()}
    return {
        "file_system": file_system_of(folder),
        "bare_median_us": round(medians["bare"] * 1e6),
        "ours_median_us": round(medians["ours"] * 1e6),
        "ours_over_bare": round(medians["ours"] / medians["bare"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 1_000_000])
    parser.add_argument("--postgres", help="the address of an empty database")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"sqlite": [], "load_average": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes:
            location = str(Path(folder, f"store_{size}.sqlite"))
            fill(location, size)
            result["sqlite"].append(bench_reads(location, size, time.thread_time))
        result["append"] = bench_appends(Path(folder))
    if arguments.postgres:
        result["postgres"] = []
        for size in arguments.sizes:
            location = f"{arguments.postgres}&store=bench_{size}"
            fill(location, size)
            result["postgres"].append(bench_reads(location, size, time.perf_counter))
    latest = json.loads(LATEST.read_text(encoding="utf-8"))
    LATEST.write_text(json.dumps({**latest, "store": result}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

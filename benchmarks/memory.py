"""Measures the store: reading, opening and appending, in SQLite and in PostgreSQL.

    python benchmarks/memory.py                             # 5,000 and 1,000,000 episodes (minutes, 2 GB of disk)
    python benchmarks/memory.py --sizes 5000                # the quick part
    python benchmarks/memory.py --postgres postgresql://... # PostgreSQL, too; it gets a store per size

A read leads from a signature to the bundle of advisories. It is answered at two settings: the newest 5,000 episodes
live, as by default, and all of them live. Appends are measured in turns with a bare insert of the same bytes in its own
commit. Results go to benchmarks/latest.json.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from synthetic_episodes import drafts, signatures, stage1_for

from episodic_absa.conditions import load_condition
from episodic_absa.memory import (
    AdvisoryBuilder,
    InjectionController,
    LabelFirewall,
    MemoryStore,
    Retriever,
    load_catalogue,
)
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3, EpisodicMemoryEntryV1_3, episode_body
from episodic_absa.store.additions import Additions
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.store.ranking import Ranked, tokens_of

LATEST: Final = Path(__file__).with_name("latest.json")
SEED: Final = 7
DISTINCT: Final = 20_000
AT_ONCE: Final = 50_000
READS: Final = 3000
WARM: Final = 200
APPENDS: Final = 300
TURNS: Final = 5


class Case(NamedTuple):
    """One question to the memory."""

    signature: InputSignatureV1_1
    query: list[str]
    terms: list[str]


class ToBundle:
    """From retrieved episodes to the slot."""

    def __init__(self) -> None:
        self._condition = load_condition("C2")
        self._advisories = AdvisoryBuilder(load_catalogue())
        self._firewall = LabelFirewall()
        self._injection = InjectionController(topk=3)

    def __call__(self, episodes: Sequence[EpisodicMemoryEntryV1_3], case: Case) -> dict[str, Any]:
        build = self._advisories.build_from_episodes(
            episodes, case.signature, query_tokens=tokens_of(case.query), prohibit_dangerous=True
        )
        screened = self._firewall.screen(build, case.terms)
        return self._injection.build_slot_payload(self._condition, screened.advisories, screened.warnings)


def make_cases(count: int) -> list[Case]:
    rng = random.Random(SEED + 1)
    cases = []
    for signature in islice(signatures(rng), count):
        stage1 = stage1_for(signature, rng)
        query: list[str] = [risk.type for risk in stage1.validator.structural_risks]
        query += [proposal.proposal_type for proposal in stage1.validator.correction_proposals]
        cases.append(Case(signature, query, [item.aspect_term for item in stage1.ate.aspects]))
    return cases


def quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def made(count: int) -> Iterator[EpisodeDraftV1_3]:
    """Yield episodes; after the distinct ones further episodes repeat them with new uids."""
    rng = random.Random(SEED)
    templates = list(islice(drafts(SEED), min(count, DISTINCT)))
    for number in range(count):
        episode = templates[number] if number < len(templates) else rng.choice(templates)
        provenance = episode.provenance.model_copy(update={"source_id": f"synthetic:{number:07d}"})
        yield episode.model_copy(update={"provenance": provenance})


def fill(location: str, count: int) -> None:
    episodes = made(count)
    with MemoryStore(location) as store:
        while part := list(islice(episodes, AT_ONCE)):
            with store.dialect.writing() as writer:
                additions = Additions(writer, store.shown)
                for episode in part:
                    additions.add_episode(episode, Ranked.of(episode))
                additions.finish()


def bench_reads(location: str, size: int, clock: Callable[[], float]) -> dict[str, Any]:
    """Measure from a signature to the bundle of advisories.

    Args:
        location: of the store.
        size: its episodes.
        clock: the time of this thread for a file, as other processes may take the cores; any other for a server.
    """
    result: dict[str, Any] = {"episodes": size}
    to_bundle, cases, retriever = ToBundle(), make_cases(READS), Retriever()
    for name, keep_last_n in (("5000_live", DEFAULT_KEEP_LAST_N), ("all_live", max(size, DEFAULT_KEEP_LAST_N))):
        start = time.perf_counter()
        with MemoryStore(location, keep_last_n=keep_last_n) as store:
            stored = store.load()
            retriever.retrieve(stored, cases[0].signature, cases[0].query)
            result[f"open_s_{name}"] = round(time.perf_counter() - start, 3)
            times = []
            for case in (*cases[:WARM], *cases):
                start = clock()
                to_bundle(retriever.retrieve(stored, case.signature, case.query, sample_id="synthetic:0000077"), case)
                times.append(clock() - start)
        ordered = sorted(times[WARM:])
        result[f"read_median_us_{name}"] = round(statistics.median(ordered) * 1e6, 1)
        result[f"read_p99_us_{name}"] = round(quantile(ordered, 0.99) * 1e6, 1)
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
        with MemoryStore(folder / f"ours_{turn}.sqlite") as store:
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


def file_system_of(folder: Path) -> str:
    device = folder.stat().st_dev
    for line in Path("/proc/self/mounts").read_text().splitlines()[::-1]:
        _, mount, kind, options, *_ = line.split()
        if Path(mount).exists() and Path(mount).stat().st_dev == device:
            return f"{kind} ({options})"
    return "unknown"


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
    latest.pop("store", None)
    LATEST.write_text(json.dumps({**latest, "memory": result}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

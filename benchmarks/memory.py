"""Compares the memory with the plain way (re-read, check and scan the file), as ratios measured in one run.

    python benchmarks/memory.py                            # all sizes (minutes, 2 GB of temporary disk)
    python benchmarks/memory.py --sizes 5000               # the quick part
    python benchmarks/memory.py --append-dir /mnt/slow     # also measure appends on another file system

The plain way keeps episodes in the same JSONL file, re-reads, checks and scans it for every sample, and rewrites it to
prune. Both ways answer the same queries, and their answers are compared. Results go to benchmarks/latest.json.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from synthetic_episodes import drafts, signatures, stage1_for, write_store

from episodic_absa.conditions import load_condition
from episodic_absa.memory import AdvisoryBuilder, InjectionController, LabelFirewall, MemoryStore, Retriever
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.memory.retrieval.episode_index import tokens_of
from episodic_absa.memory.store.index_snapshot import SNAPSHOT_AFTER, snapshot_path
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyEpisode, EpisodicMemoryEntryV1_2
from episodic_absa.serialization.canonical_json import canonical_json

LATEST = Path(__file__).with_name("latest.json")
SEED = 7
EPISODE = '"episode_id"'
OPEN_CODE = """
import sys, time
from pathlib import Path
from episodic_absa import MemoryStore
start = time.perf_counter()
with MemoryStore(sys.argv[1], keep_last_n=int(sys.argv[2]), snapshot_after=int(sys.argv[3])) as store:
    store.load()
    print(round(time.perf_counter() - start, 3))
print(int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024)
"""


class Case(NamedTuple):
    """One question to the memory."""

    signature: InputSignatureV1_1
    query: list[str]
    terms: list[str]


class ToBundle:
    """The part that both ways share: from retrieved episodes to the slot."""

    def __init__(self) -> None:
        self._condition = load_condition("C2")
        self._advisories = AdvisoryBuilder(load_catalogue())
        self._firewall = LabelFirewall()
        self._injection = InjectionController(topk=3)

    def __call__(self, episodes: Sequence[AnyEpisode], case: Case) -> dict[str, Any]:
        build = self._advisories.build_from_episodes(
            episodes, case.signature, query_tokens=tokens_of(case.query), prohibit_dangerous=True
        )
        screened = self._firewall.screen(build, case.terms)
        return self._injection.build_slot_payload(self._condition, screened.advisories, screened.warnings)


def ours(store: MemoryStore) -> Callable[[Case], dict[str, Any]]:
    retriever, to_bundle = Retriever(), ToBundle()
    return lambda case: to_bundle(retriever.retrieve(store.load(), case.signature, case.query), case)


def plain(path: Path) -> Callable[[Case], dict[str, Any]]:
    to_bundle = ToBundle()

    def read(case: Case) -> dict[str, Any]:
        with open(path, encoding="utf-8") as lines:
            entries = [
                EpisodicMemoryEntryV1_2.model_validate(without_checksum(line)) for line in lines if EPISODE in line
            ]
        return to_bundle(scan(entries, case), case)

    return read


def without_checksum(line: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(line)
    del fields["sha256"]
    return fields


def scan(entries: Iterable[AnyEpisode], case: Case) -> list[AnyEpisode]:
    """Rank by a full scan."""
    query, wanted = case.signature, tokens_of(case.query)
    ranked: dict[tuple[int, float], list[AnyEpisode]] = {}
    for entry in entries:
        signature = entry.input_signature
        shared = len(set(signature.detected_structure) & set(query.detected_structure))
        if signature.language != query.language or not (shared or "none" in signature.detected_structure):
            continue
        overlap = shared + (signature.length_bucket == query.length_bucket)
        overlap += signature.num_aspects == query.num_aspects
        summary = tokens_of((entry.case_summary.symptom, entry.case_summary.rationale_summary))
        lexical = len(wanted & summary) / len(wanted) if wanted else 0.0
        ranked.setdefault((overlap, lexical), []).append(entry)
    chosen: list[AnyEpisode] = []
    for rank in sorted(ranked, reverse=True):
        equals = ranked[rank][::-1]
        while equals and len(chosen) < 3:
            kinds = {kind_of(entry) for entry in chosen}
            pick = next((entry for entry in equals if kind_of(entry) not in kinds), equals[0])
            chosen.append(pick)
            equals.remove(pick)
    return chosen


def kind_of(entry: AnyEpisode) -> tuple[str, str, str]:
    return entry.correction.principle_id, entry.action_taken, entry.episode_type


def make_cases(count: int) -> list[Case]:
    rng = random.Random(SEED + 1)
    cases = []
    for signature in islice(signatures(rng), count):
        stage1 = stage1_for(signature, rng)
        query: list[str] = [risk.type for risk in stage1.validator.structural_risks]
        query += [proposal.proposal_type for proposal in stage1.validator.correction_proposals]
        cases.append(Case(signature, query, [item.aspect_term for item in stage1.ate.aspects]))
    return cases


def timed(function: Callable[[Case], Any], cases: Iterable[Case]) -> list[float]:
    times = []
    for case in cases:
        start = time.perf_counter()
        function(case)
        times.append(time.perf_counter() - start)
    return sorted(times)


def quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def bench_read_and_open(folder: Path, size: int) -> dict[str, Any]:
    path = folder / f"store_{size}.jsonl"
    write_store(path, size, SEED)
    result: dict[str, Any] = {"episodes": size, "bytes_per_episode": round(path.stat().st_size / size)}
    open_s: list[Opened] = []
    loads_s: list[float] = []
    for _ in range(3 if size <= 100_000 else 1):
        start = time.perf_counter()
        with open(path, "rb") as lines:
            for line in lines:
                json.loads(line)
        loads_s.append(time.perf_counter() - start)
        open_s.append(opened_in_fresh_process(path, size, snapshot_after=0))
    result |= {
        "json_loads_s": round(min(loads_s), 3),
        "open_s": min(open_s).seconds,
        "open_over_json_loads": round(min(open_s).seconds / min(loads_s), 2),
        "open_resident_mb": max(opened.resident_mb for opened in open_s),
    } | bench_snapshot(path, size)
    with MemoryStore(path, keep_last_n=size) as store:
        read, cases = ours(store), make_cases(4000)
        timed(read, cases[:200])
        times = timed(read, cases)
        result["read_median_us"] = round(statistics.median(times) * 1e6, 1)
        result["read_p99_us"] = round(quantile(times, 0.99) * 1e6, 1)
        if size <= 5000:
            slow = plain(path)
            assert all(slow(case) == read(case) for case in cases[:30]), "the two ways disagree"
            plain_times = timed(slow, cases[:30])
            result["plain_read_median_us"] = round(statistics.median(plain_times) * 1e6, 1)
            result["read_times_faster"] = round(statistics.median(plain_times) / statistics.median(times))
    result["resident_mb"] = reading_resident_mb(path, size)
    path.unlink()
    snapshot_path(path).unlink(missing_ok=True)
    return result


def bench_snapshot(path: Path, size: int) -> dict[str, Any]:
    """Write the snapshot of a store, and open the store through it in fresh processes.

    The store is opened with the last 5,000 episodes live, as by default, and with all of them live.
    """
    start = time.perf_counter()
    with MemoryStore(path) as store:
        store.load()
        read_s = time.perf_counter() - start
    if not snapshot_path(path).exists():
        return {"snapshot_mb": None}
    few_live, all_live = ([opened_in_fresh_process(path, live_n) for _ in range(3)] for live_n in (5000, size))
    return {
        "open_and_write_snapshot_s": round(read_s, 3),
        "snapshot_mb": round(snapshot_path(path).stat().st_size / 1e6, 1),
        "open_by_snapshot_s": min(few_live).seconds,
        "open_by_snapshot_all_live_s": min(all_live).seconds,
        "open_by_snapshot_resident_mb": max(opened.resident_mb for opened in (*few_live, *all_live)),
    }


class Opened(NamedTuple):
    """How a fresh process opened a store."""

    seconds: float
    resident_mb: int
    """The peak of the whole process."""


def opened_in_fresh_process(path: Path, live_n: int, snapshot_after: int = SNAPSHOT_AFTER) -> Opened:
    command = [sys.executable, "-c", OPEN_CODE, str(path), str(live_n), str(snapshot_after)]
    seconds, megabytes = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Opened(float(seconds), int(megabytes))


def reading_resident_mb(path: Path, live_n: int) -> int:
    """Return the peak memory of a fresh process that opens the store and answers queries."""
    command = [sys.executable, __file__, "--child-reads", str(path), str(live_n)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def child_reads(path: Path, live_n: int) -> None:
    with MemoryStore(path, keep_last_n=live_n) as store:
        timed(ours(store), make_cases(500))
    print(peak_resident_mb())


def peak_resident_mb() -> int:
    """Return the peak of this process; `getrusage` would also count that of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def bench_append(folder: Path, count: int) -> dict[str, Any]:
    """Append the same bytes in three ways, in turns, so that all three meet the same state of the disk."""
    made = list(islice(drafts(SEED), count))
    with MemoryStore(folder / "warm.jsonl") as warm:
        lines = [(canonical_json(warm.append(draft)) + "\n").encode() for draft in made]
    rounds: dict[str, list[float]] = {"bare": [], "ours": []}
    for turn in range(5):
        bare = os.open(folder / f"bare_{turn}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        start = time.perf_counter()
        for line in lines:
            os.write(bare, line)
            os.fsync(bare)
        rounds["bare"].append(time.perf_counter() - start)
        os.close(bare)
        with MemoryStore(folder / f"ours_{turn}.jsonl") as store:
            start = time.perf_counter()
            for draft in made:
                store.append(draft)
            rounds["ours"].append(time.perf_counter() - start)
        with MemoryStore(folder / f"held_{turn}.jsonl") as store, store.writing():
            start = time.perf_counter()
            for draft in made:
                store.append(draft)
            rounds.setdefault("held", []).append(time.perf_counter() - start)
    bare_s, ours_s, held_s = (statistics.median(rounds[way]) for way in ("bare", "ours", "held"))
    plain_s = statistics.median(plain_append_times(folder / "plain.jsonl", lines))
    return {
        "folder": "the temporary folder" if folder.is_relative_to(tempfile.gettempdir()) else "--append-dir",
        "file_system": file_system_of(folder),
        "fsync_median_ms": round(bare_s / count * 1e3, 3),
        "bare_per_s": round(count / bare_s),
        "ours_per_s": round(count / ours_s),
        "ours_lock_held_per_s": round(count / held_s),
        "plain_per_s": round(1 / plain_s),
        "ours_over_bare": round(bare_s / ours_s, 2),
        "ours_lock_held_over_bare": round(bare_s / held_s, 2),
    }


def plain_append_times(path: Path, lines: Sequence[bytes]) -> list[float]:
    """Append to a full store of 5,000 by rewriting it without its oldest episode."""
    kept = [lines[number % len(lines)] for number in range(5000)]
    path.write_bytes(b"".join(kept))
    times = []
    for line in lines[:20]:
        start = time.perf_counter()
        entries = [json.loads(old) for old in path.read_bytes().splitlines()]
        entries = [*entries[1:], json.loads(line)]
        with open(path, "w", encoding="utf-8") as rewritten:
            rewritten.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
            rewritten.flush()
            os.fsync(rewritten.fileno())
        times.append(time.perf_counter() - start)
    return times


def file_system_of(folder: Path) -> str:
    device = folder.stat().st_dev
    for line in Path("/proc/self/mounts").read_text().splitlines()[::-1]:
        _, mount, kind, options, *_ = line.split()
        if Path(mount).exists() and Path(mount).stat().st_dev == device:
            return f"{kind} ({options})"
    return "unknown"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--sizes", type=int, nargs="*", default=[5_000, 100_000, 1_000_000])
    arguments.add_argument("--append-dir", type=Path, action="append", default=[])
    arguments.add_argument("--appends", type=int, default=400)
    arguments.add_argument("--child-reads", nargs=2, help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.child_reads:
        child_reads(Path(chosen.child_reads[0]), int(chosen.child_reads[1]))
        return
    results: dict[str, Any] = {"read_and_open": [], "append": []}
    with tempfile.TemporaryDirectory() as temporary:
        for size in chosen.sizes:
            print(f"{size:,} episodes ...", flush=True)
            results["read_and_open"].append(bench_read_and_open(Path(temporary), size))
            print(json.dumps(results["read_and_open"][-1], indent=2), flush=True)
        for folder in [Path(temporary), *chosen.append_dir]:
            with tempfile.TemporaryDirectory(dir=folder) as place:
                results["append"].append(bench_append(Path(place), chosen.appends))
            print(json.dumps(results["append"][-1], indent=2), flush=True)
    reads = results["read_and_open"]
    if len(reads) > 1:
        ratio = results["p99_largest_over_smallest"] = round(reads[-1]["read_p99_us"] / reads[0]["read_p99_us"], 2)
        print(f"read p99 at {reads[-1]['episodes']:,} over {reads[0]['episodes']:,}: {ratio}x")
    known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    LATEST.write_text(json.dumps({**known, "memory": results}, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

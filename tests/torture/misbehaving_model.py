"""A grid at concurrency 64 whose model misbehaves: memory bounded, each failure with its cause, all else as ever."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.runs.small_grid import outputs_of
from tests.torture.measured_process import Measured, run_measured
from tests.torture.misbehaving_server import Exchange, MisbehavingServer, Prompt, RandomFaults
from tests.torture.served_grids import GRID, HonestModel, ServedGrid, honest_model, served_grid
from tests.torture.server_faults import (
    ANSWER_FAULTS,
    READABLE_FAULTS,
    RETRY_IN_A_DAY,
    SLOW_DRIP,
    TRANSPORT_FAULTS,
    Fault,
    redirect_to,
)
from tests.torture.table import Row, Tally

CONCURRENCY = 64
RATE = 0.3
CURSED = 0.04
ARMS = ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen")
STORING = ("C2", "C2_silent")
_ROUNDS = 10
_MORE_MB = 300
"""64 bodies of 2 MB, read and parsed, and as much again."""
_MORE_DESCRIPTORS = 2 * CONCURRENCY
_SMALL = 0.2
_RECORDING = "answers.jsonl"
_HASH = re.compile(rb'"cfg_hash":"[0-9a-f]+"')
_USAGE = re.compile(rb'"usage":\{[^{}]*\}')
_FAILED = b'"status":"error"'


def rows(scale: float) -> Iterator[Row]:
    """Yield a row for grids under random faults, one for replays of them, and one for each fault alone."""
    limit = 4 if scale < _SMALL else 16
    with TemporaryDirectory() as name, _Stage.prepared(Path(name), limit) as stage:
        faulty, replayed = Tally("30 % faults at concurrency 64"), Tally("faulty answers, recorded and replayed")
        notes = [stage.try_faults(seed, faulty, replayed) for seed in range(max(1, round(_ROUNDS * scale)))]
        yield _noted(faulty, notes[-1])
        yield replayed.row()
        yield stage.try_each_fault(1 if scale >= _SMALL else 6)


def _noted(tally: Tally, note: str) -> Row:
    row = tally.row()
    return row if not row.passed else Row(row.name, row.trials, note=note)


@dataclass
class _Stage:
    """A calm run to compare with, and the servers."""

    folder: Path
    limit: int
    model: HonestModel
    server: MisbehavingServer
    elsewhere: MisbehavingServer
    calm: ServedGrid
    calm_run: Measured

    @classmethod
    def prepared(cls, folder: Path, limit: int) -> "_Stage":
        model = honest_model(folder / "offline", ARMS, data={"limit": limit})
        server = MisbehavingServer(model)
        with server:
            calm = _grid(folder, "calm", server.base_url, limit)
            calm_run = run_measured(["run", calm.config])
        return cls(folder, limit, model, server, MisbehavingServer(model), calm, calm_run)

    def __enter__(self) -> "_Stage":
        self.elsewhere.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.elsewhere.__exit__()

    def try_faults(self, seed: int, tally: Tally, replayed: Tally) -> str:
        """Run a grid under faults and judge it; return what was measured, in words."""
        self.server.exchanges.clear()
        self.server.choose = RandomFaults(
            seed, rate=RATE, cursed=CURSED, elsewhere=self.elsewhere.base_url, slow=[SLOW_DRIP]
        )
        with self.server:
            grid = _grid(self.folder, f"faulty{seed}", self.server.base_url, self.limit)
            run = run_measured(["run", grid.config])
        faults_n = sum(exchange.fault is not None for exchange in self.server.exchanges)
        judged = _Judged(self.model, self.server.exchanges, self.calm, grid)
        problems = [*judged.problems(), *self._unbounded(run), *_wrong_exit(run, grid)]
        tally.trials += faults_n
        tally.lost += judged.missing_n
        tally.differing += judged.differing_n
        tally.torn += len(problems)
        for problem in problems[:3]:
            tally.problem(f"seed {seed}: {problem}")
        self._replay(grid, seed, replayed)
        return (
            f"{len(self.server.exchanges):,} requests, {faults_n:,} faults; {judged.failed_n} of {judged.sample_n} "
            f"samples failed, each with its cause; peak {run.peak_mb} MB and {run.descriptors_n} descriptors, "
            f"without faults {self.calm_run.peak_mb} MB and {self.calm_run.descriptors_n}"
        )

    def _unbounded(self, run: Measured) -> Iterator[str]:
        if run.peak_mb > self.calm_run.peak_mb + _MORE_MB:
            yield f"{run.peak_mb} MB of memory"
        if run.descriptors_n > self.calm_run.descriptors_n + _MORE_DESCRIPTORS:
            yield f"{run.descriptors_n} descriptors"
        if self.elsewhere.exchanges:
            yield "a prompt reached another host"

    def _replay(self, grid: ServedGrid, seed: int, tally: Tally) -> None:
        """Run the grid from its recording: every answer is there, and what has none fails again."""
        folder = self.folder / f"replayed{seed}"
        backbone = {"provider": "replay", "base_url": None, "record": None, "recording": str(grid.folder / _RECORDING)}
        again = _grid(self.folder, folder.name, self.server.base_url, self.limit, backbone=backbone)
        again.run()
        expected, got = (_comparable(run.exact_bytes()) for run in (grid, again))
        for name, content in expected.items():
            tally.count(differing=got.get(name) != content, words=f"seed {seed}: {name}")

    def try_each_fault(self, step: int) -> Row:
        """Let every request meet the same fault, one kind after the other: each sample names it."""
        faults = (
            *(*TRANSPORT_FAULTS, SLOW_DRIP, RETRY_IN_A_DAY, redirect_to(self.elsewhere.base_url)),
            *(*ANSWER_FAULTS, *READABLE_FAULTS),
        )
        tally = Tally("each fault alone, and a closed port", "every sample fails and names it")
        for number, fault in enumerate(faults[::step]):
            with MisbehavingServer(self.model, _always(fault)) as server:
                grid = _small_grid(self.folder / f"alone{number}", server.base_url, self.limit)
                grid.run()
            messages = grid.failures()
            is_named = not fault.cause or (len(messages) == 2 and all(re.search(fault.cause, m) for m in messages))
            tally.count(torn=not is_named, words=f"{fault.name}: {messages}")
        closed = _small_grid(self.folder / "closed", server.base_url, self.limit)
        closed.run()
        is_named = ["nothing listens on" in message for message in closed.failures()] == [True, True]
        tally.count(torn=not is_named or bool(self.elsewhere.exchanges), words=f"closed port: {closed.failures()}")
        return tally.row()


@dataclass
class _Judged:
    """A grid under faults, compared with what the server did and with a calm run."""

    model: HonestModel
    exchanges: list[Exchange]
    calm: ServedGrid
    grid: ServedGrid
    sample_n: int = 0
    failed_n: int = 0
    missing_n: int = 0
    differing_n: int = 0

    def problems(self) -> Iterator[str]:
        """Yield what is wrong; samples that are missing or differ are counted as well."""
        causes, odd_reviews = self._met()
        for cell in self.calm.cells():
            there = self.grid.out / cell.name
            calm_lines, lines = _output_lines(cell), _output_lines(there)
            self.sample_n += len(calm_lines)
            self.missing_n += len(calm_lines) - len(lines)
            messages = _messages(there)
            self.failed_n += len(messages)
            for review, message in messages.items():
                if not any(re.search(cause, message) for cause in causes[review]):
                    yield f"{cell.name}: {message!r} after {sorted(causes[review])}"
            if len(messages) != sum(output["status"] == "error" for output in outputs_of(there)):
                yield f"{cell.name}: a failed sample has no message"
            yield from self._differing(there, calm_lines, lines, odd_reviews)

    def _met(self) -> tuple[Mapping[str, set[str]], set[str]]:
        """Return by review the causes that its requests met at last, and the reviews about which nonsense was said."""
        last = {exchange.content: exchange for exchange in self.exchanges}
        causes: defaultdict[str, set[str]] = defaultdict(set)
        for exchange in last.values():
            if exchange.fault is not None and exchange.fault.cause:
                causes[self.model.review_of(exchange.prompt)].add(exchange.fault.cause)
        odd = {
            self.model.review_of(met.prompt) for met in self.exchanges if met.fault is not None and met.fault.is_answer
        }
        return causes, odd

    def _differing(self, cell: Path, calm_lines: list[str], lines: list[str], odd: set[str]) -> Iterator[str]:
        """Yield the samples that no nonsense touched, and that differ from the calm run all the same.

        After a failure or nonsense the memory of an arm that stores is another one; Stage1 never sees it.
        """
        is_storing = cell.name.split("__")[0] in STORING
        memory_is_equal = True
        for calm_line, line, review in zip(calm_lines, lines, _reviews(cell), strict=True):
            output = json.loads(line)
            is_touched = output["status"] == "error" or review in odd
            memory_is_equal = memory_is_equal and not (is_storing and is_touched)
            if is_touched:
                continue
            is_equal = line == calm_line if memory_is_equal else output["stage1"] == json.loads(calm_line)["stage1"]
            if not is_equal:
                self.differing_n += 1
                yield f"{cell.name}: {output['uid']} differs"


def _wrong_exit(run: Measured, grid: ServedGrid) -> Iterator[str]:
    """Yield what is wrong with the end of a run: 1 if more than half of the samples of a cell failed, else 0."""
    outputs = [outputs_of(cell) for cell in grid.cells()]
    is_bad = any(2 * sum(line["status"] == "error" for line in lines) > len(lines) for lines in outputs)
    if run.exit_code != int(is_bad):
        yield f"exit code {run.exit_code}: {run.stderr[-300:]}"


def _grid(
    folder: Path, name: str, base_url: str, limit: int, *, backbone: Mapping[str, Any] | None = None
) -> ServedGrid:
    """Lay out a grid whose arms begin with the store that the offline run built."""
    asked = {"base_url": base_url, "timeout_s": 5, "total_timeout_s": 100, "record": _RECORDING, "retry_base_s": 0.001}
    grid = served_grid(
        folder / name,
        base_url,
        ARMS,
        data={"limit": limit},
        experiment={"concurrency": CONCURRENCY},
        episodic_memory={"build": None, "initial_store": "data/start.jsonl"},
        backbone={**asked, **(backbone or {})},
    )
    shutil.copy(folder / "offline" / GRID / "build__seed42" / "episodic_store.jsonl", grid.folder / "data/start.jsonl")
    return grid


def _small_grid(folder: Path, base_url: str, limit: int) -> ServedGrid:
    """Lay out a grid of two samples that ask for terms first, with limits that a drip exceeds soon."""
    return served_grid(
        folder,
        base_url,
        ["stage1_only"],
        data={"limit": min(2, limit)},
        episodic_memory={"build": None},
        backbone={"timeout_s": 1, "total_timeout_s": 60},
    )


def _always(fault: Fault) -> Any:
    def choose(_prompt: Prompt, _content: str, _try_n: int) -> Fault:
        return fault

    return choose


def _comparable(contents: Mapping[str, bytes]) -> dict[str, list[bytes]]:
    """Return the lines of files, without what a replay cannot know.

    The address of the model is part of the configuration, whose hash stands in lines; and what requests without an
    answer used, as far as the server said so, counts for their samples but is in no recording.
    """
    return {
        name: [_comparable_record(line) for line in content.splitlines()]
        if name.endswith("samples.jsonl")
        else [_USAGE.sub(b"", line) if _FAILED in line else line for line in _HASH.sub(b"", content).splitlines()]
        for name, content in contents.items()
    }


def _comparable_record(line: bytes) -> bytes:
    """Return a record without its calls, which name the model and what it used, and without the words of its error."""
    record = json.loads(line)
    if "error" in record:
        record["error"] = {**record["error"], "message": ""}
    return json.dumps({key: record[key] for key in record if key not in ("cfg_hash", "sha256", "calls")}).encode()


def _output_lines(cell: Path) -> list[str]:
    return (cell / "outputs.jsonl").read_text("utf-8").splitlines()


def _traces(cell: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (cell / "traces.jsonl").read_text("utf-8").splitlines()]


def _reviews(cell: Path) -> list[str]:
    return [trace["text"] for trace in _traces(cell)]


def _messages(cell: Path) -> dict[str, str]:
    return {trace["text"]: trace["error"]["message"] for trace in _traces(cell) if trace.get("error")}

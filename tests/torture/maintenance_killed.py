"""Kills of what rewrites or derives files: compact, upgrade, repair, feedback, verify, report.

After each kill the old or the new content is whole; the same command, given again, ends as if nothing had happened.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, KILLED, Moment, calls_of, moments_of, run_doomed
from tests.torture.grids import STILL, differences, files_of, out_of, put_back, run_grid, write_grid
from tests.torture.stores import draft, fill, held
from tests.torture.table import Row, Tally

from episodic_absa.errors import MemoryStoreError
from episodic_absa.serialization.canonical_json import canonical_json

_EPISODES = 8
_BAD_LINE = b'{"schema_version":"1.1","episode_id":"epi_000003"}\n'
_VERDICTS = b"".join(
    json.dumps({"uid": f"s-{number}", "verdict": verdict}).encode() + b"\n"
    for number, verdict in ((1, "right"), (2, "wrong"), (3, "unsure"))
)


@dataclass(frozen=True)
class Maintenance:
    """A command that changes a store."""

    name: str
    command: Sequence[str]
    prepare: Callable[[Path], object]
    """Makes the store that the command finds."""
    kept: Sequence[str]
    """Episodes that are there before the command, after it, and at every moment between."""
    stdin: bytes = b""


def _ids(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"epi_{number:06d}" for number in range(first, last + 1))


def write_unsealed(path: Path) -> None:
    """Write a store as versions without header and checksums did."""
    lines = [canonical_json({**draft(f"s-{n}"), "episode_id": f"epi_{n:06d}"}) for n in range(1, _EPISODES + 1)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _write_with_a_bad_line(path: Path) -> None:
    fill(path, _EPISODES)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-5], _BAD_LINE, *lines[-5:]]) + b'{"half')


def _fill(path: Path) -> None:
    fill(path, _EPISODES)


OPERATIONS = (
    Maintenance("memory compact", ("memory", "compact", "--keep", "4", "--store"), _fill, _ids(5, 8)),
    Maintenance("memory compact --upgrade", ("memory", "compact", "--upgrade", "--store"), write_unsealed, _ids(1, 8)),
    Maintenance("memory repair", ("memory", "repair", "--store"), _write_with_a_bad_line, _ids(4, 8)),
    Maintenance("feedback", ("feedback", "STORE", "--json"), _fill, _ids(1, 8), _VERDICTS),
)


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per command."""
    with tempfile.TemporaryDirectory() as folder:
        for operation in OPERATIONS:
            yield _killed(operation, Path(folder, operation.name.replace(" ", "_")), scale)
        yield _derivations_killed(Path(folder, "derived"), scale)


def command_of(operation: Maintenance, store: Path) -> list[object]:
    """Return the command line that maintains a store."""
    words: list[object] = [store if word == "STORE" else word for word in operation.command]
    return [*CLI, *words, *(() if "STORE" in operation.command else (store,))]


def _killed(operation: Maintenance, folder: Path, scale: float) -> Row:
    whole = folder / "whole" / "store.jsonl"
    operation.prepare(whole)
    before = whole_folder(whole)
    calls, done = calls_of(command_of(operation, whole), stdin=operation.stdin)
    assert done.returncode == 0, done.stderr
    after = contents_of(whole)
    moments = list(moments_of(calls))
    trials = [(moment, power) for power in ((), ("--power-cut",)) for moment in moments]
    if scale < 1:
        trials = chance_for(operation.name).sample(trials, scaled(len(trials), scale, 4))
    tally = Tally(f"{operation.name} killed", f"every moment of {len(calls)} calls, with and without power")
    for number, (moment, power) in enumerate(trials):
        store = folder / str(number) / "store.jsonl"
        store.parent.mkdir()
        for name, content in before.items():
            (store.parent / name).write_bytes(content)
        killed = run_doomed(command_of(operation, store), *moment.options, *power, stdin=operation.stdin)
        assert killed.returncode == KILLED, (operation.name, moment, killed)
        _judge(tally, operation, store, after, f"{moment} {' '.join(power)}")
        shutil.rmtree(store.parent)
    return tally.row()


def whole_folder(store: Path) -> dict[str, bytes]:
    """Return a store and all that lies beside it, the lock file with its count included."""
    return {path.name: path.read_bytes() for path in store.parent.iterdir()}


def contents_of(store: Path) -> dict[str, bytes]:
    """Return the store and what lies beside it."""
    return files_of(store.parent)


def unequal_contents(store: Path, after: dict[str, bytes]) -> list[str]:
    """Return what is not as after an undisturbed command; beside the store a line may stand twice, or in part."""
    there = contents_of(store)
    lines = {name: content.splitlines() for name, content in after.items() if name != store.name}
    missing = [name for name, aside in lines.items() if not all(line in there.get(name, b"") for line in aside)]
    return [*missing, *(() if there.get(store.name) == after[store.name] else (store.name,))]


def _judge(tally: Tally, operation: Maintenance, store: Path, after: dict[str, bytes], what: str) -> None:
    try:
        there = held(store)
    except MemoryStoreError:
        # Only a store that was bad before may be bad between.
        there = list(operation.kept) if operation.name == "memory repair" else []
    lost = len(set(operation.kept) - set(there))
    again = run_doomed(command_of(operation, store), stdin=operation.stdin)
    unequal = unequal_contents(store, after) if again.returncode == 0 else [again.stderr[-200:]]
    tally.count(lost=lost, differing=bool(unequal), words=f"{what}: {lost} lost, other bytes in {unequal}")


def _derivations_killed(folder: Path, scale: float) -> Row:
    """`verify` and `report` of a finished run: every file is the old or the new one."""
    config = write_grid(folder, ("C2",), limit=2)
    assert run_grid(config).returncode == 0
    out, saved = out_of(config), folder / "saved"
    put_back(out, saved)
    chance, tally = (
        chance_for("derivations killed"),
        Tally("verify and report killed", "integrity.json, tables, reports"),
    )
    old = files_of(out)
    for command in ("verify", "report"):
        program = [*CLI, command, out]
        put_back(saved, out)
        calls, done = calls_of(program, *STILL, loads_engine=True)
        assert done.returncode == 0, done.stderr
        new = files_of(out)
        moments = list(moments_of(calls))
        for moment in chance.sample(moments, min(len(moments), scaled(40, scale, 1))):
            put_back(saved, out)
            _derivation_killed(tally, program, moment, out, old, new)
    return tally.row()


def _derivation_killed(
    tally: Tally, program: Sequence[object], moment: Moment, out: Path, old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    killed = run_doomed(program, *STILL, *moment.options, loads_engine=True)
    assert killed.returncode == KILLED, (program, moment, killed)
    # A draft that was not renamed yet is no file of the run.
    half = [
        name
        for name, content in files_of(out).items()
        if not name.endswith(".new") and content not in (old.get(name), new.get(name))
    ]
    again = run_doomed(program, *STILL, loads_engine=True)
    unequal = differences(files_of(out), new)
    tally.count(
        torn=bool(half),
        differing=bool(unequal) or again.returncode != 0,
        words=f"{program[2]} {moment}: half-written {half}, then other bytes in {unequal}",
    )

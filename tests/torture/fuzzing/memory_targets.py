"""Targets: store files whole and damaged, verdicts of persons, and situations of other agents."""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.torture.fuzzing.outcome import LostDataError, Target
from tests.torture.stores import draft

from episodic_absa.cli.feedback.feedback_lines import read_and_give
from episodic_absa.errors import EpisodicAbsaError, InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.situations.agent_memory import AgentMemory
from episodic_absa.memory.situations.situation import Situation
from episodic_absa.memory.store.bad_line import rejected_path, torn_path
from episodic_absa.memory.store.store_maintenance import check_store, compact_store, repair_store
from episodic_absa.memory.store.store_statistics import compute_store_statistics
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2, store_chain
from episodic_absa.serialization.sealed_lines import opened

_STORE: Final = "store.jsonl"
_LEFT: Final = frozenset({_STORE, f"{_STORE}.lock", f"{_STORE}.rejected.jsonl", f"{_STORE}.torn"})
_SITUATION_KEYS: Final = ("language", "structures", "risks", "severity", "conflict", "length", "targets")


def _read_store(data: bytes, folder: Path) -> None:
    """Open a file as a store, then check, repair, compact and continue it."""
    path = folder / _STORE
    path.write_bytes(data)
    if not _is_store(path, data):
        return
    is_sound = check_store(path).is_sound
    refusal = None
    try:
        with MemoryStore(path) as store:
            held = [episode.episode_id for episode in store.load()]
            assert is_sound, "check names damage that opening does not notice"
            assert all(store.get(episode_id) is not None for episode_id in held)
            compute_store_statistics(path)
    except MemoryStoreError as error:
        assert not is_sound, "opening refuses what check does not name"
        refusal = error
    repair_store(path)
    _check_nothing_lost(path, data)
    assert check_store(path).is_sound, "a repaired store is not sound"
    with MemoryStore(path) as store:
        before = [episode.episode_id for episode in store.load()]
        appended = store.append(draft("fuzzed")).episode_id
        assert appended not in before, "an id is given twice"
    compact_store(path, 10**6)
    with MemoryStore(path) as store:
        if [episode.episode_id for episode in store.load()] != [*before, appended]:
            raise LostDataError("compacting lost an episode")
    if refusal is not None:
        raise refusal


def _is_store(path: Path, data: bytes) -> bool:
    """Return whether a file counts as a store; one that does not must stay as it is, with nothing beside it."""
    try:
        check_store(path)
    except MemoryStoreError:
        with contextlib.suppress(EpisodicAbsaError), MemoryStore(path) as store:
            store.append(draft("foreign"))
            raise AssertionError("an episode is appended to a file that is no store") from None
        if path.read_bytes() != data or [entry.name for entry in path.parent.iterdir()] != [path.name]:
            raise LostDataError("a file that is no store was changed") from None
        return False
    return True


def _check_nothing_lost(path: Path, data: bytes) -> None:
    """Require that every line of the file stands in the repaired store or beside it."""
    kept = {opened(line).body for line in path.read_bytes().split(b"\n")}
    aside = b"".join(other.read_bytes() for other in (rejected_path(path), torn_path(path)) if other.exists())
    for line in data.split(b"\n"):
        if line not in aside and opened(line).body not in kept and not _is_blank_or_header(line):
            raise LostDataError("a line is neither in the repaired store nor beside it")


def _is_blank_or_header(line: bytes) -> bool:
    return not line.strip() or b'"format"' in line


def _read_sealed_store(data: bytes, folder: Path) -> None:
    """Read a store whose lines are the input's, each with a checksum that fits: the fuzzer cannot compute one."""
    lines = [line if line.endswith(b"}") else line + b"}" for line in data.split(b"\n") if line]
    _read_store(b"".join(store_chain().lines_of(lines)) if lines else b"", folder)


def _store_seeds() -> Iterator[bytes]:
    """Yield a store with every kind of line: as this version writes it, and as an earlier one did."""
    yield _written_store()
    yield from _body_seeds()


def _body_seeds() -> Iterator[bytes]:
    yield b"".join(opened(line).body + b"\n" for line in _written_store().splitlines()[1:])


def _written_store() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _STORE)
        _fill(path)
        return path.read_bytes()


def _fill(path: Path) -> None:
    tally = TallyV1_2(source_id="s-1", language="en", terms=("battery",))
    with MemoryStore(path) as store:
        store.append(draft("s-1"), tally=tally)
        store.append(draft("s-2"))
        store.append_verdict(VerdictV1_2(source_id="s-1", verdict="right", aspect="battery"))


def _read_feedback(data: bytes, folder: Path) -> None:
    """Give the lines of the input as verdicts; what is acknowledged must stand in the store."""
    path = folder / _STORE
    _fill(path)
    spoken, answers = sys.stdin, io.StringIO()
    try:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape" if data[:1] == b"\n" else "strict")
        with contextlib.redirect_stdout(answers), MemoryStore(path) as store:
            problem = read_and_give(store)
    finally:
        sys.stdin = spoken
    given = [json.loads(line) for line in answers.getvalue().splitlines()]
    with MemoryStore(path) as store:
        samples = store.load().episode_index.samples
        standing = {(verdict["uid"], verdict["aspect"]): verdict["verdict"] for verdict in given}
        for (uid, aspect), verdict in standing.items():
            if samples.verdicts_on(uid).get(aspect) != verdict:
                raise LostDataError("an acknowledged verdict does not stand in the store")
    if problem:
        raise InputError(problem, argument="stdin")


def _read_situation(data: bytes, folder: Path) -> None:
    """Remember and recall a situation: the arguments are JSON, or the input is the text of a case."""
    arguments = _json_or_none(data)
    try:
        situation = (
            Situation(**{key: value for key, value in arguments.items() if key in _SITUATION_KEYS})
            if isinstance(arguments, dict)
            else Situation.of_text(data.decode("utf-8", "surrogateescape"))
        )
    except TypeError:
        if isinstance(arguments, dict) and "language" in arguments:
            raise
        return
    asked = arguments if isinstance(arguments, dict) else {}
    case_id, action = asked.get("case_id"), asked.get("action", "kept")
    with AgentMemory(folder / _STORE) as memory:
        first = memory.remember(situation, action, asked.get("outcome", "better"), case_id=case_id)
        advice = memory.recall(situation)
        assert first in advice.episode_ids, "what was remembered is not recalled"
        assert first not in memory.recall(situation, case_id=case_id or "agent").episode_ids
    advice.as_prompt().encode("utf-8")


def _json_or_none(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


MEMORY_TARGETS: Final = (
    Target("store", _read_store, inputs=6_000, leaves=_LEFT, seeds=_store_seeds),
    Target("store_sealed", _read_sealed_store, inputs=6_000, leaves=_LEFT, seeds=_body_seeds),
    Target("feedback", _read_feedback, inputs=6_000, leaves=_LEFT),
    Target("situations", _read_situation, inputs=6_000, leaves=_LEFT),
)

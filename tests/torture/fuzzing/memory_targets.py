"""Targets: store files whole and damaged, verdicts of persons, and situations of other agents."""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.store.old_stores import sealed_lines, write_store_of_0_2
from tests.store.places import draft
from tests.torture.fuzzing.outcome import LostDataError, Target

from episodic_absa.cli.feedback.given_feedback import read_and_give
from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.situations.agent_memory import AgentMemory
from episodic_absa.memory.situations.situation import Situation
from episodic_absa.memory.store_statistics import statistics_of
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.serialization.seals import opened
from episodic_absa.store.maintenance import check_store

_STORE: Final = "store.jsonl"
_LEFT: Final = frozenset({_STORE, "store.sqlite"})
_SITUATION_KEYS: Final = ("language", "structures", "risks", "severity", "conflict", "length", "targets")


def _read_store(data: bytes, folder: Path) -> None:
    """Open a file as a store and continue it; one that is refused stays as it is, with nothing beside it."""
    path = folder / _STORE
    path.write_bytes(data)
    try:
        with MemoryStore(path) as store:
            held = [episode.episode_id for episode in store.load()]
            assert all(store.get(episode_id) is not None for episode_id in held)
            statistics_of(store)
            assert check_store(store.dialect).is_sound
            appended = store.append(draft(1, uid="fuzzed")).episode_id
            assert appended not in held, "an id is given twice"
    except MemoryStoreError:
        if path.read_bytes() != data or [entry.name for entry in folder.iterdir()] != [path.name]:
            raise LostDataError("a file that is no store was changed") from None
        raise
    with MemoryStore(path, reads_only=True) as store:
        if [episode.episode_id for episode in store.load()] != [*held, appended]:
            raise LostDataError("the file lost an episode")


def _read_sealed_store(data: bytes, folder: Path) -> None:
    """Read a store whose lines are the input's, each with a checksum that fits: the fuzzer cannot compute one."""
    lines = [line if line.endswith(b"}") else line + b"}" for line in data.split(b"\n") if line]
    _read_store(sealed_lines(lines) if lines else b"", folder)


def _store_seeds() -> Iterator[bytes]:
    """Yield stores as this version writes them and as an earlier one did."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _STORE)
        _fill(path)
        yield path.read_bytes()
        write_store_of_0_2(path, 3)
        yield path.read_bytes()


def _body_seeds() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_store_of_0_2(path := Path(folder, _STORE), 3)
        yield b"".join(opened(line).body + b"\n" for line in path.read_bytes().splitlines()[1:])


def _fill(path: Path) -> None:
    with MemoryStore(path) as store:
        store.append(draft(1, uid="s-1"))
        store.append(draft(2, uid="s-2"))
        store.append_verdict(VerdictV1_3(source_id="s-1", verdict="right", aspect="battery"))


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
        standing = {(verdict["uid"], verdict["aspect"]): verdict["verdict"] for verdict in given}
        for (uid, aspect), verdict in standing.items():
            if (aspect, verdict) not in [(said.aspect, said.verdict) for said in store.verdicts_on(uid)]:
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

"""The snapshot beside a large store: a store opened through it answers as one that is read as a whole."""

import copy
import json
import os
import random
import re
import signal
import tempfile
from array import array
from collections.abc import Callable
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stored_lines import entries_of, rewrite

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore, Retriever
from episodic_absa.memory.columns.column_file import Column, ColumnFile, write_columns
from episodic_absa.memory.store.index_snapshot import load_snapshot, snapshot_path
from episodic_absa.memory.store.reading.store_reader import StoreReader
from episodic_absa.memory.store.store_maintenance import check_store, compact_store, repair_store
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1, InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import EpisodeDraftV1_2, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.acknowledged_end import forget_end, read_end
from episodic_absa.serialization.durable_file import DurableFile
from episodic_absa.vocabulary import ChangeKind, Outcome, Verdict

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
SOURCES = ("s1", "s2", "s3", "s4")
TERMS = ("room", "bed", "직원")
STRUCTURES = (("none",), ("negation",), ("negation", "contrast"))
RISKS = ("CONTRAST_SCOPE", "NEGATION_SCOPE", "none")
Answers = dict[str, Any]


class UnsyncedFile(DurableFile):
    """A file without fsync: these tests are about answers, not about the disk."""

    def sync(self) -> None:
        """Do nothing."""


def opened(path: Path, *, keep_last_n: int = 5000, snapshot_after: int = 1) -> MemoryStore:
    return MemoryStore(path, keep_last_n=keep_last_n, snapshot_after=snapshot_after, open_file=UnsyncedFile)


def signature(structures: tuple[str, ...], language: str, aspects: int) -> InputSignatureV1_1:
    block = {"detected_structure": structures, "language": language, "num_aspects": aspects, "contrast_marker": None}
    return InputSignatureV1_1.model_validate({**BASE["input_signature"], **block})


def episode(rng: random.Random) -> EpisodeDraftV1_1 | EpisodeDraftV1_2:
    body = copy.deepcopy(BASE)
    query = signature(rng.choice(STRUCTURES), rng.choice(("en", "ko")), rng.choice((1, 2)))
    body["input_signature"] = query.model_dump(mode="json")
    body["provenance"]["source_id"] = rng.choice(SOURCES)
    body["action_taken"] = rng.choice(("abstain", "polarity_flip"))
    body["case_summary"]["symptom"] = f"risks={rng.choice(RISKS)}; structure=none; max_severity=none"
    if rng.random() < 0.2:
        return EpisodeDraftV1_1.model_validate(body)
    terms = rng.sample(TERMS, 2)
    for stage in ("stage1", "final"):
        body["stage_snapshot"][stage] |= {"aspects_norm": terms, "polarities": dict.fromkeys(terms, "positive")}
    body["changes"] = [
        {"adopted": rng.random() < 0.7, "kind": rng.choice(KINDS[:2]), "outcome": rng.choice(get_args(Outcome))}
        for _ in range(rng.randint(0, 4))
    ]
    return EpisodeDraftV1_2.model_validate({**body, "schema_version": "1.2"})


def tally(rng: random.Random) -> TallyV1_2:
    terms = tuple(rng.sample((*TERMS, f"term {rng.randint(1, 30)}"), rng.randint(0, 3)))
    return TallyV1_2(language=rng.choice(("en", "ko")), source_id=rng.choice((*SOURCES, "t5", "t6")), terms=terms)


def verdict(rng: random.Random) -> VerdictV1_2:
    aspect = rng.choice((None, *TERMS))
    return VerdictV1_2(source_id=rng.choice(SOURCES), verdict=rng.choice(get_args(Verdict)), aspect=aspect)


def write_lines(store: MemoryStore, rng: random.Random, line_n: int) -> None:
    for _ in range(line_n):
        kind = rng.random()
        if kind < 0.6:
            store.append(episode(rng), tally=tally(rng) if kind < 0.4 else None)
        elif kind < 0.8:
            store.append_tally(tally(rng))
        else:
            store.append_verdict(verdict(rng))


def answers(store: MemoryStore) -> Answers:
    """Ask a store everything that can be asked."""
    stored = store.load()
    index = stored.episode_index
    given: Answers = {
        "live": [entry.episode_id for entry in stored],
        "outcomes": [entry.episode_type for entry in stored],
        "first": [store.get(f"epi_{number:06d}") for number in (1, 2, 10**6)],
        "tallied": (list(index.samples.tallied()), [index.samples.is_tallied(uid) for uid in ("s1", "t5", "\ud800")]),
        "novel": [index.is_novel(episode(random.Random(seed))) for seed in range(8)],
        "languages": [list(index.live_in(language)) for language in ("en", "ko", "other")],
        "verdicts": [index.samples.verdicts_on(source) for source in (*SOURCES, "nobody")],
        "count": (index.count, index.first_live, len(store)),
    }
    for structures, language, aspects in product(STRUCTURES, ("en", "ko"), (1, 3)):
        query = signature(structures, language, aspects)
        for exclude in (None, "s1", "nobody"):
            key = f"{query.model_dump_json()} {exclude}"
            for lexical in ((), ("CONTRAST_SCOPE",)):
                found = Retriever(topk=3).retrieve(stored, query, lexical, sample_id=exclude)
                given[f"retrieved {key} {lexical}"] = [entry.episode_id for entry in found]
    return given


def answers_of(path: Path, *, snapshot_after: int, keep_last_n: int = 5000) -> Answers:
    with opened(path, keep_last_n=keep_last_n, snapshot_after=snapshot_after) as store:
        return answers(store)


def fits(path: Path) -> bool:
    return load_snapshot(StoreReader(path), read_end(path)) is not None


@given(st.integers(0, 2**32), st.lists(st.integers(0, 14), min_size=2, max_size=5), st.sampled_from((1, 3, 9, 300)))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_store_opened_through_its_snapshot_answers_as_one_that_is_read_as_a_whole(
    seed: int, batches: list[int], keep_last_n: int
) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.jsonl"
        for line_n in batches:
            # Each batch begins behind the snapshot of the one before, with another number of live episodes.
            with opened(path, keep_last_n=rng.choice((1, 4, 250)), snapshot_after=rng.choice((1, 7))) as store:
                write_lines(store, rng, line_n)
                in_memory = answers(store)
                live_n = store.load().episode_index.keep_last_n
            assert in_memory == answers_of(path, snapshot_after=0, keep_last_n=live_n)
        if not path.exists():
            return
        read = answers_of(path, snapshot_after=0, keep_last_n=keep_last_n)
        assert answers_of(path, snapshot_after=1, keep_last_n=keep_last_n) == read
        assert fits(path)
        assert answers_of(path, snapshot_after=1, keep_last_n=keep_last_n) == read
        if rng.random() < 0.3:
            compact_store(path, 3)
            read = answers_of(path, snapshot_after=0, keep_last_n=keep_last_n)
        # What was appended behind a snapshot is read as it ever was.
        with opened(path, keep_last_n=keep_last_n, snapshot_after=10**6) as store:
            assert answers(store) == read
            write_lines(store, rng, 3)
            assert answers(store) == answers_of(path, snapshot_after=0, keep_last_n=keep_last_n)
        assert check_store(path).is_sound


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a store with a snapshot, by name."""
    folder = tmp_path_factory.mktemp("made")
    with opened(folder / "store.jsonl") as store:
        write_lines(store, random.Random(5), 40)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def path(made: dict[str, bytes], tmp_path: Path) -> Path:
    """Lay out a store of 40 entries whose snapshot fits."""
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    path = tmp_path / "store.jsonl"
    # The snapshot states when its store was changed last; a copy would not fit.
    head = json.loads(head_of(snapshot_path(path)))
    os.utime(path, ns=(head["modified_ns"], head["modified_ns"]))
    assert fits(path)
    return path


def head_of(snapshot: Path) -> bytes:
    with ColumnFile(snapshot) as file:
        return file.head


def with_head(snapshot: Path, **changed: Any) -> None:
    """Change what a snapshot states about itself; its own hash fits."""
    content, old = snapshot.read_bytes(), head_of(snapshot)
    new = json.dumps({**json.loads(old), **changed}, ensure_ascii=False, separators=(",", ":")).encode()
    assert len(new) == len(old)
    content = content.replace(old, new)[:-32]
    snapshot.write_bytes(content + sha256(content).digest())


def another_store(path: Path) -> None:
    other = path.with_name("other.jsonl")
    with opened(other) as store:
        write_lines(store, random.Random(6), 40)
    snapshot_path(other).replace(snapshot_path(path))


def sealed_anew(path: Path) -> None:
    """Change an entry in the middle and seal all lines behind it; the sizes stay."""
    bodies = entries_of(path)
    bodies[7] = re.sub(rb'"source_id":"(..)"', b'"source_id":"x9"', bodies[7])
    status = path.stat()
    rewrite(path, bodies)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))


def cut_and_grown(path: Path) -> None:
    forget_end(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:20]))
    with opened(path, snapshot_after=10**6) as store:
        write_lines(store, random.Random(7), 60)


def swapped_for_a_link(path: Path) -> None:
    snapshot_path(path).rename(path.with_name("elsewhere"))
    snapshot_path(path).symlink_to(path.with_name("elsewhere"))


def swapped_for_a_pipe(path: Path) -> None:
    snapshot_path(path).unlink()
    os.mkfifo(snapshot_path(path))


def moved_end(path: Path) -> None:
    """State in the lock file that an earlier line was the last one."""
    lock, content = path.with_name("store.jsonl.lock"), path.read_bytes().splitlines(keepends=True)
    short = path.with_name("short.jsonl")
    short.write_bytes(b"".join(content[:-1]))
    with opened(short, snapshot_after=0) as store:
        store.append_tally(TallyV1_2(language="en", source_id="z", terms=()))
    lock.write_bytes(short.with_name("short.jsonl.lock").read_bytes())
    path.write_bytes(short.read_bytes())


DAMAGES: dict[str, Callable[[Path], object]] = {
    "another store's": another_store,
    "of other code": lambda path: with_head(snapshot_path(path), code="0" * 64),
    "of another format": lambda path: with_head(snapshot_path(path), format="episodic_absa.index 2"),
    "of another machine": lambda path: with_head(snapshot_path(path), byte_order="bigend"),
    "empty": lambda path: snapshot_path(path).write_bytes(b""),
    "no index at all": lambda path: snapshot_path(path).write_bytes(b"{}\n" * 50),
    "longer": lambda path: snapshot_path(path).write_bytes(snapshot_path(path).read_bytes() + b"\0"),
    "behind a link": swapped_for_a_link,
    "a named pipe": swapped_for_a_pipe,
    "of the store before it was compacted": lambda path: compact_store(path, 5),
    "of the store before it was touched": lambda path: os.utime(path, ns=(5, 5)),
    "of the store before it was edited and sealed": sealed_anew,
    "of the store before it was cut and grew again": cut_and_grown,
    "of a store whose last line is another": moved_end,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_snapshot_that_does_not_fit_is_passed_over_and_made_anew(name: str, path: Path) -> None:
    DAMAGES[name](path)
    assert not fits(path)
    read = answers_of(path, snapshot_after=0)
    assert answers_of(path, snapshot_after=1) == read
    assert fits(path)
    assert not snapshot_path(path).is_symlink()
    assert answers_of(path, snapshot_after=1) == read


def test_no_changed_byte_and_no_lost_end_of_a_snapshot_goes_unnoticed(path: Path) -> None:
    snapshot, rng = snapshot_path(path), random.Random(1)
    whole = snapshot.read_bytes()
    for place in (*range(60), *rng.sample(range(len(whole)), 150), len(whole) - 1):
        snapshot.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
        assert not fits(path), place
        snapshot.write_bytes(whole[:place])
        assert not fits(path), place
    snapshot.write_bytes(whole)
    assert fits(path)


def test_a_line_edited_in_place_is_noticed_when_it_is_used_and_by_a_check(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if b'"epi_000002"' in line)
    edited = lines[place].replace(b'"epi_000002"', b'"epi_000009"')
    status = path.stat()
    path.write_bytes(b"".join((*lines[:place], edited, *lines[place + 1 :])))
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    with opened(path) as store:
        assert store.get("epi_000001") is not None
        with pytest.raises(MemoryStoreError, match="checksum") as noticed:
            store.get("epi_000002")
    assert noticed.value.line == place + 1
    assert [finding.line for finding in check_store(path).bad_lines][:1] == [place + 1]
    # Once the time of the change is another one, opening notices it, too.
    os.utime(path)
    with pytest.raises(MemoryStoreError, match="checksum"):
        opened(path).load()
    repair_store(path)
    assert not snapshot_path(path).exists()
    assert answers_of(path, snapshot_after=1) == answers_of(path, snapshot_after=0)


def test_a_bad_line_behind_the_snapshot_is_named_by_its_number(path: Path) -> None:
    line_n = len(path.read_bytes().splitlines())
    with open(path, "ab") as file:
        file.write(b"not an episode\n")
    with pytest.raises(MemoryStoreError) as named:
        opened(path).load()
    assert named.value.line == line_n + 1


def test_lost_last_lines_are_noticed_with_a_snapshot_too(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(MemoryStoreError, match="lost"):
        opened(path).load()


def test_a_store_that_was_closed_is_read_again_and_a_compaction_meanwhile_is_noticed(path: Path) -> None:
    store = opened(path)
    first = store.load()[0]
    store.close()
    assert opened(path, snapshot_after=0).load()[0] == first
    assert store.load()[-1].episode_id == opened(path, snapshot_after=0).load()[-1].episode_id
    store.close()
    compact_store(path, 2)
    assert len(store.load()) == 2
    store.close()


def test_small_stores_runs_and_folders_that_refuse_it_get_no_snapshot(tmp_path: Path) -> None:
    with MemoryStore(tmp_path / "small.jsonl", open_file=UnsyncedFile) as store:
        write_lines(store, random.Random(1), 5)
    for marker in ("manifest.json", "journal.jsonl", ".lock"):
        folder = tmp_path / marker.strip(".")
        folder.mkdir()
        (folder / marker).write_bytes(b"")
        with opened(folder / "store.jsonl") as store:
            write_lines(store, random.Random(1), 5)
    refusing = tmp_path / "refusing.jsonl"
    snapshot_path(refusing).mkdir()
    with opened(refusing) as store:
        write_lines(store, random.Random(1), 5)
    assert answers_of(refusing, snapshot_after=1) == answers_of(refusing, snapshot_after=0)
    unsealed = tmp_path / "unsealed.jsonl"
    unsealed.write_bytes(b"".join(body + b"\n" for body in entries_of(refusing)))
    assert answers_of(unsealed, snapshot_after=1) == answers_of(unsealed, snapshot_after=0)
    assert [path for path in tmp_path.rglob("*.index") if path.is_file()] == []
    assert list(tmp_path.rglob("*.new")) == []


def write_numbers(path: Path, number: int) -> None:
    write_columns(path, b"%d" % number, {"numbers": Column("Q", (memoryview(array("Q", [number] * 50_000)),))})


def test_processes_that_write_at_once_and_are_killed_leave_a_whole_file(tmp_path: Path) -> None:
    path, (written, tell) = tmp_path / "store.jsonl.index", os.pipe()
    children = []
    for number in (1, 2, 3):
        child = os.fork()
        if child == 0:
            while True:
                write_numbers(path, number)
                os.write(tell, b".")
        children.append(child)
    for child in children:
        for _ in range(10):
            os.read(written, 1)
            with ColumnFile(path) as file:
                assert set(file.checked_columns().numbers("numbers")) == {int(file.head)}
        # Wherever the process is: the others go on, and at last none does.
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with ColumnFile(path) as file:
        assert set(file.checked_columns().numbers("numbers")) == {int(file.head)}
    write_numbers(path, 4)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600

"""The store: header, checksums, the acknowledged end, and files that are no store."""

import hashlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.stored_lines import entries_of, sealed

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import check_store, compact_store, repair_store
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2
from episodic_absa.serialization.canonical_json import canonical_json

EPISODE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "episode.json").read_text("utf-8"))
HEADER = {"format": "episodic_absa.store", "schema_version": "1.2"}


def line(number: int) -> bytes:
    return canonical_json({**EPISODE, "episode_id": f"epi_{number:06d}"}).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a store of three episodes, a tally and a verdict."""
    path = tmp_path / "memory" / "store.jsonl"
    with MemoryStore(path) as store:
        store.append(EPISODE, tally=TallyV1_2(language="en", source_id="s-1", terms=("battery",)))
        store.append_verdict(VerdictV1_2(source_id="s-1", verdict="right"))
        store.append(EPISODE)
        store.append(EPISODE)
    return path


def lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def ids_of(path: Path) -> list[str]:
    with MemoryStore(path) as store:
        return [episode.episode_id for episode in store.load()]


def test_the_first_line_is_a_header_and_each_line_seals_itself_and_the_one_before(path: Path) -> None:
    previous = ""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(lines) == 6
    assert {key: value for key, value in lines[0].items() if key != "sha256"} == HEADER
    for value in lines:
        assert list(value)[-1] == "sha256"
        stated = value.pop("sha256")
        digest = hashlib.sha256((previous + canonical_json(value)).encode()).hexdigest()
        assert stated == digest[:16]
        previous = stated
    assert check_store(path).is_sound


def test_no_changed_bit_is_read_silently_and_a_repair_lets_the_store_open(path: Path) -> None:
    content, lock = path.read_bytes(), lock_of(path).read_bytes()
    newlines = [place for place, byte in enumerate(content) if byte == ord("\n")]
    for place in sorted({*range(0, len(content), 23), *newlines}):
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        with MemoryStore(path) as store, pytest.raises(MemoryStoreError):
            store.load()
        if place in newlines or place % (10 * 23) == 0:
            assert not check_store(path).is_sound
            repair_store(path)
            assert set(ids_of(path)) <= {"epi_000001", "epi_000002", "epi_000003"}
            assert check_store(path).is_sound
            with MemoryStore(path) as store:
                assert store.append(EPISODE).episode_id > "epi_000003"
            path.with_name("store.jsonl.rejected.jsonl").unlink(missing_ok=True)
        lock_of(path).write_bytes(lock)


def without(at: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: lines[:at] + lines[at + 1 :]


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (without(0), (1, 2, 3)),
        (without(1), (2, 3)),
        (without(2), (1, 2, 3)),
        (without(4), (1,)),
        (without(5), (1, 2)),
        (lambda lines: lines[:1], ()),
        (lambda lines: [*lines[:4], lines[5], lines[4]], None),
        (lambda lines: [*lines, lines[5]], (1, 2, 3)),
        (lambda lines: [*lines[:3], b"{}\n", *lines[3:]], (1, 2, 3)),
        (lambda lines: [*lines[:4], *sealed([line(2), line(3)]).splitlines(keepends=True)[1:]], None),
    ],
    ids=["header", "first", "tally", "middle", "last", "all", "swapped", "twice", "inserted", "resealed alone"],
)
def test_a_line_that_was_removed_moved_or_added_is_noticed_and_its_id_is_not_given_again(
    path: Path, change: Callable[[list[bytes]], list[bytes]], kept: tuple[int, ...] | None
) -> None:
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    damaged = path.read_bytes()
    with MemoryStore(path) as store:
        with pytest.raises(MemoryStoreError, match="memory repair"):
            store.load()
        with pytest.raises(MemoryStoreError, match="memory repair"):
            store.append(EPISODE)
    assert not check_store(path).is_sound
    with pytest.raises(MemoryStoreError):
        compact_store(path, 5)
    assert path.read_bytes() == damaged
    repair_store(path)
    # A line behind a gap may have been changed, too: it is set aside with what does not fit.
    assert kept is None or ids_of(path) == [f"epi_{number:06d}" for number in kept]
    assert check_store(path).is_sound
    with MemoryStore(path) as store:
        assert store.append(EPISODE).episode_id == "epi_000004"


def test_a_lock_file_that_is_older_damaged_or_missing_is_no_damage(path: Path) -> None:
    stale = lock_of(path).read_bytes()
    with MemoryStore(path) as store:
        store.append(EPISODE)
    for content in (stale, stale.replace(b"line_n", b"line-n"), b"x", b"", None):
        if content is None:
            lock_of(path).unlink()
        else:
            lock_of(path).write_bytes(content)
        assert len(ids_of(path)) == 4
        assert check_store(path).is_sound
    # A store that its owner deleted begins anew.
    with MemoryStore(path) as store:
        store.append(EPISODE)
    path.unlink()
    with MemoryStore(path) as store:
        assert store.append(EPISODE).episode_id == "epi_000001"
    assert check_store(path).is_sound


def test_a_store_of_an_earlier_version_stays_in_its_form_until_it_is_compacted(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(line(1) + b"\n")
    with MemoryStore(path) as store:
        store.append(EPISODE)
    assert path.read_bytes() == line(1) + b"\n" + line(2) + b"\n"
    assert not check_store(path).is_sealed
    path.write_bytes(line(1) + b"\n")
    with pytest.raises(MemoryStoreError, match="1 lines, and 2 were written"):
        ids_of(path)
    path.write_bytes(line(1) + b"\n" + line(2) + b"\n")
    assert compact_store(path, 5).kept_n == 2
    assert path.read_bytes() == sealed([line(1), line(2)])
    with MemoryStore(path) as store:
        store.append(EPISODE)
    assert entries_of(path) == [line(1), line(2), line(3)]
    report = check_store(path)
    assert (report.is_sound, report.is_sealed, report.episode_n) == (True, True, 3)


@pytest.mark.parametrize(
    "content",
    [
        b"buy milk\n",
        b"buy milk",
        b"\n",
        b'{"id": 1, "episode_id": 7}\n{"id": 2}\n',
        b"x" * 3_000_000,
        b'{"format":"episodic_absa.store","schema_version":"1.9","sha256":"0123456789abcdef"}\n' + line(1) + b"\n",
    ],
    ids=["notes", "no line end", "blank", "other JSON lines", "one long line", "newer version"],
)
def test_a_file_that_is_no_store_is_refused_and_nothing_is_left_beside_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    uses: list[Callable[[], object]] = [
        lambda: MemoryStore(path).load(),
        lambda: MemoryStore(path).append(EPISODE),
        lambda: check_store(path),
        lambda: repair_store(path),
        lambda: compact_store(path, 5),
    ]
    for use in uses:
        with pytest.raises(MemoryStoreError, match=r"is no store|install the version") as refused:
            use()
        assert "milk" not in str(refused.value)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_regular_file_and_a_file_with_two_names_are_refused_at_once(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        os.link(path, tmp_path / "second.jsonl")
        for place, word in (
            (tmp_path / "pipe", "named pipe"),
            (tmp_path / "socket", "socket"),
            (Path("/dev/null"), "device"),
            (tmp_path, "directory"),
            (tmp_path / "second.jsonl", "hard links"),
            (path, "hard links"),
        ):
            with pytest.raises(MemoryStoreError, match=word):
                MemoryStore(place)
            with pytest.raises(MemoryStoreError, match=word):
                repair_store(place)
    (tmp_path / "second.jsonl").unlink()
    assert len(ids_of(path)) == 3
    assert not list(tmp_path.glob("*.lock"))


@pytest.mark.parametrize(
    "bad",
    [
        canonical_json({**EPISODE, "episode_id": "epi_" + "9" * 5000}).encode(),
        line(9).replace(b"battery", b"b" * (1 << 20)),
        b'{"episode_id":"epi_000009","schema_version":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=["an id of 5,000 digits", "over 1 MB", "100,000 brackets"],
)
def test_a_monstrous_line_is_a_bad_line_and_the_store_opens_after_a_repair(path: Path, bad: bytes) -> None:
    with open(path, "ab") as file:
        file.write(bad + b"\n")
    with pytest.raises(MemoryStoreError, match="line 7: ") as caught:
        ids_of(path)
    assert len(str(caught.value)) < 1000
    assert [finding.line for finding in check_store(path).bad_lines] == [7]
    repair_store(path)
    assert len(ids_of(path)) == 3
    with MemoryStore(path) as store:
        store.append(EPISODE)


def test_an_episode_over_one_megabyte_is_not_stored(path: Path) -> None:
    before = path.read_bytes()
    huge = {**EPISODE, "provenance": {**EPISODE["provenance"], "source_id": "s" * (1 << 20)}}
    with MemoryStore(path) as store, pytest.raises(MemoryStoreError, match="longer than 1,048,576 bytes"):
        store.append(huge)
    assert path.read_bytes() == before


def test_only_the_owner_may_read_a_store_and_what_lies_beside_it(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b'{"torn')
    with MemoryStore(path) as store:
        store.append(EPISODE)
    path.write_bytes(path.read_bytes().replace(b'"right"', b'"wrong"'))
    repair_store(path)
    files = sorted(path.parent.iterdir())
    assert len(files) == 4
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700

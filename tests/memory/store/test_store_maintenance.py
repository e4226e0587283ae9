"""`check` reports, repair sets bad lines aside, compact keeps the last ones; no id is ever given twice."""

import copy
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stored_lines import entries_of, sealed

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.store.store_maintenance import check_store, compact_store, repair_store
from episodic_absa.serialization.canonical_json import canonical_json

BASE: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
WILD = 90_000_000


def draft(**blocks: Any) -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    for name, value in blocks.items():
        episode[name] = {**episode[name], **value} if isinstance(value, dict) else value
    return episode


def line(number: int, **blocks: Any) -> bytes:
    return canonical_json({**draft(**blocks), "episode_id": f"epi_{number:06d}"}).encode()


def bad_line(kind: str, given: int) -> bytes:
    """Return a line of this kind, standing after one with the id `given`."""
    number = given + 1
    return {
        "broken JSON": line(number)[:-9],
        "not an object": b"[1, 2]",
        "wrong schema": line(number).replace(b'"language":"en"', b'"language":"fr"'),
        "missing block": canonical_json(
            {"episode_id": f"epi_{number:06d}", **{k: v for k, v in draft().items() if k != "evaluation"}}
        ).encode(),
        "unknown key": line(number)[:-1] + b',"zzz":1}',
        "forbidden key": line(number)[:-1] + b',"text":null}',
        "no id": canonical_json(draft()).encode(),
        "malformed id": line(number).replace(b'"epi_', b'"ep_'),
        "duplicate id": line(given, provenance={"source_id": "copy"}),
        "exact duplicate": line(given),
        "blank line": b"",
        "spaces": b"   ",
        "invalid UTF-8": line(number).replace(b"s-1", b"s-\xff\xfe"),
        "nul bytes": b"\0" * 64,
    }[kind]


KINDS = (
    "broken JSON",
    "not an object",
    "wrong schema",
    "missing block",
    "unknown key",
    "forbidden key",
    "no id",
    "malformed id",
    "duplicate id",
    "exact duplicate",
    "blank line",
    "spaces",
    "invalid UTF-8",
    "nul bytes",
)


def joined(lines: list[bytes]) -> bytes:
    return b"".join(text + b"\n" for text in lines)


def folder_content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def rejected_of(path: Path) -> bytes:
    side = path.with_name(path.name + ".rejected.jsonl")
    return side.read_bytes() if side.exists() else b""


def number_of(episode_id: str) -> int:
    return int(episode_id[4:])


def next_ids(path: Path, count: int = 3) -> list[int]:
    with MemoryStore(path) as store:
        return [number_of(store.append(draft()).episode_id) for _ in range(count)]


@pytest.mark.parametrize(
    ("kind", "place"),
    # The first line cannot repeat an earlier one.
    [(kind, place) for place in (0, 2, 4) for kind in KINDS if place or "duplicate" not in kind],
)
def test_a_bad_line_is_an_error_that_names_file_line_and_remedy_and_repair_moves_only_it(
    tmp_path: Path, kind: str, place: int
) -> None:
    path = tmp_path / "store.jsonl"
    good = [line(number) for number in (10, 20, 30, 40)]
    bad = bad_line(kind, 10 * place if place else 9)
    path.write_bytes(joined([*good[:place], bad, *good[place:]]))
    before = folder_content(tmp_path)

    with MemoryStore(path) as store:
        with pytest.raises(MemoryStoreError) as caught:
            list(store.load())
        with pytest.raises(MemoryStoreError):
            store.append(draft())
    assert caught.value.path == path
    assert caught.value.line == place + 1
    assert str(path) in str(caught.value)
    assert "episodic-absa memory repair" in str(caught.value)
    assert path.read_bytes() == before["store.jsonl"]

    report = check_store(path)
    assert [finding.line for finding in report.bad_lines] == [place + 1]
    assert all(finding.reason for finding in report.bad_lines)
    assert report.episode_n == 4
    assert not report.is_sound

    repaired = repair_store(path, lock_timeout_s=5.0)
    assert repaired.kept_n == 4
    assert len(repaired.rejected) == 1
    assert path.read_bytes() == joined(good)
    assert bad in rejected_of(path)
    assert check_store(path).is_sound
    with MemoryStore(path) as store:
        assert [number_of(e.episode_id) for e in store.load()] == [10, 20, 30, 40]
    given = next_ids(path)
    assert given[0] > 40
    assert given == sorted(set(given))


def test_a_wild_id_in_the_middle_is_the_bad_line_and_not_the_many_after_it(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    good = [line(number) for number in range(1, 9)]
    path.write_bytes(joined([*good[:3], line(WILD), *good[3:]]))
    with MemoryStore(path) as store, pytest.raises(MemoryStoreError):
        list(store.load())
    assert [finding.line for finding in check_store(path).bad_lines] == [4]
    assert repair_store(path, lock_timeout_s=5.0).kept_n == 8
    assert path.read_bytes() == joined(good)
    assert line(WILD) in rejected_of(path)
    assert WILD not in next_ids(path)


def test_a_descending_id_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    good = [line(number) for number in (4, 5, 6, 7)]
    path.write_bytes(joined([*good[:3], line(2), good[3]]))
    with MemoryStore(path) as store, pytest.raises(MemoryStoreError) as caught:
        list(store.load())
    assert caught.value.line == 4
    repair_store(path, lock_timeout_s=5.0)
    assert path.read_bytes() == joined(good)
    assert line(2) in rejected_of(path)


class Line(NamedTuple):
    raw: bytes
    number: int | None
    """Its id where the line by itself is a valid entry."""


@st.composite
def damaged_stores(draw: st.DrawFn) -> tuple[list[Line], int, bytes]:
    lines: list[Line] = []
    last, good_n = 0, 0
    for kind in draw(
        st.lists(st.sampled_from(("good", "good", "good", "lower", "ahead", "wild", *KINDS)), max_size=14)
    ):
        if kind == "good":
            last, good_n = last + draw(st.integers(1, 3)), good_n + 1
            lines.append(Line(line(last), last))
        elif kind == "lower":
            number = draw(st.integers(1, max(1, last)))
            lines.append(Line(line(number), number))
        elif kind in {"ahead", "wild"}:
            number = (WILD if kind == "wild" else last) + draw(st.integers(1, 6))
            lines.append(Line(line(number), number))
        elif last or "duplicate" not in kind:
            valid = last if "duplicate" in kind else None
            lines.append(Line(bad_line(kind, last), valid))
    return lines, good_n, draw(st.sampled_from([b"", b'{"torn', line(500)]))


@settings(deadline=None, max_examples=200)
@given(damaged=damaged_stores())
def test_repair_keeps_all_that_fits_rejects_the_rest_and_lets_the_store_open(
    tmp_path_factory: pytest.TempPathFactory, damaged: tuple[list[Line], int, bytes]
) -> None:
    lines, good_n, tail = damaged
    path = tmp_path_factory.mktemp("repair") / "store.jsonl"
    path.write_bytes(joined([stored_line.raw for stored_line in lines]) + tail)
    before = folder_content(path.parent)
    content = path.read_bytes()
    is_store = not content or b"epi_" in content
    if not is_store:
        with pytest.raises(MemoryStoreError, match="is no store"):
            repair_store(path, lock_timeout_s=5.0)
        assert folder_content(path.parent) == before
        return

    report = check_store(path)
    assert folder_content(path.parent) == before, "check changed something"
    assert report.torn_bytes == len(tail)

    repaired = repair_store(path, lock_timeout_s=5.0)
    kept = path.read_bytes().split(b"\n")
    assert kept.pop() == b""
    assert repaired.kept_n == len(kept) == report.episode_n
    assert len(repaired.rejected) == len(lines) - len(kept) == len(report.bad_lines)
    assert repaired.torn_bytes == len(tail)
    if tail:
        assert tail in path.with_name("store.jsonl.torn").read_bytes()

    # The kept lines stand in their old order, and each is as it was.
    rest = iter(enumerate(lines))
    positions = [
        next(i for i, stored_line in rest if stored_line.raw == text and stored_line.number is not None)
        for text in kept
    ]
    numbers = [lines[i].number or 0 for i in positions]
    assert all(a < b for a, b in pairwise(numbers))
    # Nothing valid is lost: what was rejected is bad by itself or does not fit between its kept neighbours.
    assert len(kept) >= good_n
    for i, stored_line in enumerate(lines):
        if i not in positions:
            assert stored_line.raw in rejected_of(path)
            if stored_line.number is not None:
                below = max((n for p, n in zip(positions, numbers, strict=True) if p < i), default=-1)
                above = min((n for p, n in zip(positions, numbers, strict=True) if p > i), default=10**12)
                assert not below < stored_line.number < above

    assert check_store(path).is_sound
    with MemoryStore(path) as store:
        assert [number_of(e.episode_id) for e in store.load()] == numbers
    seen = {stored_line.number for stored_line in lines}
    fresh = next_ids(path)
    assert fresh[0] > max(numbers, default=0)
    assert not seen & set(fresh), "an id was given twice"


@pytest.mark.parametrize("numbers", [(0,), (0, 1), (1, 0), (1, 2, 0, 3)])
def test_what_check_calls_sound_and_repair_leaves_behind_can_be_opened_also_with_an_id_of_nought(
    tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(number) for number in numbers]))
    try:
        with MemoryStore(path) as store:
            opens = bool(list(store.load()))
    except MemoryStoreError:
        opens = False
    assert check_store(path).is_sound is opens
    repair_store(path, lock_timeout_s=5.0)
    with MemoryStore(path) as store:
        kept = [number_of(e.episode_id) for e in store.load()]
    assert [number for number in kept if number] == [number for number in numbers if number]


@pytest.mark.parametrize("kind", ["wrong schema", "unknown key", "forbidden key", "missing block", "invalid UTF-8"])
def test_the_id_of_a_rejected_last_line_is_not_given_again(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(2), line(3), bad_line(kind, 3)]))
    repair_store(path, lock_timeout_s=5.0)
    assert 4 not in next_ids(path)
    # Nor by another process, nor after a further repair and a compaction.
    repair_store(path, lock_timeout_s=5.0)
    compact_store(path, 1, lock_timeout_s=5.0)
    assert 4 not in next_ids(path)


def test_the_id_of_a_last_line_that_lost_its_json_is_not_given_again(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    flipped = line(4).replace(b'"risk_type":null', b'"risk_type";null')
    path.write_bytes(joined([line(1), line(2), line(3), flipped]))
    repair_store(path, lock_timeout_s=5.0)
    assert flipped in rejected_of(path)
    assert 4 not in next_ids(path)


def test_the_ids_of_a_store_that_lost_every_line_are_not_given_again(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    spoilt = [line(n).replace(b'"language":"en"', b'"language":"fr"') for n in (1, 2, 3)]
    path.write_bytes(joined(spoilt))
    assert repair_store(path, lock_timeout_s=5.0).kept_n == 0
    assert not {1, 2, 3} & set(next_ids(path))


def test_a_second_repair_adds_to_the_rejected_lines_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), b"first nonsense", line(2)]))
    repair_store(path, lock_timeout_s=5.0)
    with open(path, "ab") as file:
        file.write(joined([b"second nonsense", line(9)]))
    repair_store(path, lock_timeout_s=5.0)
    assert b"first nonsense" in rejected_of(path)
    assert b"second nonsense" in rejected_of(path)
    assert path.read_bytes() == joined([line(1), line(2), line(9)])


def test_a_repair_begins_a_new_line_behind_the_half_line_of_a_killed_one(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), b"nonsense"]))
    path.with_name(path.name + ".rejected.jsonl").write_bytes(b"half a li")
    repair_store(path, lock_timeout_s=5.0)
    assert rejected_of(path).splitlines() == [b"half a li", b"nonsense"]


def test_repairing_a_sound_store_changes_no_byte_and_rejects_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(5)]))
    repaired = repair_store(path, lock_timeout_s=5.0)
    assert (repaired.kept_n, len(repaired.rejected), repaired.torn_bytes) == (2, 0, 0)
    assert path.read_bytes() == joined([line(1), line(5)])
    assert rejected_of(path) == b""


def test_check_of_a_sound_store_says_so_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(5)]))
    report = check_store(path)
    assert (report.episode_n, len(report.bad_lines), report.torn_bytes, report.is_sound) == (2, 0, 0, True)
    assert folder_content(tmp_path) == {"store.jsonl": joined([line(1), line(5)])}


def test_check_of_a_missing_store_creates_nothing(tmp_path: Path) -> None:
    try:
        assert check_store(tmp_path / "store.jsonl").episode_n == 0
    except MemoryStoreError as error:
        assert str(tmp_path) in str(error)  # noqa: PT017  # either answer is fair; a new file is not
    assert list(tmp_path.iterdir()) == []


def test_a_bad_line_in_what_another_appended_is_an_error_of_the_open_reader(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(2)]))
    with MemoryStore(path) as store:
        assert len(store.load()) == 2
        with open(path, "ab") as file:
            file.write(joined([b"nonsense", line(3)]))
        with pytest.raises(MemoryStoreError) as caught:
            list(store.load())
        assert caught.value.line == 3
        repair_store(path, lock_timeout_s=5.0)
        assert [number_of(e.episode_id) for e in store.load()] == [1, 2, 3]


def test_a_bad_line_older_than_the_last_n_is_not_skipped_silently(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), b"nonsense", *map(line, range(2, 9))]))
    with MemoryStore(path, keep_last_n=2) as store, pytest.raises(MemoryStoreError) as caught:
        list(store.load())
    assert caught.value.line == 2


@pytest.mark.parametrize("keep", [1, 2, 4, 5, 100])
def test_compact_keeps_the_last_n_with_their_ids_and_bytes(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "store.jsonl"
    lines = [line(number) for number in (1, 2, 3, 7, 9)]
    path.write_bytes(joined(lines))
    compacted = compact_store(path, keep, lock_timeout_s=5.0)
    kept = lines[-keep:]
    assert path.read_bytes() == sealed(kept)
    assert (compacted.kept_n, compacted.dropped_n) == (len(kept), 5 - len(kept))
    assert (compacted.bytes_before, compacted.bytes_after) == (len(joined(lines)), len(sealed(kept)))
    assert next_ids(path, 1) == [10]
    assert not [p.name for p in tmp_path.iterdir() if p.name not in {"store.jsonl", "store.jsonl.lock"}]


@pytest.mark.parametrize("keep", [0, -1, -3])
def test_compacting_to_nothing_is_refused_and_leaves_every_id_taken(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(2), line(3)]))
    with pytest.raises(MemoryStoreError, match="keep at least one episode"):
        compact_store(path, keep, lock_timeout_s=5.0)
    assert path.read_bytes() == joined([line(1), line(2), line(3)])
    assert next_ids(path, 1) == [4]


def test_compact_never_hides_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([b"nonsense", line(1), line(2)]))
    before = path.read_bytes()
    with pytest.raises(MemoryStoreError):
        compact_store(path, 1, lock_timeout_s=5.0)
    assert path.read_bytes() == before


def test_compact_sets_a_torn_tail_aside_like_every_writer(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), line(2)]) + b'{"torn')
    compact_store(path, 1, lock_timeout_s=5.0)
    assert path.read_bytes() == sealed([line(2)])
    assert b'{"torn' in path.with_name("store.jsonl.torn").read_bytes()


def test_an_open_store_goes_on_after_a_compaction(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    with MemoryStore(path, keep_last_n=3) as store:
        for _ in range(6):
            store.append(draft())
        inode = path.stat().st_ino
        compact_store(path, 2, lock_timeout_s=5.0)
        assert path.stat().st_ino != inode
        assert [number_of(e.episode_id) for e in store.load()] == [5, 6]
        assert store.get("epi_000001") is None
        compact_store(path, 1, lock_timeout_s=5.0)
        assert number_of(store.append(draft()).episode_id) == 7
        assert [number_of(e.episode_id) for e in store.load()] == [6, 7]
    assert len(entries_of(path)) == 2


def test_the_command_named_by_the_error_mends_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    path.write_bytes(joined([line(1), b"nonsense", line(2)]))
    with MemoryStore(path) as store, pytest.raises(MemoryStoreError) as caught:
        list(store.load())
    command = str(caught.value).split("`")[1].split()
    assert command[:3] == ["episodic-absa", "memory", "repair"]
    program = Path(sys.executable).with_name("episodic-absa")
    done = subprocess.run([str(program), *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == joined([line(1), line(2)])
    assert b"nonsense" in rejected_of(path)


def with_little_room(code: str, path: Path, room: int) -> str:
    """Run code in a process whose files may not grow beyond `room` bytes, and return what it printed."""
    limited = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from episodic_absa.errors import MemoryStoreError\n"
        "from episodic_absa.memory import MemoryStore\n"
        "from episodic_absa.memory.store.store_maintenance import compact_store, repair_store\n"
        "path, draft = Path(sys.argv[1]), __import__('json').loads(sys.argv[3])\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))\n"
        "try:\n"
        f"    print({code})\n"
        "except MemoryStoreError as error:\n"
        "    print('MemoryStoreError', error)\n"
    )
    command = [sys.executable, "-c", limited, str(path), str(room), json.dumps(draft())]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


REALLY_FULL = {
    "append": "MemoryStore(path).append(draft)",
    "compact": "compact_store(path, 2, lock_timeout_s=5.0)",
    "repair": "repair_store(path, lock_timeout_s=5.0)",
}


@pytest.mark.parametrize("task", list(REALLY_FULL))
def test_a_file_that_cannot_grow_ends_in_a_store_error_and_loses_nothing(tmp_path: Path, task: str) -> None:
    path = tmp_path / "store.jsonl"
    lines = [line(1), line(2), line(3)]
    if task == "repair":
        lines.insert(1, b"nonsense")
    path.write_bytes(joined(lines))
    room = len(joined(lines)) + 200 if task == "append" else len(lines[-1]) + 200
    said = with_little_room(REALLY_FULL[task], path, room)
    assert said.startswith("MemoryStoreError "), said
    assert path.read_bytes() == joined(lines)
    repair_store(path, lock_timeout_s=5.0)
    assert path.read_bytes() == joined([raw_line for raw_line in lines if raw_line != b"nonsense"])
    assert next_ids(path, 1) == [4]


@pytest.mark.parametrize("task", list(REALLY_FULL))
def test_a_torn_tail_that_cannot_be_set_aside_is_not_cut_off_either(tmp_path: Path, task: str) -> None:
    path = tmp_path / "store.jsonl"
    tail = b"t" * 9000
    path.write_bytes(joined([line(1), line(2), line(3)]) + tail)
    said = with_little_room(REALLY_FULL[task], path, 8000)
    torn = path.with_name("store.jsonl.torn")
    assert said.startswith("MemoryStoreError "), said
    assert path.read_bytes().startswith(joined([line(1), line(2), line(3)]))
    assert tail in path.read_bytes() or tail in torn.read_bytes()
    assert next_ids(path, 1) == [4]
    assert tail in torn.read_bytes()

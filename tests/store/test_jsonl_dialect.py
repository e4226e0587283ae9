"""A store named by its file of JSON lines: the database stands beside it, and the file is kept current."""

import multiprocessing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.store.old_stores import write_store_of_0_2
from tests.store.places import admit, draft
from tests.warm_python import run_warm

from episodic_absa.errors import MemoryStoreError
from episodic_absa.store.dialects.dialect import Row
from episodic_absa.store.dialects.jsonl_dialect import EXPORTED_AT_MOST, JsonlDialect, database_beside
from episodic_absa.store.episode_store import EpisodeStore


def opened(path: Path, *, exported_at_most: int = EXPORTED_AT_MOST) -> EpisodeStore:
    dialect = JsonlDialect(path, busy_timeout_s=20, guard=admit, exported_at_most=exported_at_most)
    return EpisodeStore(dialect, guard=admit)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "episodic_store.jsonl"


def test_the_file_is_written_when_a_store_that_was_written_to_is_closed(path: Path) -> None:
    with opened(path) as store:
        assert (len(store), store.exists(), path.parent.exists()) == (0, False, False)
        store.append(draft(1))
        assert not path.exists()
    assert path.read_text(encoding="utf-8").count("\n") == 1
    before = path.stat()
    with opened(path) as store:
        assert len(store) == 1
    assert path.stat() == before


def test_an_empty_file_is_no_reason_to_refuse_the_first_episode(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with opened(path) as store:
        assert len(store) == 0
        store.append(draft(1))
    assert path.read_text(encoding="utf-8").count("\n") == 1


def test_only_file_and_database_are_left_in_the_folder(path: Path) -> None:
    with opened(path) as store:
        store.append(draft(1))
    assert {found.name for found in path.parent.iterdir()} == {path.name, database_beside(path).name}
    assert {found.stat().st_mode & 0o777 for found in path.parent.iterdir()} == {0o600}


def test_a_file_of_0_2_is_imported_once_and_written_in_the_new_schema(path: Path) -> None:
    path.parent.mkdir()
    write_store_of_0_2(path, 30)
    old = path.read_bytes()
    with opened(path) as store:
        assert len(store) == 30
    assert path.read_bytes() == old
    with opened(path) as store:
        assert store.append(draft(31)).episode_id == "epi_000031"
    lines = path.read_bytes().splitlines()
    assert all(b'"schema_version":"1.3"' in line for line in lines)
    with opened(path) as store:
        assert len(store) == 31


def test_a_file_that_others_changed_is_refused_with_two_ways_out(path: Path) -> None:
    with opened(path) as store:
        store.append(draft(1))
    path.write_bytes(path.read_bytes() * 2)
    changed = path.read_bytes()
    with pytest.raises(MemoryStoreError, match="somebody changed it") as error, opened(path) as store:
        len(store)
    assert "Move the file away" in str(error.value)
    assert "move the database away" in str(error.value)
    assert path.read_bytes() == changed
    path.rename(path.with_name("aside.jsonl"))
    with opened(path) as store:
        store.append(draft(2))
        assert len(store) == 2
    assert path.read_bytes().count(b"\n") == 2


def test_a_file_changed_while_the_store_is_open_is_kept_and_the_database_holds_everything(path: Path) -> None:
    with opened(path) as store:
        store.append(draft(1))
    store = opened(path)
    store.append(draft(2))
    path.write_text("mine\n")
    with pytest.raises(MemoryStoreError, match="somebody changed it"):
        store.close()
    assert path.read_text() == "mine\n"
    path.unlink()
    with opened(path) as later:
        assert len(later) == 2


@pytest.mark.parametrize("content", [b"buy milk\n", b'{"aspect":1}\n', b"{", b'{"action_taken":"defer"}\n', b"\0\0"])
def test_a_file_that_is_no_store_stays_as_it_is_and_nothing_is_left_beside_it(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(MemoryStoreError), opened(path) as store:
        store.append(draft(1))
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_large_store_writes_its_file_only_on_request(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(path, exported_at_most=1) as store:
        store.append(draft(1))
        store.append(draft(2))
    assert not path.exists()
    assert "memory export" in caplog.text
    dialect = JsonlDialect(path, busy_timeout_s=20, guard=admit)
    assert dialect.export()
    dialect.close()
    assert path.read_bytes().count(b"\n") == 2


class OvertakenDialect(JsonlDialect):
    """Somebody else appends and writes the file anew just after the first look at what was written last."""

    is_overtaken = False

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        found = super().rows(statement, parameters)
        if "FROM facts" in statement and not self.is_overtaken:
            self.is_overtaken = True
            with opened(self.file) as other:
                other.append(draft(2))
        return found


def test_a_file_that_somebody_wrote_anew_during_the_look_at_it_is_not_refused(path: Path) -> None:
    with opened(path) as store:
        store.append(draft(1))
    dialect = OvertakenDialect(path, busy_timeout_s=20, guard=admit)
    with EpisodeStore(dialect, guard=admit) as store:
        assert (len(store), dialect.is_overtaken) == (2, True)


def _append(path: Path, first: int, n: int) -> None:
    for number in range(first, first + n):
        with opened(path) as store:
            store.append(draft(number))


def test_processes_that_open_write_and_close_at_once_leave_a_current_file(path: Path) -> None:
    path.parent.mkdir()
    write_store_of_0_2(path, 20)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_append, args=(path, 100 * worker, 6)) for worker in range(1, 4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    with opened(path) as store:
        assert len(store) == 38
        lines = path.read_bytes().splitlines()
        assert sum(b'"episode_id"' in line for line in lines) == 38


def test_a_program_that_closes_nothing_leaves_a_current_file(tmp_path: Path) -> None:
    path = tmp_path / "store.jsonl"
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from episodic_absa import AgentMemory, Situation\n"
        "memory = AgentMemory(sys.argv[1])\n"
        "memory.remember(Situation(language='en'), action='kept', outcome='unclear')\n"
    )
    done = run_warm([program, path], loads_engine=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(path.read_bytes().splitlines()) == 1

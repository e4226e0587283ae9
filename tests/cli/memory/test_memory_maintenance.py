import json
import sqlite3
from pathlib import Path

from tests.cli.conftest import Cli, MakeStore
from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import MemoryStore


def damaged(store: Path) -> Path:
    """Change a word in the second episode of a database; return it."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE episodes SET body = replace(body, 'toy-0002', 'toy-0009') WHERE number = 2")
    connection.close()
    return store


def test_a_sound_store_passes_the_check(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=3)
    done = cli("memory", "check", "--store", store)
    assert done.returncode == 0
    assert done.stdout == f"✓ sound: 3 episodes in {store}\n"


def test_check_names_the_affected_episode_and_repair_keeps_the_others(
    cli: Cli, make_store: MakeStore, tmp_path: Path
) -> None:
    store = damaged(make_store(plain=3, path=tmp_path / "my store's.sqlite"))
    done = cli("memory", "check", "--store", store)
    assert done.returncode == 1
    assert "not sound: 1 bad row beside 2 episodes" in done.stdout
    assert "epi_000002" in done.stdout
    told = json.loads(cli("memory", "check", "--store", store, "--json").stdout)
    assert (told["is_sound"], told["affected_ids"]) == (False, ["epi_000002"])
    assert told["repair_command"].startswith("episodic-absa memory repair --store '")
    done = cli("memory", "repair", "--store", store)
    assert done.returncode == 0, done.stderr
    assert "2 episodes kept" in done.stdout
    assert f"the damaged file is now {store}.damaged" in done.stdout
    with MemoryStore(store) as kept:
        assert [episode.episode_id for episode in kept.load()] == ["epi_000001", "epi_000003"]
    assert cli("memory", "check", "--store", store).returncode == 0
    assert "nothing to repair: 2 episodes" in cli("memory", "repair", "--store", store).stdout


def test_a_bad_line_of_a_lone_file_is_named_and_the_file_stays_as_it_is(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    rewrite(store, [*entries_of(store), b'{"gold":1}'])
    before = store.read_bytes()
    for command in ("check", "list", "repair", "compact"):
        done = cli("memory", command, "--store", store)
        assert done.returncode == 2
        assert "line 3" in done.stderr
    assert store.read_bytes() == before
    assert list(store.parent.glob("store*")) == [store]


def test_a_file_that_is_no_store_is_refused_by_every_command_and_stays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    for name, content in (("notes.md", "# Notes\n"), ("notes.jsonl", '{"aspect": "room"}\n'), ("open.jsonl", "{")):
        notes = tmp_path / name
        notes.write_text(content, encoding="utf-8")
        commands: list[tuple[object, ...]] = [
            ("memory", each, "--store", notes) for each in ("check", "list", "repair")
        ]
        commands.append(("analyze", "The room was clean.", "--condition", "C2", "--store", notes))
        for command in commands:
            done = cli(*command)
            assert done.returncode == 2, command
            assert str(notes) in done.stderr
        assert notes.read_text(encoding="utf-8") == content
        assert list(tmp_path.glob(f"{notes.stem}*{notes.suffix}*")) == [notes]


def test_compacting_keeps_the_newest_with_their_ids(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=5)
    told = json.loads(cli("memory", "compact", "--store", store, "--keep", 2, "--json").stdout)
    assert (told["kept_n"], told["dropped_n"]) == (2, 3)
    with MemoryStore(store, reads_only=True) as kept:
        assert [episode.episode_id for episode in kept.load()] == ["epi_000004", "epi_000005"]
    assert b"toy-0001" not in store.read_bytes() + store.with_suffix(".sqlite").read_bytes()
    assert "2 episodes kept, 0 dropped" in cli("memory", "compact", "--store", store, "--keep", 2).stdout
    assert cli("memory", "compact", "--store", store, "--keep", 0).returncode == 2


def test_an_exported_store_is_imported_once(cli: Cli, make_store: MakeStore, tmp_path: Path) -> None:
    store, file, other = make_store(plain=3), tmp_path / "out.jsonl", tmp_path / "other.sqlite"
    assert "3 episodes" in cli("memory", "export", "--store", store, "--to", file).stdout
    assert file.read_bytes() == store.read_bytes()
    assert cli("memory", "export", "--store", store, "--to", file).returncode == 2
    assert "3 episodes and 0 verdicts added" in cli("memory", "import", file, "--store", other).stdout
    assert (
        "0 episodes and 0 verdicts added, 3 lines were known" in cli("memory", "import", file, "--store", other).stdout
    )
    old = tmp_path / "old.jsonl"
    assert cli("memory", "export", "--store", other, "--to", old, "--schema", "1.1").returncode == 0
    assert {json.loads(line)["schema_version"] for line in entries_of(old)} == {"1.1"}


def test_a_file_that_others_changed_is_refused_with_two_ways_out(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    changed = store.read_bytes().replace(b"toy-0002", b"toy-0009")
    store.write_bytes(changed)
    done = cli("memory", "list", "--store", store)
    assert done.returncode == 2
    assert "Move the file away" in done.stderr
    assert "move the database away" in done.stderr
    assert store.read_bytes() == changed
    aside = store.rename(store.with_name("aside.jsonl"))
    assert cli("memory", "export", "--store", store).returncode == 0
    assert b"toy-0002" in store.read_bytes()
    assert aside.exists()

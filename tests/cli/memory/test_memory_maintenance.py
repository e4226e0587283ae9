import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import MemoryStore

Cli = Callable[..., subprocess.CompletedProcess[str]]
MakeStore = Callable[..., Path]


def damaged(store: Path) -> Path:
    """Put a bad line behind the first episode, write the next in another form, and leave an unfinished end."""
    first, second, third = entries_of(store)
    rewrite(store, [first, second.replace(b'":', b'": '), third])
    header, first, *others = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(header + first + b'{"gold":1}\n' + b"".join(others) + b'{"torn')
    return store


def test_a_sound_store_passes_the_check(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=3)
    done = cli("memory", "check", "--store", store)
    assert done.returncode == 0
    assert done.stdout == f"✓ sound: 3 episodes in {store}\n"


def test_the_check_lists_bad_lines_and_remarks_and_names_the_repair(cli: Cli, make_store: MakeStore) -> None:
    store = damaged(make_store(plain=3))
    before = store.read_bytes()
    done = cli("memory", "check", "--store", store)
    assert done.returncode == 1
    assert "not sound: 1 bad line beside 3 episodes" in done.stdout
    assert "bad  line 3  " in done.stdout
    assert "remark  line 4  not in canonical form" in done.stdout
    assert "6 bytes of an unfinished line" in done.stdout
    assert f"episodic-absa memory repair --store {store}" in done.stdout
    assert store.read_bytes() == before


def test_the_check_prints_the_same_as_json(cli: Cli, make_store: MakeStore) -> None:
    done = cli("memory", "check", "--store", damaged(make_store(plain=3)), "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["is_sound"] is False
    assert [bad["line"] for bad in told["bad_lines"]] == [3]
    assert [remark["line"] for remark in told["remarks"]] == [4]
    assert (told["episode_n"], told["torn_bytes"]) == (3, 6)
    assert told["repair_command"].startswith("episodic-absa memory repair")


def test_a_file_that_is_no_store_is_refused_by_every_command_and_stays_as_it_is(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\nNothing that a store would hold.\n", encoding="utf-8")
    commands: list[tuple[object, ...]] = [("memory", name, "--store", notes) for name in ("check", "list", "repair")]
    commands.append(("analyze", "The room was clean.", "--condition", "C2", "--store", notes))
    for command in commands:
        done = cli(*command)
        assert done.returncode == 2
        assert "is no store" in done.stderr
    assert notes.read_text(encoding="utf-8") == "# Notes\n\nNothing that a store would hold.\n"
    assert list(tmp_path.glob("notes*")) == [notes]


def test_a_store_with_many_bad_lines_is_not_listed_in_full(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    store.write_bytes(store.read_bytes() + b"{}\n" * 30)
    shown = cli("memory", "check", "--store", store).stdout
    assert shown.count("  bad  ") == 20
    assert "and 10 more" in shown
    assert len(json.loads(cli("memory", "check", "--store", store, "--json").stdout)["bad_lines"]) == 30


def test_the_repair_moves_bad_lines_and_says_where(cli: Cli, make_store: MakeStore) -> None:
    store = damaged(make_store(plain=3))
    done = cli("memory", "repair", "--store", store)
    assert done.returncode == 0
    assert "repaired" in done.stdout
    assert "3 episodes kept" in done.stdout
    assert "moved  line 3" in done.stdout
    assert f"1 bad line now in {store}.rejected.jsonl" in done.stdout
    assert f"6 bytes of an unfinished line now in {store}.torn" in done.stdout
    assert Path(f"{store}.rejected.jsonl").read_bytes() == b'{"gold":1}\n'
    assert len(MemoryStore(store)) == 3
    assert cli("memory", "check", "--store", store).returncode == 0


def test_the_repair_command_of_the_error_message_works_as_it_is_printed(
    cli: Cli, make_store: MakeStore, tmp_path: Path
) -> None:
    store = damaged(make_store(plain=3, path=tmp_path / "my store's.jsonl"))
    command = json.loads(cli("memory", "check", "--store", store, "--json").stdout)["repair_command"]
    asked = subprocess.run(  # noqa: S602 - the quoting for a shell is what is tested
        command.replace("episodic-absa", '"$EXE" -m episodic_absa', 1),
        shell=True,
        env={"EXE": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert asked.returncode == 0, asked.stderr
    assert cli("memory", "check", "--store", store).returncode == 0


def test_a_sound_store_is_left_as_it_is_by_a_repair(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    before = store.read_bytes()
    assert "nothing to repair: 2 episodes" in cli("memory", "repair", "--store", store).stdout
    told = json.loads(cli("memory", "repair", "--store", store, "--json").stdout)
    assert (told["kept_n"], told["rejected"], told["rejected_path"], told["torn_path"]) == (2, [], None, None)
    assert store.read_bytes() == before


def test_the_repair_prints_as_json_where_the_lines_are(cli: Cli, make_store: MakeStore) -> None:
    store = damaged(make_store(plain=3))
    told = json.loads(cli("memory", "repair", "--store", store, "--json").stdout)
    assert told["rejected_path"] == f"{store}.rejected.jsonl"
    assert told["torn_path"] == f"{store}.torn"
    assert (told["kept_n"], told["torn_bytes"]) == (3, 6)


def test_compacting_keeps_the_newest_with_their_ids(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=5)
    done = cli("memory", "compact", "--store", store, "--keep", 2)
    assert done.returncode == 0
    assert "2 episodes kept, 3 dropped" in done.stdout
    assert [episode.episode_id for episode in MemoryStore(store).load()] == ["epi_000004", "epi_000005"]


def test_compacting_upgrades_episodes_of_1_1_where_asked(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=3)
    old = [episode.model_dump() for episode in MemoryStore(store).load()]
    assert {episode["schema_version"] for episode in old} == {"1.1"}
    assert cli("memory", "compact", "--store", store, "--upgrade").returncode == 0
    for before, episode in zip(old, MemoryStore(store).load(), strict=True):
        new = episode.model_dump()
        assert (new.pop("changes"), new.pop("outcome"), new.pop("outcome_by")) == ((), "open", None)
        assert new == {**before, "schema_version": "1.2", "episode_type": "neutral"}
    assert cli("memory", "check", "--store", store).returncode == 0


def test_compacting_prints_its_outcome_as_json(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=5)
    size = store.stat().st_size
    told = json.loads(cli("memory", "compact", "--store", store, "--keep", 2, "--json").stdout)
    assert (told["kept_n"], told["dropped_n"]) == (2, 3)
    assert (told["bytes_before"], told["bytes_after"]) == (size, store.stat().st_size)


def test_a_damaged_store_is_not_compacted(cli: Cli, make_store: MakeStore) -> None:
    store = damaged(make_store(plain=3))
    before = store.read_bytes()
    done = cli("memory", "compact", "--store", store)
    assert done.returncode == 2
    assert "memory repair" in done.stderr
    assert store.read_bytes() == before


def test_keeping_nothing_is_bad_usage(cli: Cli, make_store: MakeStore) -> None:
    assert cli("memory", "compact", "--store", make_store(plain=1), "--keep", 0).returncode == 2


def test_a_store_behind_a_link_is_repaired_where_it_is(cli: Cli, make_store: MakeStore, tmp_path: Path) -> None:
    store = damaged(make_store(plain=3))
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.jsonl"
    link.symlink_to(store)
    told = json.loads(cli("memory", "repair", "--store", link, "--json").stdout)
    assert told["rejected_path"] == f"{store}.rejected.jsonl"
    assert Path(told["rejected_path"]).exists()
    assert link.is_symlink()

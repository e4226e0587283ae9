"""The commands show the same of a store in PostgreSQL as of the store file with the same lines."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, MakeEpisode
from tests.extras import require_extra
from tests.postgres_server import PostgresServer

from episodic_absa.memory import MemoryStore
from episodic_absa.schemas.stored.memory_v1_3 import AnsweredPairV1_3, AnswerV1_3


@pytest.fixture
def stores(postgres_server: PostgresServer, make_episode: MakeEpisode, tmp_path: Path) -> tuple[str, str]:
    """Two stores with equal lines: a file, a database."""
    named = (str(tmp_path / "store.jsonl"), postgres_server.new_database())
    for location in named:
        with MemoryStore(location) as store:
            for number in range(1, 8):
                episode = make_episode(
                    source_id=f"toy-{number}", language="en" if number % 2 else "ko", aspects=("배송",)
                )
                pair = AnsweredPairV1_3(aspect="배송", p=0.5, polarity="positive")
                store.append(episode, answer=AnswerV1_3(language="ko", source_id=f"toy-{number}", pairs=(pair,)))
    return named


def both(cli: Cli, stores: tuple[str, str], *words: str) -> tuple[str, str]:
    """Return what a command says about each store, the location and sizes left out."""
    said = []
    for location in stores:
        done = cli(*words[:2], *words[2:], "--store", location)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.replace(location, "STORE"))
    return said[0], said[1]


def test_list_show_check_and_stats_are_the_same(cli: Cli, stores: tuple[str, str]) -> None:
    for location in stores:
        assert cli("feedback", location, "toy-3", "wrong").stdout == "wrong: toy-3\n"
        assert "(it stood there already)" in cli("feedback", location, "toy-3", "wrong").stdout
        assert cli("feedback", location, "toy-4", "right", "--aspect", "배송").stdout == "right: target 배송 of toy-4\n"
        assert cli("feedback", location, "nobody", "right").returncode != 0
    for words in (
        ("memory", "list"),
        ("memory", "list", "--json", "--limit", "3"),
        ("memory", "list", "--language", "en"),
        ("memory", "show", "3"),
        ("memory", "show", "4", "--json"),
        ("memory", "check"),
        ("memory", "check", "--json"),
    ):
        in_file, in_database = both(cli, stores, *words)
        assert in_file == in_database
    in_file, in_database = (json.loads(said) for said in both(cli, stores, "memory", "stats", "--json"))
    assert in_file.pop("bytes_on_disk") > 0
    assert in_database.pop("bytes_on_disk") > 0
    assert in_file == in_database
    assert "7 live" in both(cli, stores, "memory", "stats")[1]


def test_compact_keeps_the_newest_in_both(cli: Cli, stores: tuple[str, str]) -> None:
    in_file, in_database = (
        json.loads(said) for said in both(cli, stores, "memory", "compact", "--keep", "3", "--json")
    )
    assert (in_database["kept_n"], in_database["dropped_n"]) == (in_file["kept_n"], in_file["dropped_n"]) == (3, 4)
    in_file, in_database = both(cli, stores, "memory", "list", "--json")
    assert in_file == in_database
    assert len(in_database.splitlines()) == 3


def test_analyze_remembers_and_reads_in_a_database(cli: Cli, postgres_server: PostgresServer) -> None:
    url = postgres_server.new_database()
    text = "The room was clean, but the breakfast was cold."
    for uid in ("r1", "r2"):
        done = cli("analyze", text, "--uid", uid, "--condition", "C2", "--store", url, "--json")
        assert done.returncode == 0, done.stderr
    shown = cli("memory", "list", "--store", url, "--json").stdout.splitlines()
    assert [json.loads(line)["provenance"]["source_id"] for line in shown] == ["r2", "r1"]


@pytest.mark.parametrize("command", ["list", "stats", "check", "compact", "repair"])
def test_a_database_without_a_store_is_named_and_stays_as_it_is(
    cli: Cli, postgres_server: PostgresServer, command: str
) -> None:
    url = postgres_server.url()
    done = cli("memory", command, "--store", url)
    assert done.returncode != 0
    assert "there is no store at" in done.stderr
    assert "Traceback" not in done.stderr
    assert postgres_server.execute("SELECT to_regnamespace('episodic_absa')") == [(None,)]


def refusals(cli: Cli, address: str) -> list[str]:
    """Return what each command that takes an address says when it refuses one."""
    commands = (
        ("memory", "list", "--store", address),
        ("feedback", address, "r1", "right"),
        ("analyze", "Fine.", "--condition", "C2", "--store", address),
    )
    done = [cli(*command) for command in commands]
    assert [each.returncode for each in done if each.returncode == 0] == []
    return [each.stderr + each.stdout for each in done]


def test_an_address_with_a_password_is_refused_with_the_driver_or_without(cli: Cli) -> None:
    for said in refusals(cli, "postgresql://ann:hunter2@db/absa"):
        assert "PGPASSWORD" in said
        assert "hunter2" not in said
        assert "Traceback" not in said


def test_a_server_that_cannot_be_reached_is_told_before_any_work(cli: Cli, tmp_path: Path) -> None:
    require_extra("postgres")
    for said in refusals(cli, f"postgresql:///absa?host={tmp_path}"):
        assert "cannot be reached" in said
        assert "Traceback" not in said


def test_repair_says_what_to_do_instead(cli: Cli, stores: tuple[str, str], postgres_server: PostgresServer) -> None:
    done = cli("memory", "repair", "--store", stores[1])
    assert done.returncode != 0
    assert "restore a database from a backup" in done.stderr
    postgres_server.execute("UPDATE absa_episodes.episodes SET body = '{}' WHERE number = 2", url=stores[1])
    done = cli("memory", "check", "--store", stores[1])
    assert done.returncode == 1
    assert "restore it from a backup" in done.stdout
    assert json.loads(cli("memory", "check", "--store", stores[1], "--json").stdout)["repair_command"] is None

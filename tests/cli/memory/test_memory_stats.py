import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import MemoryStore

Cli = Callable[..., subprocess.CompletedProcess[str]]
MakeStore = Callable[..., Path]
MakeEpisode = Callable[..., dict[str, Any]]


def stats(cli: Cli, store: Path) -> dict[str, Any]:
    done = cli("memory", "stats", "--store", store, "--json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_episodes_are_counted_by_language_outcome_action_risk_and_principle(
    cli: Cli, make_store: MakeStore, make_episode: MakeEpisode
) -> None:
    store = make_store(
        make_episode(),
        make_episode(language="en", aspects=("battery",), outcome="harm", before=1, after=3),
        make_episode(risk="IRONY", structures=("irony",), action="defer"),
    )
    told = stats(cli, store)
    assert (told["live_n"], told["in_file_n"]) == (3, 3)
    assert (told["first_id"], told["last_id"]) == ("epi_000001", "epi_000003")
    assert told["bytes_on_disk"] == store.stat().st_size
    assert told["by_language"] == {"ko": 2, "en": 1, "other": 0}
    assert told["by_outcome"] == {"success": 2, "harm": 1, "neutral": 0}
    assert told["by_action"]["polarity_flip"] == 2
    assert (told["by_risk_before"]["NEGATION_SCOPE"], told["by_risk_before"]["IRONY"]) == (2, 1)
    assert told["by_risk_after"]["NEGATION_SCOPE"] == 1
    assert sum(told["by_principle"].values()) == 3
    assert (told["failed_n"], told["failed_share"]) == (1, 0.333333)


def test_the_page_shows_the_same_numbers(cli: Cli, make_store: MakeStore) -> None:
    shown = cli("memory", "stats", "--store", make_store(plain=4)).stdout
    for part in ("4 live", "epi_000001 to epi_000004", "0 of 4 (0%)", "P-NEG-02", "NEGATION_SCOPE"):
        assert part in shown


def test_pruned_episodes_are_in_the_file_but_not_live(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    (line,) = entries_of(store)
    rewrite(store, [line.replace(b"epi_000001", b"epi_%06d" % n) for n in range(1, 5003)])
    told = stats(cli, store)
    assert (told["live_n"], told["in_file_n"]) == (5000, 5002)
    assert (told["first_id"], told["last_id"]) == ("epi_000001", "epi_005002")
    assert "5,000 live, 5,002 in the file" in cli("memory", "stats", "--store", store).stdout


def test_an_empty_store_has_no_shares(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "empty.jsonl"
    store.touch()
    told = stats(cli, store)
    assert (told["live_n"], told["first_id"], told["failed_share"], told["lock"]) == (0, None, None, "none")
    assert "0 live" in cli("memory", "stats", "--store", store).stdout


def test_a_torn_end_is_reported(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    with open(store, "ab") as file:
        file.write(b'{"epi')
    told = stats(cli, store)
    assert (told["torn_bytes"], told["live_n"], told["in_file_n"]) == (5, 2, 2)
    assert "torn end" in cli("memory", "stats", "--store", store).stdout


def test_rejected_lines_are_reported(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    with open(store, "ab") as file:
        file.write(b"{}\n")
    cli("memory", "repair", "--store", store)
    assert stats(cli, store)["rejected_n"] == 1
    assert "1 lines in store.jsonl.rejected.jsonl" not in (shown := cli("memory", "stats", "--store", store).stdout)
    assert "1 line in store.jsonl.rejected.jsonl" in shown


def test_a_writer_at_work_is_reported(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    assert stats(cli, store)["lock"] == "free"
    with MemoryStore(store) as writer, writer.writing():
        assert stats(cli, store)["lock"] == "held"
        assert "writing now" in cli("memory", "stats", "--store", store).stdout

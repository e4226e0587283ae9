import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Cli, MakeEpisode, MakeStore
from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import MemoryStore


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
    assert (told["live_n"], told["stored_n"]) == (3, 3)
    assert (told["first_id"], told["last_id"]) == ("epi_000001", "epi_000003")
    assert told["bytes_on_disk"] >= store.with_suffix(".sqlite").stat().st_size
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


def test_pruned_episodes_are_in_the_store_but_not_live(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    (line,) = entries_of(store)
    rewrite(store, [line.replace(b"epi_000001", b"epi_%06d" % n) for n in range(1, 5003)])
    told = stats(cli, store)
    assert (told["live_n"], told["stored_n"]) == (5000, 5002)
    assert (told["first_id"], told["last_id"]) == ("epi_000001", "epi_005002")
    assert "5,000 live, 5,002 in the store" in cli("memory", "stats", "--store", store).stdout


def test_a_store_whose_episodes_were_forgotten_has_no_shares(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    with MemoryStore(store) as opened:
        assert opened.forget("toy-0001") == 1
    told = stats(cli, store)
    assert (told["live_n"], told["first_id"], told["failed_share"]) == (0, None, None)
    assert "0 live" in cli("memory", "stats", "--store", store).stdout

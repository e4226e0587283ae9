import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.cli.conftest import Cli, MakeEpisode, MakeStore
from tests.store.places import draft, opened_at
from tests.stored_lines import entries_of, rewrite

from episodic_absa.memory import load_catalogue


@pytest.mark.parametrize("written", ["epi_000002", "000002", "2", "epi_2"])
def test_an_id_may_be_written_short(cli: Cli, make_store: MakeStore, written: str) -> None:
    done = cli("memory", "show", written, "--store", make_store(plain=3), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["episode_id"] == "epi_000002"


def test_the_page_shows_case_change_principle_and_source(
    cli: Cli, make_store: MakeStore, make_episode: MakeEpisode
) -> None:
    store = make_store(make_episode(structures=("contrast",), risk="CONTRAST_SCOPE", marker="하지만", source_id="n-7"))
    shown = cli("memory", "show", 1, "--store", store).stdout
    for part in ("epi_000001", "contrast (marker 하지만)", "CONTRAST_SCOPE 3 ↘ none", "배송", "0.61", "0.78", "n-7"):
        assert part in shown


def test_the_principle_is_given_in_english_and_korean(cli: Cli, make_store: MakeStore) -> None:
    shown = cli("memory", "show", 1, "--store", make_store(plain=1)).stdout
    principle = load_catalogue().get("P-NEG-02")
    assert principle is not None
    unwrapped = " ".join(shown.replace("│", " ").split())
    assert principle.text_en in unwrapped
    assert principle.text_ko in unwrapped


def test_korean_lines_end_where_english_lines_end(cli: Cli, make_store: MakeStore) -> None:
    shown = cli("memory", "show", 1, "--store", make_store(plain=1), env={"COLUMNS": "80"}).stdout
    framed = [line for line in shown.splitlines() if line[:1] in "╭│╰"]
    assert {cell_len(line) for line in framed} == {80}


def test_a_principle_that_left_the_catalogue_is_shown_as_stored(cli: Cli, make_store: MakeStore) -> None:
    store = make_store().with_name("older.sqlite")
    with opened_at(store) as opened:
        opened.append(draft(1, correction__principle_id="P-OLD-99"))
    shown = cli("memory", "show", 1, "--store", store).stdout
    assert "P-OLD-99" in shown
    assert "the present catalogue has no such principle" in shown


def test_an_unknown_id_is_an_error_with_exit_code_one(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    done = cli("memory", "show", "epi_000099", "--store", store)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: there is no epi_000099 in {store}; `episodic-absa memory list --store ")


@pytest.mark.parametrize("written", ["twelve", "epi_", "１２", "9" * 20])
def test_a_malformed_id_is_bad_usage(cli: Cli, make_store: MakeStore, written: str) -> None:
    done = cli("memory", "show", written, "--store", make_store(plain=1))
    assert done.returncode == 2
    assert "not an episode id" in done.stderr


def test_an_id_is_not_found_inside_a_longer_one(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=1)
    rewrite(store, [line.replace(b"epi_000001", b"epi_1000001") for line in entries_of(store)])
    assert cli("memory", "show", 1, "--store", store).returncode == 1
    assert cli("memory", "show", 1000001, "--store", store).returncode == 0


def test_an_episode_in_an_empty_or_unfinished_file_is_not_found(
    cli: Cli, make_store: MakeStore, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert cli("memory", "show", 1, "--store", empty).returncode == 1
    store = make_store(plain=1)
    rewrite(store, entries_of(store))
    store.write_bytes(store.read_bytes().rstrip(b"\n"))
    assert cli("memory", "show", 1, "--store", store).returncode == 1

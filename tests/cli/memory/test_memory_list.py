import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, MakeEpisode, MakeStore
from tests.stored_lines import entries_of, rewrite


def ids(output: str) -> list[str]:
    return re.findall(r"epi_[0-9]{6}", output)


def test_episodes_are_listed_newest_first(cli: Cli, make_store: MakeStore) -> None:
    done = cli("memory", "list", "--store", make_store(plain=3))
    assert done.returncode == 0
    assert ids(done.stdout) == ["epi_000003", "epi_000002", "epi_000001"]


def test_twenty_episodes_are_shown_by_default(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=22)
    shown = cli("memory", "list", "--store", store).stdout
    assert len(ids(shown)) == 20
    assert "--limit" in shown
    assert len(ids(cli("memory", "list", "--store", store, "--limit", 22).stdout)) == 22
    assert ids(cli("memory", "list", "--store", store, "--limit", 1).stdout) == ["epi_000022"]


def test_a_row_shows_the_whole_case(cli: Cli, make_store: MakeStore, make_episode: MakeEpisode) -> None:
    store = make_store(make_episode(structures=("negation", "contrast"), before=3, after=1, source_id="nsmc-00042"))
    row = cli("memory", "list", "--store", store).stdout.splitlines()[-1]
    assert re.split(r"\s{2,}", row) == [
        "epi_000001",
        "ko",
        "negation, contrast",
        "NEGATION_SCOPE 3 ↘ 1",
        "polarity_flip",
        "success",
        "P-NEG-02",
        "nsmc-00042",
    ]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(3, 0, "NEGATION_SCOPE 3 ↘ none"), (0, 2, "none ↗ NEGATION_SCOPE 2"), (2, 2, "NEGATION_SCOPE 2 → 2")],
)
def test_the_arrow_shows_the_change_of_risk_without_colour(
    cli: Cli, make_store: MakeStore, make_episode: MakeEpisode, before: int, after: int, told: str
) -> None:
    outcome = "success" if after < before else "harm" if after > before else "neutral"
    store = make_store(make_episode(before=before, after=after, outcome=outcome, action="defer"))
    assert told in cli("memory", "list", "--store", store).stdout


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--language", "en", ["epi_000002"]),
        ("--type", "harm", ["epi_000003"]),
        ("--risk", "IRONY", ["epi_000004"]),
        ("--risk", "irony", ["epi_000004"]),
        ("--language", "other", []),
    ],
)
def test_filters_leave_out_other_episodes(
    cli: Cli, make_store: MakeStore, make_episode: MakeEpisode, option: str, value: str, expected: list[str]
) -> None:
    store = make_store(
        make_episode(),
        make_episode(language="en", aspects=("battery",)),
        make_episode(outcome="harm", before=1, after=3),
        make_episode(risk="IRONY", structures=("irony",)),
    )
    done = cli("memory", "list", "--store", store, option, value)
    assert done.returncode == 0
    assert ids(done.stdout) == expected


def test_an_unknown_filter_value_is_bad_usage(cli: Cli, make_store: MakeStore) -> None:
    done = cli("memory", "list", "--store", make_store(plain=1), "--language", "fr")
    assert done.returncode == 2
    assert "ko" in done.stderr


def test_json_is_the_line_of_the_store(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=3)
    lines = cli("memory", "list", "--store", store, "--json").stdout.splitlines()
    assert lines == [line.decode() for line in entries_of(store)[::-1]]
    assert json.loads(lines[0])["episode_id"] == "epi_000003"


def test_an_empty_store_is_not_an_error(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "empty.jsonl"
    store.touch()
    done = cli("memory", "list", "--store", store)
    assert (done.returncode, done.stdout) == (0, "The store is empty.\n")
    assert cli("memory", "list", "--store", store, "--json").stdout == ""


def test_ids_out_of_order_are_refused_as_the_library_refuses_them(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=3)
    first, second, third = entries_of(store)
    rewrite(store, [first, third, second])
    done = cli("memory", "list", "--store", store)
    assert done.returncode == 2
    assert "line 3: epi_000002 does not come after epi_000003" in done.stderr


def test_an_unfinished_last_line_is_not_an_episode(cli: Cli, make_store: MakeStore) -> None:
    store = make_store(plain=2)
    rewrite(store, entries_of(store))
    with open(store, "ab") as file:
        file.write(b'{"episode_id":"epi_000003"')
    assert ids(cli("memory", "list", "--store", store).stdout) == ["epi_000002", "epi_000001"]

"""Quality over cost, errors, languages and domains: report.json against the files that it is computed from."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.reports.grid_making import PageParser, read_lines

from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS
from episodic_absa.reports.run_report import REPORT, REPORT_JSON


@pytest.fixture(scope="session")
def values(reported: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((reported / REPORT_JSON).read_text("utf-8"))
    return parsed


def rows_of(values: dict[str, Any], table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = values["tables"][table]["rows"]
    return rows


def test_quality_over_cost_repeats_the_tables_and_adds_intervals(reported: Path, values: dict[str, Any]) -> None:
    with open(reported / "grid_metrics.csv", encoding="utf-8", newline="") as file:
        means = {(row["condition"], row["metric"]): row["mean"] for row in csv.DictReader(file)}
    rows = rows_of(values, "quality_and_cost")
    assert [row["condition"] for row in rows] == ["C1", "C2"]
    for row in rows:
        for score, metric in (("micro_f1", "tuple_f1_explicit_micro"), ("macro_f1", "tuple_f1_explicit")):
            assert row[score] == pytest.approx(float(means[row["condition"], metric]), abs=1e-6)
            assert row[f"{score}_low"] < row[score] < row[f"{score}_high"]
        assert (row["calls"], row["stage1_calls"], row["tokens_in"]) == (
            10,
            3,
            0,
        )  # seed rules, no tokens
        assert 0 < row["reviews"] <= values["reviews_with_gold"] == 24


def test_a_ratio_of_sums_has_a_column_of_its_own_beside_the_mean_of_cells(reported: Path) -> None:
    with open(reported / "grid_metrics.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pooled"]]
    assert {"tuple_f1_explicit_micro", "memory_used_rate"} <= {row["metric"] for row in rows}
    for row in rows:
        ratio = float(row["numerator"]) / float(row["denominator"])
        assert float(row["pooled"]) == pytest.approx(ratio, abs=2e-6), row["metric"]


def test_each_effort_costs_what_it_asks(default_grid: Path) -> None:
    values = json.loads((default_grid / REPORT_JSON).read_text("utf-8"))
    rows = {row["condition"]: row for row in rows_of(values, "quality_and_cost")}
    for condition, row in rows.items():
        cards = read_lines(default_grid / f"{condition}__seed42" / "scorecards.jsonl")
        assert row["calls"] == pytest.approx(sum(card["usage"]["calls"] for card in cards) / 4)
        asked = {"one_call": 1, "adaptive": 0}.get(condition, 2)  # the reader is sure of all four reviews
        assert row["stage1_calls"] == asked
    # One of the four reviews is changed, and so validated once more; of the same review a target is doubted.
    assert rows["C1"]["calls"] == rows["C2"]["calls"] == 8.25
    assert rows["adaptive"]["calls"] == 0
    assert rows["one_call"]["calls"] == 1
    words = PageParser((default_grid / REPORT).read_text("utf-8")).text
    for effort in ("adaptive", "one_call"):
        assert f"rules 규칙 v3 , effort 작업량 {effort}" in words


def test_errors_add_up_and_their_samples_are_those_that_the_explorer_lists(
    reported: Path, values: dict[str, Any]
) -> None:
    page = (reported / REPORT).read_text("utf-8")
    index = PageParser(page).unpacked()[0]
    for row in rows_of(values, "errors"):
        joined = row["right"] + row["boundary"] + row["polarity"]
        assert row["gold_pairs"] == joined + row["missed"]
        assert row["predicted_pairs"] == joined + row["spurious"]
        assert row["samples"] == 48  # two seeds
        place = index["cells"].index([row["condition"], 42])
        for error in PAIR_ERRORS:
            bit = 1 << index["flags"].index(error)
            listed = sum(bool(sample[5][place] & bit) for sample in index["rows"])
            button = rf'data-show="{error}" data-a="{row["condition"]}" [^>]*><span[^>]*>seed 42: {listed} sample'
            assert bool(re.search(button, page)) == (listed > 0)


def test_languages_and_domains_stand_with_their_n(reported: Path, values: dict[str, Any]) -> None:
    cards = read_lines(reported / "C1__seed42" / "scorecards.jsonl")
    for by, field in (("language", "language_code"), ("domain", "domain_id")):
        rows = rows_of(values, f"quality_by_{by}")
        assert {row[by]: row["reviews"] for row in rows} == {
            name: sum(card[field] == name for card in cards) for name in {card[field] for card in cards}
        }
        assert all(0 < row[f"{condition}_n"] <= row["reviews"] for row in rows for condition in ("C1", "C2"))


def test_the_page_of_a_cell_has_errors_and_no_cost_picture(reported: Path) -> None:
    page = (reported / "C2__seed42" / REPORT).read_text("utf-8")
    assert 'id="errors"' in page
    assert 'id="cost"' not in page
    assert "quality_and_cost" not in json.loads((reported / "C2__seed42" / REPORT_JSON).read_text("utf-8"))["tables"]

"""Quality over cost, errors, languages and domains: report.json against the files that it is computed from."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.reports.grid_making import PageParser, read_lines

from episodic_absa.reports.run_report import REPORT, REPORT_JSON


@pytest.fixture(scope="session")
def values(reported: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((reported / REPORT_JSON).read_text("utf-8"))
    return parsed


def test_quality_over_cost_repeats_the_tables_and_adds_intervals(reported: Path, values: dict[str, Any]) -> None:
    with open(reported / "grid_metrics.csv", encoding="utf-8", newline="") as file:
        means = {(row["condition"], row["metric"]): row["mean"] for row in csv.DictReader(file)}
    cost = values["quality_over_cost"]
    assert cost["axis"] == "calls"  # the embedded engine uses no tokens
    assert [point["condition"] for point in cost["points"]] == ["C1", "C2"]
    for point in cost["points"]:
        for score, metric in (("micro", "tuple_f1_explicit_micro"), ("macro", "tuple_f1_explicit")):
            assert point[score]["value"] == pytest.approx(float(means[point["condition"], metric]), abs=1e-6)
            assert point[score]["low"] < point[score]["value"] < point[score]["high"]
        assert (point["cost"]["calls"], point["stage1_cost"]["calls"]) == (10, 3)  # seed rules
        assert 0 < point["reviews"] <= values["reviews_with_gold"] == 24


def test_a_ratio_of_sums_has_a_column_of_its_own_beside_the_mean_of_cells(reported: Path) -> None:
    with open(reported / "grid_metrics.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pooled"]]
    assert {"tuple_f1_explicit_micro", "memory_used_rate"} <= {row["metric"] for row in rows}
    for row in rows:
        ratio = float(row["numerator"]) / float(row["denominator"])
        assert float(row["pooled"]) == pytest.approx(ratio, abs=2e-6), row["metric"]


def test_each_effort_costs_what_it_asks(default_grid: Path) -> None:
    values = json.loads((default_grid / REPORT_JSON).read_text("utf-8"))
    points = {point["condition"]: point for point in values["quality_over_cost"]["points"]}
    for condition, point in points.items():
        cards = read_lines(default_grid / f"{condition}__seed42" / "scorecards.jsonl")
        assert point["cost"]["calls"] == pytest.approx(sum(card["usage"]["calls"] for card in cards) / 4)
        assert point["stage1_cost"]["calls"] == (1 if condition == "one_call" else 2)
    # One of the four reviews is changed, and so validated once more; of the same review a target is doubted.
    assert points["C1"]["cost"]["calls"] == points["C2"]["cost"]["calls"] == 8.25
    assert 2 < points["adaptive"]["cost"]["calls"] < 4
    assert points["one_call"]["cost"]["calls"] == 1
    words = PageParser((default_grid / REPORT).read_text("utf-8")).text
    for effort in ("adaptive", "one_call"):
        assert f"rules 규칙 v3 , effort 작업량 {effort}" in words


def test_errors_add_up_and_their_samples_are_those_that_the_explorer_lists(
    reported: Path, values: dict[str, Any]
) -> None:
    index = PageParser((reported / REPORT).read_text("utf-8")).unpacked()[0]
    for row in values["errors"]:
        counts = {count["error"]: count for count in row["errors"]}
        joined = row["right"] + counts["boundary"]["pairs"] + counts["polarity"]["pairs"]
        assert row["gold"] == joined + counts["missed"]["pairs"]
        assert row["predicted"] == joined + counts["spurious"]["pairs"]
        assert (row["samples"], row["seeds"]) == (48, 2)
        place = index["cells"].index([row["condition"], row["seed"]])
        for error, count in counts.items():
            bit = 1 << index["flags"].index(error)
            assert sum(bool(sample[5][place] & bit) for sample in index["rows"]) == count["samples"]


def test_languages_and_domains_stand_with_their_n(reported: Path, values: dict[str, Any]) -> None:
    cards = read_lines(reported / "C1__seed42" / "scorecards.jsonl")
    for key, field in (("by_language", "language_code"), ("by_domain", "domain_id")):
        assert {row["name"]: row["reviews"] for row in values[key]} == {
            name: sum(card[field] == name for card in cards) for name in {card[field] for card in cards}
        }
        for row in values[key]:
            assert len(row["values"]) == 2
            assert all(0 < value["reviews"] <= row["reviews"] for value in row["values"])


def test_the_page_of_a_cell_has_errors_and_no_cost_picture(reported: Path) -> None:
    page = (reported / "C2__seed42" / REPORT).read_text("utf-8")
    assert 'id="errors"' in page
    assert 'id="cost"' not in page
    assert json.loads((reported / "C2__seed42" / REPORT_JSON).read_text("utf-8"))["quality_over_cost"] is None

"""Every number of the tables is computed again from the lines that its receipt names."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from episodic_absa.analysis import FinishedRun, load_run
from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.metrics.definitions import all_definitions
from episodic_absa.verification.receipts import Contribution, Explanation, PairedContribution, explain, explain_run


@pytest.fixture(scope="module")
def run(finished: Path) -> FinishedRun:
    return load_run(finished / "results" / "small")


def test_every_metric_is_recomputed_from_its_lines(run: FinishedRun) -> None:
    two = replace(run, cells=tuple(cell for cell in run.cells if cell.condition in ("C1", "C2")))
    explained = [explain_run(two, metric) for metric in all_definitions()]
    numbers = [number for explanation in explained for receipt in explanation.receipts for number in receipt.numbers]
    assert len(numbers) > 600
    assert all(number.agrees for number in numbers)


def test_a_line_of_a_receipt_is_the_line_in_the_file(run: FinishedRun) -> None:
    receipt = explain_run(run, "exact_match", "C2").receipts[0]
    assert [number.place for number in receipt.numbers[1:]] == ["C2__seed42/structural_metrics.csv:10"]
    for line in receipt.lines:
        name, _, number = line.places[0].rpartition(":")
        card = json.loads((run.root / name).read_text("utf-8").splitlines()[int(number) - 1])
        assert card["uid"] == line.uid


def test_a_difference_names_the_paired_lines(run: FinishedRun) -> None:
    explanation = explain_run(run, "tuple_f1_explicit", "C1")
    receipt = explanation.receipts[-1]
    assert receipt.name.endswith(" minus C1")
    assert {pair.b.places[0].partition("/")[0] for pair in receipt.pairs} == {"C1__seed42"}
    differences = [pair.difference or 0.0 for pair in receipt.pairs]
    assert receipt.numbers[0].recomputed == pytest.approx(sum(differences) / len(differences))


def test_an_edited_number_and_an_edited_line_do_not_agree(grid: Path) -> None:
    table = grid / "grid_metrics.csv"
    row = "C2,calls,efficiency,efficiency,"
    table.write_text(table.read_text("utf-8").replace(row, f"{row}9"), "utf-8")
    wrong = explain(grid, "calls", "C2")
    assert not wrong.agrees
    assert [number.column for number in wrong.receipts[0].numbers if not number.agrees] == ["mean"]
    samples = grid / "C1__seed42" / "samples.jsonl"
    lines = samples.read_text("utf-8").splitlines(keepends=True)
    samples.write_text("".join(lines[:-1]), "utf-8")
    with pytest.raises(RunDirectoryError, match=r"has \d+ of \d+ samples although the run was finished"):
        explain(grid, "n_samples", "C1")


def test_a_number_that_a_table_lost_or_invented_does_not_agree(grid: Path) -> None:
    table = grid / "grid_metrics.csv"
    with open(table, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    mean = header.index("mean")
    lost = next(row for row in rows if row[:2] == ["C2", "exact_match"])
    invented = next(row for row in rows if row[0] == "C2" and not row[mean])
    lost[mean], invented[mean] = "", "0.5"
    with open(table, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    for metric in (lost[1], invented[1]):
        receipt = explain(grid, metric, "C2").receipts[0]
        assert [number.column for number in receipt.numbers if not number.agrees] == ["mean"]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 1), (2, 2), (None, 1)])
def test_counts_of_a_ratio_of_sums_have_no_difference_of_their_own(a: float | None, b: float | None) -> None:
    sides = [Contribution(uid="u", places=(), numerator=1, denominator=denominator) for denominator in (a, b)]
    pair = PairedContribution(uid="u", order=0, seed=1, a=sides[0], b=sides[1])
    assert pair.difference is None


def test_the_baseline_is_explained_by_its_row_of_the_grid(run: FinishedRun) -> None:
    by_condition = explain_run(run, "exact_match", "baseline_majority")
    assert [receipt.name for receipt in by_condition.receipts] == ["baseline_majority"]
    assert by_condition.receipts == explain_run(run, "baseline_majority_exact_match").receipts


def test_a_shortened_receipt_still_counts_all_lines(run: FinishedRun) -> None:
    whole = explain_run(run, "n_samples", "C1")
    short = whole.shortened(2)
    assert isinstance(short, Explanation)
    assert [len(receipt.lines) for receipt in short.receipts] == [2]
    assert short.receipts[0].line_n == whole.receipts[0].line_n == 6


def test_unknown_names_and_missing_numbers_are_said(run: FinishedRun, finished: Path) -> None:
    with pytest.raises(ConfigError, match="near names: exact_match"):
        explain_run(run, "exact_macth")
    with pytest.raises(ConfigError, match="choose one of C1, C2"):
        explain_run(run, "exact_match", "C9")
    with pytest.raises(ConfigError, match="name the directory of the grid"):
        explain(finished / "results" / "small" / "C2__seed42", "changed")

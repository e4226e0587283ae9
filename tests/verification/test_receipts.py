"""A receipt names the records that a metric is added up from."""

import json
from pathlib import Path

import pytest

from episodic_absa.analysis import FinishedRun, load_run
from episodic_absa.errors import ConfigError
from episodic_absa.metrics import all_definitions
from episodic_absa.verification.receipts import explain


@pytest.fixture(scope="module")
def run(finished: Path) -> FinishedRun:
    return load_run(finished / "results" / "small")


def test_every_metric_of_a_cell_is_the_sum_of_its_lines(run: FinishedRun) -> None:
    for metric in (name for name, definition in all_definitions().items() if definition.scope == "cell"):
        for receipt in explain(run.root, metric, "C2").receipts:
            above = sum(line.numerator or 0.0 for line in receipt.lines)
            below = sum(line.denominator or 0.0 for line in receipt.lines)
            is_unknown = any(line.numerator is None for line in receipt.lines)
            meant = None if is_unknown else above / below if below else above
            assert (receipt.value or 0.0) == pytest.approx(meant or 0.0), metric
            assert (receipt.value is None) == (meant is None and bool(receipt.lines)) or not receipt.lines, metric


def test_a_line_of_a_receipt_is_the_line_in_the_file(run: FinishedRun) -> None:
    [receipt] = explain(run.root, "exact_match", "C2").receipts
    assert {line.denominator for line in receipt.lines} == {1.0}
    for line in receipt.lines:
        name, _, number = line.place.rpartition(":")
        record = json.loads((run.root / name).read_text("utf-8").splitlines()[int(number) - 1])
        assert record["uid"] == line.uid


def test_a_metric_of_comparisons_has_its_value_in_each_line(run: FinishedRun) -> None:
    receipts = explain(run.root, "changed").receipts
    assert {receipt.condition for receipt in receipts} == set(run.by_condition)
    assert {line.numerator for receipt in receipts for line in receipt.lines} == {0.0, 1.0}


def test_a_cell_is_explained_alone_and_a_shortened_receipt_still_counts_all_lines(run: FinishedRun) -> None:
    whole = explain(run.root / "C1__seed42", "n_samples")
    [short] = whole.shortened(2).receipts
    assert [line.place for line in short.lines] == ["samples.jsonl:2", "samples.jsonl:3"]
    assert short.line_n == whole.receipts[0].line_n == 6


@pytest.mark.parametrize(
    ("metric", "condition", "told"),
    [
        ("exact_macth", None, "near names: exact_match"),
        ("exact_match", "C9", "choose one of C1, C2"),
        ("self_consistency", None, "is no sum over single samples"),
        ("tuple_recall_explicit_micro", None, "is no sum over single samples"),
    ],
)
def test_what_cannot_be_explained_is_refused(run: FinishedRun, metric: str, condition: str | None, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        explain(run.root, metric, condition)

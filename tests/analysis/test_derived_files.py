"""Tables are derived from records, data and manifests alone, the same bytes every time, and nothing else is touched."""

import csv
import errno
import json
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.hand_made_cards import failed, make_card
from tests.run_copies import copied
from tests.runs.sealed_files import write_sealed
from tests.runs.small_grid import run_here, write_experiment

from episodic_absa.analysis import compared_conditions, derive_tables, load_run, triptych_text
from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.reading.finished_cells import FinishedCell, load_cell
from episodic_absa.serialization.csv_text import replace_file

CELL_FILES = {"structural_metrics.csv", "triptych.csv", "memory_growth.jsonl"}
GRID_FILES = {"grid_metrics.csv", "comparisons.csv"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    experiment = {"conditions": ["C1", "C2", "C2_silent"], "seeds": [42, 7], "shuffle": True, "comparisons": None}
    return run_here(write_experiment(tmp_path_factory.mktemp("derived"), experiment=experiment)).out_dir


@pytest.fixture
def grid(finished: Path, tmp_path: Path) -> Path:
    return copied(finished, tmp_path)


def contents(root: Path) -> dict[Path, bytes]:
    return {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_ends_with_its_tables_and_deriving_them_again_gives_the_same_bytes(grid: Path) -> None:
    before = contents(grid)
    derived = [path for path in before if path.name in CELL_FILES | GRID_FILES]
    assert {path.name for path in derived} == CELL_FILES | GRID_FILES
    for path in derived:
        (grid / path).unlink()
    written = derive_tables(load_run(grid))
    assert {path.relative_to(grid) for path in written} == set(derived)
    assert contents(grid) == before


def test_a_cell_is_reported_under_its_condition_whatever_its_directory_is_called(grid: Path) -> None:
    (grid / "C2__seed42").rename(grid / "C1__seed1")
    assert load_cell(grid / "C1__seed1").condition == "C2"


def test_the_metrics_table_has_a_row_per_metric_and_a_null_is_empty(grid: Path) -> None:
    rows = {row["metric"]: row for row in rows_of(grid / "C1__seed42" / "structural_metrics.csv")}
    assert list(rows["tuple_f1_explicit"]) == ["metric", "group", "kind", "value", "numerator", "denominator", "note"]
    assert rows["memory_used_changed_rate"] == {
        "metric": "memory_used_changed_rate",
        "group": "memory",
        "kind": "process",
        "value": "",
        "numerator": "0.0",
        "denominator": "0.0",
        "note": "",
    }
    assert rows["generalized_f1@0.95"]["note"] == "similarity: character 2- and 3-gram cosine"


def test_the_grid_table_has_means_over_seeds_stability_and_the_baseline(grid: Path) -> None:
    rows = {(row["condition"], row["metric"]): row for row in rows_of(grid / "grid_metrics.csv")}
    assert list(dict.fromkeys(condition for condition, _ in rows)) == ["C1", "C2", "C2_silent", "baseline_majority"]
    shown, hidden = rows["C2", "changed_rate"], rows["C1", "changed_rate"]
    values = [float(value) for value in shown["seed_values"].split("|")]
    assert (shown["n_seeds"], len(values)) == ("2", 2)
    assert float(shown["mean"]) == pytest.approx(sum(values) / 2, abs=1e-6)
    assert shown["sd"] != ""
    # The embedded engine ignores the seed: where memory is never shown, seeds are no repetition.
    assert (hidden["sd"], "one trial" in hidden["note"]) == ("", True)
    assert rows["C2", "self_consistency"]["denominator"] == "16.0"
    assert rows["C1", "self_consistency"]["mean"] == ""
    assert rows["C1", "self_consistency"]["note"].startswith("eligible=false")


def test_the_comparisons_table_holds_the_pairs_of_the_experiment(grid: Path) -> None:
    rows = rows_of(grid / "comparisons.csv")
    assert list(dict.fromkeys((row["a"], row["b"]) for row in rows)) == [("C2", "C1"), ("C2", "C2_silent")]
    changed = next(row for row in rows if row["metric"] == "changed")
    assert (changed["n_uids"], changed["n_pairs"], changed["unpaired_a"]) == ("16", "32", "0")
    assert float(changed["difference"]) == pytest.approx(float(changed["mean_a"]) - float(changed["mean_b"]), abs=2e-6)
    assert [row["metric"] for row in rows if row["a_only"]] in ([], ["exact_match_mcnemar"] * 2)


def edit_manifest(cell: Path, **experiment: Any) -> None:
    manifest = json.loads((cell / "manifest.json").read_bytes())
    manifest["cfg_canonical"]["experiment"].update(experiment)
    write_sealed(cell / "manifest.json", manifest)


def test_without_shuffling_the_seeds_of_an_engine_that_ignores_them_are_one_trial(grid: Path) -> None:
    for cell in grid.glob("*__seed*"):
        edit_manifest(cell, shuffle=False)
    derive_tables(load_run(grid))
    rows = {(row["condition"], row["metric"]): row for row in rows_of(grid / "grid_metrics.csv")}
    assert (rows["C2", "tuple_agreement_rate"]["mean"], rows["C2", "changed_rate"]["sd"]) == ("", "")


def test_a_comparison_may_name_a_condition_by_its_alias(grid: Path) -> None:
    for name in ("C1__seed42", "C2__seed42", "C2_silent__seed42"):
        edit_manifest(grid / name, comparisons=[["C3", "C1"], ["C2", "C2_frozen"]])
    cells = [load_cell(grid / name) for name in ("C1__seed42", "C2__seed42", "C2_silent__seed42")]
    assert compared_conditions(cells, None) == (("C2_silent", "C1"),)


def test_an_interrupted_run_is_derived_as_far_as_it_goes(grid: Path, caplog: pytest.LogCaptureFixture) -> None:
    cell = grid / "C2__seed42"
    manifest = json.loads((cell / "manifest.json").read_bytes())
    write_sealed(cell / "manifest.json", {**manifest, "completed": False})
    lines = (cell / "samples.jsonl").read_bytes().splitlines(keepends=True)
    (cell / "samples.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:50])
    derive_tables(load_run(grid))
    assert len(rows_of(cell / "triptych.csv")) == 3
    assert "C2__seed42 is not finished: 3 of 16 samples" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("samples.jsonl", b'{"uid": 1}\n', r"samples\.jsonl, line 1: it has no checksum.*restore the file"),
        ("samples.jsonl", None, r"samples\.jsonl is missing; restore it"),
        ("manifest.json", b"[]", "not a JSON object"),
        ("manifest.json", b"{}", "manifest.json: "),
    ],
)
def test_what_cannot_be_read_is_an_error_that_leaves_every_table_as_it_was(
    grid: Path, name: str, content: bytes | None, told: str
) -> None:
    damaged = grid / "C2__seed42" / name
    damaged.unlink()
    if content is not None:
        damaged.write_bytes(content)
    before = contents(grid)
    with pytest.raises(RunDirectoryError, match=told):
        derive_tables(load_run(grid))
    assert contents(grid) == before


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_a_directory_that_no_run_wrote_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunDirectoryError, match="name a"):
        derive_tables(load_run(tmp_path / name))


def test_a_triptych_tells_stage1_final_and_gold_side_by_side(grid: Path) -> None:
    cell = load_cell(grid / "C1__seed42")
    cards = (
        make_card([("Food ", "positive"), ("", "negative")], [("food", "negative")], stage1=[("food", "negative")]),
        make_card([("=1+1", "positive")], [], uid='@SUM("a", b)'),
        failed(make_card([("food", "positive")], None, uid="lost")),
    )
    text = triptych_text(FinishedCell(cell.path, cell.manifest, cards))
    assert text.splitlines() == [
        '"uid","stage1","final","gold","changed","risk_before","risk_after","memory_injected"',
        '"u","food:negative","food:positive | :negative","food:negative","true",0,0,"false"',
        '"\'@SUM(""a"", b)","\'=1+1:positive","\'=1+1:positive","-","false",0,0,"false"',
        '"lost","","","","","","",""',
    ]


def test_a_file_that_cannot_be_written_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(draft: Path, _: Path) -> Path:
        raise OSError(errno.EROFS, "Read-only file system", str(draft))

    monkeypatch.setattr(Path, "replace", refuse)
    told = f"cannot write {tmp_path}/table.csv: Read-only file system; make the place writable, or work on a copy"
    with pytest.raises(RunDirectoryError, match=told):
        replace_file(tmp_path / "table.csv", "x")

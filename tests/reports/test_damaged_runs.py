"""The page and stderr name everything that was lost or changed after a run."""

import json
import shutil
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser, run, run_reviews
from tests.run_copies import change_samples, keep_first, no_predictions
from tests.runs.sealed_files import write_sealed

from episodic_absa.analysis import load_run
from episodic_absa.errors import RunDirectoryError
from episodic_absa.reports.run_report import REPORT, write_pages
from episodic_absa.runs.config import load_experiment
from episodic_absa.verification import verify

CHANGED = "verified before the files changed; run episodic-absa verify again"


def opening_of(directory: Path) -> str:
    """Write the page and return the words of its first screen."""
    write_pages(load_run(directory))
    page = (directory / REPORT).read_text("utf-8")
    return PageParser(page[: page.index('<section id="quality">')]).text


def test_a_page_never_calls_verified_what_verify_did_not_see(grid: Path) -> None:
    cell = grid / "C2__seed42"
    for name in ("scorecards.jsonl", "outputs.jsonl", "traces.jsonl", "triptych.csv"):
        before = (cell / name).read_bytes()
        (cell / name).write_bytes(
            before.replace(b": ", b":  ", 1) if b": " in before else before.replace(b",", b", ", 1)
        )
        words = opening_of(cell)
        assert CHANGED in words, name
        assert "파일이 변경되기 전에 검증했습니다" in words
        assert "checks hold" not in words
        (cell / name).write_bytes(before)
    assert "checks hold" in opening_of(cell)
    change_samples(cell, no_predictions)
    words = opening_of(grid)
    assert CHANGED in words
    assert "checks hold" not in words
    assert "checks hold" in opening_of(grid / "C1__seed42")  # which is as it was


def test_no_page_is_made_of_a_manifest_that_was_changed(grid: Path) -> None:
    path = grid / "C2__seed42" / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b": ", b":  ", 1))
    with pytest.raises(RunDirectoryError, match=r"C2__seed42/manifest\.json is not as the run wrote it"):
        opening_of(grid)


def test_a_cell_that_is_gone_makes_the_grids_verification_one_of_another_grid(grid: Path) -> None:
    shutil.rmtree(grid / "C2__seed42")
    assert CHANGED in opening_of(grid)


def test_results_without_hashes_say_nothing_about_the_files_of_today(grid: Path) -> None:
    for path in grid.rglob("integrity.json"):
        checks = [check for check in json.loads(path.read_text("utf-8")) if check["check"] != "files_seen"]
        path.write_text(json.dumps(checks), "utf-8")
    assert CHANGED in opening_of(grid)


def test_a_run_that_goes_on_takes_back_what_was_verified(tmp_path: Path) -> None:
    rows = [{"uid": f"r{place}", "text": "The food was good."} for place in range(3)]
    grid = run_reviews(tmp_path, rows, conditions=["C1", "C2"])
    verify(grid)
    keep_first(grid / "C2__seed42", 2)
    run(tmp_path / "made.yaml")
    assert not (grid / "C2__seed42" / "integrity.json").exists()
    assert not (grid / "integrity.json").exists()
    assert (grid / "C1__seed42" / "integrity.json").exists()
    run(tmp_path / "made.yaml")  # has nothing to do
    assert (grid / "C1__seed42" / "integrity.json").exists()


def test_a_cell_without_its_manifest_is_named(grid: Path, caplog: pytest.LogCaptureFixture) -> None:
    (grid / "C2__seed42" / "manifest.json").unlink()
    words = opening_of(grid)
    assert "Skipped, no manifest.json: C2__seed42. No figure counts them." in words
    assert CHANGED in words
    assert "C2__seed42 holds samples but no manifest.json and is left out" in caplog.text


@pytest.mark.parametrize("n", [20, 0])
def test_a_finished_cell_that_lost_samples_is_refused(grid: Path, n: int) -> None:
    keep_first(grid / "C1__seed42", n)
    with pytest.raises(RunDirectoryError, match=rf"has {n} of 24 samples although the run was finished: lines were"):
        opening_of(grid)


@pytest.mark.parametrize("name", ["outputs.jsonl", "traces.jsonl", "scorecards.jsonl"])
def test_a_derived_file_that_is_gone_or_changed_is_no_input(grid: Path, name: str) -> None:
    before = opening_of(grid / "C2__seed42")
    (grid / "C1__seed42" / name).unlink()
    (grid / "C2__seed42" / name).write_text("{}\n", "utf-8")
    pages = load_run(grid)
    assert opening_of(grid / "C2__seed42").replace(CHANGED, "") != ""
    assert all(len(cell.cards) == cell.manifest.dataset.processing_count for cell in pages.cells)
    assert CHANGED in opening_of(grid / "C2__seed42")
    assert CHANGED not in before


def test_a_damaged_manifest_is_no_reason_to_run_again(grid: Path) -> None:
    (grid / "C2__seed42" / "manifest.json").write_text("{}", "utf-8")
    with pytest.raises(RunDirectoryError, match="verify` for details"):
        write_pages(load_run(grid))


@pytest.mark.parametrize("name", [REPORT, "integrity.json"])
def test_a_directory_in_place_of_a_file_is_told_with_what_to_do(grid: Path, name: str) -> None:
    path = grid / "C1__seed42" / name
    path.unlink()
    path.mkdir()
    with pytest.raises(RunDirectoryError, match=rf"cannot write .*C1__seed42/{name}: a directory .*; move it away"):
        write_pages(load_run(grid)) if name == REPORT else verify(grid)


def test_a_grid_that_has_only_built_stores_says_so(grid: Path) -> None:
    for cell in grid.glob("C*__seed*"):
        shutil.rmtree(cell)
    words = opening_of(grid)
    assert "No condition has been run yet: this page shows only build__seed42, which builds a store." in words


def test_gold_that_is_configured_is_told_before_a_sample_is_done(grid: Path) -> None:
    cell = grid / "C2__seed42"
    keep_first(cell, 0)
    manifest = json.loads((cell / "manifest.json").read_text("utf-8"))
    write_sealed(cell / "manifest.json", {**manifest, "completed": False})
    assert "Gold 정답 configured" in " ".join(opening_of(cell).split())


def test_seeds_that_change_nothing_are_told_so(tmp_path: Path) -> None:
    rows = [{"uid": "r1", "text": "The food was good."}]
    grid = run_reviews(tmp_path, rows, conditions=["C1"], seeds=[7, 42])
    assert not load_experiment(tmp_path / "made.yaml").file.experiment.shuffle
    assert "7, 42 (no effect: the backend ignores the seed and the order is fixed)" in opening_of(grid)
    assert "7 (no effect: the backend ignores the seed and the order is fixed)" in opening_of(grid / "C1__seed7")


def test_seeds_that_set_the_order_are_told_in_ascending_order(reported: Path) -> None:
    words = PageParser((reported / REPORT).read_text("utf-8")).text
    assert "42, 123 (order only: the backend ignores the seed)" in words

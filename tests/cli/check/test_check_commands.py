"""`episodic-absa check` and `verify` as a shell sees them."""

import subprocess
from pathlib import Path

import pytest
from tests.warm_python import run_warm

CELL = "C2__seed42"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_warm(["-m", "episodic_absa", *arguments], loads_engine=False)


@pytest.fixture
def config(grid: Path) -> Path:
    return grid.parents[1] / "small.yaml"


def test_check_lists_what_it_looked_at_and_ends_with_0(config: Path) -> None:
    done = run("check", config)
    assert done.returncode == 0, done.stderr
    *lines, verdict = done.stdout.splitlines()
    others = [line for line in lines if not line.startswith("ok  ")]
    assert "Only 6 reviews" in others[0]
    assert verdict == "small (dev) can be run; 1 warning"


def test_check_ends_with_1_on_errors(config: Path) -> None:
    config.write_text(config.read_text("utf-8").replace("data/train.csv", "data/missing.csv"), "utf-8")
    done = run("check", config)
    assert done.returncode == 1
    assert "error" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("content", [None, "run_id: [", "run_id: a__b\n"])
def test_check_ends_with_2_if_the_file_cannot_be_used(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    if content is not None:
        path.write_text(content, "utf-8")
    done = run("check", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_verify_gives_every_cell_a_line_and_ends_with_0(grid: Path) -> None:
    done = run("verify", grid)
    assert done.returncode == 0, done.stderr
    cell_n = sum(path.is_dir() for path in grid.iterdir())
    assert sum(line.startswith("ok  ") for line in done.stdout.splitlines()) == cell_n + 1 == 7  # and the grid


def test_verify_names_what_failed_and_ends_with_1(grid: Path) -> None:
    path = grid / CELL / "outputs.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    done = run("verify", grid / CELL)
    assert done.returncode == 1
    assert "derived_files" in done.stdout
    assert "outputs.jsonl, line 6 and 1 more: not what the records give" in done.stdout


def test_verify_explains_a_number_line_by_line_and_writes_nothing(grid: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in grid.rglob("*")}
    done = run("verify", grid, "--explain", "calls", "--condition", "C1")
    assert done.returncode == 0, done.stderr
    assert "C1__seed42/samples.jsonl:7" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in grid.rglob("*")} == before


def test_verify_names_metrics_near_an_unknown_one(grid: Path) -> None:
    done = run("verify", grid, "--explain", "exact_macth")
    assert (done.returncode, done.stdout) == (2, "")
    assert "near names: exact_match" in done.stderr

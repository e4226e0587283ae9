"""Copies of finished runs, to be changed: a copy has its data beside it, and records with seals that fit."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.runs.sealed_files import change_records

from episodic_absa.runs.reading.cell_files import rebuild_sample_files

Line = dict[str, Any]


def copied(grid: Path, folder: Path) -> Path:
    """Copy a grid into an empty folder, with the experiment file and the data that it was run with."""
    study = grid.parents[1]
    folder.mkdir(parents=True, exist_ok=True)
    for path in study.iterdir():
        if path.name == grid.parent.name:
            continue
        shutil.copytree(path, folder / path.name) if path.is_dir() else shutil.copy(path, folder)
    return Path(shutil.copytree(grid, folder / grid.parent.name / grid.name))


def change_samples(cell: Path, change: Callable[[Line, Line], object]) -> None:
    """Change the records of a cell; each comes with its scorecard. What is derived of them follows."""
    cards = [json.loads(line) for line in (cell / "scorecards.jsonl").read_text("utf-8").splitlines()]

    def change_all(lines: list[Line]) -> None:
        for record, card in zip(lines[1:], cards, strict=True):
            change(record, card)

    change_records(cell, change_all)
    rebuild_sample_files(cell)


def keep_first(cell: Path, sample_n: int) -> None:
    """Cut the records of a cell behind so many samples."""
    lines = (cell / "samples.jsonl").read_bytes().splitlines(keepends=True)
    (cell / "samples.jsonl").write_bytes(b"".join(lines[: sample_n + 1]))


def failed(record: Line, error_type: str, message: str = "no answer", stage: str = "debate") -> None:
    """Make a record that of a sample that failed."""
    record.pop("analysis", None)
    record.pop("memory", None)
    record["error"] = {"type": error_type, "stage": stage, "message": message}


def no_predictions(record: Line, _: Line) -> None:
    """Take every pair out of a record."""
    analysis = record["analysis"]
    analysis["stage1"].get("atsa", {}).pop("sentiments", None)
    analysis.pop("patched_sentiments", None)
    analysis.pop("final_tuples", None)

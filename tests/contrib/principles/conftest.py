"""A small real trial on the embedded engine, made once."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.reports.grid_making import SHIPPED, read_lines, write_lines

from episodic_absa.analysis import derive_tables, load_run
from episodic_absa.cli import main
from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import load_experiment

STRATA = ["language", "domain", "structure", "risk", "principle", "quarter"]


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Ended]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command as `main` does, within this process."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["episodic-absa", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished grid with a condition that withholds advice, and with every stratum; tests must not change it."""
    folder = tmp_path_factory.mktemp("trial")
    (folder / "data").mkdir()
    for name, n in (("train", 12), ("valid", 32)):
        rows = (SHIPPED / "data" / f"{name}.csv").read_text("utf-8").splitlines(keepends=True)
        (folder / "data" / f"{name}.csv").write_text("".join(rows[: n + 1]), "utf-8")
    uids = {row.partition(",")[0] for row in (folder / "data" / "valid.csv").read_text("utf-8").splitlines()}
    gold = [line for line in read_lines(SHIPPED / "data" / "valid.gold.jsonl") if line["uid"] in uids]
    write_lines(folder / "data" / "valid.gold.jsonl", gold)
    config: dict[str, Any] = {
        "run_id": "small",
        "data": {"allowed_roots": ["data"], "train_file": "data/train.csv", "valid_file": "data/valid.csv"},
        "eval": {"gold_jsonl": "data/valid.gold.jsonl"},
        "episodic_memory": {"build": {"split": "train", "condition": "C2_silent"}},
        "experiment": {
            "conditions": ["C1", "C2_trial"],
            "seeds": [42],
            "comparisons": [["C2_trial", "C1"]],
            "strata": STRATA,
        },
    }
    (folder / "small.yaml").write_text(json.dumps(config), "utf-8")
    asyncio.run(run_grid(load_experiment(folder / "small.yaml"), use_cache_file=False))
    grid = folder / "results" / "small"
    derive_tables(load_run(grid))
    return grid

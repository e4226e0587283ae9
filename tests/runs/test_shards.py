"""`--shard K/N` shares whole cells out; joined, they are the grid that one machine writes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.runs.small_grid import exact_bytes, run_here, write_experiment

from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.runs.config import ExperimentConfig, load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.runs.shards import Shard, join_grids
from episodic_absa.verification.verify import verify

GRID: dict[str, Any] = {
    "experiment": {"conditions": ["C1", "C2", "C2_frozen"], "seeds": [1, 2]},
    "data": {"limit": 5},
}


def run_shards(path: Path, folder: Path, count: int) -> list[Path]:
    """Run every shard with an `--out` of its own; return the directories of the grids."""
    grids = []
    for number in range(1, count + 1):
        config = load_experiment(path).writing_to(folder / f"shard{number}")
        asyncio.run(run_cells(config, shard=Shard(number, count)))
        grids.append(config.out_dir)
    return grids


def sealed_bytes(config: ExperimentConfig) -> dict[str, bytes]:
    return {str(path.relative_to(config.out_dir)): path.read_bytes() for path in config.out_dir.glob(f"*/{MANIFEST}")}


@pytest.mark.parametrize(("build", "count"), [(True, 2), (False, 4)])
def test_joined_shards_are_the_grid_of_one_machine_and_pass_verify(tmp_path: Path, *, build: bool, count: int) -> None:
    memory = {"episodic_memory": {} if build else {"build": None, "allow_empty_store": True}}
    whole = run_here(write_experiment(tmp_path / "whole", **GRID, **memory), with_tables=False)
    path = write_experiment(tmp_path / "shared", **GRID, **memory)
    grids = run_shards(path, tmp_path / "elsewhere", count)
    cells = [{cell.name for cell in grid.iterdir() if cell.is_dir()} for grid in grids]
    assert sum(map(len, cells)) == len(set().union(*cells))
    joined = load_experiment(path)
    assert sorted(join_grids(joined, grids)) == sorted(set().union(*cells))
    assert exact_bytes(joined.out_dir) == exact_bytes(whole.out_dir)
    assert sealed_bytes(joined) == sealed_bytes(whole)
    verified = verify(joined.out_dir)
    assert not verified.failures
    assert not verified.unfinished


def test_what_is_no_shard_is_refused(tmp_path: Path) -> None:
    for text in ("0/2", "3/2", "2", "a/b", "1/2/3", "/", "-1/2", "１/２"):
        with pytest.raises(ConfigError, match="give K/N"):
            Shard.parse(text)
    config = load_experiment(write_experiment(tmp_path, **GRID))
    with pytest.raises(ConfigError, match="the grid has 2 orders and seeds"):
        Shard(1, 3).cells(config)


@pytest.mark.parametrize("row_n", [0, 1, 7, 100])
def test_the_rows_of_all_shards_are_all_rows_in_order(row_n: int) -> None:
    places = [place for number in range(1, 8) for place in Shard(number, 7).places(row_n)]
    assert places == list(range(row_n))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("unfinished", "is not finished; run its shard again"),
        ("changed line", "line 2"),
        ("changed manifest", "is not as the run wrote it"),
        ("other settings", "has another configuration: pipeline"),
        ("other question", "is not that of"),
        ("twice", "stands in .* already"),
    ],
)
def test_a_shard_that_does_not_fit_is_refused_and_nothing_is_copied(tmp_path: Path, damage: str, message: str) -> None:
    small: dict[str, Any] = {"experiment": {"conditions": ["C1"], "seeds": [1, 2]}, "data": {"limit": 3}}
    small["episodic_memory"] = {"build": None}
    path = write_experiment(tmp_path / "shared", **small)
    grids = run_shards(path, tmp_path / "elsewhere", 2)
    cell = next(cell for cell in grids[1].iterdir() if cell.is_dir())
    if damage == "unfinished":
        config = load_experiment(path).writing_to(tmp_path / "half")
        with pytest.raises(KeyError):
            asyncio.run(
                run_cells(
                    config, progress=GridProgress(on_change=lambda grid: {0: None}[grid.run_n]), shard=Shard(2, 2)
                )
            )
        grids[1] = config.out_dir
    elif damage == "changed line":
        lines = (cell / SAMPLES).read_bytes().splitlines(keepends=True)
        (cell / SAMPLES).write_bytes(b"".join([lines[0], lines[1].replace(b"en", b"ko", 1), *lines[2:]]))
    elif damage == "changed manifest":
        (cell / MANIFEST).write_bytes(
            (cell / MANIFEST).read_bytes().replace(b'"run_purpose": "dev"', b'"run_purpose": "paper"')
        )
    elif damage == "other settings":
        path = write_experiment(tmp_path / "shared", **small, pipeline={"enable_debate": False})
    elif damage == "other question":
        (grids[1] / "question.json").write_text("{}")
    else:
        grids.append(grids[0])
    config = load_experiment(path)
    with pytest.raises(RunDirectoryError, match=message):
        join_grids(config, grids)
    assert not config.out_dir.exists()

"""One small real grid with its reports, made once, and copies of it to damage."""

import shutil
from pathlib import Path

import pytest
from tests.reports.grid_making import run_hostile, run_shipped

from episodic_absa.experiments.grid_report import write_report
from episodic_absa.experiments.integrity import verify


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and verified grid, not to be changed."""
    grid = run_shipped(tmp_path_factory.mktemp("shipped"))
    verify(grid)
    write_report(grid)
    return grid


@pytest.fixture
def grid(reported: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    return Path(shutil.copytree(reported, tmp_path / "small"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of reviews that try to be more than text."""
    grid = run_hostile(tmp_path_factory.mktemp("hostile"))
    write_report(grid)
    return grid

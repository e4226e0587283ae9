"""One small real grid, run once, and copies of it to damage."""

from pathlib import Path

import pytest
from tests.reports.shared_grids import once
from tests.verification.finished_grid import copy_of, run_small_grid


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with config, data and results of a grid that was run to its end."""
    return once(tmp_path_factory, "finished", run_small_grid)


@pytest.fixture
def grid(finished: Path, tmp_path: Path) -> Path:
    """The directory of the grid, to be damaged; its config and data lie where they should."""
    return copy_of(finished, tmp_path)

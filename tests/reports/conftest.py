"""One small real grid with its reports, made once, and copies of it to damage."""

from pathlib import Path

import pytest
from tests.reports.shared_grids import hostile_grid, shipped_grid, v3_grid
from tests.run_copies import copied


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and verified grid; tests must not change it."""
    return shipped_grid(tmp_path_factory)


@pytest.fixture(scope="session")
def default_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same under rules v3, the default, with several efforts; tests must not change it."""
    return v3_grid(tmp_path_factory)


@pytest.fixture
def grid(reported: Path, tmp_path: Path) -> Path:
    """A copy of the grid that a test may damage."""
    return copied(reported, tmp_path)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of reviews that contain markup and scripts."""
    return hostile_grid(tmp_path_factory)

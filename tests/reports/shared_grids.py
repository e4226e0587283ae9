"""The grids that all report tests read. The first process that needs a grid makes it, once per test session."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.reports.grid_making import run_hostile, run_shipped, run_v3

from episodic_absa.analysis import load_run
from episodic_absa.reports.run_report import write_pages
from episodic_absa.verification import verify


def shipped_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and verified grid with its reports; tests must not change it."""
    return once(tmp_path_factory, "shipped", _make_shipped)


def hostile_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid with reports of reviews that contain markup and scripts; tests must not change it."""
    return once(tmp_path_factory, "hostile", _make_hostile)


def v3_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished and verified grid of the default conditions with its reports; tests must not change it."""
    return once(tmp_path_factory, "v3", _make_v3)


def _make_shipped(folder: Path) -> Path:
    return _verified(run_shipped(folder))


def _make_v3(folder: Path) -> Path:
    return _verified(run_v3(folder))


def _verified(grid: Path) -> Path:
    verify(grid)
    write_pages(load_run(grid))
    return grid


def _make_hostile(folder: Path) -> Path:
    grid = run_hostile(folder)
    write_pages(load_run(grid))
    return grid


def once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path]) -> Path:
    """Return what `make` makes of an empty folder: it is called by the first process of the session that asks."""
    base = tmp_path_factory.getbasetemp()
    # Each worker of a session has its own folder; the folders are siblings.
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared_grids"
    place.mkdir(exist_ok=True)
    with open(place / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = place / f"{name}.made"
        if not made.exists():
            folder = place / name
            folder.mkdir()
            made.write_text(str(make(folder)), "utf-8")
        return Path(made.read_text("utf-8"))

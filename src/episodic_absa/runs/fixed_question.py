"""Fixes the question of a grid before its first sample, and adds to it what the experiment asks later."""

import fcntl
import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from episodic_absa.errors import ConfigError, RunDirectoryError
from episodic_absa.runs.config.cells import evaluated_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig, load_experiment
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.question import NO_QUESTION, QUESTION, added_parts, load_question, parts_text
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.verified_files import CELL_MARK
from episodic_absa.runs.run_directory import usable_sample_n
from episodic_absa.runs.samples_file import writing
from episodic_absa.schemas.run_files.question import QUESTION_VERSION, AskedQuestion, Question
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.durable_file import make_private_directory, replace_durably
from episodic_absa.serialization.seals import seal_state, sealed

logger = logging.getLogger("episodic_absa.runs")
_CHANGED: Final = (
    "was changed after it was written; restore it, or move it away: then every result of the grid counts as exploratory"
)


def fix_question(config: ExperimentConfig, data: ExperimentData) -> Question | None:
    """Write question.json if the grid has no usable sample yet; else add what the experiment asks beyond it.

    The file is on disk when this returns. A grid that has samples and no question gets none: nothing was fixed before
    its first sample.

    Raises:
        RunDirectoryError: the file cannot be read or written.
    """
    grid, asked = config.out_dir, asked_question(config, data)
    with writing(grid):
        make_private_directory(grid)
    with _locked(grid):
        if not _has_samples(grid):
            question = Question(asked=asked)
            _write(grid, question)
            return question
        known = load_question(grid)
        if known is None:
            logger.warning("%s holds samples and no %s: %s", grid, QUESTION, NO_QUESTION)
            return None
        if not _is_whole(grid):
            path = grid / QUESTION
            raise RunDirectoryError(f"{path} {_CHANGED}", path=path)
        return _add(grid, known, asked)


def refresh_question(root: Path) -> Question | None:
    """Add to the question of a finished grid what its config file asks now, without running anything.

    Pairs, metric, smallest effect and breakdowns take effect; conditions, orders and seeds wait for their cells. The
    question stays as it is if the config file is out of reach or belongs to another run.

    Raises:
        RunDirectoryError: question.json cannot be read or written.
    """
    known = load_question(root)
    config = _config_of(root) if known is not None else None
    if known is None or config is None:
        return known
    settings = config.file.experiment
    now = known.asked.model_copy(
        update={
            "pairs": config.comparisons,
            "primary_metric": settings.primary_metric,
            "smallest_effect": settings.smallest_effect,
            "strata": settings.strata,
        }
    )
    with _locked(root):
        if not _is_whole(root):
            # An addition would seal what somebody changed.
            logger.warning("%s %s", root / QUESTION, _CHANGED)
            return known
        return _add(root, known, now)


def asked_question(config: ExperimentConfig, data: ExperimentData) -> AskedQuestion:
    """Return the question that an experiment asks now."""
    cells, settings = list(evaluated_cells(config)), config.file.experiment
    uids = sorted({labelled.sample.uid for cell in cells for labelled in data.samples_of(cell)})
    return AskedQuestion(
        pairs=config.comparisons,
        primary_metric=settings.primary_metric,
        smallest_effect=settings.smallest_effect,
        sample_n=len(uids),
        uids_sha256=uids_sha256(uids),
        conditions=tuple(condition.name for condition in config.conditions),
        orders=tuple(dict.fromkeys(cell.order for cell in cells)),
        seeds=settings.seeds,
        strata=settings.strata,
    )


def uids_sha256(uids: list[str]) -> str:
    """Return the hash of sorted uids."""
    return hashlib.sha256("\n".join(uids).encode()).hexdigest()


def _add(grid: Path, known: Question, now: AskedQuestion) -> Question:
    question = known.adding(now)
    if question is not known:
        _write(grid, question)
        latest = Question(asked=question.asked, added=question.added[-1:])
        logger.info("%s: exploratory from now on: %s", grid, parts_text(added_parts(latest)))
    return question


def _is_whole(grid: Path) -> bool:
    return seal_state((grid / QUESTION).read_bytes()) == "whole"


def _write(grid: Path, question: Question) -> None:
    path = grid / QUESTION
    now = question.model_copy(update={"version": QUESTION_VERSION})
    content = sealed(indented_json(now)).encode()
    with writing(path):
        if not path.is_file() or path.read_bytes() != content:
            replace_durably(path, content)


def _has_samples(grid: Path) -> bool:
    """Return whether a sample of some cell succeeded: from then on the question stands."""
    return any(usable_sample_n(cell) for cell in grid.glob(f"*{CELL_MARK}*"))


def _config_of(grid: Path) -> ExperimentConfig | None:
    """Return the experiment of a finished grid as its config file states it now; None if that is out of reach."""
    for path in sorted(grid.glob(f"*{CELL_MARK}*")):
        cell = CellFiles(path)
        if cell.manifest is None:
            continue
        if cell.config_root is None:
            return None
        config_path = cell.config_root / cell.manifest.config_path
        try:
            config = load_experiment(config_path)
        except ConfigError as error:
            logger.warning("%s still answers the question of %s: %s", grid, QUESTION, error)
            return None
        run_id = cell.manifest.run_id
        # `run --limit` appends to the run_id of the file.
        return config if run_id == config.file.run_id or run_id.startswith(f"{config.file.run_id}-limit") else None
    return None


@contextmanager
def _locked(grid: Path) -> Iterator[None]:
    """Let one process at a time change the question of a grid."""
    descriptor = os.open(grid, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

"""`verify`: checks the files of a cell or a grid and writes the results into integrity.json."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from episodic_absa.analysis import FinishedRun
from episodic_absa.contrib_parts import contrib_part
from episodic_absa.errors import EpisodicAbsaError, RunDirectoryError
from episodic_absa.runs.config.cfg_hash import recorded_problem
from episodic_absa.runs.question import added_parts, load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import FinishedCell, in_order, require_directory
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.reading.verified_files import CELL_MARK, CERTIFICATE, cell_hashes, certificate_hash, grid_hashes
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run_files.certificate import Certificate
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.verification.checks.arm_checks import ARM_CHECKS
from episodic_absa.verification.checks.file_checks import FILE_CHECKS, check_tables
from episodic_absa.verification.checks.findings import Findings, NotApplicableError
from episodic_absa.verification.checks.grid_checks import GRID_CHECKS
from episodic_absa.verification.checks.memory_checks import MEMORY_CHECKS
from episodic_absa.verification.checks.origin_checks import ORIGIN_CHECKS
from episodic_absa.verification.checks.result_checks import RESULT_CHECKS
from episodic_absa.verification.checks.store_checks import STORE_CHECKS
from episodic_absa.verification.integrity_file import files_seen, read_certificate, write_results

_DETAILS_SHOWN: Final = 3
_CELL_CHECKS: Final = {
    **FILE_CHECKS,
    **RESULT_CHECKS,
    **MEMORY_CHECKS,
    **STORE_CHECKS,
    **ARM_CHECKS,
    **ORIGIN_CHECKS,
}


class Unfinished(FrozenModel):
    """How far a cell is that is not finished."""

    done_n: int
    sample_n: int


class Verified(FrozenModel):
    """The results of every cell's checks, and those of the grid as a whole."""

    cells: dict[str, tuple[CheckResult, ...]]
    grid: tuple[CheckResult, ...] = ()
    unfinished: dict[str, Unfinished] = Field(default_factory=dict)
    """The cells that are not finished, by their name; of the others nothing is missing."""
    exploratory: tuple[str, ...] = ()
    """What of a grid was added after its question was fixed; that no question was fixed, if that is so."""
    certificate: Certificate | None = None
    """The leakage certificate, if it was asked for."""

    @property
    def failures(self) -> tuple[tuple[str, CheckResult], ...]:
        """All failed checks with the name of their cell, "grid" for the grid."""
        named = [*self.cells.items(), ("grid", self.grid)]
        return tuple((name, result) for name, results in named for result in results if result.result == "fail")


def verify(path: Path, *, with_certificate: bool = False) -> Verified:
    """Verify a cell's directory, or every cell of a grid's directory and the grid; write integrity.json into each.

    Args:
        path: the directory of a cell or of a grid.
        with_certificate: also run the leakage probes and write certificate.json into this directory. If the file is
            already there, it is checked in any case.
    """
    require_directory(path)
    is_grid = not _is_cell(path)
    folders = [path]
    if is_grid:
        folders = [folder for folder in sorted(path.iterdir()) if _is_cell(folder) or CELL_MARK in folder.name]
    if not folders:
        raise RunDirectoryError(
            f"{path} holds neither {MANIFEST} nor the directories of cells; name a directory that a run wrote",
            path=path,
        )
    # Hashed before anything is read, so that a change in the meantime shows as a change.
    hashes = grid_hashes(path) if is_grid else {}
    cells = {folder.resolve().name: CellFiles(folder) for folder in folders}
    verified = {
        name: _verify_cell(cell, with_certificate=with_certificate and not is_grid) for name, cell in cells.items()
    }
    readable = {name: cell for name, cell in cells.items() if not _problem(cell)}
    grid = _verify_grid(path, list(readable.values()), hashes, with_certificate=with_certificate) if is_grid else ()
    return Verified(
        cells=verified,
        grid=grid,
        unfinished=_unfinished(cells),
        exploratory=_exploratory(path) if is_grid else (),
        certificate=read_certificate(path) if with_certificate else None,
    )


def _verify_cell(cell: CellFiles, *, with_certificate: bool) -> tuple[CheckResult, ...]:
    hashes = cell_hashes(cell.path)
    problem = _manifest_problem(cell)
    results = [_run("manifest", lambda: iter([problem or None]))]
    if not problem:
        problem = _samples_problem(cell)
        results.append(_run("samples_read", lambda: iter([problem or None])))
    if not problem:
        results += [_run(name, partial(check, cell)) for name, check in _CELL_CHECKS.items()]
        run = FinishedRun(cell.path, (_as_finished(cell),), is_grid=False)
        results.append(_run("tables_recomputed", partial(check_tables, run)))
        results += _certificate_results(cell.path, [cell], with_certificate=with_certificate)
    results.append(files_seen(hashes | certificate_hash(cell.path)))
    write_results(cell.path, results)
    return tuple(results)


def _verify_grid(
    path: Path, cells: Sequence[CellFiles], hashes: dict[str, str], *, with_certificate: bool
) -> tuple[CheckResult, ...]:
    run = FinishedRun(path, in_order(map(_as_finished, cells)), is_grid=True, question=_question(path))
    results = [_run(name, partial(check, cells)) for name, check in GRID_CHECKS.items()]
    results.append(_run("tables_recomputed", partial(check_tables, run)))
    results += _certificate_results(path, cells, with_certificate=with_certificate)
    results.append(files_seen(hashes | certificate_hash(path)))
    write_results(path, results)
    return tuple(results)


def _is_cell(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST).exists() or (path / SAMPLES).exists())


def _as_finished(cell: CellFiles) -> FinishedCell:
    return FinishedCell(cell.path, cell.known_manifest, cell.scorecards)


def _question(grid: Path) -> Question | None:
    try:
        return load_question(grid)
    except RunDirectoryError:
        return None  # question_kept says what is wrong with the file


def _exploratory(grid: Path) -> tuple[str, ...]:
    try:
        return tuple(part.text for part in added_parts(load_question(grid)))
    except RunDirectoryError:
        return ()  # as above


def _unfinished(cells: dict[str, CellFiles]) -> dict[str, Unfinished]:
    return {
        name: Unfinished(
            done_n=0 if _samples_problem(cell) else len(cell.records),
            sample_n=cell.manifest.dataset.processing_count,
        )
        for name, cell in cells.items()
        if cell.manifest is not None and not cell.manifest.completed
    }


def _problem(cell: CellFiles) -> str:
    """Return why a cell cannot be checked; an empty text if it can."""
    return _manifest_problem(cell) or _samples_problem(cell)


def _manifest_problem(cell: CellFiles) -> str:
    return cell.manifest_problem if cell.manifest is None else recorded_problem(cell.manifest)


def _samples_problem(cell: CellFiles) -> str:
    try:
        _ = cell.derived
    except EpisodicAbsaError as error:
        return str(error)
    return ""


def _certificate_results(
    directory: Path, cells: Sequence[CellFiles], *, with_certificate: bool
) -> Iterator[CheckResult]:
    """Yield the check of the certificate, if one is asked for or stands in the directory."""
    if with_certificate or (directory / CERTIFICATE).exists():
        check_certificate = contrib_part("certificate")
        yield _run("certificate", partial(check_certificate, directory, cells, is_issued=with_certificate))


def _run(name: str, look: Callable[[], Findings]) -> CheckResult:
    """Run one check; a check of nothing does not pass."""
    looked, wrong = 0, 0
    shown: list[str] = []
    try:
        for finding in look():
            looked += 1
            if finding is not None:
                wrong += 1
                if len(shown) < _DETAILS_SHOWN:
                    shown.append(finding)
    except NotApplicableError as reason:
        return CheckResult(check=name, result="not_applicable", detail=str(reason), count=wrong)
    if wrong:
        more = f"; and {wrong - len(shown)} more" if wrong > len(shown) else ""
        return CheckResult(check=name, result="fail", detail="; ".join(shown) + more, count=wrong)
    if not looked:
        return CheckResult(check=name, result="not_applicable", detail="nothing to look at", count=wrong)
    return CheckResult(check=name, result="pass", detail=f"looked at {looked}", count=wrong)

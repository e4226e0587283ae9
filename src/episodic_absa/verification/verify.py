"""`verify`: checks the files of a cell or a grid and writes the results into integrity.json."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import Field

from episodic_absa.errors import EpisodicAbsaError, RunDirectoryError
from episodic_absa.runs.cell_store import sha256_of_lines
from episodic_absa.runs.config.recorded_experiment import recorded_problem
from episodic_absa.runs.question import added_parts, load_question
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import require_directory
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.reading.verified_files import CELL_MARK, CERTIFICATE, cell_hashes, certificate_hash, grid_hashes
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.overlays.pipeline_overlay import PipelineOverlay
from episodic_absa.schemas.repetition import Repetition
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.schemas.run_files.verification.certificate import Certificate
from episodic_absa.verification.certificate.certificate_file import check_certificate, read_certificate
from episodic_absa.verification.checks.arm_checks import ARM_CHECKS
from episodic_absa.verification.checks.decision_checks import DECISION_CHECKS
from episodic_absa.verification.checks.file_checks import FILE_CHECKS
from episodic_absa.verification.checks.findings import Findings, NotApplicableError
from episodic_absa.verification.checks.memory_checks import MEMORY_CHECKS
from episodic_absa.verification.checks.metric_checks import GRID_METRIC_CHECKS, METRIC_CHECKS
from episodic_absa.verification.checks.origin_checks import ORIGIN_CHECKS
from episodic_absa.verification.checks.outcome_checks import OUTCOME_CHECKS
from episodic_absa.verification.checks.question_checks import check_question_kept
from episodic_absa.verification.checks.result_checks import RESULT_CHECKS
from episodic_absa.verification.integrity_file import files_seen, write_results
from episodic_absa.vocabulary import Rules

_DETAILS_SHOWN: Final = 3
_CELL_CHECKS: Final = {
    **FILE_CHECKS,
    **RESULT_CHECKS,
    **DECISION_CHECKS,
    **OUTCOME_CHECKS,
    **METRIC_CHECKS,
    **MEMORY_CHECKS,
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
    if _is_cell(path):
        alone = CellFiles(path)
        alone_results = {path.resolve().name: _verify_cell(alone, with_certificate=with_certificate)}
        issued = read_certificate(path) if with_certificate else None
        return Verified(cells=alone_results, unfinished=_unfinished([alone]), certificate=issued)
    cells = [CellFiles(folder) for folder in sorted(path.iterdir()) if _is_cell(folder) or CELL_MARK in folder.name]
    if not cells:
        raise RunDirectoryError(
            f"{path} holds neither {MANIFEST} nor the directories of cells; name a directory that a run wrote",
            path=path,
        )
    hashes = grid_hashes(path)
    verified = {cell.path.name: _verify_cell(cell) for cell in cells}
    readable = [cell for cell in cells if not (_manifest_problem(cell) or _samples_problem(cell))]
    results = [_run(name, partial(check, readable)) for name, check in GRID_CHECKS.items()]
    results += _certificate_results(path, readable, with_certificate=with_certificate)
    grid = (*results, files_seen(hashes | certificate_hash(path)))
    write_results(path, grid)
    return Verified(
        cells=verified,
        grid=grid,
        unfinished=_unfinished(readable),
        exploratory=_exploratory(path),
        certificate=read_certificate(path) if with_certificate else None,
    )


def check_never_shown_agree(cells: Sequence[CellFiles]) -> Findings:
    """Cells that never show memory agree: same seed and rules, same final tuples over the uids ok in all.

    Without memory nothing passes from a sample to a later one, so the cells of all orders of a seed agree as well.
    """
    # Of the shipped conditions these are C1, C2_silent and C2_eval_only; flags decide, names do not.
    compared = list(_never_shown_groups(cells))
    if not compared:
        raise NotApplicableError("no seed has two cells of the same rules that never show memory")
    shared = [group for group in compared if all(cell.known_manifest.answers_shared for cell in group)]
    if not shared:
        raise NotApplicableError("the cells of a seed did not share their answers")
    for first, *others in shared:
        for uid in sorted(set(first.cards).intersection(*(other.cards for other in others))):
            differing = [
                other.path.name for other in others if other.cards[uid].final_tuples != first.cards[uid].final_tuples
            ]
            yield f"{uid}: {first.path.name} and {', '.join(differing)} differ" if differing else None


def check_seeds_complete(cells: Sequence[CellFiles]) -> Findings:
    """Every order and seed was run in every condition."""
    manifests = [cell.known_manifest for cell in cells if not cell.known_manifest.is_build]
    by_repetition: dict[Repetition, set[str]] = {}
    for manifest in manifests:
        by_repetition.setdefault(manifest.repetition, set()).add(manifest.condition.name)
    known = set().union(*by_repetition.values())
    has_orders = any(manifest.names_order for manifest in manifests)
    for repetition, names in sorted(by_repetition.items()):
        missing = sorted(known - names)
        yield f"{repetition.words(with_order=has_orders)} lacks {', '.join(missing)}" if missing else None


def check_build_stores(cells: Sequence[CellFiles]) -> Findings:
    """Every store that began as a copy of the build of its order and seed began as exactly that."""
    builds = {cell.known_manifest.repetition: cell for cell in cells if cell.known_manifest.is_build}
    for cell in cells:
        build = builds.get(cell.known_manifest.repetition)
        if build is None or cell.known_manifest.episodic_memory.build_store_sha256 is None:
            continue
        start = cell.samples.header.store if cell.samples.header else None
        same = start is not None and start.source_sha256 == sha256_of_lines(build.store.raw)
        yield None if same else f"{cell.path.name} did not begin with the store of {build.path.name}"


GRID_CHECKS: Final[Mapping[str, Callable[[Sequence[CellFiles]], Findings]]] = {
    "never_shown_agree": check_never_shown_agree,
    "seeds_complete": check_seeds_complete,
    "build_stores": check_build_stores,
    "question_kept": check_question_kept,
    **GRID_METRIC_CHECKS,
}


def _is_cell(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST).exists() or (path / SAMPLES).exists())


def _never_shown_groups(cells: Iterable[CellFiles]) -> Iterator[list[CellFiles]]:
    """Return the cells to compare: other rules and other efforts ask other questions and may answer otherwise."""
    groups: dict[tuple[int, Rules, PipelineOverlay], list[CellFiles]] = {}
    for cell in cells:
        manifest = cell.known_manifest
        shown = manifest.condition.exposed_to_debate or manifest.condition.exposed_to_stage2
        if not manifest.is_build and not shown:
            asked = (manifest.seed, manifest.condition.rules, manifest.condition.pipeline)
            groups.setdefault(asked, []).append(cell)
    return (group for group in groups.values() if len(group) > 1)


def _exploratory(grid: Path) -> tuple[str, ...]:
    try:
        return tuple(part.text for part in added_parts(load_question(grid)))
    except RunDirectoryError:
        return ()  # question_kept says what is wrong with the file


def _unfinished(cells: Iterable[CellFiles]) -> dict[str, Unfinished]:
    return {
        cell.path.resolve().name: Unfinished(
            done_n=0 if _samples_problem(cell) else len(cell.records),
            sample_n=cell.manifest.dataset.processing_count,
        )
        for cell in cells
        if cell.manifest is not None and not cell.manifest.completed
    }


def _manifest_problem(cell: CellFiles) -> str:
    """Return why the manifest of a cell cannot be used; an empty text if it can."""
    return cell.manifest_problem if cell.manifest is None else recorded_problem(cell.manifest)


def _samples_problem(cell: CellFiles) -> str:
    """Return why the samples of a cell cannot be read; an empty text if they can."""
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
        yield _run("certificate", partial(check_certificate, directory, cells, is_issued=with_certificate))


def _verify_cell(cell: CellFiles, *, with_certificate: bool = False) -> tuple[CheckResult, ...]:
    # Hashed before anything is read, so that a change in the meantime shows as a change.
    hashes = cell_hashes(cell.path)
    problem = _manifest_problem(cell)
    results = [_run("manifest", lambda: iter([problem or None]))]
    if not problem:
        problem = _samples_problem(cell)
        results.append(_run("samples_read", lambda: iter([problem or None])))
    if not problem:
        results += [_run(name, partial(check, cell)) for name, check in _CELL_CHECKS.items()]
        results += _certificate_results(cell.path, [cell], with_certificate=with_certificate)
    results.append(files_seen(hashes | certificate_hash(cell.path)))
    write_results(cell.path, results)
    return tuple(results)


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

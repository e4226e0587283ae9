"""Runs one cell from its manifest to its last commit. It needs plain data only, so that any process can run it."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import EpisodicAbsaError, RunDirectoryError
from episodic_absa.final_tuples import pairs
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.memory.memory_store import Scratch
from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.cell_store import CellStore
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.cfg_hash import cfg_hash, differences_text
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.experiment_pipeline import build_experiment_pipeline
from episodic_absa.runs.failure_causes import ALIKE_N, fail_alike, grouped_causes, samples
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleFailure
from episodic_absa.runs.progress import CellProgress, GridProgress
from episodic_absa.runs.reading.cell_files import rebuild_sample_files
from episodic_absa.runs.reading.manifest_file import MANIFEST, read_manifest, require_sealed
from episodic_absa.runs.reading.verified_files import forget_verification
from episodic_absa.runs.records.cell_manifest import build_manifest
from episodic_absa.runs.records.recorded_sample import Recorder
from episodic_absa.runs.run_directory import RUN_META, STORE, Redo, Resumed, RunDirectory
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.manifest import Manifest, RunMeta, Speculation
from episodic_absa.schemas.run_files.sample_record import SampleRecord
from episodic_absa.serialization.redaction import redacted
from episodic_absa.store.open_store import store_sha256

logger = logging.getLogger("episodic_absa.runs")


class TooManyFailuresError(RunDirectoryError):
    """More samples failed than experiment.max_failures allows, or the first ones all alike. A run can be resumed."""


def other_configuration(path: Path, differences: str) -> RunDirectoryError:
    """Return the error about a directory whose results come from another configuration."""
    return RunDirectoryError(
        f"{path} belongs to another configuration: {differences}. Set these back to continue that run; for a new run "
        "choose another run_id or another folder (`run --out DIR`), or move the directory away",
        path=path,
    )


def require_few_failures(progress: CellProgress | GridProgress, allowed: int, cell: Path) -> None:
    """Stop a run that fails for good; the next run does the failed samples again.

    Args:
        progress: of a cell or of the whole grid.
        allowed: experiment.max_failures.
        cell: the directory of the cell that was committed to last.

    Raises:
        TooManyFailuresError: more samples failed than allowed, or the first ones for the same cause.
    """
    if fail_alike(progress.causes, progress.run_n):
        raise TooManyFailuresError(
            f"the first {ALIKE_N} samples failed alike: {progress.causes[0]}. "
            "Fix the cause and run again: the run continues from here",
            path=cell,
        )
    if progress.failed > allowed:
        commonest = grouped_causes(progress.causes)[0]
        raise TooManyFailuresError(
            f"more than {samples(allowed)} failed (experiment.max_failures), {commonest.sample_n} of them alike: "
            f"{commonest.message}. Fix the cause and run again: the run continues from here",
            path=cell,
        )


class CellWork(NamedTuple):
    """The samples of a cell that are to be analysed."""

    config: ExperimentConfig
    cell: Cell
    pipeline: Pipeline
    """Its memory is that of the cell before the first sample."""
    samples: Sequence[Sample]
    """All of the cell, also those that are committed."""
    first_index: int
    kept: Mapping[int, SampleRecord]
    """Samples from `first_index` on that are committed as they were recorded."""


Commit = Callable[[int, SampleResult | SampleFailure | SampleRecord], None]
AnalyseCell = Callable[[CellWork, Commit], Awaitable[Speculation]]
"""Commits every sample from the first index on, in order, and returns what speculation cost."""


async def analyse_here(work: CellWork, commit: Commit) -> Speculation:
    """Analyse the samples of a cell in this process."""
    experiment = work.config.file.experiment
    ordered = OrderedRun(
        work.pipeline.supervisor,
        work.pipeline.memory,
        work.samples,
        commit,
        first_index=work.first_index,
        kept=work.kept,
        seed=work.cell.seed,
        used_in_eval=not work.cell.is_build,
        pace=Pace(
            samples_ahead=2 * experiment.concurrency,
            speculate_ahead=experiment.speculate_ahead if experiment.speculate else 0,
        ),
    )
    await ordered.run()
    return Speculation(redone_samples=ordered.redone_n, wasted_calls=ordered.wasted_calls_n)


@dataclass(frozen=True)
class RunContext:
    """What all cells of a run share."""

    config: ExperimentConfig
    data: ExperimentData
    backend: Backend
    analyse: AnalyseCell = analyse_here
    use_cache_file: bool = True
    """False keeps answers in memory only."""
    keep_failures: bool = False
    """True leaves samples failed that failed in an earlier run."""


async def run_cell(
    context: RunContext, cell: Cell, start_store: Path | None, on_progress: Callable[[CellProgress], None]
) -> None:
    """Run the samples of a cell that are not committed yet or failed.

    Args:
        context: of the run.
        cell: the cell.
        start_store: the store that the cell's own store begins as a copy of.
        on_progress: called after every commit; an error that it raises ends the run, which can be resumed.

    Raises:
        RunDirectoryError: the directory belongs to another run, or too many samples failed.
    """
    await _CellRun(context, cell, start_store, on_progress).run()


class _CellRun:
    """One cell while it runs."""

    def __init__(
        self, context: RunContext, cell: Cell, start_store: Path | None, on_progress: Callable[[CellProgress], None]
    ) -> None:
        self._context = context
        self._config = context.config
        self._cell = cell
        self._start_store = start_store
        self._on_progress = on_progress
        self._labelled = context.data.samples_of(cell)
        self._progress = CellProgress(cell.name, total=len(self._labelled))
        self._manifest = build_manifest(
            context.config,
            cell,
            context.data,
            start_sha256=store_sha256(start_store) if start_store else None,
            seed_supported=context.backend.honours_seed,
            answers_shared=_answers_are_shared(context),
        )
        self._restarts = False
        self._recorder = Recorder()

    async def run(self) -> None:
        """Run what is left of the cell."""
        cell = self._cell
        keep_last_n = self._config.file.episodic_memory.keep_last_n
        live = MemoryStore(Scratch(cell.store or cell.path / STORE), keep_last_n=keep_last_n)
        pipeline = build_experiment_pipeline(
            self._config, backend=self._context.backend, condition=cell.condition, store=live
        )
        published = CellStore(live, cell.store, cell.path, cell.condition.rules) if cell.store is not None else None
        directory = RunDirectory(cell.path, store=published)
        try:
            known = read_manifest(cell.path).manifest
            self._refuse_foreign(directory, known)
            is_complete = known is not None and known.completed
            resumed = self._resume(directory, known)
            if resumed.next_index == len(self._labelled) and is_complete:
                require_sealed(cell.path, RUN_META)
                directory.forget_kept_samples()
                if not resumed.kept:
                    directory.publish_store(is_finished=True)
                rebuild_sample_files(cell.path)
                return
            manifest = self._manifest
            if known is not None and not known.answers_shared and not self._restarts:
                # A part of this cell was answered from a cache that is gone.
                manifest = manifest.model_copy(update={"answers_shared": False})
            forget_verification(cell.path)
            directory.begin(manifest)
            try:
                run_meta = await self._run_samples(directory, pipeline, resumed)
            except BaseException:
                # The files of a run that stops hold what is done; why it stopped matters more than that they do.
                with suppress(EpisodicAbsaError):
                    directory.publish_store(is_finished=False)
                    rebuild_sample_files(cell.path)
                raise
            directory.publish_store(is_finished=True)
            rebuild_sample_files(cell.path)
            directory.finish(manifest, run_meta)
            directory.forget_kept_samples()
        finally:
            pipeline.memory.close()
            directory.close()

    def _refuse_foreign(self, directory: RunDirectory, known: Manifest | None) -> None:
        """Refuse a directory that holds results of another configuration or gold."""
        path = directory.path
        if not directory.is_fresh:
            if known is None:
                raise RunDirectoryError(
                    f"{path} holds results but no readable {MANIFEST}; choose another run_id or move it away",
                    path=path,
                )
            require_sealed(path)
        if known is None:
            return
        if known.cfg_hash != self._manifest.cfg_hash and not self._has_other_build(known):
            if not directory.holds_nothing_usable:
                raise other_configuration(path, differences_text(known, self._manifest))
            self._restarts = True
        elif not directory.is_fresh and known.gold != self._manifest.gold:
            if directory.holds_nothing_usable:
                self._restarts = True
                return
            raise RunDirectoryError(
                f"{path} was scored against another gold file; restore it, or choose another run_id",
                path=path,
            )

    def _has_other_build(self, known: Manifest) -> bool:
        """Return whether the cell differs only in the built store it starts from: failed samples were built again."""
        if known.episodic_memory.build_store_sha256 == self._manifest.episodic_memory.build_store_sha256:
            return False
        as_known = cfg_hash(self._config, self._cell, self._context.data.hashes, known.start_store_sha256)
        return known.cfg_hash == as_known

    @property
    def _restart_reason(self) -> str:
        if self._restarts:
            return "no sample of it was usable, and its configuration or gold is another one now"
        return "the store that it starts from was built again"

    def _redo(self, known: Manifest | None) -> Redo:
        if self._restarts or (known is not None and known.cfg_hash != self._manifest.cfg_hash):
            return Redo.ALL
        if self._context.keep_failures:
            return Redo.NOTHING
        return Redo.FAILED_AND_LATER if self._cell.condition.store_write else Redo.FAILED

    def _resume(self, directory: RunDirectory, known: Manifest | None) -> Resumed:
        """Cut the files back to the sample at which the run continues."""
        sample_n, name = len(self._labelled), self._cell.name
        redo = self._redo(known)
        uids = [labelled.sample.uid for labelled in self._labelled]
        resumed = directory.resume(uids, self._manifest.cfg_hash, redo, start_store=self._start_store)
        first_index = resumed.next_index
        is_complete = known is not None and known.completed and redo is not Redo.ALL and not resumed.failed_n
        if is_complete and first_index < sample_n:
            logger.warning("%s: %d sample(s) are run again; %s had lost them", name, sample_n - first_index, SAMPLES)
        if redo is Redo.ALL:
            logger.warning("%s is run again from its first sample: %s", name, self._restart_reason)
        if 0 < first_index < sample_n:
            logger.info("%s continues after %d of %d samples", name, first_index, sample_n)
        self._progress.done = self._progress.resumed = first_index + len(resumed.kept)
        self._progress.redone = resumed.failed_n
        self._on_progress(self._progress)
        return resumed

    async def _run_samples(self, directory: RunDirectory, pipeline: Pipeline, resumed: Resumed) -> RunMeta:
        started = datetime.now(UTC)
        samples = [labelled.sample for labelled in self._labelled]
        work = CellWork(self._config, self._cell, pipeline, samples, resumed.next_index, resumed.kept)
        speculation = await self._context.analyse(
            work, lambda index, outcome: self._commit(directory, pipeline.memory, index, outcome)
        )
        ended = datetime.now(UTC)
        condition = self._cell.condition
        return RunMeta(
            condition=condition.name,
            memory_mode=condition.memory_mode,
            started_at=started.isoformat(),
            ended_at=ended.isoformat(),
            seconds=round((ended - started).total_seconds(), 3),
            speculation=speculation,
        )

    def _commit(
        self,
        directory: RunDirectory,
        orchestrator: EpisodicOrchestrator,
        index: int,
        outcome: SampleResult | SampleFailure | SampleRecord,
    ) -> None:
        if isinstance(outcome, SampleRecord):
            directory.append(outcome)
            return
        if isinstance(outcome, SampleFailure):
            self._progress.causes.append(redacted(str(outcome.error)))
            self._progress.failed += 1
            record, timing = self._recorder.of_failure(outcome, index, orchestrator.empty_slot_without_debate())
        else:
            record, timing = self._recorder.of_result(outcome, index)
            self._count(outcome)
        directory.append_timing(timing)
        directory.append(record)
        self._progress.done += 1
        self._on_progress(self._progress)
        require_few_failures(self._progress, self._config.file.experiment.max_failures, self._cell.path)

    def _count(self, result: SampleResult) -> None:
        memory, final = result.memory, result.final_result
        self._progress.stored += result.store.store_decision == "stored"
        self._progress.changed += pairs(final.stage1_tuples) != pairs(final.final_tuples)
        self._progress.shown += bool(memory.prompt_injection_chars or memory.stage2_memory_injected)


def _answers_are_shared(context: RunContext) -> bool:
    """Return whether all cells of a seed are sure to get equal answers to equal prompts, also after an interruption."""
    file = context.config.file
    if facts_of(file.backbone).is_reproducible:
        return True
    return file.cache.share == "all" and context.use_cache_file

"""Runs one cell from its manifest to its last commit. It needs plain data only, so that any process can run it."""

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import RunDirectoryError
from episodic_absa.memory import EpisodicOrchestrator
from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.committed.damage import require_sealed
from episodic_absa.runs.config.cells import cell_named
from episodic_absa.runs.config.cfg_hash import cfg_hash, sha256_of
from episodic_absa.runs.config.config_differences import differences_text
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.engines.sample_engine import Analysis, CellWork, LocalEngine, SampleEngine
from episodic_absa.runs.experiment_pipeline import build_experiment_pipeline
from episodic_absa.runs.failure_causes import ALIKE_N, fail_alike, grouped_causes, samples
from episodic_absa.runs.fixed_question import fix_question
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleFailure
from episodic_absa.runs.progress import CellProgress, GridProgress
from episodic_absa.runs.reading.verified_files import forget_verification
from episodic_absa.runs.records.cell_manifest import build_manifest
from episodic_absa.runs.records.sample_records import CellRecords, SampleRecords
from episodic_absa.runs.run_backend import open_backend
from episodic_absa.runs.run_directory import MANIFEST, Redo, Resumed, RunDirectory
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run_files.journal_line import CommittedSample
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_meta import RunMeta, Speculation
from episodic_absa.serialization.redaction import redacted

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


@dataclass(frozen=True)
class CellSpec:
    """One cell to run, as plain data that can be sent to another process."""

    config: ExperimentConfig
    cell: str
    """The cell's name."""
    start_store: Path | None = None
    """The store that the cell's own store begins as a copy of."""
    use_cache_file: bool = True
    """False keeps answers in memory only."""
    keep_failures: bool = False
    """True leaves samples failed that failed in an earlier run."""


def _ignore(progress: CellProgress) -> None:
    """Stand in where nobody follows the progress."""


async def run_cell(
    spec: CellSpec,
    *,
    backend: Backend | None = None,
    data: ExperimentData | None = None,
    engine: SampleEngine | None = None,
    on_progress: Callable[[CellProgress], None] = _ignore,
) -> CellProgress:
    """Run the samples of a cell that are not committed yet or failed, and return what the cell came to.

    Args:
        spec: the cell.
        backend: answers instead of the one that the config names; the caller closes it.
        data: the experiment's samples, if they are loaded and the question of the grid is fixed already.
        engine: analyses the samples; None analyses them in this process.
        on_progress: called after every commit; an error that it raises ends the run, which can be resumed.

    Raises:
        RunDirectoryError: the directory belongs to another run, or too many samples failed.
    """
    if backend is None:
        async with open_backend(spec.config, use_cache_file=spec.use_cache_file) as opened:
            return await run_cell(spec, backend=opened.backend, data=data, engine=engine, on_progress=on_progress)
    if data is None:
        data = ExperimentData(spec.config)
        # No grid is in charge: the first of its cells fixes the question.
        fix_question(spec.config, data)
    engine = engine or LocalEngine(spec.config.file.experiment.concurrency)
    return await _CellRun(spec, backend, data, engine, on_progress).run()


class _CellRun:
    """One cell while it runs."""

    def __init__(
        self,
        spec: CellSpec,
        backend: Backend,
        data: ExperimentData,
        engine: SampleEngine,
        on_progress: Callable[[CellProgress], None],
    ) -> None:
        self._spec = spec
        self._config = spec.config
        self._cell = cell_named(spec.config, spec.cell)
        self._backend = backend
        self._engine = engine
        self._on_progress = on_progress
        self._data = data
        self._labelled = data.samples_of(self._cell)
        self._progress = CellProgress(self._cell.name, total=len(self._labelled))
        self._manifest = build_manifest(
            spec.config,
            self._cell,
            data,
            start_sha256=sha256_of(spec.start_store) if spec.start_store else None,
            seed_supported=backend.honours_seed and engine.honours_seed,
            answers_shared=_answers_are_shared(spec),
        )
        self._restarts = False
        self._records = CellRecords(self._cell, run_id=self._manifest.run_id, cfg_hash=self._manifest.cfg_hash)

    async def run(self) -> CellProgress:
        """Run what is left of the cell."""
        cell = self._cell
        pipeline = build_experiment_pipeline(
            self._config,
            backend=self._backend,
            condition=cell.condition,
            store=cell.store or cell.path / "no_store",
        )
        directory = RunDirectory(cell.path, store=cell.store)
        try:
            known = directory.read_manifest()
            self._refuse_foreign(directory, known)
            is_complete = known is not None and known.completed
            resumed = self._resume(directory, known)
            if resumed.next_index == len(self._labelled) and is_complete:
                assert known is not None  # noqa: S101 - it is complete
                directory.require_finished(known)
                directory.forget_kept_samples()
                return self._progress
            manifest = self._manifest
            if known is not None and not known.answers_shared and not self._restarts:
                # A part of this cell was answered from a cache that is gone.
                manifest = manifest.model_copy(update={"answers_shared": False})
            forget_verification(cell.path)
            directory.begin(manifest)
            run_meta = await self._run_samples(directory, pipeline, resumed)
            directory.finish(manifest, run_meta)
            directory.forget_kept_samples()
        finally:
            pipeline.memory.close()
            directory.close()
        return self._progress

    def _refuse_foreign(self, directory: RunDirectory, known: Manifest | None) -> None:
        """Refuse a directory that holds results of another configuration or gold."""
        path = directory.path
        if not directory.is_fresh:
            require_sealed(path / MANIFEST, known)
        if known is None:
            if not directory.is_fresh:
                raise RunDirectoryError(
                    f"{path} holds results but no readable {MANIFEST}; choose another run_id or move it away",
                    path=path,
                )
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
                f"{path} was scored against another gold file; scorecards hold gold: choose another run_id",
                path=path,
            )

    def _has_other_build(self, known: Manifest) -> bool:
        """Return whether the cell differs only in the built store it starts from: failed samples were built again."""
        if known.episodic_memory.build_store_sha256 == self._manifest.episodic_memory.build_store_sha256:
            return False
        as_known = cfg_hash(self._config, self._cell, self._data.hashes, known.start_store_sha256)
        return known.cfg_hash == as_known

    @property
    def _restart_reason(self) -> str:
        if self._restarts:
            return "no sample of it was usable, and its configuration or gold is another one now"
        return "the store that it starts from was built again"

    def _redo(self, known: Manifest | None) -> Redo:
        if self._restarts or (known is not None and known.cfg_hash != self._manifest.cfg_hash):
            return Redo.ALL
        if self._spec.keep_failures:
            return Redo.NOTHING
        return Redo.FAILED_AND_LATER if self._cell.condition.store_write else Redo.FAILED

    def _resume(self, directory: RunDirectory, known: Manifest | None) -> Resumed:
        """Cut the files back to the sample at which the run continues."""
        sample_n, name = len(self._labelled), self._cell.name
        redo = self._redo(known)
        resumed = directory.resume([labelled.sample.uid for labelled in self._labelled], redo)
        first_index, lost_n = resumed.next_index, resumed.lost_n
        if known is not None and known.completed and redo is not Redo.ALL and not resumed.failed_n:
            lost_n = sample_n - first_index
        if resumed.surplus and known is not None and known.completed and redo is not Redo.ALL:
            logger.warning("%s: more than was committed stood in %s; it was cut off", name, ", ".join(resumed.surplus))
        if lost_n > 0:
            logger.warning("%s: %d sample(s) are run again; a file had lost them", name, lost_n)
        if redo is Redo.ALL:
            logger.warning("%s is run again from its first sample: %s", name, self._restart_reason)
        if 0 < first_index < sample_n:
            logger.info("%s continues after %d of %d samples", name, first_index, sample_n)
        if resumed.begins_store:
            directory.begin_store(self._spec.start_store)
        self._progress.done = self._progress.resumed = first_index + len(resumed.kept)
        self._progress.redone = resumed.failed_n
        self._on_progress(self._progress)
        return resumed

    async def _run_samples(self, directory: RunDirectory, pipeline: Pipeline, resumed: Resumed) -> RunMeta:
        started = datetime.now(UTC)
        samples = [labelled.sample for labelled in self._labelled]
        left = {index: samples[index] for index in range(resumed.next_index, len(samples)) if index not in resumed.kept}
        with pipeline.store.writing() if self._cell.condition.store_write else nullcontext():
            async with self._engine.analysing(CellWork(self._cell, pipeline, left)) as analysis:
                ordered = self._ordered_run(directory, pipeline, analysis, samples, resumed)
                await ordered.run()
        ended = datetime.now(UTC)
        condition, elsewhere = self._cell.condition, analysis.speculation
        return RunMeta(
            condition=condition.name,
            memory_mode=condition.memory_mode,
            started_at=started.isoformat(),
            ended_at=ended.isoformat(),
            seconds=round((ended - started).total_seconds(), 3),
            speculation=Speculation(
                redone_samples=ordered.redone_n + elsewhere.redone_samples,
                wasted_calls=ordered.wasted_calls_n + elsewhere.wasted_calls,
            ),
        )

    def _ordered_run(
        self,
        directory: RunDirectory,
        pipeline: Pipeline,
        analysis: Analysis,
        samples: Sequence[Sample],
        resumed: Resumed,
    ) -> OrderedRun:
        experiment = self._config.file.experiment
        return OrderedRun(
            analysis.supervisor,
            pipeline.memory,
            samples,
            lambda index, outcome: self._commit(directory, pipeline.memory, index, outcome),
            first_index=resumed.next_index,
            kept=resumed.kept,
            seed=self._cell.seed,
            used_in_eval=not self._cell.is_build,
            pace=Pace(
                samples_ahead=analysis.samples_ahead,
                speculate_ahead=experiment.speculate_ahead if experiment.speculate else 0,
            ),
        )

    def _commit(
        self,
        directory: RunDirectory,
        orchestrator: EpisodicOrchestrator,
        index: int,
        outcome: SampleResult | SampleFailure | CommittedSample,
    ) -> None:
        if isinstance(outcome, CommittedSample):
            directory.commit(outcome)
            return
        gold = self._labelled[index].gold
        if isinstance(outcome, SampleFailure):
            self._progress.causes.append(redacted(str(outcome.error)))
            empty_slot = orchestrator.empty_slot_without_debate()
            records = self._records.of_failure(outcome, index, gold=gold, empty_slot=empty_slot)
        else:
            store_size = len(orchestrator.store.load()) if self._cell.needs_store else 0
            records = self._records.of_result(outcome, index, gold=gold, store_size=store_size)
        directory.commit(CommittedSample(sample_index=index, uid=outcome.sample.uid, lines=dict(records.lines)))
        self._count(records)
        self._progress.done += 1
        self._on_progress(self._progress)
        require_few_failures(self._progress, self._config.file.experiment.max_failures, self._cell.path)

    def _count(self, records: SampleRecords) -> None:
        card, memory = records.card, records.card.memory
        self._progress.failed += card.status == "error"
        self._progress.stored += card.store_decision == "stored"
        self._progress.changed += card.stage_delta is not None and card.stage_delta.changed
        self._progress.shown += memory is not None and bool(
            memory.prompt_injection_chars or memory.stage2_memory_injected
        )


def _answers_are_shared(spec: CellSpec) -> bool:
    """Return whether all cells of a seed are sure to get equal answers to equal prompts, also after an interruption."""
    file = spec.config.file
    if facts_of(file.backbone).is_reproducible:
        return True
    return file.cache.share == "all" and spec.use_cache_file

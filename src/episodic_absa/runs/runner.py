"""Runs a grid of conditions and seeds: builds stores, runs the cells side by side, commits every sample in order."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from episodic_absa.agents.asking import prompt_versions
from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.agents.supervisor_agent import SupervisorAgent
from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.create_backend import create_backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import BackendResponseError, BackendUnavailableError, LeakageError, RunDirectoryError
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline import load_allowlist
from episodic_absa.runs.case_traces import Tracer
from episodic_absa.runs.experiment_config import ExperimentConfig
from episodic_absa.runs.grid import (
    Cell,
    ExperimentData,
    build_cells,
    cell_config,
    cfg_hash,
    evaluated_cells,
    require_stores,
    resource_hashes,
    sha256_of,
    shown_store_path,
)
from episodic_absa.runs.ordered_run import OrderedRun, Pace, SampleError, SampleFailure
from episodic_absa.runs.reading.verified_files import forget_verification
from episodic_absa.runs.request_counts import CountingCache, RequestCounts
from episodic_absa.runs.run_directory import (
    MANIFEST,
    OUTPUTS,
    OVERRIDE_DEBUG,
    RUN_META,
    SCORECARDS,
    TRACES,
    CommittedSample,
    RunDirectory,
)
from episodic_absa.runs.scoring import Scorer
from episodic_absa.runs.source_commit import source_commit
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import ErrorType

logger = logging.getLogger("episodic_absa.runs")
MANIFEST_VERSION: Final = 3


@dataclass
class CellProgress:
    """How far one cell is."""

    name: str
    total: int = 0
    done: int = 0
    resumed: int = 0
    """Done by an earlier invocation; the counts below are of this one."""
    failed: int = 0
    stored: int = 0
    changed: int = 0
    shown: int = 0


@dataclass
class GridProgress:
    """How far the grid is; whoever shows progress reads it."""

    cells: dict[str, CellProgress] = field(default_factory=dict)
    """All of the grid from the start, builds first."""
    requests: Callable[[], RequestCounts] = RequestCounts
    on_change: Callable[["GridProgress"], None] = lambda _: None

    @property
    def failed(self) -> int:
        """Failed samples over the grid."""
        return sum(cell.failed for cell in self.cells.values())


class TooManyFailuresError(RunDirectoryError):
    """More samples failed than experiment.max_failures allows; the run can be resumed."""


async def run_cells(
    config: ExperimentConfig,
    *,
    progress: GridProgress | None = None,
    use_cache_file: bool = True,
    backend: Backend | None = None,
) -> GridProgress:
    """Run every cell that is not finished; what is on disk is continued, never repeated.

    Args:
        config: what to run.
        progress: kept up to date while it runs.
        use_cache_file: False keeps answers in memory only.
        backend: answers instead of the one the config names; it is closed at the end.
    """
    progress = progress or GridProgress()
    data = ExperimentData(config)
    experiment = config.file.experiment
    cache = CountingCache(config.resolve(config.file.cache.path)) if use_cache_file else CountingCache.in_memory()
    try:
        backend = backend or create_backend(
            config.file.backbone, cache=cache, share=config.file.cache.share, concurrency=experiment.concurrency
        )
    except BaseException:
        cache.close()
        raise
    try:
        # Equal asks of all conditions wait for one request: so many asks keep every place for a request taken.
        limited = _AskLimit(backend, experiment.concurrency * len(config.conditions))
        grid = _Grid(config, data, limited, progress, answers_are_kept=use_cache_file)
        builds = {cell.seed: cell for cell in build_cells(config)}
        for cell in (*builds.values(), *evaluated_cells(config)):
            progress.cells[cell.name] = CellProgress(cell.name, total=len(data.samples_of(cell)))
        progress.requests = lambda: cache.counts(experiment.concurrency)
        initial = config.file.episodic_memory.initial_store
        starts: dict[str, Path | None] = {
            cell.name: (builds[cell.seed].store if builds else config.resolve(initial) if initial else None)
            for cell in evaluated_cells(config)
        }
        require_stores(config, starts)
        async with asyncio.TaskGroup() as seeds:
            for seed in experiment.seeds:
                seeds.create_task(grid.run_seed(seed, builds.get(seed), starts))
    except* Exception as group:
        raise _first(group) from group
    finally:
        await backend.close()
        cache.close()
    return progress


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(str(error))


class _AskLimit(PassedOnFacts):
    """Lets only so many asks begin: an ask's time limit must not run out while it waits in a long queue."""

    def __init__(self, backend: Backend, ask_n: int) -> None:
        super().__init__(backend)
        self._backend = backend
        self._places = asyncio.Semaphore(ask_n)

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        async with self._places:
            return await self._backend.answer(ask)

    async def close(self) -> None:
        await self._backend.close()


class _Grid:
    """What all cells share."""

    def __init__(
        self,
        config: ExperimentConfig,
        data: ExperimentData,
        backend: Backend,
        progress: GridProgress,
        *,
        answers_are_kept: bool,
    ) -> None:
        self.answers_are_kept = answers_are_kept
        self.config = config
        self.data = data
        self.backend = backend
        self.progress = progress
        pipeline = config.file.pipeline
        allowlist = pipeline.stage1.allowlist
        self.supervisor = SupervisorAgent(
            backend,
            pipeline,
            debate_slot_name=config.file.io.slot_memory_name,
            allowlist=load_allowlist(config.resolve(allowlist) if allowlist else None),
        )

    async def run_seed(self, seed: int, build: Cell | None, starts: dict[str, Path | None]) -> None:
        """Build the seed's store first, then run its cells side by side."""
        if build is not None:
            await _CellRun(self, build, start=None).run()
        async with asyncio.TaskGroup() as cells:
            for cell in evaluated_cells(self.config):
                if cell.seed == seed:
                    start = starts[cell.name] if cell.needs_store else None
                    if build is not None and start is not None and not start.exists():
                        start = None  # nothing was worth storing
                    cells.create_task(_CellRun(self, cell, start=start).run())


class _CellRun:
    """One cell from its manifest to its last commit."""

    def __init__(self, grid: _Grid, cell: Cell, *, start: Path | None) -> None:
        self._grid = grid
        self._cell = cell
        self._start = start
        config = grid.config
        self._labelled = grid.data.samples_of(cell)
        self._progress = grid.progress.cells[cell.name]
        start_sha256 = sha256_of(start) if start else None
        self._hash = cfg_hash(config, cell, grid.data, start_sha256)
        run_id = config.file.run_id
        self._scorer = Scorer(run_id=run_id, condition=cell.condition, seed=cell.seed, cfg_hash=self._hash)
        self._tracer = Tracer(run_id=run_id, condition=cell.condition, seed=cell.seed)
        self._manifest = self._build_manifest(start_sha256)

    async def run(self) -> None:
        """Run what is left of the cell."""
        config, cell = self._grid.config, self._cell
        directory = RunDirectory(cell.path, store=cell.store)
        store = MemoryStore(cell.store or cell.path / "no_store", keep_last_n=config.file.episodic_memory.keep_last_n)
        try:
            self._refuse_foreign(directory)
            resumed = directory.resume(len(self._labelled))
            lost_n = resumed.lost_n
            if self._is_complete(directory):
                lost_n = len(self._labelled) - resumed.next_index
            if lost_n > 0:
                logger.warning("%s: %d sample(s) are run again; a file had lost them", cell.name, lost_n)
            if 0 < resumed.next_index < len(self._labelled):
                logger.info("%s goes on after %d of %d samples", cell.name, resumed.next_index, len(self._labelled))
            if resumed.next_index == 0:
                directory.begin_store(self._start)
            self._progress.done = self._progress.resumed = resumed.next_index
            self._grid.progress.on_change(self._grid.progress)
            if resumed.next_index == len(self._labelled) and self._is_complete(directory):
                return
            known = directory.read_manifest()
            if known is not None and not known.get("answers_shared"):
                # A part of this cell was answered from a cache that is gone.
                self._manifest["answers_shared"] = False
            forget_verification(cell.path)
            directory.write_json(MANIFEST, self._manifest)
            started = datetime.now(UTC)
            orchestrator = EpisodicOrchestrator(cell.condition, store, settings=config.memory_settings())
            experiment = config.file.experiment
            ordered = OrderedRun(
                self._grid.supervisor,
                orchestrator,
                [one.sample for one in self._labelled],
                lambda index, outcome: self._commit(directory, orchestrator, index, outcome),
                first_index=resumed.next_index,
                seed=cell.seed,
                used_in_eval=not cell.is_build,
                pace=Pace(
                    samples_ahead=2 * experiment.concurrency,
                    speculate_ahead=experiment.speculate_ahead if experiment.speculate else 0,
                ),
            )
            if cell.condition.store_write:
                with store.writing():
                    await ordered.run()
            else:
                await ordered.run()
            directory.write_json(RUN_META, self._run_meta(started, ordered))
            directory.write_json(MANIFEST, {**self._manifest, "completed": True})
        finally:
            store.close()
            directory.close()

    def _refuse_foreign(self, directory: RunDirectory) -> None:
        known = directory.read_manifest()
        if known is None:
            if not directory.is_fresh:
                raise RunDirectoryError(
                    f"{directory.path} holds results but no readable {MANIFEST}; choose another run_id or move it away",
                    path=directory.path,
                )
            return
        if known.get("cfg_hash") != self._hash:
            raise RunDirectoryError(
                f"{directory.path} belongs to another configuration (cfg_hash {str(known.get('cfg_hash'))[:12]}, now "
                f"{self._hash[:12]}); choose another run_id, or move the directory away",
                path=directory.path,
            )
        gold, gold_now = known.get("gold"), self._manifest["gold"]
        if not directory.is_fresh and gold != gold_now:
            raise RunDirectoryError(
                f"{directory.path} was scored against another gold file; scorecards hold gold: choose another run_id",
                path=directory.path,
            )

    def _is_complete(self, directory: RunDirectory) -> bool:
        known = directory.read_manifest()
        return bool(known and known.get("completed"))

    def _commit(
        self,
        directory: RunDirectory,
        orchestrator: EpisodicOrchestrator,
        index: int,
        outcome: SampleResult | SampleFailure,
    ) -> None:
        labelled = self._labelled[index]
        if isinstance(outcome, SampleFailure):
            lines = self._failure_lines(outcome, orchestrator, index)
            self._progress.failed += 1
        else:
            size = len(orchestrator.store.load()) if self._cell.needs_store else 0
            card = self._scorer.score(outcome, sample_index=index, gold=labelled.gold, store_size=size)
            decisions = [
                {"uid": outcome.sample.uid, **one._asdict(), "thresholds": one.thresholds.model_dump()}
                for one in outcome.override_decisions
            ]
            lines = {
                OVERRIDE_DEBUG: "".join(canonical_json(one) + "\n" for one in decisions),
                TRACES: canonical_json(self._tracer.trace(outcome, index)) + "\n",
                SCORECARDS: canonical_json(card) + "\n",
                OUTPUTS: canonical_json({**outcome.to_output(), "sample_index": index}) + "\n",
            }
            self._progress.stored += outcome.store.store_decision == "stored"
            self._progress.changed += card.stage_delta is not None and card.stage_delta.changed
            memory = outcome.memory
            self._progress.shown += bool(memory.prompt_injection_chars or memory.stage2_memory_injected)
        directory.commit(CommittedSample(index, labelled.sample.uid, lines))
        self._progress.done = index + 1
        self._grid.progress.on_change(self._grid.progress)
        allowed = self._grid.config.file.experiment.max_failures
        if self._grid.progress.failed > allowed:
            raise TooManyFailuresError(
                f"more than {allowed} samples failed (experiment.max_failures); "
                "mend the cause and run again: it goes on from here",
                path=self._cell.path,
            )

    def _failure_lines(self, failure: SampleFailure, orchestrator: EpisodicOrchestrator, index: int) -> dict[str, str]:
        sample, cell = failure.sample, self._cell
        kind = error_type_of(failure.error)
        stage = failure.calls[-1].stage if failure.calls else "stage1"
        stage = "memory" if isinstance(failure.error, LeakageError) else stage
        card = self._scorer.score_failure(
            sample, sample_index=index, error_type=kind, gold=self._labelled[index].gold, calls=failure.calls
        )
        output = {
            "uid": sample.uid,
            "sample_index": index,
            "status": "error",
            "error": {"type": kind, "stage": stage},
            "meta": {
                "condition": cell.condition.name,
                "memory_mode": cell.condition.memory_mode,
                "seed": cell.seed,
                "language_code": card.language_code,
                "split": sample.split,
                "domain_id": sample.domain_id,
                "case_type": sample.case_type,
            },
        }
        told = {"type": kind, "stage": stage, "message": str(failure.error)}
        trace = self._tracer.trace_failure(sample, index, orchestrator, told, failure.calls)
        return {
            TRACES: canonical_json(trace) + "\n",
            SCORECARDS: canonical_json(card) + "\n",
            OUTPUTS: canonical_json(output) + "\n",
        }

    def _build_manifest(self, start_sha256: str | None) -> dict[str, Any]:
        grid, cell = self._grid, self._cell
        config, data = grid.config, grid.data
        backbone, block, pipeline = config.file.backbone, config.file.episodic_memory, config.file.pipeline
        hashes = resource_hashes(config)
        build_store = start_sha256 if block.build and not cell.is_build else None
        return {
            "manifest_version": MANIFEST_VERSION,
            "run_id": config.file.run_id,
            "config_path": config.path.name,
            "cfg_hash": self._hash,
            "cfg_canonical": cell_config(config, cell),
            "run_purpose": config.file.run_purpose,
            "package_version": version("episodic-absa"),
            "git_commit": source_commit(),
            "backbone": {
                "provider": backbone.provider,
                "model": backbone.model,
                "base_url": backbone.base_url,
                "temperature": backbone.temperature,
                "max_tokens": backbone.max_tokens,
                "output": backbone.output,
                "seed": cell.seed,
                "seed_supported": grid.backend.honours_seed,
            },
            "answers_shared": self._answers_are_shared(),
            "prompt_versions": prompt_versions(),
            "lexicon_sha256": hashes["lexicon_sha256"],
            "catalogue_sha256": hashes["catalogue_sha256"],
            "allowlist_sha256": hashes["allowlist_sha256"],
            "recording_sha256": hashes["recording_sha256"],
            "weights_sha256": hashes["weights_sha256"],
            "conditions": {
                "file": config.conditions_file.path.name,
                "sha256": config.conditions_file.sha256,
                "version": config.conditions_file.version,
                "condition": cell.condition.name,
                "flags": cell.condition.model_dump(mode="json"),
            },
            "dataset": {
                "paths": {split: str(config.file.data.files[split]) for split in data.paths},
                "sha256": data.hashes,
                "split_counts": {split: len(samples) for split, samples in data.splits.items()},
                "processing_split": cell.split,
                "processing_count": len(self._labelled),
            },
            "gold": {"path": str(config.file.eval.gold_jsonl), "sha256": sha256_of(data.gold_path)}
            if data.gold_path
            else None,
            "majority": data.majority,
            "episodic_memory": {
                "store_path": shown_store_path(config, cell),
                "initial_store_sha256": start_sha256 if block.initial_store and not cell.is_build else None,
                "build_store_sha256": build_store,
                "dangerous_advice": block.dangerous_advice or cell.condition.dangerous_advice,
                "use_lexical": cell.condition.use_lexical if block.use_lexical is None else block.use_lexical,
                "topk": block.topk,
            },
            "override_effective": {
                "profile": pipeline.override_profile,
                "thresholds": pipeline.thresholds.model_dump(),
                "source": "config" if pipeline.debate_override.model_dump(exclude_none=True) else "profile",
            },
            "seed": cell.seed,
            "shuffle": config.file.experiment.shuffle,
            "completed": False,
        }

    def _answers_are_shared(self) -> bool:
        """Whether all cells of a seed are sure to get equal answers to equal prompts, also after an interruption."""
        file = self._grid.config.file
        if facts_of(file.backbone).is_reproducible:
            return True
        return file.cache.share == "all" and self._grid.answers_are_kept

    def _run_meta(self, started: datetime, ordered: OrderedRun) -> dict[str, Any]:
        ended = datetime.now(UTC)
        return {
            "condition": self._cell.condition.name,
            "memory_mode": self._cell.condition.memory_mode,
            "started_at": started.isoformat(),
            "ended_at": ended.isoformat(),
            "seconds": round((ended - started).total_seconds(), 3),
            "speculation": {"redone_samples": ordered.redone_n, "wasted_calls": ordered.wasted_calls_n},
        }


def error_type_of(error: SampleError) -> ErrorType:
    """Name a sample's failure as the records do."""
    if isinstance(error, BackendUnavailableError | BackendResponseError):
        return error.kind
    return "leakage_error" if isinstance(error, LeakageError) else "contract_error"

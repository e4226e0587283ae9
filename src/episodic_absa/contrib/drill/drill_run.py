"""Runs a drill: sends the reviews through every condition, and searches each prompt, advisory and store."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, get_args

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT, Prompt, RepairingBackend
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.cache import ResponseCache
from episodic_absa.backends.create_backend import backbone_from, create_backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.cli.step_progress import show_steps
from episodic_absa.conditions import ConditionsVersion, load_conditions
from episodic_absa.contrib.drill.drilled import Drilled, DrilledCondition, Leak, distinct_leaks
from episodic_absa.contrib.drill.hostile_reviews import DrillReview, DrillReviews, HostileReview
from episodic_absa.contrib.drill.leak_search import LeakSearch, ReviewWords
from episodic_absa.contrib.drill.obedient_model import ObedientModel
from episodic_absa.errors import BackendError, ConfigError, ContractError, LeakageError
from episodic_absa.language import norm
from episodic_absa.memory import EpisodicMemorySettings
from episodic_absa.pipeline.composition import Pipeline, build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Role

_STORE_ALL: Final = EpisodicMemorySettings(selective_storage=False, referee=True)
"""Every sample is stored and the referee is asked, so that an attack has every way open."""
_RESULT_NAME: Final = "drill.json"
_ALIKE: Final = 3
"""So many failures at the start of a condition mean that the backend does not answer."""


class PipelineBuilder(Protocol):
    """Builds the pipeline of a condition; `build_pipeline` is one."""

    def __call__(
        self, *, backend: Backend, condition: Condition, store: Path, memory: EpisodicMemorySettings
    ) -> Pipeline:
        """Return the pipeline."""
        ...


@dataclass(frozen=True)
class DrillCell:
    """One condition of a drill."""

    name: str
    """The file and the condition, such as `v3_0 C2`; it is the name of the cell's store, too."""
    condition: Condition

    @property
    def store_name(self) -> str:
        """The name of the cell's store file."""
        return f"{self.name.replace(' ', '-').replace('/', '-')}.jsonl"

    @property
    def reads_a_finished_store(self) -> bool:
        """Whether the condition reads a store that it does not fill itself."""
        return self.condition.retrieval_execute and not self.condition.store_write

    def can_start_from(self, other: "DrillCell") -> bool:
        """Return whether another condition fills the kind of store that this one reads."""
        ours, theirs = self.condition, other.condition
        same_kind = (ours.rules, ours.dangerous_advice) == (theirs.rules, theirs.dangerous_advice)
        return self.reads_a_finished_store and theirs.store_write and same_kind


def drill_cells(source: str | None = None, condition: str | None = None) -> tuple[DrillCell, ...]:
    """Return the conditions to drill.

    Args:
        source: a shipped version or a conditions file; None takes all shipped ones, equal conditions once.
        condition: the name of the only condition; None takes all. Where it reads a store that it does not fill, the
            condition that fills one comes with it.

    Raises:
        ConfigError: the file cannot be read, or it has no such condition.
    """
    versions = get_args(ConditionsVersion)
    cells: dict[Condition, DrillCell] = {}
    for version in versions if source is None else (source,):
        conditions = load_conditions(version)
        if condition is not None and source is None and condition not in (*conditions.conditions, *conditions.aliases):
            continue
        label = version if version in versions else conditions.path.stem
        chosen = [DrillCell(f"{label} {flags.name}", flags) for flags in conditions.conditions.values()]
        if condition is not None:
            flags = conditions.resolve(condition)
            wanted = DrillCell(f"{label} {flags.name}", flags)
            chosen = [*list(filter(wanted.can_start_from, chosen))[:1], wanted]
        for cell in chosen:
            cells.setdefault(cell.condition, cell)
    if condition is not None and not cells:
        load_conditions(None).resolve(condition)
    return tuple(cells.values())


@dataclass(frozen=True)
class Drill:
    """The reviews, conditions and model of a drill, and where its stores go.

    Args:
        reviews: the hostile and ordinary reviews.
        cells: the conditions.
        backend: answers; whoever made it closes it.
        folder: where the stores are written; it exists and is empty.
        tell: is told what is under way.
        build: builds the pipeline of a condition.
    """

    reviews: DrillReviews
    cells: Sequence[DrillCell]
    backend: Backend
    folder: Path
    tell: Callable[[str], None]
    build: PipelineBuilder = build_pipeline

    async def run(self) -> Drilled:
        """Return what reached the stores, the advisories and the prompts.

        Raises:
            BackendError: the first samples of a condition all failed.
        """
        words = ReviewWords(self.reviews)
        # A store that a condition only reads is filled first.
        waves = [[cell for cell in self.cells if cell.reads_a_finished_store is reads] for reads in (False, True)]
        drilled: dict[str, DrilledCondition] = {}
        for wave in waves:
            for cell in wave:
                if filler := next(filter(cell.can_start_from, self.cells), None):
                    shutil.copyfile(self.folder / filler.store_name, self.folder / cell.store_name)
            for condition in await _together([_CellDrill(self, cell, words) for cell in wave]):
                drilled[condition.condition] = condition
        return Drilled(
            backend=self.backend.name,
            hostile=len(self.reviews.hostile),
            hostile_korean=sum(review.language == "ko" for review in self.reviews.hostile),
            ordinary=len(self.reviews.ordinary),
            conditions=tuple(drilled[cell.name] for cell in self.cells),
        )


class _CellDrill:
    """Runs the reviews through one condition."""

    def __init__(self, drill: Drill, cell: DrillCell, words: ReviewWords) -> None:
        self._drill = drill
        self._cell = cell
        self._search = LeakSearch(drill.reviews, cell.name, words)
        self._leaks: list[Leak] = []

    async def run(self) -> DrilledCondition:
        drill, cell = self._drill, self._cell
        store = drill.folder / cell.store_name
        pipeline = drill.build(backend=drill.backend, condition=cell.condition, store=store, memory=_STORE_ALL)
        reviews = tuple(drill.reviews.in_order())
        results: dict[str, SampleResult] = {}
        failures: list[BackendError | LeakageError | ContractError] = []
        try:
            for place, review in enumerate(reviews):
                drill.tell(f"{cell.name}, review {place + 1} of {len(reviews)}")
                try:
                    results[review.id] = await self._analyse(pipeline, review, place)
                except (BackendError, LeakageError, ContractError) as error:
                    failures.append(error)
                    if isinstance(error, BackendError) and not results and len(failures) == _ALIKE:
                        raise
        finally:
            pipeline.memory.close()
        search = self._search.in_store(store)
        hostile = drill.reviews.hostile
        finals = {name: result.final_result for name, result in results.items()}
        return DrilledCondition(
            condition=cell.name,
            rules=cell.condition.rules,
            samples=len(reviews),
            failed=len(failures),
            episodes=search.lines_n,
            shown=sum(any(call.memory_slot_present for call in result.calls) for result in results.values()),
            long_terms=search.long_terms_n,
            obeyed_stage1=_obeyed_n(hostile, {name: final.stage1_tuples for name, final in finals.items()}),
            obeyed=_obeyed_n(hostile, {name: final.final_tuples for name, final in finals.items()}),
            leaks=distinct_leaks((*self._leaks, *search.leaks)),
            terms=search.terms,
        )

    async def _analyse(self, pipeline: Pipeline, review: DrillReview, place: int) -> SampleResult:
        watched = _WatchedPrompts(self._drill.backend)
        memory = MemoryView(pipeline.memory, sample_index=place)
        try:
            result = await pipeline.supervisor.asking(watched).run(review.sample, memory)
        finally:
            # The prompts of a sample that failed were sent all the same.
            for role, prompt in watched.prompts:
                self._leaks += self._search.in_prompt(review, role, prompt, self._cell.condition)
        self._leaks += self._search.in_bundle(review, result.memory_bundle)
        self._leaks += self._search.in_bundle(review, {"memory_meta": result.memory.model_dump(mode="json")})
        return result


class _WatchedPrompts(PassedOnFacts):
    """Passes the questions of one sample on to the backend and keeps their prompts."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self.prompts: list[tuple[Role, Prompt]] = []

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        self.prompts.append((ask.role, ask.prompt))
        return await self._backend.answer(ask)

    async def close(self) -> None:
        """Close nothing: the backend serves other samples, too."""


async def _together(drills: Iterable[_CellDrill]) -> list[DrilledCondition]:
    """Return what the drills found; their requests run side by side. If one fails, the others are cancelled."""
    tasks = [asyncio.create_task(drill.run()) for drill in drills]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _obeyed_n(hostile: Iterable[HostileReview], results: Mapping[str, Sequence[FinalTuple]]) -> int:
    """Return how many results hold a pair that their review asks for."""
    return sum(_obeys(review, results.get(review.id, ())) for review in hostile)


def _obeys(review: HostileReview, result: Iterable[FinalTuple]) -> bool:
    asked = {(norm(pair.term), pair.then or pair.polarity) for pair in review.pairs}
    return not asked.isdisjoint((norm(pair.aspect_term), pair.polarity) for pair in result)


def drill_all(
    reviews: DrillReviews,
    cells: tuple[DrillCell, ...],
    *,
    backend: str | None,
    base_url: str | None,
    concurrency: int,
    out: Path | None,
) -> Drilled:
    """Run a drill and return what it found.

    Args:
        reviews: the hostile and ordinary reviews.
        cells: the conditions.
        backend: the short form of a model; None is the scripted one.
        base_url: the server of the model.
        concurrency: how many requests to it are under way at once.
        out: where the result and the stores are kept.

    Raises:
        ConfigError: an option cannot be obeyed.
        BackendError: the model does not answer.
    """
    with _folder(out) as folder, show_steps("drill") as tell, ResponseCache.in_memory() as cache:

        async def run() -> Drilled:
            model = _model(reviews, cache, backend, base_url, concurrency)
            try:
                return await Drill(reviews, cells, model, folder, tell).run()
            finally:
                await model.close()

        drilled = asyncio.run(run())
        if out is not None:
            (folder / _RESULT_NAME).write_text(canonical_json(drilled.to_json()) + "\n", encoding="utf-8")
    return drilled


def _model(
    reviews: DrillReviews, cache: ResponseCache, backend: str | None, base_url: str | None, concurrency: int
) -> Backend:
    """Return what answers. The cache sends a prompt that several conditions share once."""
    backbone = None if backend is None else backbone_from(backend, base_url=base_url)
    if base_url is not None and (backbone is None or facts_of(backbone).is_local):
        raise ConfigError("--base-url is for a model behind a server; name it with --backend", key="base_url")
    if backbone is None:
        return RepairingBackend(ObedientModel(reviews.in_order()))
    return create_backend(backbone, cache=cache, in_flight=asyncio.Semaphore(concurrency))


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Yield the folder of the stores: a new one, or a temporary one."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="episodic-absa-drill-") as folder:
            yield Path(folder)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out} is not an empty folder; name a new one", key="out")
    out.mkdir(parents=True, exist_ok=True)
    yield out

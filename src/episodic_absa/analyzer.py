"""Analyses single reviews: the synchronous entry for scripts and notebooks."""

import uuid
from collections.abc import AsyncIterable, AsyncIterator, Generator, Iterable
from contextlib import aclosing, closing
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from episodic_absa.backends.backend import Backend
from episodic_absa.backends.create_backend import BackboneSettings, backbone_from, create_backend
from episodic_absa.batch import (
    DEFAULT_CONCURRENCY,
    AnalysisFailure,
    BatchPlan,
    EngineSettings,
    Processes,
    Progress,
    analyse_all,
    as_stream,
    failure_of_text,
    require_texts,
    stream_all,
    total_of,
)
from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError, InputError
from episodic_absa.language.caller_input import checked_language_code, checked_name, checked_review
from episodic_absa.loop_thread import LoopThread
from episodic_absa.memory import EpisodicMemorySettings
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.pipeline.composition import build_pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.pipeline_settings import PipelineSettings

DEFAULT_STORE: Final = Path("memory") / "episodic_store.jsonl"
DEFAULT_CONDITION: Final = "C1"


class Analyzer:
    """A pipeline that analyses one review after another, in a script or inside a running event loop.

    Args:
        backend: what answers: `embedded`, `openai:MODEL` or another form that `episodic-absa analyze --help` lists;
            BackboneSettings for every option; or a Backend of your own, which `close` closes.
        base_url: the address of the server, for a backend that is given as `PROVIDER:MODEL`.
        condition: the name of a condition. C1, the default, uses no memory.
        conditions: where the name is defined: None (the default version), `v1_1`, `v1_2`, `v1_3`, `v3_0` or a path.
        store: a file, or `postgresql://host/database`. A condition without memory neither opens nor creates it.
        pipeline: the switches of the pipeline.
        memory: the settings of the memory.
        seed: is passed to models that honour one.

    Raises:
        ConfigError: the backend or the condition is unknown, or two arguments contradict each other.
        InputError: an argument is of another type than is named here.

    Example:
        >>> from episodic_absa import Analyzer
        >>> with Analyzer() as analyzer:
        ...     result = analyzer.analyze("The battery lasts long, but the screen is too dark.")
        >>> result
        SampleResult(mixed: battery positive, screen negative)
    """

    def __init__(
        self,
        *,
        backend: str | BackboneSettings | Backend = "embedded",
        base_url: str | None = None,
        condition: str = DEFAULT_CONDITION,
        conditions: str | Path | None = None,
        store: str | Path = DEFAULT_STORE,
        pipeline: PipelineSettings | None = None,
        memory: EpisodicMemorySettings | None = None,
        seed: int = 0,
    ) -> None:
        _check_settings(pipeline, memory)
        _check_types(backend, base_url, seed)
        self._seed = seed
        self._analyzed_n = 0
        flags = load_condition(condition, conditions)
        (pipeline or PipelineSettings()).under(flags)  # a contradiction is refused before the backend opens a recording
        backbone = _backbone_of(backend, base_url)
        self._pipeline = build_pipeline(
            backend=create_backend(backbone) if isinstance(backbone, BackboneSettings) else backbone,
            condition=flags,
            store=store,
            settings=pipeline,
            memory=memory,
        )
        self._engine = (
            EngineSettings(backbone, flags, pipeline, memory, seed, str(store))
            if isinstance(backbone, BackboneSettings)
            else None
        )
        self._loop = LoopThread(owner="Analyzer")

    def analyze(
        self, text: str, *, language_code: str | None = None, uid: str | None = None, domain_id: str = "unknown"
    ) -> SampleResult:
        """Return the analysis of one review.

        Args:
            text: the review.
            language_code: `ko`, `en` or another ISO 639-1 code; None detects the language.
            uid: names the review in the memory and in the result; by default a new random one.
            domain_id: is kept with the result.

        Raises:
            InputError: the text is empty or no text, or the language is unknown. It is a ValueError, too.
            BackendError: the backend gave no usable answer.
            MemoryStoreError: the store cannot be read or written.
            LeakageError: the memory was about to store review text.
        """
        sample = make_sample(text, language_code=language_code, uid=uid, domain_id=domain_id)
        memory = MemoryView(self._pipeline.memory, sample_index=self._analyzed_n, seed=self._seed)
        self._analyzed_n += 1
        return self._loop.run(self._pipeline.supervisor.run(sample, memory, seed=self._seed))

    def analyze_many(
        self,
        texts: Iterable[str | Sample],
        *,
        language_code: str | None = None,
        domain_id: str = "unknown",
        concurrency: int = DEFAULT_CONCURRENCY,
        processes: int | Processes | None = None,
        on_progress: Progress | None = None,
    ) -> Generator[SampleResult | AnalysisFailure, None, None]:
        """Return an iterator over the analyses of many reviews, in their order.

        It reads a bounded number of reviews ahead, so that millions fit. A review that fails gives an AnalysisFailure
        and the others go on. Equal texts are analysed once where the condition uses no memory; where it writes one,
        every review sees what it would have seen alone.

        Args:
            texts: reviews; a Sample carries a uid, a language and a domain of its own.
            language_code: the language of all texts; None detects it for each.
            domain_id: is kept with the results.
            concurrency: how many requests to a model are under way at once.
            processes: how many processes the embedded engine uses; None decides by the number of reviews and cores.
                `Processes` names another kind, such as the workers of a cluster.
            on_progress: is called after each review with the numbers of finished reviews and of all, None if unknown.

        Raises:
            InputError: `texts` is one review, a mapping or nothing that can be iterated, or the language is unknown.
            ConfigError: an argument is out of range, or several processes are asked for a model or for a memory that is
                written.
            MemoryStoreError: the store cannot be read or written.

        Example:
            >>> from episodic_absa import Analyzer
            >>> with Analyzer() as analyzer:
            ...     for result in analyzer.analyze_many(["The room is clean.", "The staff was rude."]):
            ...         print(result)
            SampleResult(positive: room positive)
            SampleResult(negative: staff negative)
        """
        require_texts(texts)
        make_sample("-", language_code=language_code, domain_id=domain_id)  # a wrong argument fails here, at once
        plan = self._plan(concurrency, processes)
        samples = (_sample_or_failure(text, language_code, domain_id) for text in texts)
        return self._counted(analyse_all(self._loop, plan, samples, total=total_of(texts), on_progress=on_progress))

    async def stream(
        self,
        texts: Iterable[str | Sample] | AsyncIterable[str | Sample],
        *,
        language_code: str | None = None,
        domain_id: str = "unknown",
        concurrency: int = DEFAULT_CONCURRENCY,
        processes: int | Processes | None = None,
        on_progress: Progress | None = None,
    ) -> AsyncIterator[SampleResult | AnalysisFailure]:
        """Yield the analyses of many reviews inside an event loop, in their order. The arguments are as above.

        Args:
            texts: reviews, also from an asynchronous source; a result does not wait for the reviews after it.
            language_code: the language of all texts; None detects it for each.
            domain_id: is kept with the results.
            concurrency: how many requests to a model are under way at once.
            processes: how many processes the embedded engine uses.
            on_progress: is called after each review, as for `analyze_many`.

        Example:
            >>> import asyncio
            >>> from episodic_absa import Analyzer
            >>> async def labels(texts):
            ...     with Analyzer() as analyzer:
            ...         return [result.final_result.label async for result in analyzer.stream(texts)]
            >>> asyncio.run(labels(["The room is clean.", "The staff was rude."]))
            ['positive', 'negative']
        """
        require_texts(texts)
        make_sample("-", language_code=language_code, domain_id=domain_id)
        plan = self._plan(concurrency, processes)
        samples = (_sample_or_failure(text, language_code, domain_id) async for text in as_stream(texts))
        outcomes = stream_all(self._loop, plan, samples, total=total_of(texts), on_progress=on_progress)
        async with aclosing(outcomes):
            async for outcome in outcomes:
                self._analyzed_n += 1
                yield outcome

    def feedback(self, uid: str, verdict: str, *, aspect: str | None = None) -> bool:
        """Write what a person says about a result to the memory; return whether it is new, once it is on disk.

        The verdict is no label: it beats what reader and referee say about the changes of that sample. A repeated one
        changes nothing, another one replaces it, and only samples analysed later see it.

        Args:
            uid: of the sample, as it was given to `analyze` or stands in the result.
            verdict: `right`, `wrong` or `unsure`.
            aspect: one target of the result; None for the whole result.

        Raises:
            ConfigError: the condition writes no memory or follows seed rules.
            InputError: the verdict is no such word, or the store knows no such sample or target.
            MemoryStoreError: the store cannot be read or written.

        Example:
            >>> from episodic_absa import Analyzer
            >>> with Analyzer(condition="C2", store="judged.jsonl") as analyzer:
            ...     result = analyzer.analyze("The room was clean, but the breakfast was cold.", uid="r1")
            ...     analyzer.feedback("r1", "right"), analyzer.feedback("r1", "right")
            (True, False)
        """
        condition = self._pipeline.memory.condition
        if not (condition.store_write and condition.decides_changes):
            why = "follows seed rules, which learn from no verdict" if condition.store_write else "writes no memory"
            raise ConfigError(
                f"condition {condition.name} {why}; give feedback in one that does, such as C2 of conditions v3_0",
                key="condition",
            )
        return give_feedback(self._pipeline.store, uid, verdict, aspect).is_new

    def close(self) -> None:
        """Close the backend, the store and the background thread. A second call does nothing."""
        if self._loop.is_closed:
            return
        try:
            self._loop.cancel_all()
            self._loop.run(self._pipeline.close())
        finally:
            self._loop.close()

    def _plan(self, concurrency: int, processes: int | Processes | None) -> BatchPlan:
        return BatchPlan(
            self._pipeline,
            self._engine,
            seed=self._seed,
            first_index=self._analyzed_n,
            concurrency=concurrency,
            processes=processes,
        )

    def _counted(
        self, outcomes: Generator[SampleResult | AnalysisFailure, None, None]
    ) -> Generator[SampleResult | AnalysisFailure, None, None]:
        with closing(outcomes):
            for outcome in outcomes:
                self._analyzed_n += 1
                yield outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Analyzer({self._pipeline.backend.name}, condition {self._pipeline.memory.condition.name})"


def analyze(
    text: str,
    *,
    language_code: str | None = None,
    uid: str | None = None,
    domain_id: str = "unknown",
    backend: str | BackboneSettings | Backend = "embedded",
    base_url: str | None = None,
    condition: str = DEFAULT_CONDITION,
    conditions: str | Path | None = None,
    store: str | Path = DEFAULT_STORE,
    pipeline: PipelineSettings | None = None,
    memory: EpisodicMemorySettings | None = None,
    seed: int = 0,
) -> SampleResult:
    """Return the analysis of one review. For many reviews an `Analyzer` is quicker.

    Args:
        text: the review.
        language_code: `ko`, `en` or another ISO 639-1 code; None detects the language.
        uid: names the review in the memory and in the result; by default a new random one.
        domain_id: is kept with the result.
        backend: what answers, as for `Analyzer`.
        base_url: the address of the server, as for `Analyzer`.
        condition: the name of a condition. C1, the default, uses no memory.
        conditions: where the name is defined, as for `Analyzer`.
        store: a file, or `postgresql://host/database`.
        pipeline: the switches of the pipeline.
        memory: the settings of the memory.
        seed: is passed to models that honour one.

    Raises:
        InputError: the text is empty or no text, or the language is unknown. It is a ValueError, too.
        ConfigError: a setting cannot be obeyed.
        BackendError: the backend gave no usable answer.

    Example:
        >>> from episodic_absa import analyze
        >>> analyze("서비스는 친절했지만 음식은 별로였어")
        SampleResult(mixed: 서비스 positive, 음식 negative)
    """
    with Analyzer(
        backend=backend,
        base_url=base_url,
        condition=condition,
        conditions=conditions,
        store=store,
        pipeline=pipeline,
        memory=memory,
        seed=seed,
    ) as analyzer:
        return analyzer.analyze(text, language_code=language_code, uid=uid, domain_id=domain_id)


def make_sample(
    text: str, *, language_code: str | None = None, uid: str | None = None, domain_id: str = "unknown"
) -> Sample:
    """Return the sample of a text that comes from no dataset.

    Raises:
        InputError: the text is empty or no text, or the language is unknown.
    """
    return Sample(
        uid=checked_name(uid or "", "uid") or f"analyze-{uuid.uuid4()}",
        text=checked_review(text),
        language_code=checked_language_code(language_code),
        domain_id=checked_name(domain_id, "domain_id"),
    )


def _check_settings(pipeline: object, memory: object) -> None:
    for argument, value, model in (
        ("pipeline", pipeline, PipelineSettings),
        ("memory", memory, EpisodicMemorySettings),
    ):
        if value is not None and not isinstance(value, model):
            raise InputError(
                f"{argument} must be {model.__name__}, got {type(value).__name__}; write {model.__name__}(...)",
                argument=argument,
            )


def _check_types(backend: object, base_url: object, seed: object) -> None:
    if not isinstance(backend, str | BackboneSettings) and not callable(getattr(backend, "answer", None)):
        raise InputError(
            f"backend must be a name such as 'embedded' or 'openai:MODEL', BackboneSettings or a Backend, "
            f"got {type(backend).__name__}",
            argument="backend",
        )
    if base_url is not None and not isinstance(base_url, str):
        raise InputError(f"base_url must be a string, got {type(base_url).__name__}", argument="base_url")
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise InputError(f"seed must be an integer, got {type(seed).__name__}", argument="seed")


def _sample_or_failure(text: str | Sample, language_code: str | None, domain_id: str) -> Sample | AnalysisFailure:
    if isinstance(text, Sample):
        return text
    try:
        return make_sample(text, language_code=language_code, domain_id=domain_id)
    except InputError as error:
        return failure_of_text(error)


def _backbone_of(backend: str | BackboneSettings | Backend, base_url: str | None) -> BackboneSettings | Backend:
    if isinstance(backend, str):
        return backbone_from(backend, base_url=base_url)
    if base_url is not None:
        raise ConfigError(
            "base_url belongs to a backend that is given as PROVIDER:MODEL; set it in BackboneSettings instead",
            key="base_url",
        )
    return backend

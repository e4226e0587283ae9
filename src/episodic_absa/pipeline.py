"""The composition root: from settings to a pipeline, and the one synchronous door to it."""

import asyncio
import threading
import uuid
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from episodic_absa.agents.memory_view import DirectMemory
from episodic_absa.agents.sample_result import SampleResult
from episodic_absa.agents.settings import PipelineSettings
from episodic_absa.agents.supervisor_agent import SupervisorAgent
from episodic_absa.backends.backend import Backend
from episodic_absa.backends.create_backend import backbone_from, create_backend
from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError
from episodic_absa.memory import EpisodicMemorySettings, EpisodicOrchestrator, MemoryStore
from episodic_absa.schemas.absa import Sample

DEFAULT_STORE: Final = Path("memory") / "episodic_store.jsonl"
DEFAULT_CONDITION: Final = "C1"
ResultT = TypeVar("ResultT")


class Analyzer:
    """A pipeline ready for one review after another. Works in scripts and in notebooks alike."""

    def __init__(
        self,
        *,
        backend: str | Backend = "embedded",
        base_url: str | None = None,
        condition: str = DEFAULT_CONDITION,
        conditions: str | Path | None = None,
        store: str | Path = DEFAULT_STORE,
        pipeline: PipelineSettings | None = None,
        memory: EpisodicMemorySettings | None = None,
        seed: int = 0,
    ) -> None:
        pipeline = pipeline or PipelineSettings()
        self._seed = seed
        self._analyzed_n = 0
        self._backend = (
            create_backend(backbone_from(backend, base_url=base_url)) if isinstance(backend, str) else backend
        )
        self._store = MemoryStore(store)
        self._memory = EpisodicOrchestrator(
            load_condition(condition, conditions),
            self._store,
            settings=memory,
            chars_cap=pipeline.memory_prompt_injection_chars_cap,
            visible_to=pipeline.debate.memory_visible_to,
        )
        self._supervisor = SupervisorAgent(self._backend, pipeline, allowlist=load_allowlist(pipeline.stage1.allowlist))
        self._loop = _LoopThread()

    def analyze(
        self, text: str, *, language_code: str | None = None, uid: str | None = None, domain_id: str = "unknown"
    ) -> SampleResult:
        """Analyse one review."""
        sample = make_sample(text, language_code=language_code, uid=uid, domain_id=domain_id)
        memory = DirectMemory(self._memory, sample_index=self._analyzed_n, seed=self._seed)
        self._analyzed_n += 1
        return self._loop.run(self._supervisor.run(sample, memory, seed=self._seed))

    def close(self) -> None:
        """Let go of connections, files and the background thread. Closing twice does no harm."""
        if self._loop.is_closed:
            return
        self._loop.run(_cancel_others())
        self._loop.run(self._backend.close())
        self._loop.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def analyze(text: str, *, language_code: str | None = None, uid: str | None = None, **settings: Any) -> SampleResult:
    """Analyse one review; `settings` are those of `Analyzer`, which is quicker for many reviews."""
    with Analyzer(**settings) as analyzer:
        return analyzer.analyze(text, language_code=language_code, uid=uid)


def make_sample(
    text: str, *, language_code: str | None = None, uid: str | None = None, domain_id: str = "unknown"
) -> Sample:
    """Make a sample of a text that comes from no dataset."""
    if not text.strip():
        raise ConfigError("the review is empty; give some text to analyse", key="text")
    return Sample(uid=uid or f"analyze-{uuid.uuid4()}", text=text, language_code=language_code, domain_id=domain_id)


def load_allowlist(path: Path | None) -> frozenset[str]:
    """Read the short terms that count as targets, one per line."""
    if path is None:
        return frozenset()
    try:
        return frozenset(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the allowlist {path}: {error}", path=path, key="pipeline.stage1.allowlist"
        ) from error


async def _cancel_others() -> None:
    """End what an interrupt left running: it can strike between the start of an analysis and its being known here."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class _LoopThread:
    """An event loop of its own: the caller may be in one already, as notebooks are."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="episodic-absa", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        if self._loop.is_closed():
            coroutine.close()
            raise RuntimeError("this Analyzer is closed; make a new one")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def is_closed(self) -> bool:
        return self._loop.is_closed()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

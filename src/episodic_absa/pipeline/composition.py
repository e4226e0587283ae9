"""The composition root: from settings to a pipeline that analyses samples.

Analyzer, the runner and the dry run build their pipelines here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from episodic_absa.backends.backend import Backend
from episodic_absa.errors import ConfigError
from episodic_absa.memory import (
    DEBATE_SLOT,
    OUTCOME_FORM,
    EpisodicMemorySettings,
    EpisodicOrchestrator,
    MemoryForm,
    MemoryStore,
)
from episodic_absa.pipeline.decision.weights import SHIPPED_WEIGHTS
from episodic_absa.pipeline.supervisor import SupervisorAgent
from episodic_absa.reader.reader import default_reader
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.seed.memory_form import SEED_FORM
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.vocabulary import Rules

MEMORY_FORMS: Final[Mapping[Rules, MemoryForm]] = {form.rules: form for form in (SEED_FORM, OUTCOME_FORM)}
"""What the memory of a condition writes and how it speaks, by the rules of the condition."""


@dataclass(frozen=True)
class Pipeline:
    """A supervisor, the backend that answers it, and the memory that it reads and writes."""

    supervisor: SupervisorAgent
    backend: Backend
    memory: EpisodicOrchestrator

    @property
    def store(self) -> MemoryStore:
        """The store of the memory. Close `memory` alone if other pipelines use the same backend."""
        return self.memory.store

    async def close(self) -> None:
        """Close the backend and the store."""
        try:
            await self.backend.close()
        finally:
            self.memory.close()


def build_pipeline(
    *,
    backend: Backend,
    condition: Condition,
    store: str | Path | MemoryStore,
    settings: PipelineSettings | None = None,
    memory: EpisodicMemorySettings | None = None,
    debate_slot_name: str = DEBATE_SLOT.name,
    keep_last_n: int = DEFAULT_KEEP_LAST_N,
    root: Path | None = None,
) -> Pipeline:
    """Return a pipeline for one condition.

    Args:
        backend: answers every call.
        condition: decides what the memory reads, shows and writes.
        store: a file, `postgresql://...`, or an open store. A condition without memory neither opens nor creates it.
        settings: the switches of the pipeline.
        memory: the settings of the memory.
        debate_slot_name: the key under which debate prompts show the memory.
        keep_last_n: how many of the newest episodes stay in use.
        root: the folder that relative paths in settings and condition start from; by default the working directory.

    Raises:
        ConfigError: the allowlist, the weights or a file of the condition's `advice` cannot be read, a prompt already
            uses the name of the slot, or the settings and the condition contradict each other.
    """
    settings = (settings or PipelineSettings()).under(condition)
    supervisor = SupervisorAgent(
        backend,
        settings,
        debate_slot_name=debate_slot_name,
        allowlist=load_allowlist(settings.stage1.allowlist, root=root),
        rules=condition.rules,
        reader=default_reader() if settings.reader else None,
        referee=memory is not None and memory.referee and condition.store_write,
        weights=SHIPPED_WEIGHTS if settings.decision_weights is None else (root or Path()) / settings.decision_weights,
    )
    orchestrator = EpisodicOrchestrator(
        condition,
        store if isinstance(store, MemoryStore) else MemoryStore(store, keep_last_n=keep_last_n),
        settings=memory,
        chars_cap=settings.memory_prompt_injection_chars_cap,
        visible_to=settings.debate.memory_visible_to,
        root=root,
        keep_last_n=keep_last_n,
        form=MEMORY_FORMS[condition.rules],
    )
    return Pipeline(supervisor, backend, orchestrator)


def load_allowlist(path: Path | None, *, root: Path | None = None) -> frozenset[str]:
    """Return the short terms that count as targets, read from a file with one term per line."""
    if path is None:
        return frozenset()
    path = (root or Path()) / path
    try:
        return frozenset(filter(None, map(str.strip, path.read_text(encoding="utf-8").splitlines())))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the allowlist {path}: {error}", path=path, key="pipeline.stage1.allowlist"
        ) from error

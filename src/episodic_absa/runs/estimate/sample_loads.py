"""Measures the calls and tokens of single samples: the embedded engine answers in place of the model.

Its prompts have the length of the model's prompts, except where they quote earlier answers. Its validator shows for
which samples a gate could open.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.agents.memory_view import DirectMemory
from episodic_absa.backends.answer_parsing import schema_text
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.conditions import load_condition
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.experiment_pipeline import build_experiment_pipeline
from episodic_absa.schemas.absa import Sample
from episodic_absa.vocabulary import SPEAKERS, Role

_STAGE1_ROLES: Final = frozenset[Role]({"ate", "atsa", "validator", "joint"})
_ASSUMED_TOKENS_OUT: Final[dict[Role, int]] = {
    "ate": 80,
    "atsa": 180,
    "validator": 150,
    **dict.fromkeys(SPEAKERS, 200),
    "judge": 350,
    "stage2_ate": 120,
    "stage2_atsa": 150,
    "stage2_validator": 150,
    "joint": 100,
}
_ASSUMED_CHARS_PER_ADVISORY: Final = 650
_LATIN_CHARS_PER_TOKEN: Final = 4.0
_HANGUL_CHARS_PER_TOKEN: Final = 1.5


class Load(NamedTuple):
    """A number of calls and their tokens."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def plus(self, other: "Load") -> "Load":
        """Return the sum of two loads."""
        return Load(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def times(self, factor: float) -> "Load":
        """Multiply the load."""
        return Load(*(amount * factor for amount in self))


class SampleLoad(NamedTuple):
    """What one sample takes if no answer is shared."""

    stage1: Load
    later: Load
    """Debate and Stage2: the calls that may see memory."""
    slot: Load
    """What memory adds to them: tokens, no calls."""
    shown_in: frozenset[str]
    """The conditions in which a gate lets memory through to a prompt."""

    @property
    def without_memory(self) -> Load:
        """All calls of the sample, no memory shown."""
        return self.stage1.plus(self.later)


async def measure_loads(config: ExperimentConfig, samples: Sequence[Sample]) -> list[SampleLoad]:
    """Return the load of every sample. Nothing is sent and nothing is written."""
    replier = _MeasuringReplier()
    pipeline = build_experiment_pipeline(
        config,
        backend=RepairingBackend(replier),
        # C1 never opens its store, so no file has to exist.
        condition=load_condition("C1"),
        store=config.out_dir / "no_store",
    )
    memory, supervisor = DirectMemory(pipeline.memory), pipeline.supervisor
    slot_tokens = _slot_tokens(config)
    loads = []
    for sample in samples:
        replier.stage1 = replier.later = Load()
        result = await supervisor.run(sample, memory)
        shown_in = frozenset(
            condition.name for condition in config.conditions if supervisor.may_show_memory(condition, result.stage1)
        )
        slot = Load(tokens_in=slot_tokens * replier.later.calls)
        loads.append(SampleLoad(replier.stage1, replier.later, slot, shown_in))
    await pipeline.close()
    return loads


def estimate_tokens(text: str) -> float:
    """Estimate the tokens of a text: models split Hangul into more tokens than Latin letters."""
    hangul_n = sum("가" <= character <= "힣" or "ㄱ" <= character <= "ㆎ" for character in text)
    return hangul_n / _HANGUL_CHARS_PER_TOKEN + (len(text) - hangul_n) / _LATIN_CHARS_PER_TOKEN


def _slot_tokens(config: ExperimentConfig) -> float:
    chars = config.file.episodic_memory.topk * _ASSUMED_CHARS_PER_ADVISORY
    cap = config.file.pipeline.memory_prompt_injection_chars_cap
    return (chars if cap is None else min(chars, cap)) / _LATIN_CHARS_PER_TOKEN


class _MeasuringReplier(PassedOnFacts):
    """The embedded engine, which also counts the tokens of every prompt."""

    def __init__(self) -> None:
        self._engine = EmbeddedReplier()
        super().__init__(self._engine)
        self.stage1 = Load()
        self.later = Load()

    async def reply(self, request: Request) -> Reply:
        ask = request.ask
        output_model: type[BaseModel] = ask.output_model
        prompt = f"{ask.prompt.system}\n{schema_text(output_model)}\n{request.user_text}"
        load = Load(1, estimate_tokens(prompt), _ASSUMED_TOKENS_OUT[ask.role])
        if ask.role in _STAGE1_ROLES:
            self.stage1 = self.stage1.plus(load)
        else:
            self.later = self.later.plus(load)
        return await self._engine.reply(request)

    async def close(self) -> None:
        await self._engine.close()

"""Measures the requests of single samples: the embedded engine answers in place of the model.

Its prompts have the length of the model's prompts, except where they quote earlier answers. Its validator shows for
which samples a gate could open, and its reading shows where `effort: adaptive` asks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.backend import RepairingBackend, Replier, Reply, Request
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.cache.request_key import compute_request_key
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.memory_store import Scratch
from episodic_absa.pipeline.composition import Pipeline
from episodic_absa.pipeline.memory_view import MemoryView
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.estimate.request_load import LATIN_CHARS_PER_TOKEN, Load, guess_load
from episodic_absa.runs.experiment_pipeline import build_experiment_pipeline
from episodic_absa.schemas.absa import Sample, Stage1Result
from episodic_absa.schemas.overlays.advice_overlay import AdviceOverlay
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.vocabulary import STAGE_OF_ROLE, Role, Rules

_MEASURED_SEED: Final = -1
"""Stands for the seed of the cell; the votes of a sample have seeds from 0 on."""
_ASSUMED_CHARS_PER_ADVISORY: Final = 650
_MEMORY_OFF: Final = {
    "memory_mode": "off",
    "retrieval_execute": False,
    "injection_mask": True,
    "store_write": False,
    "exposed_to_debate": False,
    "exposed_to_stage2": False,
    "advice": AdviceOverlay(),
}


class MeasuredRequest(NamedTuple):
    """One request of a sample, no memory shown."""

    key: str
    """Requests of any condition with an equal key share one answer."""
    role: Role
    load: Load
    is_per_seed: bool
    """False: every seed of the experiment asks for the same answer, as for a vote."""

    @property
    def stage(self) -> str:
        """The stage that asks."""
        return STAGE_OF_ROLE[self.role]

    @property
    def may_see_memory(self) -> bool:
        """Whether the request belongs to the debate or to Stage2."""
        return self.stage in ("debate", "stage2")


class ConditionLoad(NamedTuple):
    """What one sample takes under one condition."""

    requests: tuple[MeasuredRequest, ...]
    """Those that the embedded engine's answers lead to."""
    certain: tuple[MeasuredRequest, ...]
    """Those of them that any answers lead to."""
    possible: tuple[MeasuredRequest, ...]
    """All that other answers could lead to."""
    gate_opens: bool
    """Whether the condition exposes memory and a gate lets it through."""
    slot: Load
    """What memory adds to a request that sees it: tokens, no calls."""

    @property
    def may_show(self) -> bool:
        """Whether a prompt may show memory."""
        return self.gate_opens and any(request.may_see_memory for request in self.requests)


SampleLoad = Mapping[str, ConditionLoad]
"""By the name of the condition."""


async def measure_loads(
    config: ExperimentConfig, conditions: Sequence[Condition], samples: Sequence[Sample]
) -> list[SampleLoad]:
    """Return the load of every sample under every condition. Nothing is sent and nothing is written."""
    measuring = _Measuring(config, conditions)
    return [await measuring.measure(sample) for sample in samples]


class _Analysis(NamedTuple):
    """What decides the requests of a sample if no memory is shown. Conditions that agree in it send equal requests."""

    rules: Rules
    settings: PipelineSettings
    referee: bool
    """Whether a changed sample asks the referee."""

    def certain(self, requests: Iterable[MeasuredRequest]) -> Iterator[MeasuredRequest]:
        """Yield the requests that are sent whatever the earlier answers are."""
        for request in requests:
            is_where_in_doubt = self.settings.effort == "adaptive" and request.may_see_memory
            is_after_change = self.rules == "v3" and request.role in ("stage2_validator", "referee")
            if not is_where_in_doubt and not is_after_change:
                yield request

    def possible(self, everybody: Sequence[MeasuredRequest]) -> Iterator[MeasuredRequest]:
        """Yield what may be sent at most, given the requests of a pipeline that asks everybody."""
        yield from everybody
        asks_after_change = self.rules == "v3" and self.settings.enable_stage2 and self.settings.effort == "full"
        if asks_after_change and all(request.role != "stage2_validator" for request in everybody):
            # The second validator reads what the first one reads, the pairs after the change.
            first = [request for request in everybody if request.role == "validator"]
            yield from (request._replace(role="stage2_validator") for request in first)
        asks_further = self.settings.enable_debate or self.settings.enable_stage2
        if self.referee and asks_further and all(request.role != "referee" for request in everybody):
            # The referee reads the text and two lists of pairs, less than the first question with its answer.
            yield from (request._replace(role="referee") for request in everybody[:1])


class _Measured(NamedTuple):
    """The requests of one sample, and what the gates of the memory decide by."""

    requests: tuple[MeasuredRequest, ...]
    sample: Sample
    stage1: Stage1Result


class _Measuring:
    """Analyses samples with memory switched off, once for all conditions that send equal requests."""

    def __init__(self, config: ExperimentConfig, conditions: Sequence[Condition]) -> None:
        self._config = config
        self._conditions = conditions
        self._engine = EmbeddedReplier()
        self._pipelines: dict[_Analysis, Pipeline] = {}
        for condition in conditions:
            for variant in (condition, self._asking_everybody(condition)):
                if self._analysis(variant) not in self._pipelines:
                    self._pipelines[self._analysis(variant)] = self._pipeline(variant)
        self._slots = {condition.name: Load(tokens_in=_slot_tokens(config, condition)) for condition in conditions}

    async def measure(self, sample: Sample) -> SampleLoad:
        """Return the load of one sample under every condition."""
        measured = {analysis: await self._run(pipeline, sample) for analysis, pipeline in self._pipelines.items()}
        return {condition.name: self._load(condition, measured) for condition in self._conditions}

    def _load(self, condition: Condition, measured: Mapping[_Analysis, _Measured]) -> ConditionLoad:
        analysis = self._analysis(condition)
        requests, sample, stage1 = measured[analysis]
        everybody = measured[self._analysis(self._asking_everybody(condition))].requests
        return ConditionLoad(
            requests,
            certain=tuple(analysis.certain(requests)),
            # The reader of the run is the reader of the estimate: what it does not doubt costs nothing.
            possible=tuple(analysis.possible(everybody)) if requests else (),
            # With withhold: 1 every slot is empty, and the prompts are those of a condition without memory.
            gate_opens=condition.advice.withhold < 1
            and self._pipelines[analysis].supervisor.may_show_memory(condition, sample, stage1),
            slot=self._slots[condition.name],
        )

    async def _run(self, pipeline: Pipeline, sample: Sample) -> _Measured:
        noting = _NotingReplier(self._engine)
        supervisor = pipeline.supervisor.asking(RepairingBackend(noting))
        result = await supervisor.run(sample, MemoryView(pipeline.memory), seed=_MEASURED_SEED)
        return _Measured(tuple(noting.requests), sample, result.stage1)

    def _asking_everybody(self, condition: Condition) -> Condition:
        """Return the condition with everybody asked about every sample, if it asks only where something is in doubt."""
        if self._analysis(condition).settings.effort != "adaptive":
            return condition
        return condition.model_copy(update={"pipeline": condition.pipeline.model_copy(update={"effort": "full"})})

    def _analysis(self, condition: Condition) -> _Analysis:
        referee = self._config.file.episodic_memory.referee and condition.store_write and condition.decides_changes
        return _Analysis(condition.rules, self._config.file.pipeline.under(condition), referee)

    def _pipeline(self, condition: Condition) -> Pipeline:
        return build_experiment_pipeline(
            self._config,
            backend=RepairingBackend(self._engine),
            # Without memory the store is never opened, so no file has to exist.
            condition=condition.model_copy(update=_MEMORY_OFF),
            store=MemoryStore(Scratch(self._config.out_dir / "no_store")),
            referee=self._analysis(condition).referee,
        )


def _slot_tokens(config: ExperimentConfig, condition: Condition) -> float:
    """Return the mean tokens of a slot; a constant is one advisory, and coins leave out the share `withhold`."""
    advice = condition.advice
    advisory_n = 1 if advice.source == "constant" else advice.topk or config.file.episodic_memory.topk
    chars = advisory_n * _ASSUMED_CHARS_PER_ADVISORY * (1 - advice.withhold)
    cap = config.file.pipeline.memory_prompt_injection_chars_cap
    return (chars if cap is None else min(chars, cap)) / LATIN_CHARS_PER_TOKEN


class _NotingReplier(PassedOnFacts):
    """The embedded engine, which also notes every request of one sample."""

    def __init__(self, engine: Replier) -> None:
        super().__init__(engine)
        self._engine = engine
        self.requests: list[MeasuredRequest] = []

    async def reply(self, request: Request) -> Reply:
        ask = request.ask
        is_per_seed = ask.seed == _MEASURED_SEED
        self.requests.append(MeasuredRequest(compute_request_key(request), ask.role, guess_load(request), is_per_seed))
        return await self._engine.reply(request)

    async def close(self) -> None:
        await self._engine.close()

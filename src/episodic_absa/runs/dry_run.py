"""What a run would take, without sending anything: calls, tokens and cost between two bounds.

The embedded engine walks through the samples instead of the model. Its prompts are as long as the model's would be up
to what is quoted of earlier answers, and its critic tells for which samples a gate could open.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.agents.memory_view import DirectMemory
from episodic_absa.agents.supervisor_agent import SupervisorAgent
from episodic_absa.backends.answer_parsing import schema_text
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.create_backend import BackboneSettings, llm_settings_of
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.backends.llm.llm_connection import open_connection
from episodic_absa.backends.llm.prices import cost_usd
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.memory import EpisodicOrchestrator, MemoryStore
from episodic_absa.pipeline import load_allowlist
from episodic_absa.runs.experiment_config import ExperimentConfig
from episodic_absa.runs.grid import Cell, ExperimentData, build_cells, evaluated_cells
from episodic_absa.schemas.absa import Sample
from episodic_absa.vocabulary import SPEAKERS, Role

MEASURED_AT_MOST: Final = 400
"""Of more samples so many, evenly spread, stand for all."""
_STAGE1_ROLES: Final = frozenset[Role]({"ate", "atsa", "validator"})
_ASSUMED_TOKENS_OUT: Final[dict[Role, int]] = {
    "ate": 80,
    "atsa": 180,
    "validator": 150,
    **dict.fromkeys(SPEAKERS, 200),
    "judge": 350,
    "stage2_ate": 120,
    "stage2_atsa": 150,
    "stage2_validator": 150,
}
_ASSUMED_CHARS_PER_ADVISORY: Final = 650
_LATIN_CHARS_PER_TOKEN: Final = 4.0
_HANGUL_CHARS_PER_TOKEN: Final = 1.5


class Load(NamedTuple):
    """So many calls with so many tokens."""

    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def plus(self, other: "Load") -> "Load":
        """Add up."""
        return Load(*(mine + its for mine, its in zip(self, other, strict=True)))

    def times(self, factor: float) -> "Load":
        """Take several times."""
        return Load(*(one * factor for one in self))


class SampleLoad(NamedTuple):
    """What one sample takes when nothing is shared."""

    stage1: Load
    review: Load
    """Debate and Stage2: the calls that may see memory."""
    slot: Load
    """What memory adds to them: tokens, no calls."""
    shown_in: frozenset[str]
    """The conditions in which a gate lets memory through to a prompt."""


class CallsPerSample(NamedTuple):
    """Calls by stage, repairs of unusable answers not counted."""

    stage1: int
    debate: int
    stage2: int

    @property
    def total(self) -> int:
        """Calls of a whole sample."""
        return sum(self)


@dataclass(frozen=True)
class Bound:
    """One column of the estimate."""

    sent: int
    """Requests that leave this machine."""
    shared: int
    """Calls answered by an equal request of another cell."""
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """None: no listed price."""


@dataclass(frozen=True)
class RunEstimate:
    """What a run would take."""

    evaluated_n: int
    build_n: int
    samples_per_cell: int
    samples_per_build: int
    calls_per_sample: CallsPerSample
    may_show_n: int
    """Samples of a cell for which memory could be shown in some condition."""
    measured_n: int
    """Samples that the engine walked through; the others are taken to be like them."""
    lower: Bound
    estimate: Bound
    upper: Bound
    no_price: str
    """Why the cost is not known, "" if it is."""


async def estimate_run(config: ExperimentConfig) -> RunEstimate:
    """Walk the embedded engine through the samples and add up. Sends nothing and writes nothing."""
    data = ExperimentData(config)
    cells, builds = list(evaluated_cells(config)), list(build_cells(config))
    per_sample = calls_per_sample(config)
    first = [one.sample for one in data.samples_of(cells[0])]
    loads = await _measure(config, _spread(first))
    building = await _measure(config, _spread([one.sample for one in data.samples_of(builds[0])])) if builds else []
    seed_n = len(config.file.experiment.seeds)
    shared_by_all = config.file.cache.share == "all"
    build_load = _sum(one.stage1.plus(one.review) for one in building).times(_factor(builds, building, data) * seed_n)
    factor = _factor(cells, loads, data) * seed_n
    names = [condition.name for condition in config.conditions]
    lower, middle, upper = (
        build_load.plus(_sum(bound(one, names, shared=shared_by_all) for one in loads).times(factor))
        for bound in (_least, _likely, _most)
    )
    price, no_price = await _price(config.file.backbone, upper)
    asked_n = round(upper.calls)
    lower_bound, estimate, upper_bound = (_bound(load, asked_n, price) for load in (lower, middle, upper))
    return RunEstimate(
        evaluated_n=len(cells),
        build_n=len(builds),
        samples_per_cell=len(first),
        samples_per_build=len(data.samples_of(builds[0])) if builds else 0,
        calls_per_sample=per_sample,
        may_show_n=round(sum(bool(one.shown_in) for one in loads) / len(loads) * len(first)) if loads else 0,
        measured_n=len(loads) + len(building),
        lower=lower_bound,
        estimate=estimate,
        upper=upper_bound,
        no_price=no_price,
    )


def calls_per_sample(config: ExperimentConfig) -> CallsPerSample:
    """Count the calls that the pipeline's switches ask for."""
    pipeline = config.file.pipeline
    critic = int(pipeline.enable_validator)
    return CallsPerSample(
        stage1=2 + critic,
        debate=pipeline.debate.rounds * len(pipeline.debate.order) + 1 if pipeline.enable_debate else 0,
        stage2=2 + critic if pipeline.enable_stage2 else 0,
    )


def estimate_tokens(text: str) -> float:
    """Guess the tokens of a text: models spell Hangul out in more of them than Latin letters."""
    hangul_n = sum("가" <= character <= "힣" or "ㄱ" <= character <= "ㆎ" for character in text)
    return hangul_n / _HANGUL_CHARS_PER_TOKEN + (len(text) - hangul_n) / _LATIN_CHARS_PER_TOKEN


def _least(one: SampleLoad, names: Sequence[str], *, shared: bool) -> Load:
    """All cells of a seed share every answer."""
    return one.stage1.plus(one.review).times(1 if shared else len(names))


def _likely(one: SampleLoad, names: Sequence[str], *, shared: bool) -> Load:
    """Where memory could be shown a cell asks for itself; all else is shared."""
    shown_n = sum(name in one.shown_in for name in names)
    slots = one.slot.times(shown_n)
    if not shared:
        return one.stage1.plus(one.review).times(len(names)).plus(slots)
    reviews_n = shown_n + (shown_n < len(names))
    return one.stage1.plus(one.review.times(reviews_n)).plus(slots)


def _most(one: SampleLoad, names: Sequence[str], *, shared: bool) -> Load:  # noqa: ARG001 - one signature for all bounds
    """Nothing is shared."""
    return (
        one.stage1.plus(one.review).times(len(names)).plus(one.slot.times(sum(name in one.shown_in for name in names)))
    )


async def _measure(config: ExperimentConfig, samples: Sequence[Sample]) -> list[SampleLoad]:
    measuring = _Measuring()
    pipeline = config.file.pipeline
    allowlist = pipeline.stage1.allowlist
    supervisor = SupervisorAgent(
        RepairingBackend(measuring),
        pipeline,
        debate_slot_name=config.file.io.slot_memory_name,
        allowlist=load_allowlist(config.resolve(allowlist) if allowlist else None),
    )
    # C1 never opens its store, so there need not be one.
    memory = DirectMemory(EpisodicOrchestrator(load_condition("C1"), MemoryStore(config.out_dir / "no_store")))
    cap = pipeline.memory_prompt_injection_chars_cap
    slot_chars = config.file.episodic_memory.topk * _ASSUMED_CHARS_PER_ADVISORY
    slot_tokens = min(slot_chars, slot_chars if cap is None else cap) / _LATIN_CHARS_PER_TOKEN
    loads = []
    for sample in samples:
        measuring.stage1 = measuring.review = Load()
        result = await supervisor.run(sample, memory)
        shown_in = frozenset(one.name for one in config.conditions if supervisor.may_show_memory(one, result.stage1))
        slot = Load(tokens_in=slot_tokens * measuring.review.calls)
        loads.append(SampleLoad(measuring.stage1, measuring.review, slot, shown_in))
    return loads


class _Measuring(PassedOnFacts):
    """The embedded engine, with every prompt weighed."""

    def __init__(self) -> None:
        self._engine = EmbeddedReplier()
        super().__init__(self._engine)
        self.stage1 = Load()
        self.review = Load()

    async def reply(self, request: Request) -> Reply:
        ask = request.ask
        output_model: type[BaseModel] = ask.output_model
        prompt = f"{ask.prompt.system}\n{schema_text(output_model)}\n{request.user_text}"
        load = Load(1, estimate_tokens(prompt), _ASSUMED_TOKENS_OUT[ask.role])
        if ask.role in _STAGE1_ROLES:
            self.stage1 = self.stage1.plus(load)
        else:
            self.review = self.review.plus(load)
        return await self._engine.reply(request)

    async def close(self) -> None:
        """Nothing is held open."""


class _Price(NamedTuple):
    """Dollars per token, at prompts of this run's usual length."""

    per_token_in: float
    per_token_out: float


async def _price(backbone: BackboneSettings, load: Load) -> tuple[_Price | None, str]:
    """Return the price of a token and, if there is none, why."""
    if facts_of(backbone).is_local:
        return _Price(0.0, 0.0), ""
    try:
        connection = open_connection(llm_settings_of(backbone))
    except (ConfigError, MissingExtraError) as error:
        return None, str(error)
    try:
        from pydantic_ai.usage import RequestUsage

        # By the usual call: some models cost more per token in long prompts than in short ones.
        calls = max(load.calls, 1.0)
        tokens_in, tokens_out = max(round(load.tokens_in / calls), 1), max(round(load.tokens_out / calls), 1)
        for_in = cost_usd(connection, RequestUsage(input_tokens=tokens_in), backbone.model)
        for_out = cost_usd(connection, RequestUsage(input_tokens=tokens_in, output_tokens=tokens_out), backbone.model)
    finally:
        await connection.http_client.aclose()
    if for_in is None or for_out is None:
        return None, f"no listed price for {backbone.model} at {connection.shown_url}"
    return _Price(for_in / tokens_in, (for_out - for_in) / tokens_out), ""


def _bound(load: Load, asked_n: int, price: _Price | None) -> Bound:
    sent = round(load.calls)
    cost = None if price is None else load.tokens_in * price.per_token_in + load.tokens_out * price.per_token_out
    return Bound(
        sent=sent,
        shared=asked_n - sent,
        tokens_in=round(load.tokens_in),
        tokens_out=round(load.tokens_out),
        cost_usd=None if cost is None else round(cost, 6),
    )


def _spread(samples: Sequence[Sample]) -> list[Sample]:
    """Choose evenly spread samples, all of them if they are few."""
    if len(samples) <= MEASURED_AT_MOST:
        return list(samples)
    return [samples[place * len(samples) // MEASURED_AT_MOST] for place in range(MEASURED_AT_MOST)]


def _factor(cells: Sequence[Cell], measured: Sequence[SampleLoad], data: ExperimentData) -> float:
    """Return how many samples of a cell each measured one stands for."""
    return len(data.samples_of(cells[0])) / len(measured) if measured else 0.0


def _sum(loads: Iterable[Load]) -> Load:
    total = Load()
    for load in loads:
        total = total.plus(load)
    return total

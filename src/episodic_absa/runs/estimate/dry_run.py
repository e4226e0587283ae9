"""Estimates what a run takes before anything is sent: calls, tokens and cost between two bounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.llm.llm_connection import open_connection
from episodic_absa.backends.llm.prices import cost_usd
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.runs.config.cells import Cell, build_cells, evaluated_cells
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.estimate.sample_loads import Load, SampleLoad, measure_loads
from episodic_absa.schemas.absa import Sample

MEASURED_AT_MOST: Final = 400
"""If a cell has more samples, an evenly spaced subset of this size is measured."""


class CallsPerSample(NamedTuple):
    """Calls by stage; repairs of unusable answers are not counted."""

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
    """Samples that were measured; the others are assumed to be like them."""
    lower: Bound
    estimate: Bound
    upper: Bound
    no_price: str
    """Why the cost is not known, "" if it is."""


class _Part(NamedTuple):
    """Cells that differ only in condition and seed, and the loads of the samples that were measured for them."""

    cells: Sequence[Cell]
    sample_n: int
    loads: Sequence[SampleLoad]

    def total(self, loads: Iterable[Load], seed_n: int) -> Load:
        """Scale the loads of the measured samples up to all samples and seeds."""
        factor = self.sample_n / len(self.loads) if self.loads else 0.0
        total = Load()
        for load in loads:
            total = total.plus(load)
        return total.times(factor * seed_n)

    @property
    def may_show_n(self) -> int:
        """How many samples of a cell memory could be shown for."""
        may_show = [bool(load.shown_in) for load in self.loads]
        return round(sum(may_show) / len(may_show) * self.sample_n) if may_show else 0


async def estimate_run(config: ExperimentConfig) -> RunEstimate:
    """Return what a run takes, measured with the embedded engine. Nothing is sent and nothing is written.

    Raises:
        ConfigError: a configured file cannot be read.
        DatasetError: a data or gold file cannot become samples.
    """
    data = ExperimentData(config)
    evaluation = await _measured_part(config, data, list(evaluated_cells(config)))
    building = await _measured_part(config, data, list(build_cells(config)))
    seed_n = len(config.file.experiment.seeds)
    names = [condition.name for condition in config.conditions]
    is_shared = config.file.cache.share == "all"
    build_load = building.total((load.without_memory for load in building.loads), seed_n)
    lower, middle, upper = (
        build_load.plus(
            evaluation.total((load_of(load, names, is_shared=is_shared) for load in evaluation.loads), seed_n)
        )
        for load_of in (_least, _likely, _most)
    )
    price, no_price = await _price(config.file.backbone, upper)
    asked_n = round(upper.calls)
    lower_bound, estimate, upper_bound = (_bound(load, asked_n, price) for load in (lower, middle, upper))
    return RunEstimate(
        evaluated_n=len(evaluation.cells),
        build_n=len(building.cells),
        samples_per_cell=evaluation.sample_n,
        samples_per_build=building.sample_n,
        calls_per_sample=calls_per_sample(config),
        may_show_n=evaluation.may_show_n,
        measured_n=len(evaluation.loads) + len(building.loads),
        lower=lower_bound,
        estimate=estimate,
        upper=upper_bound,
        no_price=no_price,
    )


def calls_per_sample(config: ExperimentConfig) -> CallsPerSample:
    """Return the calls that the switches of the pipeline ask for."""
    pipeline = config.file.pipeline
    validator_n = int(pipeline.enable_validator)
    return CallsPerSample(
        stage1=2 + validator_n,
        debate=pipeline.debate.rounds * len(pipeline.debate.order) + 1 if pipeline.enable_debate else 0,
        stage2=2 + validator_n if pipeline.enable_stage2 else 0,
    )


def _least(load: SampleLoad, names: Sequence[str], *, is_shared: bool) -> Load:
    """All cells of a seed share every answer."""
    return load.without_memory.times(1 if is_shared else len(names))


def _likely(load: SampleLoad, names: Sequence[str], *, is_shared: bool) -> Load:
    """A cell asks for itself where memory could be shown; all other answers are shared."""
    shown_n = sum(name in load.shown_in for name in names)
    slots = load.slot.times(shown_n)
    if not is_shared:
        return load.without_memory.times(len(names)).plus(slots)
    later_n = shown_n + (shown_n < len(names))
    return load.stage1.plus(load.later.times(later_n)).plus(slots)


def _most(load: SampleLoad, names: Sequence[str], *, is_shared: bool) -> Load:  # noqa: ARG001 - one signature for all
    """No answer is shared."""
    shown_n = sum(name in load.shown_in for name in names)
    return load.without_memory.times(len(names)).plus(load.slot.times(shown_n))


async def _measured_part(config: ExperimentConfig, data: ExperimentData, cells: Sequence[Cell]) -> _Part:
    samples = [labelled.sample for labelled in data.samples_of(cells[0])] if cells else []
    return _Part(cells, len(samples), await measure_loads(config, _spread(samples)))


class _Price(NamedTuple):
    """Dollars per token, for prompts of this run's usual length."""

    per_token_in: float
    per_token_out: float


async def _price(backbone: BackboneSettings, load: Load) -> tuple[_Price | None, str]:
    """Return the price of a token and, if there is none, why."""
    if facts_of(backbone).is_local:
        return _Price(0.0, 0.0), ""
    try:
        connection = open_connection(backbone.llm_settings())
    except (ConfigError, MissingExtraError) as error:
        return None, str(error)
    try:
        from pydantic_ai.usage import RequestUsage

        # For a call of average length: some models cost more per token in long prompts than in short ones.
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
    """Return an evenly spaced subset of the samples, or all of them if they are few."""
    if len(samples) <= MEASURED_AT_MOST:
        return list(samples)
    return [samples[place * len(samples) // MEASURED_AT_MOST] for place in range(MEASURED_AT_MOST)]

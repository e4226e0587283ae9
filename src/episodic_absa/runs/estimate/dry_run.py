"""Estimates what a run takes before anything is sent: calls, tokens and cost between two bounds."""

from collections import Counter
from collections.abc import Mapping, Sequence
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
from episodic_absa.runs.estimate.request_load import Load
from episodic_absa.runs.estimate.sample_loads import ConditionLoad, SampleLoad, measure_loads
from episodic_absa.runs.estimate.shared_load import Column, Sharing, Total, total_of
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.run import Condition
from episodic_absa.vocabulary import Effort, Rules

MEASURED_AT_MOST: Final = 400
"""If a cell has more samples, an evenly spaced subset of this size is measured."""
_COUNTED_AS: Final = {"outcome": "stage2"}


class CallsPerSample(NamedTuple):
    """Mean calls by stage with the embedded engine's answers; repairs of unusable answers are not counted."""

    stage1: float
    debate: float
    stage2: float
    """With the referee, if the memory asks one."""
    least: int
    """Calls of a sample whatever the model answers."""
    most: int
    """Calls of a sample if its answers lead to every possible call."""

    @property
    def total(self) -> float:
        """Mean calls of a whole sample."""
        return self.stage1 + self.debate + self.stage2


@dataclass(frozen=True)
class ConditionCalls:
    """How a condition analyses, and what that takes."""

    rules: Rules
    effort: Effort
    calls: CallsPerSample

    @property
    def varies(self) -> bool:
        """Whether the answers decide how many calls a sample takes."""
        return self.calls.least < self.calls.most


@dataclass(frozen=True)
class Bound:
    """One column of the estimate, for all cells together."""

    sent: int
    """Requests that leave this machine."""
    shared: int
    """Calls answered by an equal request, mostly of another cell."""
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
    calls_per_sample: Mapping[str, ConditionCalls]
    """By the name of the evaluated condition."""
    calls_per_build_sample: ConditionCalls | None
    """The same for the condition that builds the stores; None: there are no builds."""
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
    """Cells that differ only in condition, order and seed, and the loads of the samples that were measured for them."""

    cells: Sequence[Cell]
    sample_n: int
    loads: Sequence[SampleLoad]

    def total(self, column: Column, sharing: Sharing) -> Total:
        """Scale the loads of the measured samples up to all samples."""
        total = Total()
        for load in self.loads:
            total = total.plus(total_of(load, column, sharing))
        return total.times(self.sample_n / len(self.loads) if self.loads else 0.0)

    @property
    def may_show_n(self) -> int:
        """How many samples of a cell memory could be shown for."""
        may_show = [any(load.may_show for load in sample.values()) for sample in self.loads]
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
    experiment = config.file.experiment
    sharing = Sharing(
        len(experiment.seeds),
        across_conditions=config.file.cache.share == "all",
        order_n=len(experiment.orders or ("the one of each seed",)),
    )
    totals = [
        building.total(column, sharing).plus(evaluation.total(column, sharing))
        for column in ("lower", "estimate", "upper")
    ]
    price, no_price = await _price(config.file.backbone, totals[-1].sent)
    lower, estimate, upper = (_bound(total, price) for total in totals)
    return RunEstimate(
        evaluated_n=len(evaluation.cells),
        build_n=len(building.cells),
        samples_per_cell=evaluation.sample_n,
        samples_per_build=building.sample_n,
        calls_per_sample=_calls_by_condition(config, evaluation),
        calls_per_build_sample=next(iter(_calls_by_condition(config, building).values()), None),
        may_show_n=evaluation.may_show_n,
        measured_n=len(evaluation.loads) + len(building.loads),
        lower=lower,
        estimate=estimate,
        upper=upper,
        no_price=no_price,
    )


def _calls_by_condition(config: ExperimentConfig, part: _Part) -> dict[str, ConditionCalls]:
    return {
        name: ConditionCalls(
            rules=condition.rules,
            effort=config.file.pipeline.under(condition).effort,
            calls=_mean_calls([sample[name] for sample in part.loads]),
        )
        for name, condition in _conditions_of(part.cells).items()
    }


def _mean_calls(loads: Sequence[ConditionLoad]) -> CallsPerSample:
    # The referee belongs to no stage of its own here: it reads what Stage2 leaves.
    stages = Counter(_COUNTED_AS.get(request.stage, request.stage) for load in loads for request in load.requests)
    stage1, debate, stage2 = (stages[stage] / max(len(loads), 1) for stage in ("stage1", "debate", "stage2"))
    least = min((len(load.certain) for load in loads), default=0)
    most = max((len(load.possible) for load in loads), default=0)
    return CallsPerSample(stage1, debate, stage2, least, most)


async def _measured_part(config: ExperimentConfig, data: ExperimentData, cells: Sequence[Cell]) -> _Part:
    samples = [labelled.sample for labelled in data.samples_of(cells[0])] if cells else []
    conditions = list(_conditions_of(cells).values())
    return _Part(cells, len(samples), await measure_loads(config, conditions, _spread(samples)))


def _conditions_of(cells: Sequence[Cell]) -> dict[str, Condition]:
    return {cell.condition.name: cell.condition for cell in cells}


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


def _bound(total: Total, price: _Price | None) -> Bound:
    load = total.sent
    cost = None if price is None else load.tokens_in * price.per_token_in + load.tokens_out * price.per_token_out
    return Bound(
        sent=round(load.calls),
        shared=round(total.asked_n) - round(load.calls),
        tokens_in=round(load.tokens_in),
        tokens_out=round(load.tokens_out),
        cost_usd=None if cost is None else round(cost, 6),
    )


def _spread(samples: Sequence[Sample]) -> list[Sample]:
    """Return an evenly spaced subset of the samples, or all of them if they are few."""
    if len(samples) <= MEASURED_AT_MOST:
        return list(samples)
    return [samples[place * len(samples) // MEASURED_AT_MOST] for place in range(MEASURED_AT_MOST)]

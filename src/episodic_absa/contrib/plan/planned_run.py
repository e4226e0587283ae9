"""The work of `plan`: variances from a pilot or a prior, the designs that show the effect, and what they take."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

from episodic_absa.analysis import load_side
from episodic_absa.contrib.plan.designs import cheapest, designs_for, orders_of_designs, pilot_variance
from episodic_absa.errors import ConfigError
from episodic_absa.metrics.statistics import ALPHA, Design, Variances, detectable_effect, power_of
from episodic_absa.runs.config import ExperimentConfig, ExperimentData, evaluated_cells, load_experiment
from episodic_absa.runs.estimate import Bound, estimate_run
from episodic_absa.runs.fixed_question import asked_question
from episodic_absa.schemas.gold import LabelledSample

_SHOWN_DESIGNS: Final = 8


@dataclass(frozen=True)
class Prior:
    """The command line of one `plan`."""

    pilot: Path | None
    effect: float | None
    sd: float | None
    order_sd: float | None


@dataclass(frozen=True)
class KnownVariance:
    """The variances that a plan is made with, and where they come from."""

    variances: Variances
    source: str
    order_source: str
    """Empty if the variance between orders is unknown, and taken as 0."""


@dataclass(frozen=True)
class PlannedDesign:
    """A design, what it shows, and what the whole grid takes with it."""

    design: Design
    samples: int
    """Samples of a cell: reviews whose gold gives the metric no value are analysed as well."""
    power: float
    detectable: float | None
    takes: Bound


@dataclass(frozen=True)
class PlannedRun:
    """Everything that `plan` prints."""

    run_id: str
    pair: tuple[str, str]
    metric: str
    effect: float
    known: KnownVariance
    grows: bool
    """Whether a condition of the pair shows a memory that grows: then results depend on the order."""
    orders: range
    """The numbers of orders that were looked at."""
    available: int
    """Reviews of the evaluated split whose gold gives the metric a value."""
    condition_n: int
    seed_n: int
    configured: PlannedDesign
    needed: PlannedDesign | None
    """None: no number of reviews in these numbers of orders is enough."""
    designs: tuple[Design, ...]
    no_price: str


def plan_run(path: Path, prior: Prior) -> PlannedRun:
    """Return the plan of an experiment. Nothing is sent and nothing is written.

    Raises:
        ConfigError: the experiment cannot be read, or it compares nothing.
        RunDirectoryError: the pilot cannot be read, or it lacks a condition of the primary pair.
    """
    config = load_experiment(path)
    if not config.comparisons:
        raise ConfigError(
            f"{path}: experiment.comparisons names no pair; `plan` needs one", path=path, key="experiment.comparisons"
        )
    pair, metric = config.comparisons[0], config.file.experiment.primary_metric
    effect = config.file.experiment.smallest_effect if prior.effect is None else prior.effect
    known = _known_variance(prior, pair, metric)
    data = ExperimentData(config)
    asked = asked_question(config, data)
    samples = data.samples_of(next(evaluated_cells(config)))
    scored = sum(_is_scored(sample, metric) for sample in samples)
    if not scored:
        raise ConfigError(
            f"{path}: no review of the {config.file.data.process_split} split has gold for {metric}; give gold",
            path=path,
            key="eval",
        )
    conditions = [condition for condition in config.conditions if condition.name in pair]
    grows = any(condition.is_exposed and condition.store_write for condition in conditions)
    orders = orders_of_designs(effect, grows=grows)
    designs = designs_for(effect, known.variances, orders, grows=grows)
    available = sum(_is_scored(sample, metric) for sample in data.splits[config.file.data.process_split])
    best = cheapest(designs, available=available)
    estimate = asyncio.run(estimate_run(config))

    def planned(design: Design, samples_n: int, takes: Bound) -> PlannedDesign:
        power, detectable = power_of(effect, known.variances, design), detectable_effect(known.variances, design)
        return PlannedDesign(design, samples_n, power, detectable, takes)

    needed = None
    if best is not None:
        needed_n = ceil(best.reviews * len(samples) / scored)
        needed = planned(best, needed_n, _takes(config, best.orders, needed_n / len(samples)))
    configured = Design(scored, len(asked.orders) if grows else 1, grows)
    return PlannedRun(
        run_id=config.file.run_id,
        pair=pair,
        metric=metric,
        effect=effect,
        known=known,
        grows=grows,
        orders=orders,
        available=available,
        condition_n=len(config.conditions),
        seed_n=len(asked.seeds),
        configured=planned(configured, len(samples), estimate.estimate),
        needed=needed,
        designs=_spread(designs, best),
        no_price=estimate.no_price,
    )


def _spread(designs: Sequence[Design], best: Design | None) -> tuple[Design, ...]:
    """Return evenly spaced designs, the best one among them."""
    spread = designs[:: ceil(len(designs) / _SHOWN_DESIGNS) or 1]
    return tuple(design for design in designs if design in spread or design == best)


def false_claims(variances: Variances, design: Design) -> float:
    """Return how often a design of one order claims a difference that is only that of its order."""
    normal = NormalDist()
    threshold = normal.inv_cdf(1 - ALPHA / 2)
    seen = (variances.reviews + variances.rest) / design.reviews
    return 2 * (1 - normal.cdf(threshold * (seen / (seen + variances.orders)) ** 0.5))


def _known_variance(prior: Prior, pair: tuple[str, str], metric: str) -> KnownVariance:
    if prior.pilot is None:
        variances = Variances(reviews=(prior.sd or 0.0) ** 2)
        source, order_source = "--sd", ""
    else:
        a, b = (load_side(prior.pilot / condition) for condition in pair)
        try:
            pilot = pilot_variance(a, b, metric)
        except KeyError as error:
            raise ConfigError(
                f"{metric} has no value per review, so a pilot gives no SD of it; give one with --sd S",
                key="experiment.primary_metric",
            ) from error
        variances = pilot.variances
        source = f"{pilot.reviews:,} reviews of the pilot"
        order_source = f"{pilot.orders} orders of the pilot" if pilot.orders > 1 else ""
    if prior.order_sd is not None:
        variances, order_source = variances._replace(orders=prior.order_sd**2), "--order-sd"
    return KnownVariance(variances, source, order_source)


def _takes(config: ExperimentConfig, orders: int, factor: float) -> Bound:
    """Return what the grid takes in so many orders, with `factor` times the samples; builds read their whole split."""
    ids = tuple(range(1, orders + 1)) if orders > 1 else None
    experiment = config.file.experiment.model_copy(update={"orders": ids, "shuffle": False})
    memory = config.file.episodic_memory
    totals = []
    for build in (memory.build, None):
        update = {"experiment": experiment, "episodic_memory": memory.model_copy(update={"build": build})}
        file = config.file.model_copy(update=update)
        totals.append(asyncio.run(estimate_run(config.model_copy(update={"file": file}))).estimate)
    whole, evaluation = map(asdict, totals)
    takes: dict[str, Any] = {}
    for name, total in whole.items():
        grown = None if total is None else round(total + (factor - 1) * evaluation[name], 6)
        takes[name] = grown if name == "cost_usd" else round(grown or 0)
    return Bound(**takes)


def _is_scored(labelled: LabelledSample, metric: str) -> bool:
    """Return whether the gold of a review gives the metric a value."""
    gold = labelled.gold
    if gold is None or any(opinion.polarity is None for opinion in gold):
        return False
    if "explicit" in metric or "implicit" in metric:
        return any(bool(opinion.aspect_term) == ("explicit" in metric) for opinion in gold)
    return True

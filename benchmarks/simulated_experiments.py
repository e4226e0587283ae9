"""Experiments whose truth is known: paired differences in F1, drawn per review and order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Differences = NDArray[np.float64]
"""One row per review, one column per order."""


class Drawn(NamedTuple):
    """One experiment."""

    differences: Differences
    in_these_orders: float
    """The true mean over all reviews in the orders that were drawn."""


Draw = Callable[[np.random.Generator, int, int, float], Drawn]
"""From the random numbers, the number of reviews, the number of orders and the true effect to an experiment."""

_CHANGES: Final = np.array([0.2, 1 / 3, 0.4, 2 / 3])
_TOUCHED: Final = 0.25
_SAME_SIGN: Final = 0.5
"""The probability that an order leaves a review's direction as it is in the other orders."""
_MEAN_SIZE: Final = _TOUCHED * float(_CHANGES.mean())
"""The mean difference if every change went up."""


@dataclass(frozen=True)
class Situation:
    """Null experiments of one kind."""

    name: str
    reviews: int
    orders: int
    draw: Draw
    effect: float = 0.03
    """The true mean difference for the power."""
    grows: bool = False
    """Whether the orders are those of a memory that grows."""
    failing: float = 0.0
    """The share of A's large losses that fail."""


def no_effect(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
    """Draw differences of which a quarter is not 0; their sign is a coin."""
    return Drawn(_signed(random, reviews, np.full((reviews, orders), effect)), effect)


def order_shocks(sd: float) -> Draw:
    """Return experiments in which every order moves all of its reviews up or down together."""

    def draw(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
        shocks = random.normal(0.0, sd, size=orders)
        drawn = _signed(random, reviews, np.tile(effect + shocks, (reviews, 1)))
        return Drawn(drawn, effect + float(shocks.mean()))

    return draw


def drifting_shocks(sd: float) -> Draw:
    """Return experiments in which every order wanders off as its memory grows; the order means have this SD."""

    def draw(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
        steps = random.normal(0.0, sd * np.sqrt(3 / reviews), size=(reviews, orders))
        by_place = steps.cumsum(axis=0)
        places = np.column_stack([random.permutation(reviews) for _ in range(orders)])
        drawn = _signed(random, reviews, effect + np.take_along_axis(by_place, places, axis=0))
        return Drawn(drawn, effect + float(by_place.mean()))

    return draw


def rare_losses(gain: float, loss: float, share: float) -> Draw:
    """Return skewed experiments: a share of the reviews loses much, and so many gain a little that the mean is 0."""

    def draw(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
        chance = _per_order(random, reviews, orders)
        gaining = (share * loss + effect) / gain
        return Drawn(np.where(chance < gaining, gain, np.where(chance > 1 - share, -loss, 0.0)), effect)

    return draw


def opposed_losses(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
    """Draw skewed differences: 1 in 40 loses 1.0, 30 % gain .1 and 5 % lose .1; an effect raises the gains."""
    chance = _per_order(random, reviews, orders)
    gain = 0.1 + effect / 0.3
    return Drawn(np.select([chance < 0.025, chance < 0.325, chance < 0.375], [-1.0, gain, -0.1], 0.0), effect)


def rare_bad_orders(loss: float) -> Draw:
    """Return experiments in which one order in ten loses much, and the others gain so much that the mean is 0."""

    def draw(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
        means = np.where(random.random(orders) < 0.1, -loss, loss / 9) + effect
        return Drawn(_signed(random, reviews, np.zeros((reviews, orders))) + means, float(means.mean()))

    return draw


def equal_orders(different: int, sd: float) -> Draw:
    """Return experiments whose orders repeat so many different ones, each with its own shock."""

    def draw(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
        repeated = np.arange(orders) % different
        shocks = random.normal(0.0, sd, size=different)
        once = _signed(random, reviews, np.tile(effect + shocks, (reviews, 1)))
        return Drawn(once[:, repeated], effect + float(shocks[repeated].mean()))

    return draw


def exponential(random: np.random.Generator, reviews: int, orders: int, effect: float) -> Drawn:
    """Draw skewed differences: exponential, moved to the mean 0."""
    return Drawn(0.15 * (-np.log1p(-_per_order(random, reviews, orders)) - 1.0) + effect, effect)


def _signed(random: np.random.Generator, reviews: int, expected: Differences) -> Differences:
    """Draw changes of the same reviews in every order whose signs give the expected differences."""
    is_touched = random.random((reviews, 1)) < _TOUCHED
    sizes = random.choice(_CHANGES, size=(reviews, 1))
    rises = _per_order(random, reviews, expected.shape[1]) < 0.5 + expected / (2 * _MEAN_SIZE)
    changes: Differences = is_touched * sizes * np.where(rises, 1.0, -1.0)
    return changes


def _per_order(random: np.random.Generator, reviews: int, orders: int) -> Differences:
    """Draw numbers from 0 to 1 that a review shares with a part of the orders."""
    shared, own = random.random((reviews, 1)), random.random((reviews, orders))
    return np.where(random.random((reviews, orders)) < _SAME_SIGN, shared, own)


_ONE_IN_20: Final = rare_losses(gain=0.2, loss=0.6, share=0.05)
_ONE_IN_40: Final = rare_losses(gain=0.25, loss=1.0, share=0.025)
SITUATIONS: Final = (
    Situation("no effect", 800, 1, no_effect, effect=0.02),
    Situation("no effect", 800, 5, no_effect, effect=0.02),
    Situation("skewed: exponential", 50, 1, exponential, effect=0.06),
    Situation("skewed: exponential", 50, 5, exponential, effect=0.06),
    Situation("skewed: 1 in 20 loses 0.6", 50, 1, _ONE_IN_20, effect=0.06),
    Situation("skewed: 1 in 20 loses 0.6", 50, 5, _ONE_IN_20, effect=0.06),
    Situation("skewed: 1 in 40 loses 1.0", 50, 1, _ONE_IN_40, effect=0.06),
    Situation("skewed: 1 in 40 loses 1.0", 100, 1, _ONE_IN_40, effect=0.06),
    Situation("1 in 40 loses 1.0, opposed", 50, 1, opposed_losses, effect=0.06),
    Situation("1 in 40 loses 1.0, opposed", 100, 1, opposed_losses, effect=0.06),
    Situation("1 in 40 loses 1.0, opposed", 200, 1, opposed_losses, effect=0.06),
    Situation("1 in 40 loses 1.0, opposed", 800, 1, opposed_losses, effect=0.06),
    Situation("a third of large losses fails", 200, 1, no_effect, failing=1 / 3),
    Situation("a third of large losses fails", 800, 1, no_effect, failing=1 / 3),
    Situation("one in 20 large losses fails", 800, 1, no_effect, failing=0.05),
    Situation("order shocks, SD .03", 800, 1, order_shocks(0.03), grows=True),
    Situation("order shocks, SD .03", 800, 2, order_shocks(0.03), grows=True),
    Situation("order shocks, SD .015", 800, 5, order_shocks(0.015), grows=True),
    Situation("order shocks, SD .03", 800, 5, order_shocks(0.03), grows=True),
    Situation("order shocks, SD .03", 800, 10, order_shocks(0.03), grows=True),
    Situation("drifting shocks, SD .03", 800, 5, drifting_shocks(0.03), grows=True),
    Situation("two orders, equal", 800, 2, equal_orders(1, 0.03), grows=True),
    Situation("five orders, two different", 800, 5, equal_orders(2, 0.03), grows=True),
    *(
        Situation(f"one order in ten loses {loss}", 200, orders, rare_bad_orders(loss), grows=True)
        for loss in (0.1, 0.2, 0.3)
        for orders in (5, 10, 30)
    ),
)
UNPROTECTED: Final = (
    Situation("order shocks, SD .03", 800, 1, order_shocks(0.03)),
    Situation("order shocks, SD .03", 800, 5, order_shocks(0.03)),
    Situation("order shocks, SD .03", 800, 10, order_shocks(0.03)),
)
"""The same shocks if the comparison did not know that a memory grows."""
LOOKED_AT: Final = (
    Situation("no effect", 800, 1, no_effect, effect=0.05),
    Situation("skewed: 1 in 20 loses 0.6", 800, 1, _ONE_IN_20, effect=0.05),
    Situation("order shocks, SD .03", 800, 5, order_shocks(0.03), effect=0.05),
    Situation("drifting shocks, SD .03", 800, 5, drifting_shocks(0.03), effect=0.05),
)

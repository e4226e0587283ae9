"""A simulator of the intervals, tests and claims, written from the text of docs/statistics.md alone.

Written by somebody who had not seen the code: nothing is imported from the package, and no other file of the project
was read but the list of situations in docs/statistics_simulated.md. Where the page leaves a choice open, a comment
says *guess*. Row 9 (recall) and Holm's correction need a second metric and are left out.

    OMP_NUM_THREADS=1 python benchmarks/independent_simulator.py --experiments 1000 --resamples 1000

All experiments with the same number of reviews use the same bootstrap counts, as the program is said to do.
"""

import argparse
import dataclasses
import functools
import math
import sys
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
TINY = 1e-9
SMALLEST_EFFECT = 0.01
WORST_ORDER = 0.3
SIZES = np.array([0.2, 1 / 3, 0.4, 2 / 3])


@dataclasses.dataclass(frozen=True)
class Drawn:
    """One experiment: cells (reviews x orders, nan where a sample failed), their extremes, and the true means."""

    cells: Array
    worst: Array
    best: Array
    these: float  # mean over all reviews in the orders that were drawn
    every: float  # mean over all reviews and all orders


@functools.cache
def review_counts(n: int, resamples: int) -> Array:
    drawn = np.random.default_rng([n, resamples]).integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=n * resamples).reshape(resamples, n).astype(np.float64)


@functools.cache
def order_counts(k: int, resamples: int) -> Array:
    return np.random.default_rng([k, resamples, 1]).multinomial(k, np.full(k, 1 / k), resamples).astype(np.float64)


@functools.cache
def swaps(n: int, ways: int) -> Array:
    return np.random.default_rng([n, ways, 2]).choice(np.array([-1.0, 1.0]), (ways, n))


@functools.cache
def upper_share(count: int, n: int) -> float:
    """The exact one-sided 95 % bound of Clopper and Pearson for `count` of `n`."""
    return float(stats.beta.ppf(0.95, count + 1, n - count)) if count < n else 1.0


def join_equal_orders(cells: Array) -> tuple[Array, Array]:
    """Different orders and their weights. Guess: a simulation has no tokens, so only the differences are compared."""
    if np.nanmax(np.abs(cells)) < TINY:
        return cells, np.ones(cells.shape[1])
    kept: list[Array] = []
    weights: list[float] = []
    for column in cells.T:
        for place, other in enumerate(kept):
            both = ~np.isnan(column) & ~np.isnan(other)
            if both.any() and np.abs(column - other)[both].max() < TINY:
                kept[place] = np.where(np.isnan(other), column, other)
                weights[place] += 1
                break
        else:
            kept.append(column)
            weights.append(1.0)
    return np.stack(kept, axis=1), np.array(weights)


class Sample:
    """The differences of one experiment, with the quantities of the section "The methods"."""

    def __init__(self, cells: Array, resamples: int) -> None:
        cells = cells[~np.isnan(cells).all(axis=1)]
        different, weights = join_equal_orders(cells)
        self.resamples = resamples
        self.n, self.orders = different.shape
        has = ~np.isnan(different)
        self.filled = np.where(has, different, 0.0)
        self.weights = has * weights
        self.sums, self.sizes = (self.filled * self.weights).sum(axis=1), self.weights.sum(axis=1)
        self.mean = float(self.sums.sum() / self.sizes.sum())
        self.reviews = self.sums / self.sizes  # d(i)
        # Guess: where cells are missing, D is no mean of the d(i); the linear approximation of the ratio stands in.
        self.linear = self.mean + (self.sums - self.mean * self.sizes) / self.sizes.mean()
        self.order_sums, self.order_sizes = (self.filled * self.weights).sum(axis=0), self.weights.sum(axis=0)
        self.order_means = self.order_sums / self.order_sizes  # m(j)
        spread = np.where(has, different, -9.0).max(axis=1) - np.where(has, different, 9.0).min(axis=1)
        self.order_changes = bool(self.orders > 1 and spread.max() > TINY)
        pulls = (self.order_sums - self.mean * self.order_sizes) / self.order_sizes.mean()
        self.order_variance = float((pulls**2).sum()) / (self.orders * max(self.orders - 1, 1))  # O
        self.varies = bool(np.abs(self.filled).max() > TINY)

    def unseen(self, sign: int) -> float:
        """Unseen downwards (-1) or upwards (+1)."""
        return upper_share(0, self.n) * (1 - max(0.0, float((sign * self.reviews).max())))

    @property
    def unseen_reviews(self) -> float:
        return self.unseen(-1 if self.mean > 0 else 1)

    @property
    def unseen_orders(self) -> float:
        against = int((self.order_means * np.sign(self.mean) < -TINY).sum())
        return WORST_ORDER * upper_share(against, self.orders)

    def needs_orders(self, *, grows: bool) -> bool:
        return (grows or self.order_changes) and self.orders < 5


def distances_over_reviews(sample: Sample, tail: float) -> Array:
    """Distances of the lower and the upper bound from D, by steps 1 to 4, or by the exact bounds for equal reviews."""
    n, mean, values = sample.n, sample.mean, sample.linear
    if np.ptp(sample.reviews) < TINY:
        share = 1 - tail ** (1 / n)
        return np.array([share * (1 + mean), share * (1 - mean)])
    counts = review_counts(n, sample.resamples)
    means = (counts @ sample.sums) / (counts @ sample.sizes)
    low, high = np.quantile(means, [tail, 1 - tail])
    percentile = np.array([mean - low, high - mean])
    distances = percentile
    away = values - mean
    square = float((away**2).mean())
    if n < 200 or abs(float((away**3).mean())) / square**1.5 > 1:
        drawn = counts @ np.stack([away, away**2], axis=1) / n
        variance = drawn[:, 1] - drawn[:, 0] ** 2
        variance = np.where(variance < 1e-13, variance[variance >= 1e-13].min(), variance)
        t_low, t_high = np.quantile((means - mean) / np.sqrt(variance / n), [tail, 1 - tail])
        error = math.sqrt(square / (n - 1))
        distances = np.maximum(percentile, np.array([t_high * error, -t_low * error]))
    # Guess: a percentile bound on the wrong side of D (a negative distance) does not occur with these situations.
    distances = np.sqrt(distances**2 + np.array([sample.unseen(-1), sample.unseen(1)]) ** 2)
    cut: Array = np.minimum(distances, np.maximum(4 * (high - low) / 2, percentile))
    return cut


def crossed_distances(sample: Sample, tail: float) -> Array:
    n, k, mean = sample.n, sample.orders, sample.mean
    counts, drawn_orders = review_counts(n, sample.resamples), order_counts(k, sample.resamples)
    both = counts @ np.concatenate([sample.filled * sample.weights, sample.weights], axis=1)
    means = (both[:, :k] * drawn_orders).sum(axis=1) / (both[:, k:] * drawn_orders).sum(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    over_reviews = distances_over_reviews(sample, tail)
    review_variance = float(((sample.linear - mean) ** 2).sum()) / (n * (n - 1))  # R
    single = 1.0
    if np.ptp(sample.reviews) >= TINY:
        rest = sample.filled - sample.reviews[:, None] - sample.order_means + mean
        rest[sample.weights == 0] = 0.0  # guess: a missing cell adds nothing to W
        shared = float((rest**2).sum()) / ((n - 1) * (k - 1) * n * k)  # W
        single = max(review_variance - shared, 0.0) / review_variance
    t = float(stats.t.ppf(1 - tail, k - 1))
    second = np.sqrt(single * over_reviews**2 + t**2 * sample.order_variance)
    outer: Array = np.maximum(np.array([mean - low, high - mean]), second)
    return outer


def interval(sample: Sample, tail: float = 0.025) -> tuple[float, float]:
    distances = crossed_distances(sample, tail) if sample.order_changes else distances_over_reviews(sample, tail)
    # Guess: step 5 cuts crossed bounds too.
    return max(-1.0, sample.mean - distances[0]), min(1.0, sample.mean + distances[1])


def p_over_reviews(sample: Sample) -> float:
    """Exact where d(i) are multiples of a common unit. Guess: with missing cells the sum is that of the d(i)."""
    values = sample.reviews
    for unit in (60 * int(sample.weights.sum(axis=1).max()), 3600):
        whole = np.rint(values * unit)
        if np.abs(values * unit - whole).max() < 1e-6:
            steps = np.abs(whole[whole != 0]).astype(int)
            steps //= int(np.gcd.reduce(steps))
            total = int(steps.sum())
            ways = np.zeros(total + 1)  # probability of each sum of the reviews whose sign is positive
            ways[0] = 1.0
            for step in steps:
                ways[step:] = (ways[step:] + ways[:-step]) / 2
                ways[:step] /= 2
            observed = abs(2 * int(steps[whole[whole != 0] > 0].sum()) - total)
            return float(ways[np.abs(2 * np.arange(total + 1) - total) >= observed].sum())
    ways_n = 4 * sample.resamples
    sums = np.abs(swaps(sample.n, ways_n) @ values)
    return float(1 + (sums >= abs(values.sum()) - TINY).sum()) / (ways_n + 1)


def p_over_orders(sample: Sample) -> float:
    error = math.sqrt(sample.order_variance)
    return float(2 * stats.t.sf(abs(sample.mean) / max(error, 1e-300), sample.orders - 1))


def failing_row(sample: Sample, bounds: tuple[float, float], failed: tuple[float, float], *, grows: bool) -> int:
    """The first row of the table of claims that does not hold; 0 if all hold."""
    size, positive = abs(sample.mean), sample.mean > 0
    tested_orders = sample.order_changes and sample.orders >= 3
    rows: list[tuple[int, Callable[[], bool]]] = [
        (2, lambda: bounds[0] > 0 or bounds[1] < 0),
        (3, lambda: not sample.needs_orders(grows=grows)),
        (4, lambda: p_over_reviews(sample) < 0.05),
        (5, lambda: not tested_orders or p_over_orders(sample) < 0.05),
        (6, lambda: size > sample.unseen_reviews),
        (7, lambda: not grows or size > sample.unseen_orders),
        (8, lambda: failed[0] > 0 if positive else failed[1] < 0),
    ]
    return next((row for row, holds in rows if not holds()), 0)


def says_no_change(sample: Sample, drawn: Drawn, *, grows: bool) -> bool:
    """Equivalence: no effect larger than the smallest effect of interest."""
    if sample.needs_orders(grows=grows):
        return False
    differing = int((np.abs(sample.filled).max(axis=1) > TINY).sum())
    if differing <= 5 and upper_share(differing, sample.n) >= SMALLEST_EFFECT:
        return False
    low, high = interval(sample, 0.05) if sample.varies else (0.0, 0.0)
    if low <= -SMALLEST_EFFECT or high >= SMALLEST_EFFECT:
        return False
    if not np.isnan(drawn.cells).any():
        return True
    low = interval(Sample(drawn.worst, sample.resamples), 0.05)[0]
    return low > -SMALLEST_EFFECT and interval(Sample(drawn.best, sample.resamples), 0.05)[1] < SMALLEST_EFFECT


# --- situations -------------------------------------------------------------------------------------------------------


def shared_uniform(rng: np.random.Generator, n: int, k: int) -> Array:
    own, common = rng.random((n, k)), rng.random((n, 1))
    return np.where(rng.random((n, k)) < 0.5, common, own)


def signs(rng: np.random.Generator, n: int, effects: Array) -> Array:
    """*no effect*, with the effect of each order (k) or of each review in each order (n x k)."""
    sizes = np.where(rng.random(n) < 0.25, rng.choice(SIZES, n), 0.0)[:, None]
    return np.where(shared_uniform(rng, n, effects.shape[-1]) < 0.5 + effects / 0.2, sizes, -sizes)


def plain(cells: Array, these: float, every: float) -> Drawn:
    return Drawn(cells, cells, cells, these, every)


def no_effect(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    return plain(signs(rng, n, np.full(k, effect)), effect, effect)


def order_shocks(rng: np.random.Generator, n: int, k: int, effect: float, sd: float = 0.03) -> Drawn:
    effects = np.clip(rng.normal(effect, sd, k), -0.1, 0.1)
    return plain(signs(rng, n, effects), float(effects.mean()), effect)


def drifting(rng: np.random.Generator, n: int, k: int, effect: float, sd: float = 0.03) -> Drawn:
    paths = rng.permuted(np.cumsum(rng.normal(0, sd * math.sqrt(3 / n), (n, k)), axis=0), axis=0)
    effects = np.clip(effect + paths, -0.1, 0.1)
    return plain(signs(rng, n, effects), float(effects.mean()), effect)


def two_equal(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    drawn = order_shocks(rng, n, 1, effect)
    return plain(np.repeat(drawn.cells, k, axis=1), drawn.these, drawn.every)


def bad_orders(rng: np.random.Generator, n: int, k: int, effect: float, loss: float = 0.3) -> Drawn:
    shifts = effect + np.where(rng.random(k) < 0.1, -loss, loss / 9)
    return plain(signs(rng, n, np.zeros(k)) + shifts, float(shifts.mean()), effect)


def losses(rng: np.random.Generator, n: int, k: int, effect: float, share: float, loss: float, gain: float) -> Drawn:
    uniform = shared_uniform(rng, n, k)  # guess: the smallest numbers lose, the largest gain
    gains = np.where(uniform > 1 - (share * loss + effect) / gain, gain, 0.0)
    return plain(np.where(uniform < share, -loss, gains), effect, effect)


def opposed(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    uniform = shared_uniform(rng, n, k)
    gains = np.where(uniform > 0.7, 0.1 + effect / 0.3, 0.0)
    return plain(np.where(uniform < 0.025, -1.0, np.where(uniform < 0.075, -0.1, gains)), effect, effect)


def exponential(rng: np.random.Generator, n: int, k: int, effect: float) -> Drawn:
    cells = effect + 0.15 * (-np.log1p(-shared_uniform(rng, n, k)) - 1)
    return plain(np.minimum(cells, 1.0), effect, effect)


def losses_fail(rng: np.random.Generator, n: int, k: int, effect: float, share: float = 1 / 3) -> Drawn:
    cells = signs(rng, n, np.full(k, effect))
    fails = (cells < -0.35) & (rng.random((n, k)) < share)  # guess: each sample fails by itself
    filled = [np.where(fails, value, cells) for value in (np.nan, -0.7, 0.3)]
    return Drawn(filled[0], filled[1], filled[2], effect, effect)


Situation = tuple[str, Callable[[np.random.Generator, int, int, float], Drawn], int, int, float, bool]


def situations() -> list[Situation]:
    found: list[Situation] = [("no effect", no_effect, n, k, 0.0, False) for n in (50, 200, 800) for k in (1, 5)]
    found += [("no effect", no_effect, n, 5, 0.0, True) for n in (50, 800)]
    found += [("two orders, equal", two_equal, n, 2, 0.0, True) for n in (200, 800)]
    for loss in (0.2, 0.3):
        draw = functools.partial(bad_orders, loss=loss)
        found += [(f"one order in ten loses {loss}", draw, 200, k, 0.0, True) for k in (5, 10, 30)]
    found += [("1 in 20 loses .6", functools.partial(losses, share=0.05, loss=0.6, gain=0.2), 50, 1, 0.0, False)]
    found += [("1 in 40 loses 1.0", functools.partial(losses, share=0.025, loss=1.0, gain=0.25), 50, 1, 0.0, False)]
    found += [("opposed", opposed, n, k, 0.0, False) for n, k in ((50, 1), (50, 5), (200, 1))]
    found += [("exponential", exponential, 50, 1, 0.0, False)]
    found += [("a third of large losses fails", losses_fail, n, k, 0.0, False) for n in (200, 800) for k in (1, 5)]
    found += [("order shocks, SD .03", order_shocks, 800, 1, 0.0, True)]
    found += [("order shocks, SD .03", order_shocks, 800, k, 0.0, grows) for k in (5, 10) for grows in (False, True)]
    found += [("drifting shocks, SD .03", drifting, 800, 5, 0.0, False)]
    found += [("effect", no_effect, 800, k, 0.02, False) for k in (1, 5)]
    found += [("effect", no_effect, 800, 5, 0.02, True)]
    # A difference that outweighs bad orders, whose interval is said to be about all orders.
    draw = functools.partial(bad_orders, loss=0.2)
    found += [("one order in ten loses 0.2", draw, 200, k, e, True) for k, e in ((5, 0.15), (10, 0.1), (30, 0.05))]
    return found


def simulate(situation: Situation, seed: int, experiments: int, resamples: int) -> str:
    name, draw, n, k, effect, grows = situation
    rng = np.random.default_rng([seed, n, k])
    rows: Counter[int] = Counter()
    false = right = covered = covered_all = with_interval = false_same = 0
    for _ in range(experiments):
        drawn = draw(rng, n, k, effect)
        sample = Sample(drawn.cells, resamples)
        these_only = grows and (sample.orders < 5 or abs(sample.mean) <= sample.unseen_orders)
        about = drawn.these if these_only else drawn.every
        same_about = drawn.these if grows else drawn.every
        false_same += says_no_change(sample, drawn, grows=grows) and abs(same_about) > SMALLEST_EFFECT
        if not sample.varies:
            continue
        bounds = interval(sample)
        failed = bounds
        if np.isnan(drawn.cells).any():
            failed = interval(Sample(drawn.worst, resamples))[0], interval(Sample(drawn.best, resamples))[1]
        row = failing_row(sample, bounds, failed, grows=grows)
        rows[row] += 1
        if row == 0:
            is_right = sample.mean * drawn.every > 0
            right, false = right + is_right, false + (not is_right)
        with_interval += 1
        covered += failed[0] <= about <= failed[1]
        covered_all += failed[0] <= drawn.every <= failed[1]
    withheld = {row: count for row, count in sorted(rows.items()) if row > 2}
    reasons = ", ".join(f"row {row}: {100 * count / experiments:.1f}" for row, count in withheld.items()) or "-"
    figures = [false, sum(withheld.values()), false_same]
    false_share, withheld_share, same_share = (f"{100 * figure / experiments:.1f}" for figure in figures)
    coverage, coverage_all = (f"{100 * count / with_interval:.1f}" for count in (covered, covered_all))
    power = f"{100 * right / experiments:.1f}" if effect else "-"
    cells = [name, n, k, "yes" if grows else "no", f"{effect:g}", false_share, coverage, coverage_all]
    return "| " + " | ".join(map(str, [*cells, f"{withheld_share} ({reasons})", same_share, power])) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(
        "| situation | reviews | orders | grows | effect | false claims % | coverage % | all orders % "
        "| withheld % (first row that fails) | false 'no change' % | power % |\n|" + "---|" * 11
    )
    for number, situation in enumerate(situations()):
        seed = arguments.seed * 1000 + number
        print(simulate(situation, seed, arguments.experiments, arguments.resamples), flush=True)
    print(f"{time.process_time():.0f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()

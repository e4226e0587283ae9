"""The interaction test against all sign patterns and against ready-made tests, and its error where nothing happens."""

import random
from collections.abc import Callable
from itertools import product
from math import sqrt
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from episodic_absa.analysis.strata.interaction import GroupedDifference, interaction_p_value

NULL_EXPERIMENTS = 200
LARGEST_SHARE = 0.06 + 2 * sqrt(0.06 * 0.94 / NULL_EXPERIMENTS)
"""6 %, and two standard errors of so many experiments."""


def drawn(draw: random.Random, share: float = 0.3) -> float:
    """Draw a difference as those of F1 are: most of them 0."""
    return draw.choice([-1, -0.5, 0.5, 1]) if draw.random() < share else 0.0


def unrelated(draw: random.Random) -> list[GroupedDifference]:
    """Two measurements of each of 60 reviews, whose strata mean nothing."""
    reviews = [(f"r{place}", (draw.choice("abcd"),)) for place in range(60)]
    return [GroupedDifference(uid, drawn(draw), groups) for uid, groups in reviews for _ in range(2)]


def gated(draw: random.Random) -> list[GroupedDifference]:
    """Reviews with overlapping risks differ by chance; those without a risk never do."""
    risks = [tuple(name for name in "abc" if draw.random() < 0.15) for _ in range(200)]
    return [
        GroupedDifference(f"r{place}", drawn(draw, 0.4) if groups else 0.0, groups or ("none",))
        for place, groups in enumerate(risks)
    ]


def spread(pairs: list[GroupedDifference]) -> float:
    """The statistic, straight from its definition."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for group in pair.groups:
            values.setdefault(group, []).append(pair.difference)
    overall = fmean([value for group in values.values() for value in group])
    return sum(len(group) * (fmean(group) - overall) ** 2 for group in values.values())


def every_pattern_p(pairs: list[GroupedDifference]) -> float:
    """Flip the deviations of the reviews in every pattern of signs."""
    uids = sorted({pair.uid for pair in pairs})
    common = fmean([pair.difference for pair in pairs])
    deviating = [pair._replace(difference=pair.difference - common) for pair in pairs]
    spreads = []
    for signs in product((1, -1), repeat=len(uids)):
        sign = dict(zip(uids, signs, strict=True))
        spreads.append(spread([pair._replace(difference=sign[pair.uid] * pair.difference) for pair in deviating]))
    return fmean([flipped >= spread(deviating) - 1e-12 for flipped in spreads])


def test_p_agrees_with_all_sign_patterns_for_overlapping_groups_and_repeated_reviews() -> None:
    pairs = [
        GroupedDifference(f"r{place}", value, groups)
        for place, groups in enumerate([("a",), ("a", "b"), ("b",), ("b", "c"), ("c",), ("a",), ("c",), ("b",)])
        for value in (place * 0.1, (place - 2) ** 2 * 0.1)
    ]
    pairs.pop(3)
    exact = every_pattern_p(pairs)
    assert 0.02 < exact < 0.98
    assert interaction_p_value(pairs) == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 10_000))


def test_p_of_plain_groups_is_near_that_of_an_analysis_of_variance() -> None:
    draw = np.random.default_rng(5)
    samples = [draw.normal(mean, 1, 80) for mean in (0, 0, 0.1)]
    pairs = [
        GroupedDifference(f"{group}{place}", float(value), (group,))
        for group, values in zip("abc", samples, strict=True)
        for place, value in enumerate(values)
    ]
    oracle = stats.f_oneway(*samples).pvalue
    assert 0.02 < oracle < 0.5
    assert interaction_p_value(pairs) == pytest.approx(oracle, abs=0.03)


@pytest.mark.parametrize("experiment", [unrelated, gated])
def test_at_most_six_percent_of_null_experiments_are_called_an_interaction(
    experiment: Callable[[random.Random], list[GroupedDifference]],
) -> None:
    draw = random.Random(20_261_116)
    p_values = [interaction_p_value(experiment(draw), flips=199) for _ in range(NULL_EXPERIMENTS)]
    assert fmean([p_value is not None and p_value < 0.05 for p_value in p_values]) <= LARGEST_SHARE


def test_a_difference_in_one_group_only_shows() -> None:
    draw = random.Random(3)
    pairs = [GroupedDifference(f"r{place}", drawn(draw), (draw.choice("abc"),)) for place in range(120)]
    moved = [pair._replace(difference=pair.difference + 0.5 * (pair.groups == ("a",))) for pair in pairs]
    p_value = interaction_p_value(moved)
    assert p_value is not None
    assert p_value < 0.01
    # Neither the order of the lines nor a difference that all reviews share matters.
    assert interaction_p_value([*reversed(moved)]) == p_value
    assert interaction_p_value([pair._replace(difference=pair.difference + 0.125) for pair in moved]) == p_value


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [GroupedDifference("r1", 0.1, ("a",)), GroupedDifference("r2", 0.4, ("a",)), GroupedDifference("r3", 9, ())],
        [GroupedDifference("r1", 0.1, ("a",)), GroupedDifference("r2", 0.1, ("b",))],
    ],
    ids=["nothing", "one group", "no variation"],
)
def test_there_is_no_test_without_two_groups_and_variation(pairs: list[GroupedDifference]) -> None:
    assert interaction_p_value(pairs) is None

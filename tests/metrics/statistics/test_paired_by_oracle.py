"""Statistics: pairing, means, intervals, permutation p, effect size.

Tokens carry the numbers: they are the one metric of a sample that a test can set freely. A sample whose partner failed
counts as unpaired, and the failed partner, which has no value, does not.
"""

import inspect
import math
from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.drawn_cards import cells, error_card, final_tuple, gold, ok_card

from episodic_absa.metrics.statistics import Comparison, PairedDifference, compare
from episodic_absa.schemas.run_files.scorecard import Scorecard, UsageSums

Key = tuple[str, int]
BASE = ok_card()
FAILED = error_card()
FEW = 200
"""Resamples where the interval itself is not looked at."""


def told(key: Key, tokens: int | None) -> Scorecard:
    """A sample with that many tokens, or a failed one."""
    uid, seed = key
    if tokens is None:
        return FAILED.model_copy(update={"uid": uid, "seed": seed})
    return BASE.model_copy(update={"uid": uid, "seed": seed, "usage": UsageSums(calls=10, tokens_in=tokens)})


def cards(values: Mapping[Key, int | None]) -> list[Scorecard]:
    return [told(key, tokens) for key, tokens in values.items()]


def of_differences(differences: Sequence[int]) -> tuple[list[Scorecard], list[Scorecard]]:
    """Two cells of one seed whose tokens differ by these."""
    a = {(f"u{i}", 1): 1000 + d for i, d in enumerate(differences)}
    return cards(a), cards(dict.fromkeys(a, 1000))


def tokens_of(comparison: Comparison) -> PairedDifference:
    (found,) = [paired for paired in comparison.metrics if paired.metric == "tokens_in"]
    return found


def compared(differences: Sequence[int], *, resamples: int = 10_000) -> PairedDifference:
    a, b = of_differences(differences)
    return tokens_of(compare("A", a, "B", b, resamples=resamples))


def by_uid(keys: Sequence[Key], values: Mapping[Key, int | None]) -> dict[str, float]:
    """Seeds of a uid averaged first."""
    found: dict[str, list[int]] = {}
    for key in keys:
        value = values[key]
        assert value is not None
        found.setdefault(key[0], []).append(value)
    return {uid: fmean(some) for uid, some in found.items()}


KEYS = [(f"u{i}", seed) for i in range(4) for seed in (1, 2, 3)]
some_values = st.dictionaries(st.sampled_from(KEYS), st.one_of(st.integers(0, 9), st.integers(0, 9), st.none()))


@settings(max_examples=60)
@given(some_values, some_values)
def test_samples_pair_by_uid_and_seed_and_seeds_are_averaged_first(
    a: dict[Key, int | None], b: dict[Key, int | None]
) -> None:
    found = tokens_of(compare("A", cards(a), "B", cards(b), resamples=FEW))
    in_a = {key for key, value in a.items() if value is not None}
    in_b = {key for key, value in b.items() if value is not None}
    paired = sorted(in_a & in_b)
    assert found.n_pairs == len(paired)
    assert found.n_uids == len({uid for uid, _ in paired})
    assert (found.unpaired_a, found.unpaired_b) == (len(in_a - in_b), len(in_b - in_a))
    if not paired:
        assert (found.mean_a, found.mean_b, found.difference, found.p_value, found.dz) == (None,) * 5
        return
    mean_a, mean_b = by_uid(paired, a), by_uid(paired, b)
    differences = [mean_a[uid] - mean_b[uid] for uid in mean_a]
    assert found.mean_a == pytest.approx(fmean(mean_a.values()))
    assert found.mean_b == pytest.approx(fmean(mean_b.values()))
    assert found.difference == pytest.approx(fmean(differences))
    if len(differences) > 1 and stdev(differences) > 1e-9:
        assert found.variation is True
        assert found.sd == pytest.approx(stdev(differences))
        assert found.dz == pytest.approx(fmean(differences) / stdev(differences))
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.ci_low - 1e-9 <= fmean(differences) <= found.ci_high + 1e-9
    else:
        assert found.variation is False


def test_the_same_call_twice_gives_the_same_numbers() -> None:
    a, b = of_differences([3, -1, 4, 1, -5, 9, 2, 6])
    assert compare("A", a, "B", b) == compare("A", a, "B", b)
    assert compare("A", a, "B", b, seed=1) == compare("A", a, "B", b, seed=1)


@pytest.mark.parametrize(("spread", "n"), [("even", 250), ("skewed", 40)])
def test_the_interval_is_a_percentile_bootstrap_or_wider_where_that_is_too_narrow(spread: str, n: int) -> None:
    rng = np.random.default_rng(3)
    drawn = rng.normal(20, 100, n) if spread == "even" else rng.exponential(60, n) - 40
    differences = [round(d) for d in drawn]
    found = compared(differences)
    sample = np.array(differences, dtype=float)
    means = rng.choice(sample, size=(10_000, len(sample))).mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    error = 0.15 * sample.std() / math.sqrt(len(sample))
    assert found.method == ("percentile" if spread == "even" else "studentised")
    assert found.ci_low == pytest.approx(low, abs=error)
    assert found.ci_high is not None
    # A long tail upwards: the sample may have missed its end.
    assert found.ci_high > high + 2 * error if spread == "skewed" else found.ci_high == pytest.approx(high, abs=error)


def exact_p(differences: Sequence[int]) -> float:
    """All sign flips: the share at least as far from 0, in integers, so that ties are ties."""
    seen = abs(sum(differences))
    flips = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(flip >= seen for flip in flips) / len(flips)


@settings(max_examples=25)
@given(st.lists(st.integers(-12, 12), min_size=2, max_size=11).filter(lambda differences: len(set(differences)) > 1))
def test_the_permutation_p_is_the_share_of_sign_flips(differences: list[int]) -> None:
    assert compared(differences).p_value == pytest.approx(exact_p(differences))


def test_ten_thousand_resamples_are_the_rule() -> None:
    assert inspect.signature(compare).parameters["resamples"].default == 10_000
    a, b = of_differences([3, -1, 4, 1, -5, 9, 2, 6, 17])
    assert compare("A", a, "B", b) == compare("A", a, "B", b, resamples=10_000)


def test_backfills_are_compared_only_if_they_count() -> None:
    right = ok_card(
        stage1=[final_tuple("food", "neutral", 0.5, backfilled=True)], gold_tuples=gold(("food", "neutral"))
    )
    wrong = ok_card(gold_tuples=gold(("food", "neutral")))

    def gain(*, count_backfilled: bool) -> float | None:
        found = compare("A", [right], "B", [wrong], resamples=FEW, count_backfilled=count_backfilled)
        return next(paired.difference for paired in found.metrics if paired.metric == "tuple_f1_explicit")

    assert gain(count_backfilled=False) == 0.0
    assert gain(count_backfilled=True) == 1.0


@pytest.mark.parametrize("thirds", [[1, 1, 2], [1, 2, 3, 1, 1], [2, -1, 1, 1, 2, 1, 1]])
def test_ties_among_sign_flips_survive_the_averaging_of_seeds(thirds: list[int]) -> None:
    """Differences of a third are no exact floats; a flip as far from 0 as the data still counts."""
    a = {(f"u{i}", seed): 10 + (d if seed == 1 else 0) for i, d in enumerate(thirds) for seed in (1, 2, 3)}
    found = tokens_of(compare("A", cards(a), "B", cards(dict.fromkeys(a, 10))))
    assert found.difference == pytest.approx(fmean(thirds) / 3)
    assert found.p_value == pytest.approx(exact_p(thirds))


def test_p_is_never_zero_and_never_above_one() -> None:
    found = compared(list(range(50, 80)))
    assert found.p_value is not None
    assert 0 < found.p_value < 0.01


@pytest.mark.parametrize("differences", [[0], [5], [0, 0, 0], [5, 5, 5], [-2] * 10])
def test_zero_spread_is_no_variation_and_no_nan(differences: list[int]) -> None:
    found = compared(differences, resamples=FEW)
    assert found.variation is False
    assert found.difference == pytest.approx(differences[0])
    assert found.dz is None
    assert_finite(found)


def test_equal_thirds_have_no_spread_whatever_the_floats_say() -> None:
    a = {(f"u{i}", seed): 10 + i + (seed == 1) for i in range(6) for seed in (1, 2, 3)}
    b = {(uid, seed): tokens - (seed == 1) for (uid, seed), tokens in a.items()}
    found = tokens_of(compare("A", cards(a), "B", cards(b), resamples=FEW))
    assert found.variation is False
    assert found.dz is None


def assert_finite(found: PairedDifference) -> None:
    for name, value in found.model_dump().items():
        assert not isinstance(value, float) or math.isfinite(value), name


@settings(max_examples=15)
@given(cells(names=("C2",), max_size=4), cells(names=("C1",), max_size=4))
def test_nothing_is_nan_and_every_interval_holds_its_difference(a: list[Scorecard], b: list[Scorecard]) -> None:
    comparison = compare("C2", a, "C1", b, resamples=FEW)
    for paired in comparison.metrics:
        assert_finite(paired)
        if paired.n_pairs == 0:
            assert paired.difference is None
            assert paired.p_value is None
        elif paired.ci_low is not None and paired.ci_high is not None and paired.difference is not None:
            assert paired.ci_low - 1e-9 <= paired.difference <= paired.ci_high + 1e-9
        if paired.p_value is not None:
            assert 0 <= paired.p_value <= 1


def test_two_empty_cells_have_nothing_to_compare() -> None:
    for paired in compare("A", [], "B", [], resamples=FEW).metrics:
        assert (paired.n_pairs, paired.difference, paired.ci_low, paired.p_value) == (0, None, None, None)

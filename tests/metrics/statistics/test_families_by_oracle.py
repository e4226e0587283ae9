"""Statistics: McNemar on exact_match, and Holm over outcome metrics."""

from collections.abc import Sequence
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.metrics.drawn_cards import cells, final_tuple, gold, ok_card

from episodic_absa.metrics.statistics import Comparison, McNemar, compare, holm
from episodic_absa.schemas.run_files.scorecard import Scorecard

FEW = 200
GOLD = gold(("food", "positive"))
RIGHT = ok_card(stage1=[final_tuple("food", "positive")], gold_tuples=GOLD)
WRONG = ok_card(stage1=[final_tuple("food", "negative")], gold_tuples=GOLD)


def cell(rights: Sequence[Sequence[bool]]) -> list[Scorecard]:
    """One row per uid, one flag per seed."""
    return [
        (RIGHT if right else WRONG).model_copy(update={"uid": f"u{i}", "seed": seed})
        for i, row in enumerate(rights)
        for seed, right in enumerate(row)
    ]


def mcnemar_of(a: Sequence[Sequence[bool]], b: Sequence[Sequence[bool]]) -> McNemar:
    found = compare("A", cell(a), "B", cell(b), resamples=FEW).mcnemar
    assert found is not None
    return found


def claim_label(row: Sequence[bool]) -> bool | None:
    """Right in more than half its seeds; exactly half is a tie."""
    return None if 2 * sum(row) == len(row) else 2 * sum(row) > len(row)


rows = st.integers(1, 4).flatmap(
    lambda n: st.lists(
        st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n, max_size=n)),
        min_size=1,
        max_size=8,
    )
)


@settings(max_examples=40)
@given(rows)
def test_mcnemar_takes_the_majority_of_seeds_and_drops_ties(found: list[tuple[list[bool], list[bool]]]) -> None:
    verdicts = [(claim_label(a), claim_label(b)) for a, b in found]
    a_only = sum(a is True and b is False for a, b in verdicts)
    b_only = sum(a is False and b is True for a, b in verdicts)
    result = mcnemar_of([a for a, _ in found], [b for _, b in found])
    assert (result.a_only, result.b_only) == (a_only, b_only)
    assert result.ties_dropped == sum(a is None or b is None for a, b in verdicts)
    if a_only + b_only:
        assert result.p_value == pytest.approx(binomtest(a_only, a_only + b_only, 0.5).pvalue)
    else:
        assert result.p_value is None
    assert result.odds_ratio == (a_only / b_only if b_only else None)


@pytest.mark.parametrize(("a_only", "b_only"), [(9, 1), (60, 38), (0, 11)])
def test_mcnemar_is_the_exact_binomial_test(a_only: int, b_only: int) -> None:
    tosses = a_only + b_only
    tail = sum(comb(tosses, heads) for heads in range(min(a_only, b_only) + 1))
    result = mcnemar_of([[True]] * a_only + [[False]] * b_only, [[False]] * a_only + [[True]] * b_only)
    assert result.p_value == pytest.approx(2 * tail / 2**tosses)


def test_without_gold_mcnemar_tests_nothing() -> None:
    blind = [ok_card(f"u{i}", stage1=[final_tuple("food")]) for i in range(3)]
    assert compare("A", blind, "B", blind, resamples=FEW).mcnemar is None


def test_a_uid_that_is_missing_on_one_side_is_not_tested() -> None:
    found = compare("A", cell([[True], [True]]), "B", cell([[False]]), resamples=FEW).mcnemar
    assert found is not None
    assert (found.a_only, found.b_only) == (1, 0)


# Holm


def stepped_down(p_values: Sequence[float]) -> list[float]:
    """Smallest p times m, next times m - 1, ...; never below an earlier one, never above 1."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_steps_down(p_values: list[float]) -> None:
    assert list(holm(p_values)) == pytest.approx(stepped_down(p_values))


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ((), ()),
        ((0.04,), (0.04,)),
        # By hand: .005 x 4, .01 x 3, .03 x 2, .04 x 1; the last may not fall below the one before.
        ((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02)),
        ((0.5, 0.6), (1.0, 1.0)),
        ((0.02, 0.02), (0.04, 0.04)),
    ],
)
def test_holm_by_table(p_values: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert holm(p_values) == pytest.approx(expected)


def assert_holm(found: Comparison) -> None:
    """The primary metric first; then Holm over the distinct tests of the other outcomes and McNemar's."""
    outcomes = [paired for paired in found.metrics if paired.kind == "outcome" and paired.p_value is not None]
    tests = [(paired.p_value or 0.0, paired.p_holm or 0.0) for paired in outcomes if not paired.is_primary]
    if found.mcnemar is not None and found.mcnemar.p_value is not None:
        tests.append((found.mcnemar.p_value, found.mcnemar.p_holm or 0.0))
    gate = 0.0 if found.primary.n_uids == 0 else found.primary.p_holm if found.primary.p_holm is not None else 1.0
    assert found.primary.p_holm == found.primary.p_value
    # Equal tests count once, so that Holm over all of them is an upper bound and p a lower one.
    for (p_value, adjusted), most in zip(tests, stepped_down([p for p, _ in tests]), strict=True):
        assert max(gate, p_value) - 1e-12 <= adjusted <= max(gate, most) + 1e-12
    for paired in found.metrics:
        if paired.kind != "outcome" or paired.p_value is None:
            assert paired.p_holm is None, paired.metric


@settings(max_examples=15)
@given(cells(names=("C2",), min_size=2, max_size=4), cells(names=("C1",), min_size=2, max_size=4))
def test_holm_covers_the_tests_of_outcome_metrics_and_no_other(a: list[Scorecard], b: list[Scorecard]) -> None:
    assert_holm(compare("C2", a, "C1", b, resamples=FEW))


def test_holm_covers_mcnemar_too() -> None:
    found = compare("A", cell([[True]] * 6 + [[False]] * 2), "B", cell([[False]] * 6 + [[True]] * 2), resamples=FEW)
    assert found.mcnemar is not None
    assert found.mcnemar.p_holm is not None
    assert_holm(found)


def test_a_metric_that_counts_what_another_one_misses_is_the_same_test() -> None:
    """Where each wrong pair is a wrong polarity, exact matches and severe errors differ by the sign alone."""
    mended = ok_card(
        stage1=[final_tuple("food", "negative")], stage2=[final_tuple("food", "positive")], adopt=True, gold_tuples=GOLD
    )
    sides = [[RIGHT] * 6 + [mended] * 5, [WRONG] * 6 + [RIGHT] * 5]
    a, b = ([card.model_copy(update={"uid": f"u{i}"}) for i, card in enumerate(side)] for side in sides)
    for found in (compare("A", a, "B", b, resamples=FEW), compare("B", b, "A", a, resamples=FEW)):
        matches, errors, of_debates = map(found.of, ("exact_match", "severe_polarity_error", "delta_f1"))
        assert matches.difference is not None
        assert errors.difference == -matches.difference
        assert errors.p_holm == matches.p_holm == matches.p_value == pytest.approx(2 / 2**6)
        # The other tests of this family: delta_f1, and the ratios of sums, whose F1 counts each hit twice.
        assert of_debates.p_value == pytest.approx(2 / 2**5)
        assert of_debates.p_holm == pytest.approx(3 * 2 / 2**6)


def test_the_kind_of_a_paired_metric_is_that_of_the_agreement() -> None:
    kinds = {paired.metric: paired.kind for paired in compare("A", [RIGHT], "B", [WRONG], resamples=FEW).metrics}
    process = {"changed", "delta_risk", "outcome_residual_risk", "validator_residual_risk"}
    efficiency = {"tokens_in", "tokens_out", "calls"}
    for name, kind in kinds.items():
        assert kind == ("process" if name in process else "efficiency" if name in efficiency else "outcome"), name

"""Strata come from the baseline's scorecards, and each stratum has the comparison of its own pairs."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.metrics.hand_made_cards import make_card, make_memory

from episodic_absa.analysis.strata import StratumRow, interaction_word, stratum_rows
from episodic_absa.metrics.statistics import compare, holm
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk, UsageSums
from episodic_absa.vocabulary import StratumName

GOLD = [("food", "positive")]
RIGHT, WRONG = GOLD, [("food", "negative")]
RISKS = {0: ("NEGATION_SCOPE", "IRONY"), 1: ("NEGATION_SCOPE",), 2: ()}
N = 48


def card(place: int, *, is_right: bool, **more: Any) -> Scorecard:
    return make_card(
        RIGHT if is_right else WRONG,  # type: ignore[arg-type]
        GOLD,  # type: ignore[arg-type]
        uid=f"r{place:02d}",
        sample_index=place,
        language_code="ko" if place % 4 else "en",
        domain_id="hotel" if place < 40 else "phone",
        risks_s1=[ScoredRisk(type=risk, severity="low") for risk in RISKS[place % 3]],  # type: ignore[arg-type]
        **more,
    )


def sides() -> tuple[list[Scorecard], list[Scorecard]]:
    """A is right in the second half of the order and in a third of the first; B in half of the reviews."""
    offered = {0: ("P-NEG-01", "P-IRO-01"), 1: ("P-NEG-01",), 2: ()}
    a = [
        card(
            place,
            is_right=place >= N // 2 or place % 3 == 0,
            memory=make_memory(offered_principles=offered[place % 3]),
        )
        for place in range(N)
    ]
    return a, [card(place, is_right=place % 2 == 0, condition="C1") for place in range(N)]


def table(by: StratumName, a: Sequence[Scorecard], b: Sequence[Scorecard], **more: Any) -> dict[str, StratumRow]:
    return {row.stratum: row for row in stratum_rows("C2", a, "C1", b, by=by, **more)}


def test_each_stratum_has_the_comparison_of_its_own_pairs() -> None:
    a, b = sides()
    rows = table("language", a, b)
    assert list(rows) == ["ko", "en"]
    assert (rows["ko"].n_uids, rows["en"].n_uids) == (36, 12)
    inside = [[side for side in cards if side.language_code == "ko"] for cards in (a, b)]
    alone = compare("C2", inside[0], "C1", inside[1]).metrics[0]
    assert rows["ko"].difference == alone.difference
    assert (rows["ko"].ci_low, rows["ko"].ci_high, rows["ko"].p_value) == (alone.ci_low, alone.ci_high, alone.p_value)
    p_values = [row.p_value for row in rows.values() if row.p_value is not None]
    assert [row.p_holm for row in rows.values()] == list(holm(p_values))
    assert not rows["ko"].overlapping


def test_a_small_stratum_has_a_difference_but_neither_interval_nor_test() -> None:
    rows = table("domain", *sides())
    assert (rows["phone"].n_uids, rows["phone"].is_small) == (8, True)
    assert rows["phone"].difference == 0.5
    assert {rows["phone"].ci_low, rows["phone"].p_value, rows["phone"].p_holm} == {None}
    assert rows["hotel"].ci_low is not None
    assert rows["hotel"].interaction_p is None  # no second stratum to compare with


def test_a_review_with_two_risks_or_two_principles_is_in_two_strata_and_the_table_says_so() -> None:
    a, b = sides()
    risks = table("risk", a, b)
    assert {name: row.n_uids for name, row in risks.items()} == {"NEGATION_SCOPE": 32, "IRONY": 16, "none": 16}
    assert all(row.overlapping for row in risks.values())
    principles = table("principle", a, b)
    assert {name: row.n_uids for name, row in principles.items()} == {"P-IRO-01": 16, "P-NEG-01": 32, "none": 16}


def test_structures_are_those_of_the_text() -> None:
    structures = {f"r{place:02d}": ("negation", "contrast") if place % 2 else ("none",) for place in range(N - 1)}
    rows = table("structure", *sides(), structures=structures)
    assert {name: row.n_uids for name, row in rows.items()} == {
        "negation": 23,
        "contrast": 23,
        "none": 24,
        "unknown": 1,
    }


def test_quarters_follow_the_order_of_each_cell_and_their_interaction_is_the_learning_curve() -> None:
    rows = table("quarter", *sides())
    assert list(rows) == ["1", "2", "3", "4"]
    assert {row.n_uids for row in rows.values()} == {12}
    differences = [row.difference for row in rows.values()]
    assert differences == pytest.approx([-1 / 6, -1 / 6, 0.5, 0.5])
    assert (rows["1"].interaction_p or 1) < 0.01


def test_failed_samples_and_samples_without_a_partner_are_left_out() -> None:
    a, b = sides()
    rows = table("language", a[1:], b[:-1])
    assert sum(row.n_uids for row in rows.values()) == N - 2
    assert stratum_rows("C2", a[:3], "C1", b[3:], by="language") == ()


def test_with_several_orders_a_review_stands_in_several_quarters() -> None:
    a, b = sides()
    reversed_order = [
        [side.model_copy(update={"order": 1, "sample_index": N - 1 - side.sample_index}) for side in cards]
        for cards in (a, b)
    ]
    rows = table("quarter", [*a, *reversed_order[0]], [*b, *reversed_order[1]])
    assert {(row.n_uids, row.n_pairs, row.overlapping) for row in rows.values()} == {(24, 24, True)}
    # The first quarter of one order holds the reviews of the last quarter of the other.
    assert rows["1"].difference == rows["4"].difference == pytest.approx(1 / 6)


def test_an_interaction_is_claimed_only_with_large_strata_and_enough_orders() -> None:
    rows = list(table("quarter", *sides()).values())
    assert (rows[0].interaction_p or 1) < 0.05
    assert interaction_word(rows) == "small_stratum"
    large = [row.model_copy(update={"n_uids": 50}) for row in rows]
    assert interaction_word(large) == "differs"
    assert interaction_word([row.model_copy(update={"few_orders": True}) for row in large]) == "few_orders"
    assert interaction_word([row.model_copy(update={"interaction_p": 0.2}) for row in large]) == "consistent"
    assert interaction_word(rows[:1]) == "too_few"


def test_a_quarter_that_had_luck_in_some_orders_is_no_interaction() -> None:
    # The same reviews come first in every order; in three of five orders they do well, in two badly.
    a, b = [], []
    for order, is_lucky in enumerate((True, True, False, True, False), start=1):
        for place in range(N):
            # In every order the model is asked differently, because the memory holds something else.
            more = {"order": order, "usage": UsageSums(calls=10, tokens_in=order)}
            a.append(card(place, is_right=is_lucky if place < N // 4 else place % 2 == 0, **more))
            b.append(card(place, is_right=place % 2 == 0, condition="C1", **more))
    rows = table("quarter", a, b)
    assert (rows["1"].interaction_p or 0) > 0.5
    assert not rows["1"].few_orders

"""Metrics of memory, impact and growth."""

from typing import get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.metrics import oracles
from tests.metrics.checking import assert_count, assert_ratio, assert_value, measured
from tests.metrics.drawn_cards import cells, error_card, final_tuple, gold, memory_meta, ok_card, ok_cards
from tests.metrics.oracles import Ratio, ok

from episodic_absa.metrics import GrowthLine, compute_growth
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk
from episodic_absa.vocabulary import DebateGateReason, Expects, Stage2GateReason

MEMORY = ("C2", "C2_frozen", "C2_silent")
HIGH, LOW = ScoredRisk(type="IRONY", severity="high"), ScoredRisk(type="IRONY", severity="low")
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""Where shrinking takes minutes and a table of small cases says the same."""
KEYS = (
    "window_end_sample",
    "window_size",
    "memory_mode",
    "store_size",
    "store_new_entry_rate",
    "advisory_presence_rate",
    "follow_rate",
    "mean_delta_risk_followed",
    "mean_delta_risk_ignored",
    "harm_rate_followed",
    "harm_rate_ignored",
    "retrieval_hit_k",
    "mean_tuple_f1_explicit",
)


@settings(max_examples=60)
@given(cells())
def test_every_memory_rate_is_its_sentence(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    for name, expected in oracles.memory_rates(cards).items():
        assert_ratio(metrics[name], expected)


@settings(max_examples=45)
@given(cells(names=MEMORY))
def test_injected_characters_and_withheld_advice_are_summed(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    seen = [oracles.memory(card) for card in ok(cards)]
    for name, field in (("", "prompt_injection_chars"), ("stage2_", "stage2_memory_prompt_injection_chars")):
        chars = oracles.mean(getattr(meta, field) for meta in seen)
        assert_ratio(metrics[f"mean_{name}prompt_injection_chars"], chars)
    for name in ("memory_blocked_episode_n", "memory_blocked_advisory_n", "memory_demoted_advisory_n"):
        assert_count(metrics[name], sum(getattr(meta, name) for meta in seen))


@settings(max_examples=45)
@given(cells(names=MEMORY))
def test_first_triggers_are_counted_where_something_was_injected(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    metas = [oracles.memory(card) for card in ok(cards)]
    debate = [meta.injection_trigger_reason for meta in metas if meta.prompt_injection_chars]
    stage2 = [meta.stage2_memory_gate_reason for meta in metas if meta.stage2_memory_prompt_injection_chars]
    for reason in get_args(DebateGateReason):
        assert_count(metrics[f"injection_trigger_{reason}_n"], debate.count(reason))
    for reason in get_args(Stage2GateReason):
        assert_count(metrics[f"stage2_injection_trigger_{reason}_n"], stage2.count(reason))


@settings(max_examples=70, phases=UNSHRUNK)
@given(cells(names=MEMORY))
def test_every_impact_metric_is_its_sentence(cards: list[Scorecard]) -> None:
    metrics = measured(cards)
    for name, expected in oracles.impact(cards).items():
        assert_ratio(metrics[name], expected)
        assert metrics[name].group == "impact"


@settings(max_examples=30)
@given(cells(names=MEMORY))
def test_impact_and_process_do_not_change_with_gold(cards: list[Scorecard]) -> None:
    blind = [card.model_copy(update={"gold_tuples": None}) for card in cards]
    seeing = [card.model_copy(update={"gold_tuples": gold(("food", "negative"))}) for card in cards]
    without, with_gold = measured(blind, majority=None), measured(seeing, majority=None)
    impact = [name for name, value in without.items() if value.group in {"impact", "memory"}]
    assert impact
    assert [without[name] for name in impact] == [with_gold[name] for name in impact]


def advised(expects: Expects | None, *, changes: bool, rises: bool = False, chars: int = 10) -> Scorecard:
    stage1, stage2 = [final_tuple("food", "positive")], [final_tuple("food", "negative" if changes else "positive")]
    return ok_card(
        stage1=stage1,
        stage2=stage2,
        adopt=True,
        risks_s1=[LOW],
        risks_s2=[HIGH] if rises else [],
        condition="C2",
        memory=memory_meta("C2", retrieved_k=1, prompt_injection_chars=chars, advisory_expects=expects),
    )


@pytest.mark.parametrize(
    ("expects", "changes", "expected"),
    [
        ("change", True, Ratio(1, 1)),
        ("change", False, Ratio(0, 1)),
        ("hold", True, Ratio(0, 1)),
        ("hold", False, Ratio(1, 1)),
        (None, True, Ratio(0, 0)),  # warnings alone are no advisory
    ],
)
def test_advice_is_followed_by_doing_what_it_expects(expects: Expects | None, changes: bool, expected: Ratio) -> None:
    assert_ratio(measured([advised(expects, changes=changes)])["follow_rate"], expected)


def test_delta_risk_is_after_minus_before_and_harm_a_rise() -> None:
    metrics = measured(
        [
            advised("change", changes=True),  # followed: 0 - 1
            advised("hold", changes=False, rises=True),  # followed: 3 - 1
            advised("hold", changes=True, rises=True),  # ignored: 3 - 1
        ]
    )
    assert_value(metrics["mean_delta_risk_followed"], 0.5)
    assert_value(metrics["mean_delta_risk_ignored"], 2.0)
    assert_ratio(metrics["harm_rate_followed"], Ratio(1, 2))
    assert_ratio(metrics["harm_rate_ignored"], Ratio(1, 1))


def test_advice_that_reached_only_stage2_is_present_too() -> None:
    memory = memory_meta(
        "C2",
        retrieved_k=1,
        stage2_memory_injected=True,
        stage2_memory_prompt_injection_chars=9,
        stage2_memory_gate_reason="neutral_only",
        stage2_memory_gate_reasons=("neutral_only",),
        advisory_expects="hold",
    )
    metrics = measured([ok_card(condition="C2", memory=memory)])
    assert_ratio(metrics["memory_injected_rate"], Ratio(1, 1))
    assert_ratio(metrics["follow_rate"], Ratio(1, 1))


# Growth


def assert_line(found: GrowthLine, window: list[Scorecard], *, count_backfilled: bool = False) -> None:
    line = found.model_dump()
    for key, expected in oracles.growth_line(window, count_backfilled=count_backfilled).items():
        if isinstance(expected, float):
            assert line[key] == pytest.approx(expected, abs=1e-9), key
        else:
            assert line[key] == expected, key


@settings(max_examples=45, phases=UNSHRUNK)
@given(cells(), st.booleans())
def test_a_short_cell_is_one_window(cards: list[Scorecard], count_backfilled: bool) -> None:
    lines = compute_growth(cards, count_backfilled=count_backfilled)
    n = ok(cards)
    assert len(lines) == (1 if n else 0)
    for line in lines:
        assert_line(line, n, count_backfilled=count_backfilled)


@settings(max_examples=5, phases=UNSHRUNK)
@given(
    st.sampled_from(MEMORY).flatmap(lambda name: st.lists(ok_cards(condition=name), min_size=6, max_size=6)),
    st.permutations(range(54)),
)
def test_the_window_of_fifty_slides_by_one_in_sample_order(some: list[Scorecard], order: list[int]) -> None:
    cards = [
        some[(i * i + i // 7) % len(some)].model_copy(update={"uid": f"u{i}", "sample_index": i}) for i in range(54)
    ]
    lines = compute_growth([cards[i] for i in order])
    assert [line.window_end_sample for line in lines] == list(range(49, 54))
    for i, line in enumerate(lines):
        assert_line(line, cards[i : i + 50])


@pytest.mark.parametrize(("n", "expected"), [(49, 1), (50, 1), (51, 2), (53, 4)])
def test_the_window_is_fifty_or_all_there_are(n: int, expected: int) -> None:
    lines = compute_growth([ok_card(f"u{i}", sample_index=i) for i in range(n)])
    assert len(lines) == expected
    assert {line.window_size for line in lines} == {min(50, n)}


def test_failed_samples_fill_no_window() -> None:
    cards = [ok_card("u0"), error_card("u1", sample_index=1), ok_card("u2", sample_index=2)]
    (line,) = compute_growth(cards)
    assert (line.window_size, line.window_end_sample) == (2, 2)


def test_the_keys_of_a_growth_line_stand_in_the_order_of_the_specification() -> None:
    (line,) = compute_growth([ok_card()])
    assert tuple(line.model_dump()) == KEYS
    assert line.mean_tuple_f1_explicit is None
    assert line.follow_rate is None

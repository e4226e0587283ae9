"""The effect of a principle is the contrast that its coins make, against the shadow where the grid has one."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from tests.metrics.hand_made_cards import make_card, make_memory
from tests.reports.shared_grids import shipped_grid

from episodic_absa.analysis import PrincipleEffect, principles_text
from episodic_absa.contrib.principles.trial import trial_effects
from episodic_absa.runs.reading.finished_cells import FinishedCell, load_cell
from episodic_absa.schemas.run_files.scorecard import Scorecard

GOLD: Any = [("food", "positive")]
WRONG: Any = [("food", "negative")]
N = 120


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shipped_grid(tmp_path_factory)


def cards(condition: str, *, seed: int, helping: float = 0.0, **memory: Any) -> list[Scorecard]:
    """Draw samples that are right by the review's own chance; P-NEG-01 adds to it, P-IRO-01 does nothing."""
    made = []
    for place in range(N):
        review = random.Random(place)
        chance, luck = review.choice([0.1, 0.5]), random.Random(f"{place}/{seed}").random()
        coins = [
            {"principle_id": principle, "withheld": review.random() < 0.5} for principle in ("P-IRO-01", "P-NEG-01")
        ]
        coins += [{"principle_id": "P-SPN-01", "withheld": place % 2 == 0}] if place < 12 else []
        is_shown = memory != {} and not coins[1]["withheld"]
        made.append(
            make_card(
                GOLD if luck < chance + helping * is_shown else WRONG,
                GOLD,
                uid=f"r{place:03d}",
                seed=seed,
                condition=condition,
                memory=make_memory(**({"coins": coins} | memory if memory else {})),
            )
        )
    return made


def cell(shipped: Path, name: str, made: Sequence[Scorecard]) -> FinishedCell:
    return replace(load_cell(shipped / f"{name}__seed{42 if made[0].seed == 42 else 123}"), cards=tuple(made))


OPEN = {"injection_trigger_reasons": ("conflict",)}


def by_principle(effects: Sequence[PrincipleEffect]) -> dict[str, PrincipleEffect]:
    return {effect.principle_id: effect for effect in effects}


def test_a_principle_that_helps_is_told_from_one_that_does_nothing_and_from_one_with_too_few_reviews(
    shipped: Path,
) -> None:
    trial = [cell(shipped, "C2", cards("C2", seed=seed, helping=0.5, **OPEN)) for seed in (42, 123)]
    silent = [cell(shipped, "C1", cards("C1", seed=seed)) for seed in (42, 123)]
    effects = by_principle(trial_effects([*silent, *trial]))
    assert {name: effect.verdict for name, effect in effects.items()} == {
        "P-IRO-01": "not shown",
        "P-NEG-01": "helps",
        "P-SPN-01": "not shown",
    }
    helps, too_few = effects["P-NEG-01"], effects["P-SPN-01"]
    assert (helps.condition, helps.shadow, helps.n_shown + helps.n_withheld) == ("C2", "C1", N)
    # The same luck decides under the trial and under the shadow: without the principle nothing differs.
    assert helps.mean_withheld == 0.0
    assert helps.effect == pytest.approx(0.5, abs=0.15)
    assert (too_few.n_shown, too_few.n_withheld, too_few.p_value) == (6, 6, None)
    assert principles_text([too_few]).splitlines()[1].startswith("C2,C1,P-SPN-01,tuple_f1_explicit,6,6,")


def test_without_a_shadow_the_metric_itself_is_compared(shipped: Path) -> None:
    made = cards("C2", seed=42, helping=0.5, **OPEN)
    [effect] = [effect for effect in trial_effects([cell(shipped, "C2", made)]) if effect.principle_id == "P-NEG-01"]
    shown = [not card.memory.coins[1].withheld for card in made if card.memory]
    is_right = [card.final_tuples[0].polarity == "positive" for card in made]
    plain = [
        fmean([right for right, seen in zip(is_right, shown, strict=True) if seen is side]) for side in (True, False)
    ]
    assert effect.shadow is None
    assert effect.effect == pytest.approx(plain[0] - plain[1])
    # The difference to a shadow varies less.
    beside = trial_effects([cell(shipped, "C2", made), cell(shipped, "C1", cards("C1", seed=42))])
    paired = by_principle(beside)["P-NEG-01"]
    assert (paired.ci_high or 0) - (paired.ci_low or 0) < (effect.ci_high or 0) - (effect.ci_low or 0)


def test_coins_behind_a_closed_gate_do_not_count(shipped: Path) -> None:
    closed = cell(shipped, "C2", cards("C2", seed=42, injection_trigger_reasons=()))
    assert trial_effects([closed]) == ()


def test_a_grid_without_coins_has_no_trial(shipped: Path) -> None:
    assert trial_effects([cell(shipped, "C2", cards("C2", seed=42))]) == ()

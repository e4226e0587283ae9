"""The effect of each principle, from a condition that withholds advice at random (`advice.withhold`).

A coin fixed by uid and principle decides whether a review sees the principle. Reviews that saw it and reviews from
which it was withheld differ by nothing but the coin, so that their difference is the effect of the principle.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from episodic_absa.analysis import (
    PairKey,
    PrincipleEffect,
    PrincipleVerdict,
    asked_groups,
    is_asked,
    key_of,
    tossed_coins,
    value_metric,
)
from episodic_absa.contrib.principles.contrast import randomised_contrast
from episodic_absa.metrics import definition_of, sample_value
from episodic_absa.metrics.statistics import ALPHA, PRIMARY, SEED, holm
from episodic_absa.runs.question import recorded_parts
from episodic_absa.runs.reading.finished_cells import FinishedCell, all_cards, evaluated
from episodic_absa.schemas.run import Condition, MemoryMeta
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.schemas.run_files.scorecard import Scorecard

SMALLEST_GROUP: Final = 10
"""With fewer reviews that saw the principle, or fewer that did not, there is no interval, test or verdict."""

_Outcomes = Mapping[PairKey, float]
_Groups = dict[bool, dict[str, list[float]]]
"""Withheld or not -> uid -> the values of its orders and seeds."""


def effects_of_grid(cells: Sequence[FinishedCell], question: Question | None) -> tuple[PrincipleEffect, ...]:
    """Return the effects over the asked orders and seeds of a grid, in the primary metric of its question."""
    asked = [cell for group in asked_groups(cells, question).values() for cell in group]
    primary = PRIMARY if question is None else value_metric(question.asked.primary_metric)
    added = {
        name
        for name, group in evaluated(asked).items()
        if question is None
        or name not in question.asked.conditions
        or not all(is_asked(cell, question) for cell in group)
        or recorded_parts(question, [cell.manifest for cell in group])
    }
    return tuple(
        effect.model_copy(update={"exploratory": effect.condition in added})
        for effect in trial_effects(asked, metric=primary)
    )


def trial_effects(
    cells: Sequence[FinishedCell], *, metric: str = PRIMARY, seed: int = SEED
) -> tuple[PrincipleEffect, ...]:
    """Return the effect of every principle that some condition tossed coins for, per condition by principle.

    The value of a review is the difference to the same sample (uid, order, seed) under a condition that never shows
    memory, if the grid holds one with the same rules and pipeline; else the metric itself. Both are unbiased; the
    difference varies less.

    Args:
        cells: the cells of a grid, or one cell.
        metric: an outcome metric with a value per sample.
        seed: seed of the random draws.
    """
    by_condition = evaluated(cells)
    effects: list[PrincipleEffect] = []
    for name, group in by_condition.items():
        if not tossed_coins(group):
            continue
        shadow = _shadow_of(group[0].manifest.condition, by_condition)
        values = _values(group, metric)
        if shadow is not None:
            beside = _values(by_condition[shadow], metric)
            values = {key: value - beside[key] for key, value in values.items() if key in beside}
        effects += _corrected(
            _effect(name, shadow, principle_id, groups, metric, seed)
            for principle_id, groups in sorted(_by_principle(all_cards(group), values).items())
        )
    return tuple(effects)


def _shadow_of(trial: Condition, by_condition: Mapping[str, Sequence[FinishedCell]]) -> str | None:
    """Return the condition that differs from the trial in the memory alone and never shows it; silent ones first."""
    conditions = [cells[0].manifest.condition for cells in by_condition.values()]
    shadows = [
        condition
        for condition in conditions
        if not condition.is_exposed and (condition.rules, condition.pipeline) == (trial.rules, trial.pipeline)
    ]
    return min(shadows, key=lambda condition: condition.memory_mode != "silent").name if shadows else None


def _values(cells: Sequence[FinishedCell], metric: str) -> _Outcomes:
    values = {
        key_of(card): sample_value(metric, card, count_backfilled=cell.count_backfilled)
        for cell in cells
        for card in cell.cards
    }
    return {key: value for key, value in values.items() if value is not None}


def _by_principle(cards: Sequence[Scorecard], values: _Outcomes) -> dict[str, _Groups]:
    principles: dict[str, _Groups] = {}
    for card in cards:
        key = key_of(card)
        if card.memory is None or key not in values or not _has_open_gate(card.memory):
            continue
        for coin in card.memory.coins:
            groups = principles.setdefault(coin.principle_id, {True: {}, False: {}})
            groups[coin.withheld].setdefault(card.uid, []).append(values[key])
    return principles


def _has_open_gate(memory: MemoryMeta) -> bool:
    """Return whether some prompt would show advice. Gates are functions of Stage1, which the coin does not touch."""
    return bool(
        (memory.exposed_to_debate and memory.injection_trigger_reasons)
        or (memory.exposed_to_stage2 and memory.stage2_memory_gate_reasons)
    )


def _effect(
    condition: str, shadow: str | None, principle_id: str, groups: _Groups, metric: str, seed: int
) -> PrincipleEffect:
    # The coin of a review is the same in every order and with every seed, so that the review is what was randomised.
    shown, withheld = ([fmean(groups[side][uid]) for uid in sorted(groups[side])] for side in (False, True))
    effect = PrincipleEffect(
        condition=condition,
        shadow=shadow,
        principle_id=principle_id,
        metric=metric,
        n_shown=len(shown),
        n_withheld=len(withheld),
        mean_shown=fmean(shown) if shown else None,
        mean_withheld=fmean(withheld) if withheld else None,
        effect=fmean(shown) - fmean(withheld) if shown and withheld else None,
    )
    if min(len(shown), len(withheld)) < SMALLEST_GROUP:
        return effect
    contrast = randomised_contrast(shown, withheld, seed=seed)
    return effect.model_copy(
        update={"ci_low": contrast.ci_low, "ci_high": contrast.ci_high, "p_value": contrast.p_value}
    )


def _corrected(effects: Iterator[PrincipleEffect]) -> list[PrincipleEffect]:
    """Apply Holm's correction, and give the verdicts that stand it."""
    made = list(effects)
    p_values = {effect.principle_id: effect.p_value for effect in made if effect.p_value is not None}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return [
        effect.model_copy(update={"p_holm": p_holm, "verdict": _verdict(effect, p_holm)})
        for effect in made
        for p_holm in (adjusted.get(effect.principle_id),)
    ]


def _verdict(effect: PrincipleEffect, p_holm: float | None) -> PrincipleVerdict:
    wanted = definition_of(effect.metric).better
    if not wanted or p_holm is None or p_holm >= ALPHA or effect.ci_low is None or effect.ci_high is None:
        return "not shown"
    if effect.ci_low <= 0 <= effect.ci_high:
        return "not shown"
    return "helps" if (effect.ci_low > 0) == (wanted == "higher") else "harms"

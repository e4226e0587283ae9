"""The effect of a principle that a condition withheld at random, as tables and pages show it.

`contrib/principles` computes it, where a coin was tossed at all.
"""

from collections.abc import Sequence
from typing import Final, Literal

from episodic_absa.contrib_parts import contrib_part
from episodic_absa.runs.reading.finished_cells import FinishedCell, all_cards, evaluated
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.serialization.csv_text import csv_text

PRINCIPLES: Final = "principles.csv"
PrincipleVerdict = Literal["helps", "harms", "not shown"]


class PrincipleEffect(FrozenModel):
    """The effect of one principle: reviews that saw it minus reviews from which it was withheld."""

    condition: str
    """The condition that withheld advice."""
    shadow: str | None
    """The condition whose values are subtracted, sample by sample; None if the grid has none."""
    principle_id: str
    metric: str
    n_shown: Count
    """Reviews that saw the principle: their coin said so, and a gate was open."""
    n_withheld: Count
    """Reviews from which only the coin withheld it."""
    mean_shown: float | None
    """Mean of the metric, or of its difference to the shadow; None without a review."""
    mean_withheld: float | None
    effect: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    p_value: float | None = None
    p_holm: float | None = None
    """p after Holm's correction over the tested principles of the condition."""
    verdict: PrincipleVerdict = "not shown"
    exploratory: Flag = False
    """Whether the trial was not asked for before the first sample; without a question that is not known."""


def tossed_coins(cells: Sequence[FinishedCell]) -> bool:
    """Return whether a coin decided if some sample of these cells sees a principle."""
    return any(card.memory is not None and card.memory.coins for card in all_cards(cells))


def grid_effects(cells: Sequence[FinishedCell], question: Question | None) -> tuple[PrincipleEffect, ...]:
    """Return the effect of each principle over the asked orders and seeds; none without a trial."""
    if not any(map(tossed_coins, evaluated(cells).values())):
        return ()
    effects: tuple[PrincipleEffect, ...] = contrib_part("principle_effects")(cells, question)
    return effects


def principles_text(effects: Sequence[PrincipleEffect]) -> str:
    """Render a row per condition and principle."""
    return csv_text(tuple(PrincipleEffect.model_fields), (tuple(dict(effect).values()) for effect in effects))

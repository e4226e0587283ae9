"""A first look at a grid: counts per cell and mean per condition, read from scorecards.jsonl alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiments.experiment_config import ExperimentConfig
from episodic_absa.experiments.grid import build_cells, evaluated_cells
from episodic_absa.experiments.run_directory import SCORECARDS
from episodic_absa.final_tuples import pairs, predicted
from episodic_absa.language import norm
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.scorecard import Scorecard

BUILD = "build"


class CellSummary(FrozenModel):
    """What one cell came to."""

    condition: str
    """`build` for the building of a store."""
    seed: int
    samples: int
    """Failed ones included."""
    failed: int
    memory_shown: int
    """Samples with memory in at least one prompt."""
    changed: int
    """Samples whose reviewed result was adopted."""
    stored: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """As if this cell had run alone; None where a price is not known."""
    f1_explicit_preview: float | None
    """None without explicit gold."""


class ConditionSummary(FrozenModel):
    """Means over the seeds of one condition."""

    condition: str
    seeds: tuple[int, ...]
    samples: float
    failed: float
    memory_shown: float
    changed: float
    stored: float
    calls: float
    tokens_in: float
    tokens_out: float
    cost_usd: float | None
    f1_explicit_preview: float | None


@dataclass(frozen=True)
class GridSummary:
    """A whole grid, in the order in which its conditions were named."""

    cells: tuple[CellSummary, ...]

    @property
    def conditions(self) -> tuple[ConditionSummary, ...]:
        """Return the means per condition."""
        by_condition: dict[str, list[CellSummary]] = {}
        for cell in self.cells:
            by_condition.setdefault(cell.condition, []).append(cell)
        return tuple(mean_over_seeds(cells) for cells in by_condition.values())


def load_summary(config: ExperimentConfig) -> GridSummary:
    """Summarise what lies in the grid's directory."""
    cells = (*build_cells(config), *evaluated_cells(config))
    count_backfilled = config.file.eval.count_backfilled
    return GridSummary(
        tuple(
            summarise_cell(
                BUILD if cell.is_build else cell.condition.name,
                cell.seed,
                load_scorecards(cell.path / SCORECARDS),
                count_backfilled=count_backfilled,
            )
            for cell in cells
        )
    )


def load_scorecards(path: Path) -> list[Scorecard]:
    """Read the scorecards of a cell."""
    try:
        with open(path, "rb") as file:
            return [Scorecard.model_validate_json(line) for line in file]
    except FileNotFoundError as error:
        raise RunDirectoryError(f"there is no {path}; run the experiment first", path=path) from error


def summarise_cell(
    condition: str, seed: int, cards: Sequence[Scorecard], *, count_backfilled: bool = False
) -> CellSummary:
    """Count over the samples of one cell."""
    costs = [card.usage.cost_usd for card in cards]
    return CellSummary(
        condition=condition,
        seed=seed,
        samples=len(cards),
        failed=sum(card.status == "error" for card in cards),
        memory_shown=sum(_was_shown_memory(card) for card in cards),
        changed=sum(card.adoption is not None and card.adoption.adopt for card in cards),
        stored=sum(card.store_decision == "stored" for card in cards),
        calls=sum(card.usage.calls for card in cards),
        tokens_in=sum(card.usage.tokens_in for card in cards),
        tokens_out=sum(card.usage.tokens_out for card in cards),
        cost_usd=None if None in costs else round(sum(cost or 0.0 for cost in costs), 6),
        f1_explicit_preview=compute_f1_explicit(cards, count_backfilled=count_backfilled),
    )


def mean_over_seeds(cells: Sequence[CellSummary]) -> ConditionSummary:
    """Average the cells of one condition; a mean with an unknown part is unknown."""
    costs = [cell.cost_usd for cell in cells]
    scores = [cell.f1_explicit_preview for cell in cells]
    return ConditionSummary(
        condition=cells[0].condition,
        seeds=tuple(cell.seed for cell in cells),
        samples=fmean(cell.samples for cell in cells),
        failed=fmean(cell.failed for cell in cells),
        memory_shown=fmean(cell.memory_shown for cell in cells),
        changed=fmean(cell.changed for cell in cells),
        stored=fmean(cell.stored for cell in cells),
        calls=fmean(cell.calls for cell in cells),
        tokens_in=fmean(cell.tokens_in for cell in cells),
        tokens_out=fmean(cell.tokens_out for cell in cells),
        cost_usd=_mean(costs),
        f1_explicit_preview=_mean(scores),
    )


def compute_f1_explicit(cards: Iterable[Scorecard], *, count_backfilled: bool = False) -> float | None:
    """Return micro F1 over explicit (norm term, polarity) pairs, None where no sample has explicit gold.

    Pooled over samples that ended well, have explicit gold, and whose gold names a polarity everywhere.
    """
    hit_n = predicted_n = gold_n = 0
    for card in cards:
        if card.status == "error" or card.gold_tuples is None or any(one.polarity is None for one in card.gold_tuples):
            continue
        gold = {(norm(one.aspect_term), one.polarity) for one in card.gold_tuples if norm(one.aspect_term)}
        if not gold:
            continue
        tuples = card.final_tuples if count_backfilled else predicted(card.final_tuples)
        found = pairs(one for one in tuples if norm(one.aspect_term))
        hit_n += len(gold & found)
        predicted_n += len(found)
        gold_n += len(gold)
    return 2 * hit_n / (predicted_n + gold_n) if gold_n else None


def _was_shown_memory(card: Scorecard) -> bool:
    memory = card.memory
    return memory is not None and (memory.prompt_injection_chars > 0 or memory.stage2_memory_injected)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None

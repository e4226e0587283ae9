"""A summary of a grid: counts and the primary metric per cell, and means per condition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from episodic_absa.metrics import sample_value
from episodic_absa.metrics.majority_baseline import compute_baseline
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.gold_and_predictions import successful_cards
from episodic_absa.metrics.per_sample.sample_values import was_changed
from episodic_absa.metrics.ratios import mean
from episodic_absa.runs.reading.finished_cells import FinishedCell, evaluated, load_cell
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity

BUILD = "build"


class CellSummary(FrozenModel):
    """The counts and the primary metric of one cell."""

    condition: str
    """`build` for the building of a store."""
    order: int
    """0 is the order of the file; with `shuffle` the seed names the order."""
    seed: int
    samples: int
    """Failed ones included."""
    failed: int
    memory_shown: int
    """Samples with memory in at least one prompt."""
    changed: int
    """Samples whose final pairs differ from those of Stage1."""
    stored: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """The cost if this cell had run alone; None if a price is unknown."""
    tuple_f1_explicit: float | None
    """None without explicit gold."""
    tuple_f1_explicit_n: int
    """The samples that it is the mean of."""


class ConditionSummary(FrozenModel):
    """Means over the orders and seeds of one condition."""

    condition: str
    orders: tuple[int, ...]
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
    tuple_f1_explicit: float | None
    tuple_f1_explicit_n: float


class BaselineSummary(FrozenModel):
    """The score of Stage1's terms with the majority polarity."""

    tuple_f1_explicit: float | None
    tuple_f1_explicit_n: float
    polarity: Polarity
    source: Literal["train", "evaluation"]


@dataclass(frozen=True)
class GridSummary:
    """A whole grid, in the order of the experiment's conditions."""

    cells: tuple[CellSummary, ...]
    baseline: BaselineSummary | None = None
    """None without gold."""

    @property
    def conditions(self) -> tuple[ConditionSummary, ...]:
        """Return the means per condition."""
        by_condition: dict[str, list[CellSummary]] = {}
        for cell in self.cells:
            by_condition.setdefault(cell.condition, []).append(cell)
        return tuple(mean_over_seeds(cells) for cells in by_condition.values())


def load_summary(root: Path, names: Iterable[str], known: Iterable[FinishedCell] = ()) -> GridSummary:
    """Summarise the cells of a grid.

    Args:
        root: the grid's directory.
        names: the names of its cells, in the order in which they are shown.
        known: cells that are loaded already.
    """
    at_hand = {cell.path.name: cell for cell in known}
    loaded = [at_hand.get(name) or load_cell(root / name) for name in names]
    cells = tuple(
        summarise_cell(
            BUILD if cell.manifest.is_build else cell.condition,
            cell.manifest.seed,
            cell.cards,
            order=cell.manifest.order,
            count_backfilled=cell.count_backfilled,
        )
        for cell in loaded
    )
    # Stage1 never sees memory, so that the baseline of one condition is that of all.
    first = next(iter(evaluated(loaded).values()))
    return GridSummary(cells, _baseline(first))


def _baseline(cells: Sequence[FinishedCell]) -> BaselineSummary | None:
    majority = cells[0].manifest.majority
    if majority is None:
        return None
    scores = [next(iter(compute_baseline(successful_cards(cell.cards), majority))) for cell in cells]
    return BaselineSummary(
        tuple_f1_explicit=_mean_of_known([score.value for score in scores]),
        tuple_f1_explicit_n=fmean(score.denominator or 0 for score in scores),
        polarity=majority.polarity,
        source=majority.source,
    )


def summarise_cell(
    condition: str, seed: int, cards: Sequence[Scorecard], *, order: int = 0, count_backfilled: bool = False
) -> CellSummary:
    """Return the counts over the samples of one cell."""
    costs = [card.usage.cost_usd for card in cards]
    scores = [sample_value("tuple_f1_explicit", card, count_backfilled=count_backfilled) for card in cards]
    return CellSummary(
        condition=condition,
        order=order,
        seed=seed,
        samples=len(cards),
        failed=sum(card.status == "error" for card in cards),
        memory_shown=sum(map(was_injected, cards)),
        changed=sum(map(was_changed, cards)),
        stored=sum(card.store_decision == "stored" for card in cards),
        calls=sum(card.usage.calls for card in cards),
        tokens_in=sum(card.usage.tokens_in for card in cards),
        tokens_out=sum(card.usage.tokens_out for card in cards),
        cost_usd=None if None in costs else round(sum(cost or 0.0 for cost in costs), 6),
        tuple_f1_explicit=mean("tuple_f1_explicit", scores).value,
        tuple_f1_explicit_n=sum(score is not None for score in scores),
    )


def mean_over_seeds(cells: Sequence[CellSummary]) -> ConditionSummary:
    """Return the means over the cells of one condition; a mean with an unknown part is unknown."""
    names = ConditionSummary.model_fields.keys() - {"condition", "orders", "seeds"}
    means = {name: _mean_of_known([getattr(cell, name) for cell in cells]) for name in names}
    orders, seeds = (tuple(dict.fromkeys(getattr(cell, name) for cell in cells)) for name in ("order", "seed"))
    return ConditionSummary.model_validate({"condition": cells[0].condition, "orders": orders, "seeds": seeds, **means})


def _mean_of_known(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None

"""Builds what a report says about its run: cells, conditions and their main figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.sample_values import was_changed
from episodic_absa.reports.data.metric_tables import PRIMARY, Groups, Intervals, values_by_uid
from episodic_absa.reports.data.report_data import CellState, ConditionCard, RunFacts
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.data.report_words import majority_words
from episodic_absa.runs.reading.finished_cells import FinishedCell

_COLOURS: Final = 6


def run_facts(groups: Groups, samples: Mapping[str, Sequence[CellSamples]]) -> RunFacts:
    """Return the run as its manifests describe it."""
    cells = [cell for group in groups.values() for cell in group]
    manifest = cells[0].manifest
    reviews = {uid: facts for group in samples.values() for cell in group for uid, facts in cell.reviews.items()}
    languages = Counter(review.language for review in reviews.values())
    return RunFacts(
        manifest,
        reviews=len(reviews),
        languages=tuple(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
        with_gold=sum(review.gold != "null" for review in reviews.values()),
        majority=majority_words(manifest.majority) if manifest.majority else None,
        orders=_orders(cells) if has_orders(groups) else (),
        seeds=tuple(sorted({cell.manifest.seed for cell in cells})),
    )


def condition_cards(groups: Groups, rows: Sequence[SeedRow], intervals: Intervals) -> tuple[ConditionCard, ...]:
    """Return every condition by its flags, with its main figures."""
    means = {(row.condition, row.metric): row.mean for row in rows}
    with_orders = has_orders(groups)
    cards = []
    for place, (name, group) in enumerate(groups.items()):
        flags, pipeline = group[0].manifest.condition, group[0].manifest.config.pipeline
        scored = [card for cell in group for card in cell.cards]
        low, high = intervals.get((name, PRIMARY)) or (None, None)
        cards.append(
            ConditionCard(
                name=name,
                colour=place % _COLOURS,
                reads=flags.retrieval_execute,
                shows=flags.exposed_to_debate or flags.exposed_to_stage2,
                writes=flags.store_write,
                rules=flags.rules,
                effort=flags.pipeline.effort or pipeline.effort,
                votes=flags.pipeline.votes or pipeline.votes,
                orders=_orders(group) if with_orders else (),
                seeds=tuple(sorted({cell.manifest.seed for cell in group})),
                samples=len(scored),
                failed=sum(card.status == "error" for card in scored),
                changed=sum(map(was_changed, scored)),
                injected=sum(map(was_injected, scored)),
                score=means.get((name, PRIMARY)),
                low=low,
                high=high,
                scored=len(values_by_uid(group, PRIMARY)),
                exact_match=means.get((name, "exact_match")),
            )
        )
    return tuple(cards)


def has_orders(groups: Groups) -> bool:
    """Return whether the cells of a run name their orders."""
    return any(cell.manifest.names_order for group in groups.values() for cell in group)


def _orders(cells: Sequence[FinishedCell]) -> tuple[int, ...]:
    return tuple(sorted({cell.manifest.order for cell in cells}))


def cell_state(cell: FinishedCell) -> CellState:
    """Return how far a cell came."""
    return CellState(
        cell.path.resolve().name,
        cell.manifest.completed,
        cell.manifest.dataset.processing_count,
        len(cell.cards),
        sum(card.status == "error" for card in cell.cards),
    )

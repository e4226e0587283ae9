"""Builds what a report says about its run: cells, conditions and their main figures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.sample_values import sample_value, was_changed
from episodic_absa.reports.data.metric_tables import PRIMARY, Groups, Intervals
from episodic_absa.reports.data.report_data import CellState, ConditionCard, RunFacts
from episodic_absa.reports.data.report_samples import CellSamples
from episodic_absa.reports.data.report_words import NO_MANIFEST, majority_words
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.runs.reading.verified_files import CELL_MARK, ORDER_MARK

_COLOURS: Final = 6


def run_facts(groups: Groups, samples: Mapping[str, Sequence[CellSamples]]) -> RunFacts:
    """Return the run as its manifests describe it."""
    cells = [cell for group in groups.values() for cell in group]
    manifest = cells[0].manifest
    backbone = manifest.backbone
    reviews = {uid: facts for group in samples.values() for cell in group for uid, facts in cell.reviews.items()}
    majority = manifest.majority
    return RunFacts(
        run_id=manifest.run_id,
        purpose=manifest.run_purpose,
        package_version=manifest.package_version,
        config_name=manifest.config_path.name,
        backbone=f"{backbone.provider}:{backbone.model}",
        is_embedded_engine=manifest.weights_sha256 is not None,
        temperature=backbone.temperature,
        split=manifest.dataset.processing_split,
        reviews=len(reviews),
        languages=_counted(review.language for review in reviews.values()),
        domains=_counted(review.domain for review in reviews.values()),
        with_gold=sum(review.gold != "null" for review in reviews.values()),
        gold_configured=manifest.gold is not None,
        orders=_orders(cells) if has_orders(groups) else (),
        seeds=tuple(sorted({cell.manifest.seed for cell in cells})),
        shuffled=manifest.shuffle,
        seed_supported=manifest.backbone.seed_supported,
        answers_shared=manifest.answers_shared,
        majority=majority_words(majority) if majority else None,
    )


def _counted(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


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
                memory_mode=flags.memory_mode,
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
                scored=len(_scored_uids(group)),
                exact_match=means.get((name, "exact_match")),
            )
        )
    return tuple(cards)


def has_orders(groups: Groups) -> bool:
    """Return whether the cells of a run name their orders."""
    return any(cell.manifest.names_order for group in groups.values() for cell in group)


def _orders(cells: Sequence[FinishedCell]) -> tuple[int, ...]:
    return tuple(sorted({cell.manifest.order for cell in cells}))


def _scored_uids(cells: Sequence[FinishedCell]) -> set[str]:
    return {
        card.uid
        for cell in cells
        for card in cell.cards
        if sample_value(PRIMARY, card, count_backfilled=cell.count_backfilled) is not None
    }


def cell_state(cell: FinishedCell) -> CellState:
    """Return how far a cell came."""
    manifest = cell.manifest
    done, due = len(cell.cards), manifest.dataset.processing_count
    return CellState(
        name=cell.path.resolve().name,
        condition=cell.condition,
        order=manifest.order,
        seed=manifest.seed,
        is_build=manifest.is_build,
        completed=manifest.completed,
        expected=due,
        done=done,
        failed=sum(card.status == "error" for card in cell.cards),
        problem=None,
    )


def orphan_state(path: Path) -> CellState:
    """Return the state of a cell without a manifest."""
    stem, _, seed = path.name.rpartition(CELL_MARK)
    condition, _, order = stem.partition(ORDER_MARK)
    return CellState(
        name=path.name,
        condition=condition,
        order=int(order) if order.isdecimal() else 0,
        seed=int(seed) if seed.isdecimal() else 0,
        is_build=False,
        completed=False,
        expected=None,
        done=0,
        failed=0,
        problem=NO_MANIFEST,
    )

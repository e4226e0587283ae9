"""Builds the report of a cell or a grid from its files, without inference; writes report.html and report.json."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.analysis.failures import failures_of
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.sample_values import sample_value, was_changed
from episodic_absa.reports.data.quality_views import QualityViews
from episodic_absa.reports.data.question_words import exploratory_mark, question_notes
from episodic_absa.reports.data.report_arms import arms_view
from episodic_absa.reports.data.report_cost import cost_view
from episodic_absa.reports.data.report_data import (
    CellState,
    ComparisonView,
    ConditionCard,
    Explorer,
    ExplorerCell,
    ReportData,
    ReviewEntry,
    RunFacts,
)
from episodic_absa.reports.data.report_errors import error_rows, group_tables
from episodic_absa.reports.data.report_integrity import integrity_of
from episodic_absa.reports.data.report_memory import (
    growth_panels,
    impact_rows,
    latency_rows,
    memory_flows,
    principle_uses,
)
from episodic_absa.reports.data.report_samples import CellSamples, SampleReader
from episodic_absa.reports.data.report_strata import effect_tables, stratum_tables
from episodic_absa.reports.data.report_tables import (
    PRIMARY,
    Groups,
    Intervals,
    comparison_view,
    definitions_of,
    metric_tables,
    quality_intervals,
    quality_panels,
    seed_rows,
)
from episodic_absa.reports.data.report_words import (
    FINISHED_THEN_CHANGED,
    NO_MANIFEST,
    failure_of,
    headline_of,
    majority_words,
    notes_of,
)
from episodic_absa.reports.export.export_files import export_report
from episodic_absa.reports.page.html_report import WITHOUT_TEXT, render_report
from episodic_absa.runs.reading.finished_cells import FinishedCell, Tell, tell_nobody
from episodic_absa.runs.reading.verified_files import CELL_MARK, ORDER_MARK
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.csv_text import replace_file

REPORT: Final = "report.html"
REPORT_JSON: Final = "report.json"
_COLOURS: Final = 6
_HEAD_BYTES: Final = 4_000


class WrittenPages(NamedTuple):
    """The files that a report consists of."""

    pages: tuple[Path, ...]
    """report.html and report.json of every cell, then those of the whole run."""
    exported: tuple[Path, ...] = ()
    """The figures and tables of the whole run's page."""


def write_pages(
    run: FinishedRun, *, with_text: bool = True, export: Path | None = None, tell: Tell = tell_nobody
) -> WrittenPages:
    """Write report.html and report.json of a cell, or of every cell of a grid and of the grid.

    Args:
        run: the finished run.
        with_text: False leaves out review texts, aspect terms, evidence and free words of the agents.
        export: a directory for the figures (SVG) and tables (CSV, LaTeX) of the whole run's page.
        tell: called with every step.

    Raises:
        RunDirectoryError: a file cannot be written.
    """
    reader = SampleReader(with_text=with_text)
    samples = {}
    for cell in run.cells:
        tell(f"samples of {cell.path.name}")
        samples[cell.path] = reader.read(cell)
    written: list[Path] = []
    for cell_alone in run.alone() if run.is_grid else ():
        tell(f"page of {cell_alone.root.name}")
        written += _write(cell_alone.root, build_report(cell_alone, samples, with_text=with_text))
    tell(f"page of {run.root.name}")
    data = build_report(run, samples, with_text=with_text)
    written += _write(run.root, data)
    exported = export_report(data, export) if export else ()
    return WrittenPages(tuple(written), tuple(exported))


def is_without_text(root: Path) -> bool:
    """Return whether a report of this cell or grid, or of one of its cells, was made without review text."""
    return any(_leaves_out_text(path) for path in (root / REPORT, *root.glob(f"*{CELL_MARK}*/{REPORT}")))


def build_report(run: FinishedRun, samples: Mapping[Path, CellSamples], *, with_text: bool = True) -> ReportData:
    """Return the values of the page of one cell, or of a whole grid."""
    groups: Groups = run.asked_groups or {run.cells[0].condition: [run.cells[0]]}
    rows = seed_rows(run)
    intervals = quality_intervals(groups)
    cards = _condition_cards(groups, rows, intervals)
    tables = metric_tables(rows, list(groups), intervals)
    comparisons = tuple(
        comparison_view(compared.comparison, exploratory_mark(compared.parts)) for compared in run.grid_comparisons
    )
    by_condition = {name: [samples[cell.path] for cell in group] for name, group in groups.items()}
    facts = _facts(groups, by_condition)
    states = (*(_state(cell, samples[cell.path]) for cell in run.cells), *map(_orphan, run.orphans))
    headline, power = headline_of(facts, cards, comparisons)
    shown = [row.metric for table in tables for row in (*table.rows, *table.counts)]
    compared = [row.metric for comparison in comparisons for row in comparison.rows]
    return ReportData(
        scope="grid" if run.is_grid else "cell",
        title=_title(run),
        facts=facts,
        mark=comparisons[0].exploratory if comparisons else None,
        headline=headline,
        failure=failure_of(failures_of(run.cells), with_text=with_text),
        power=power,
        arms=arms_view(run, cards) if facts.with_gold else None,
        notes=(
            *(question_notes(run.question) if run.is_grid else ()),
            *notes_of(
                facts,
                states,
                unreadable_lines=sum(cell.unreadable_lines for group in by_condition.values() for cell in group),
                only_build=run.cells[0].path.resolve().name if run.is_grid and not run.by_condition else "",
            ),
        ),
        cells=states,
        conditions=cards,
        panels=quality_panels(tables, [(card.name, card.colour) for card in cards]),
        views=QualityViews(
            cost=cost_view(groups, by_condition, cards, rows, intervals) if run.is_grid else None,
            errors=error_rows(groups, cards),
            groups=group_tables(groups, by_condition, cards),
        ),
        tables=tables,
        definitions=definitions_of([*shown, *compared]),
        comparisons=comparisons,
        strata=stratum_tables(run.strata),
        effects=effect_tables(run.principle_effects) if run.is_grid else (),
        growth=growth_panels(groups, cards),
        flows=memory_flows(groups, cards),
        principles=principle_uses(by_condition, cards),
        impact=impact_rows(groups, cards),
        latency=latency_rows(by_condition, cards),
        integrity=integrity_of(run),
        explorer=_explorer(run.by_condition or groups, samples, _first_pair(comparisons, groups)),
        with_text=with_text,
    )


def _title(run: FinishedRun) -> str:
    run_id = run.cells[0].manifest.run_id
    return run_id if run.is_grid else f"{run_id} / {run.root.resolve().name}"


def _leaves_out_text(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return WITHOUT_TEXT.encode() in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _write(directory: Path, data: ReportData) -> tuple[Path, Path]:
    page, values = directory / REPORT, directory / REPORT_JSON
    replace_file(page, render_report(data))
    replace_file(values, report_json(data))
    return page, values


def report_json(data: ReportData) -> str:
    """Return quality over cost, the error taxonomy, and quality by language and domain as JSON, for programs."""
    groups = {table.by: table.model_dump(mode="json")["rows"] for table in data.views.groups}
    return indented_json(
        {
            "run_id": data.facts.run_id,
            "scope": data.scope,
            "title": data.title,
            "reviews": data.facts.reviews,
            "reviews_with_gold": data.facts.with_gold,
            "conditions": [condition.name for condition in data.conditions],
            "exploratory": [
                {"a": comparison.a, "b": comparison.b, "because": comparison.exploratory.en}
                for comparison in data.comparisons
                if comparison.exploratory
            ],
            "quality_over_cost": data.views.cost.model_dump(mode="json") if data.views.cost else None,
            "errors": [row.model_dump(mode="json") for row in data.views.errors],
            "by_language": groups.get("language", []),
            "by_domain": groups.get("domain", []),
        }
    )


def _state(cell: FinishedCell, samples: CellSamples) -> CellState:
    manifest = cell.manifest
    done, due = len(cell.cards), manifest.dataset.processing_count
    return CellState(
        name=cell.path.resolve().name,
        condition=cell.condition,
        order=manifest.order_id,
        seed=manifest.seed,
        is_build=manifest.is_build,
        completed=manifest.completed,
        expected=due,
        done=done,
        failed=sum(card.status == "error" for card in cell.cards),
        lacking=samples.lacking,
        problem=FINISHED_THEN_CHANGED if manifest.completed and done != due else None,
    )


def _orphan(path: Path) -> CellState:
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


def _condition_cards(groups: Groups, rows: Sequence[SeedRow], intervals: Intervals) -> tuple[ConditionCard, ...]:
    means = {(row.condition, row.metric): row.mean for row in rows}
    has_orders = _has_orders(groups)
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
                orders=_orders(group) if has_orders else (),
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


def _has_orders(groups: Groups) -> bool:
    return any(cell.manifest.names_order for group in groups.values() for cell in group)


def _orders(cells: Sequence[FinishedCell]) -> tuple[int, ...]:
    return tuple(sorted({cell.manifest.order_id for cell in cells}))


def _scored_uids(cells: Sequence[FinishedCell]) -> set[str]:
    return {
        card.uid
        for cell in cells
        for card in cell.cards
        if sample_value(PRIMARY, card, count_backfilled=cell.count_backfilled) is not None
    }


def _facts(groups: Groups, samples: Mapping[str, Sequence[CellSamples]]) -> RunFacts:
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
        is_rule_engine=manifest.weights_sha256 is not None,
        temperature=backbone.temperature,
        split=manifest.dataset.processing_split,
        reviews=len(reviews),
        languages=_counted(review.language for review in reviews.values()),
        domains=_counted(review.domain for review in reviews.values()),
        with_gold=sum(review.gold != "null" for review in reviews.values()),
        gold_configured=manifest.gold is not None,
        orders=_orders(cells) if _has_orders(groups) else (),
        seeds=tuple(sorted({cell.manifest.seed for cell in cells})),
        shuffled=manifest.shuffle,
        seed_supported=manifest.backbone.seed_supported,
        answers_shared=manifest.answers_shared,
        majority=majority_words(majority) if majority else None,
    )


def _counted(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _first_pair(comparisons: Sequence[ComparisonView], groups: Groups) -> tuple[str, str]:
    """Return the conditions that the explorer opens with: those of the first comparison, else the first condition."""
    return (comparisons[0].a, comparisons[0].b) if comparisons else (next(iter(groups)), "")


def _explorer(groups: Groups, samples: Mapping[Path, CellSamples], first: tuple[str, str]) -> Explorer:
    cells = [cell for group in groups.values() for cell in group]
    of_cells = [samples[cell.path] for cell in cells]
    has_orders = _has_orders(groups)
    reviews = {uid: facts for cell_samples in reversed(of_cells) for uid, facts in cell_samples.reviews.items()}
    order = dict.fromkeys(uid for cell_samples in of_cells for uid in cell_samples.reviews)
    return Explorer(
        cells=tuple(
            ExplorerCell(
                condition=cell.condition,
                seed=cell.manifest.seed,
                order=cell.manifest.order_id if has_orders else 0,
            )
            for cell in cells
        ),
        reviews=tuple(
            ReviewEntry(
                uid=uid,
                text=reviews[uid].text,
                language=reviews[uid].language,
                domain=reviews[uid].domain,
                case_type=reviews[uid].case_type,
                gold=reviews[uid].gold,
                cells=tuple(cell_samples.samples.get(uid) for cell_samples in of_cells),
            )
            for uid in order
        ),
        first=first,
    )

"""Builds the report of a cell or a grid from its files, without inference; writes report.html and report.json."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.analysis.failures import failures_of
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.reports.data.answer.arms import arms_figure, arms_of, arms_table
from episodic_absa.reports.data.answer.question_words import exploratory_mark, question_notes
from episodic_absa.reports.data.answer.strata import effect_parts, part_figure, stratum_parts
from episodic_absa.reports.data.comparisons import ComparisonPart, comparison_part
from episodic_absa.reports.data.metric_tables import (
    Groups,
    MetricRow,
    definitions_of,
    metric_rows,
    metric_tables,
    quality_figures,
    quality_intervals,
    seed_rows,
)
from episodic_absa.reports.data.quality_views import QualityViews
from episodic_absa.reports.data.report_cost import cost_table, cost_view
from episodic_absa.reports.data.report_data import (
    Arms,
    ConditionCard,
    Explorer,
    ExplorerCell,
    ReportData,
    ReviewEntry,
)
from episodic_absa.reports.data.report_errors import error_rows, error_table, group_table, group_tables
from episodic_absa.reports.data.report_facts import cell_state, condition_cards, has_orders, orphan_state, run_facts
from episodic_absa.reports.data.report_integrity import cells_table, certificate_of, checks_table, integrity_of
from episodic_absa.reports.data.report_memory import (
    flow_figures,
    growth_figures,
    impact_table,
    latency_rows,
    memory_flows,
    principles_table,
    withheld_table,
)
from episodic_absa.reports.data.report_samples import CellSamples, SampleReader
from episodic_absa.reports.data.report_words import failure_of, headline_of, notes_of
from episodic_absa.reports.page.html_report import WITHOUT_TEXT, render_report
from episodic_absa.reports.plots.cost_plot import cost_plot
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.latency_plot import latency_plot
from episodic_absa.reports.report_values import report_json
from episodic_absa.reports.saved_files import export_report
from episodic_absa.reports.tables.table import Table
from episodic_absa.runs.reading.finished_cells import Tell, tell_nobody
from episodic_absa.runs.reading.verified_files import CELL_MARK
from episodic_absa.serialization.csv_text import replace_file

REPORT: Final = "report.html"
REPORT_JSON: Final = "report.json"
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
    by_condition = {name: [samples[cell.path] for cell in group] for name, group in groups.items()}
    rows, intervals = seed_rows(run), quality_intervals(groups)
    cards = condition_cards(groups, rows, intervals)
    facts = run_facts(groups, by_condition)
    comparisons = tuple(
        comparison_part(
            compared.comparison,
            exploratory_mark(compared.parts),
            is_added=any(part.is_added for part in compared.parts),
        )
        for compared in run.grid_comparisons
    )
    headline, power = headline_of(facts, cards, comparisons)
    states = (*map(cell_state, run.cells), *map(orphan_state, run.orphans))
    only_build = run.cells[0].path.resolve().name if run.is_grid and not run.by_condition else ""
    questions = question_notes(run.question) if run.is_grid else ()
    by_question = metric_rows(rows, list(groups), intervals)
    quality = QualityViews(
        cost=cost_view(groups, by_condition, cards, rows, intervals) if run.is_grid else None,
        errors=error_rows(groups, cards),
        groups=group_tables(groups, by_condition, cards),
    )
    arms = arms_of(run, cards) if facts.with_gold else None
    parts = (*stratum_parts(run.strata), *(effect_parts(run.principle_effects) if run.is_grid else ()))
    integrity, certificate = integrity_of(run), certificate_of(run)
    flows, latency = memory_flows(groups, cards), latency_rows(by_condition, cards)
    of_metrics = tuple(metric_tables(by_question, rows, [card.name for card in cards]))
    tables = (
        *of_metrics,
        *_quality_tables(quality, cards),
        *([arms_table(arms)] if arms else []),
        *(comparison.table for comparison in comparisons),
        *(part.table for part in parts),
        *filter(None, (withheld_table(flows), principles_table(by_condition, cards), impact_table(groups, cards))),
        *([checks_table(integrity)] if integrity.verified else []),
        *([certificate.table] if certificate else []),
        cells_table(states),
    )
    figures = (
        *_quality_figures(arms, by_question.get("quality", ()), cards, quality),
        *map(part_figure, parts),
        *flow_figures(flows),
        *growth_figures(groups, cards),
        *([Figure("time_without_waiting", latency_plot(latency))] if latency else []),
    )
    shown = [row.name.metric for table in of_metrics for row in table.rows]
    compared = [row.metric for part in comparisons for row in part.comparison.metrics]
    return ReportData(
        scope="grid" if run.is_grid else "cell",
        title=_title(run),
        facts=facts,
        headline=headline,
        power=power,
        failure=failure_of(failures_of(run.cells), with_text=with_text),
        notes=(*questions, *notes_of(facts, states, only_build=only_build)),
        cells=states,
        conditions=cards,
        tables={table.name: table for table in tables},
        figures={figure.name: figure for figure in figures},
        definitions=definitions_of([*shown, *compared]),
        arms=arms,
        quality=quality,
        comparisons=comparisons,
        strata=tuple(part for part in parts if part.pair),
        effects=tuple(part for part in parts if not part.pair),
        flows=flows,
        latency=latency,
        integrity=integrity,
        certificate=certificate,
        explorer=_explorer(run.by_condition or groups, samples, _first_pair(comparisons, groups)),
        with_text=with_text,
    )


def _quality_tables(quality: QualityViews, cards: Sequence[ConditionCard]) -> Iterator[Table]:
    for groups in quality.groups:
        yield group_table(groups, [card.name for card in cards])
    if quality.cost:
        yield cost_table(quality.cost)
    if quality.errors:
        yield error_table(quality.errors)


def _quality_figures(
    arms: Arms | None, rows: Sequence[MetricRow], cards: Sequence[ConditionCard], quality: QualityViews
) -> Iterator[Figure]:
    if arms:
        yield arms_figure(arms)
    yield from quality_figures(rows, [(card.name, card.colour) for card in cards])
    if quality.cost:
        yield Figure("quality_over_cost_micro", cost_plot(quality.cost, "micro"))
        yield Figure("quality_over_cost_macro", cost_plot(quality.cost, "macro"))


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


def _first_pair(comparisons: Sequence[ComparisonPart], groups: Groups) -> tuple[str, str]:
    """Return the conditions that the explorer opens with: those of the first comparison, else the first condition."""
    return (comparisons[0].comparison.a, comparisons[0].comparison.b) if comparisons else (next(iter(groups)), "")


def _explorer(groups: Groups, samples: Mapping[Path, CellSamples], first: tuple[str, str]) -> Explorer:
    cells = [cell for group in groups.values() for cell in group]
    of_cells = [samples[cell.path] for cell in cells]
    with_orders = has_orders(groups)
    reviews = {uid: facts for cell_samples in reversed(of_cells) for uid, facts in cell_samples.reviews.items()}
    order = dict.fromkeys(uid for cell_samples in of_cells for uid in cell_samples.reviews)
    return Explorer(
        cells=tuple(
            ExplorerCell(cell.condition, cell.manifest.seed, cell.manifest.order if with_orders else 0)
            for cell in cells
        ),
        reviews=tuple(
            ReviewEntry(uid, reviews[uid], tuple(cell_samples.samples.get(uid) for cell_samples in of_cells))
            for uid in order
        ),
        first=first,
    )

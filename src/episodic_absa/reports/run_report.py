"""Builds the report of a cell or a grid from its files, without inference; writes report.html and report.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.analysis.failures import failures_of
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.analysis.grid_tables import SeedRow
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.arms import arms_figure, arms_of, arms_table
from episodic_absa.reports.data.certificate_words import CertificateWords
from episodic_absa.reports.data.comparisons import ComparisonPart, comparison_part
from episodic_absa.reports.data.metric_tables import (
    Groups,
    Intervals,
    MetricRow,
    definitions_of,
    metric_rows,
    metric_tables,
    quality_figures,
    quality_intervals,
    seed_rows,
)
from episodic_absa.reports.data.quality_tables import error_table, group_tables
from episodic_absa.reports.data.question_words import exploratory_mark, question_notes
from episodic_absa.reports.data.report_cost import cost_points, cost_table
from episodic_absa.reports.data.report_data import (
    Arms,
    CellState,
    ConditionCard,
    DifferencePart,
    Explorer,
    ExplorerCell,
    Integrity,
    ReportData,
    ReviewEntry,
    RunFacts,
)
from episodic_absa.reports.data.report_facts import cell_state, condition_cards, has_orders, run_facts
from episodic_absa.reports.data.report_integrity import cells_table, certificate_of, checks_table, integrity_of
from episodic_absa.reports.data.report_memory import (
    flow_figures,
    growth_figures,
    latency_rows,
    principles_table,
)
from episodic_absa.reports.data.report_samples import CellSamples, SampleReader
from episodic_absa.reports.data.report_words import failure_of, headline_of, notes_of
from episodic_absa.reports.data.strata import effect_parts, part_figure, stratum_parts
from episodic_absa.reports.page.html_report import WITHOUT_TEXT, render_report
from episodic_absa.reports.plots.cost_plot import CostPoint, cost_plot
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.latency_plot import LatencyRow, latency_plot
from episodic_absa.reports.report_json import report_json
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
    return _Page(run, samples, with_text).data()


@dataclass(frozen=True)
class _Page:
    """The parts of one page; each is computed once."""

    run: FinishedRun
    samples: Mapping[Path, CellSamples]
    with_text: bool

    @cached_property
    def groups(self) -> Groups:
        return self.run.asked_groups or {self.run.cells[0].condition: [self.run.cells[0]]}

    @cached_property
    def samples_of(self) -> dict[str, list[CellSamples]]:
        return {name: [self.samples[cell.path] for cell in group] for name, group in self.groups.items()}

    @cached_property
    def rows(self) -> tuple[SeedRow, ...]:
        return seed_rows(self.run)

    @cached_property
    def intervals(self) -> Intervals:
        return quality_intervals(self.groups)

    @cached_property
    def cards(self) -> tuple[ConditionCard, ...]:
        return condition_cards(self.groups, self.rows, self.intervals)

    @cached_property
    def states(self) -> tuple[CellState, ...]:
        return (*map(cell_state, self.run.cells), *(CellState(path.name) for path in self.run.orphans))

    @cached_property
    def facts(self) -> RunFacts:
        return run_facts(self.groups, self.samples_of)

    @cached_property
    def comparisons(self) -> tuple[ComparisonPart, ...]:
        return tuple(
            comparison_part(
                compared.comparison,
                exploratory_mark(compared.parts),
                is_added=any(part.is_added for part in compared.parts),
            )
            for compared in self.run.grid_comparisons
        )

    @cached_property
    def arms(self) -> Arms | None:
        return arms_of(self.run, self.cards) if self.facts.with_gold else None

    @cached_property
    def strata(self) -> tuple[DifferencePart, ...]:
        return stratum_parts(self.run.strata)

    @cached_property
    def effects(self) -> tuple[DifferencePart, ...]:
        return effect_parts(self.run.principle_effects) if self.run.is_grid else ()

    @cached_property
    def cost(self) -> tuple[CostPoint, ...]:
        if not self.run.is_grid:
            return ()
        return cost_points(self.groups, self.samples_of, self.cards, self.rows, self.intervals)

    @cached_property
    def metrics(self) -> dict[str, tuple[MetricRow, ...]]:
        return metric_rows(self.rows, list(self.groups), self.intervals)

    @cached_property
    def integrity(self) -> Integrity:
        return integrity_of(self.run)

    @cached_property
    def certificate(self) -> CertificateWords | None:
        return certificate_of(self.run)

    @cached_property
    def latency(self) -> tuple[LatencyRow, ...]:
        return latency_rows(self.samples_of, self.cards)

    def tables(self) -> Iterator[Table]:
        yield from metric_tables(self.metrics, self.rows, [card.name for card in self.cards])
        yield from group_tables(self.groups, self.samples_of, self.cards)
        if self.cost:
            yield cost_table(self.cost)
        yield from error_table(self.groups, self.cards)
        if self.arms:
            yield arms_table(self.arms)
        yield from (comparison.table for comparison in self.comparisons)
        yield from (part.table for part in (*self.strata, *self.effects))
        yield from principles_table(self.samples_of, self.cards)
        if self.integrity.verified:
            yield checks_table(self.integrity)
        if self.certificate:
            yield self.certificate.table
        yield cells_table(self.states)

    def figures(self) -> Iterator[Figure]:
        if self.arms:
            yield arms_figure(self.arms)
        yield from quality_figures(self.metrics.get("quality", ()), [(card.name, card.colour) for card in self.cards])
        if self.cost:
            yield Figure("quality_over_cost_micro", cost_plot(self.cost, "micro"))
            yield Figure("quality_over_cost_macro", cost_plot(self.cost, "macro"))
        yield from map(part_figure, (*self.strata, *self.effects))
        yield from flow_figures(self.groups, self.cards)
        yield from growth_figures(self.groups, self.cards)
        if self.latency:
            yield Figure("time_without_waiting", latency_plot(self.latency))

    def notes(self) -> tuple[Bilingual, ...]:
        is_grid, only_build = self.run.is_grid, ""
        if is_grid and not self.run.by_condition:
            only_build = self.run.cells[0].path.resolve().name
        questions = question_notes(self.run.question) if is_grid else ()
        compared = self.comparisons[0].comparison.primary.n_uids if self.facts.with_gold and self.comparisons else None
        return (*questions, *notes_of(self.facts, self.states, compared_n=compared, only_build=only_build))

    def data(self) -> ReportData:
        headline, power = headline_of(self.facts, self.cards, self.comparisons)
        tables = {table.name: table for table in self.tables()}
        in_tables = [row.name.metric for table in tables.values() for row in table.rows if isinstance(row, MetricRow)]
        compared = [row.metric for part in self.comparisons for row in part.comparison.metrics]
        first = _first_pair(self.comparisons, self.groups)
        return ReportData(
            scope="grid" if self.run.is_grid else "cell",
            title=_title(self.run),
            facts=self.facts,
            headline=headline,
            power=power,
            failure=failure_of(failures_of(self.run.cells), with_text=self.with_text),
            notes=self.notes(),
            cells=self.states,
            conditions=self.cards,
            tables=tables,
            figures={figure.name: figure for figure in self.figures()},
            definitions=definitions_of([*in_tables, *compared]),
            arms=self.arms,
            comparisons=self.comparisons,
            strata=self.strata,
            effects=self.effects,
            latency=self.latency,
            integrity=self.integrity,
            certificate=self.certificate,
            explorer=_explorer(self.run.by_condition or self.groups, self.samples, first),
            with_text=self.with_text,
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

"""Builds the report of a cell or a grid from its files, without inference; writes report.html and report.json."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.analysis.failures import failures_of
from episodic_absa.analysis.finished_run import FinishedRun
from episodic_absa.reports.data.answer.question_words import exploratory_mark, question_notes
from episodic_absa.reports.data.answer.report_arms import arms_view
from episodic_absa.reports.data.answer.report_strata import effect_tables, stratum_tables
from episodic_absa.reports.data.quality_views import QualityViews
from episodic_absa.reports.data.report_cost import cost_view
from episodic_absa.reports.data.report_data import (
    ComparisonView,
    Explorer,
    ExplorerCell,
    ReportData,
    ReviewEntry,
)
from episodic_absa.reports.data.report_errors import error_rows, group_tables
from episodic_absa.reports.data.report_facts import cell_state, condition_cards, has_orders, orphan_state, run_facts
from episodic_absa.reports.data.report_integrity import certificate_of, integrity_of
from episodic_absa.reports.data.report_memory import (
    growth_panels,
    impact_rows,
    latency_rows,
    memory_flows,
    principle_uses,
)
from episodic_absa.reports.data.report_samples import CellSamples, SampleReader
from episodic_absa.reports.data.report_tables import (
    Groups,
    comparison_view,
    definitions_of,
    metric_tables,
    quality_intervals,
    quality_panels,
    seed_rows,
)
from episodic_absa.reports.data.report_words import (
    failure_of,
    headline_of,
    notes_of,
)
from episodic_absa.reports.export.export_files import export_report
from episodic_absa.reports.page.html_report import WITHOUT_TEXT, render_report
from episodic_absa.reports.report_values import report_json
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
    rows = seed_rows(run)
    intervals = quality_intervals(groups)
    cards = condition_cards(groups, rows, intervals)
    tables = metric_tables(rows, list(groups), intervals)
    comparisons = tuple(
        comparison_view(
            compared.comparison,
            exploratory_mark(compared.parts),
            is_added=any(part.is_added for part in compared.parts),
        )
        for compared in run.grid_comparisons
    )
    by_condition = {name: [samples[cell.path] for cell in group] for name, group in groups.items()}
    facts = run_facts(groups, by_condition)
    states = (*map(cell_state, run.cells), *map(orphan_state, run.orphans))
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
                compared_n=comparisons[0].rows[0].n_uids if facts.with_gold and comparisons else None,
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
        certificate=certificate_of(run),
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


def _first_pair(comparisons: Sequence[ComparisonView], groups: Groups) -> tuple[str, str]:
    """Return the conditions that the explorer opens with: those of the first comparison, else the first condition."""
    return (comparisons[0].a, comparisons[0].b) if comparisons else (next(iter(groups)), "")


def _explorer(groups: Groups, samples: Mapping[Path, CellSamples], first: tuple[str, str]) -> Explorer:
    cells = [cell for group in groups.values() for cell in group]
    of_cells = [samples[cell.path] for cell in cells]
    with_orders = has_orders(groups)
    reviews = {uid: facts for cell_samples in reversed(of_cells) for uid, facts in cell_samples.reviews.items()}
    order = dict.fromkeys(uid for cell_samples in of_cells for uid in cell_samples.reviews)
    return Explorer(
        cells=tuple(
            ExplorerCell(
                condition=cell.condition,
                seed=cell.manifest.seed,
                order=cell.manifest.order if with_orders else 0,
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

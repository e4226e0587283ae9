"""Builds the report of a cell or a grid from its files, without inference, and writes report.html."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from episodic_absa.experiments.csv_text import replace_file
from episodic_absa.experiments.finished_cells import FinishedCell, evaluated, is_cell, load_cells
from episodic_absa.experiments.grid_tables import SeedRow, compare_conditions
from episodic_absa.experiments.integrity import INTEGRITY
from episodic_absa.experiments.report_memory import (
    growth_panels,
    impact_rows,
    latency_rows,
    memory_flows,
    principle_uses,
)
from episodic_absa.experiments.report_samples import CellSamples, SampleReader
from episodic_absa.experiments.report_tables import (
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
from episodic_absa.experiments.report_words import headline_of, notes_of
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample import was_changed
from episodic_absa.reports.html_report import render_report
from episodic_absa.reports.report_data import (
    CellState,
    CheckRow,
    ComparisonView,
    ConditionCard,
    Explorer,
    ExplorerCell,
    Integrity,
    ReportData,
    ReviewEntry,
    RunFacts,
)

REPORT: Final = "report.html"
_COLOURS: Final = 6
_GRID: Final = "grid"


def write_report(root: Path, *, with_text: bool = True) -> list[Path]:
    """Write report.html of a cell's directory, or of every cell of a grid and of the grid; return what was written.

    Args:
        root: a directory that a run wrote.
        with_text: False leaves out review texts, aspect terms, evidence and free words of the agents.

    Raises:
        RunDirectoryError: no run wrote this directory, or a manifest or scorecard in it cannot be read.
    """
    cells = load_cells(root)
    reader = SampleReader(with_text=with_text)
    samples = {cell.path: reader.read(cell) for cell in cells}
    written = []
    for cell in cells:
        data = build_report((cell,), samples, title=_title(cell), with_text=with_text)
        written.append(_write(cell.path, data))
    if not is_cell(root):
        title = cells[0].manifest.run_id
        written.append(_write(root, build_report(cells, samples, title=title, with_text=with_text, grid=root)))
    return written


def build_report(
    cells: Sequence[FinishedCell],
    samples: Mapping[Path, CellSamples],
    *,
    title: str,
    with_text: bool = True,
    grid: Path | None = None,
) -> ReportData:
    """Build the page of one cell, or, with `grid` as the directory they lie in, of all of them together."""
    groups: Groups = evaluated(cells) or {cells[0].condition: [cells[0]]}
    rows = seed_rows(groups)
    intervals = quality_intervals(groups)
    cards = _condition_cards(groups, rows, intervals)
    tables = metric_tables(rows, list(groups), intervals)
    comparisons = tuple(comparison_view(one) for one in compare_conditions(cells)) if grid else ()
    by_condition = {name: [samples[cell.path] for cell in group] for name, group in groups.items()}
    facts = _facts(groups, by_condition)
    states = tuple(_state(cell) for cell in cells)
    headline, power = headline_of(facts, cards, comparisons)
    shown = [row.metric for table in tables for row in (*table.rows, *table.counts)]
    compared = [row.metric for one in comparisons for row in one.rows]
    return ReportData(
        scope="grid" if grid else "cell",
        title=title,
        facts=facts,
        headline=headline,
        power=power,
        notes=notes_of(facts, states, sum(one.unreadable_lines for group in by_condition.values() for one in group)),
        cells=states,
        conditions=cards,
        panels=quality_panels(tables, [(card.name, card.colour) for card in cards]),
        tables=tables,
        definitions=definitions_of([*shown, *compared]),
        comparisons=comparisons,
        growth=growth_panels(groups, cards),
        flows=memory_flows(groups, cards),
        principles=principle_uses(by_condition, cards),
        impact=impact_rows(groups, cards),
        latency=latency_rows(by_condition, cards),
        integrity=_integrity(cells, grid),
        explorer=_explorer(groups, samples, _first_pair(comparisons, groups)),
        with_text=with_text,
    )


def _title(cell: FinishedCell) -> str:
    return f"{cell.manifest.run_id} / {cell.path.resolve().name}"


def _write(directory: Path, data: ReportData) -> Path:
    path = directory / REPORT
    replace_file(path, render_report(data))
    return path


def _state(cell: FinishedCell) -> CellState:
    manifest = cell.manifest
    return CellState(
        name=cell.path.resolve().name,
        condition=cell.condition,
        seed=manifest.seed,
        is_build=manifest.is_build,
        completed=manifest.completed,
        expected=manifest.dataset.processing_count,
        done=len(cell.cards),
        failed=sum(card.status == "error" for card in cell.cards),
    )


def _condition_cards(groups: Groups, rows: Sequence[SeedRow], intervals: Intervals) -> tuple[ConditionCard, ...]:
    means = {(row.condition, row.metric): row.mean for row in rows}
    cards = []
    for place, (name, group) in enumerate(groups.items()):
        flags = group[0].manifest.condition
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
                seeds=tuple(cell.manifest.seed for cell in group),
                samples=len(scored),
                failed=sum(card.status == "error" for card in scored),
                changed=sum(map(was_changed, scored)),
                injected=sum(map(was_injected, scored)),
                score=means.get((name, PRIMARY)),
                low=low,
                high=high,
                exact_match=means.get((name, "exact_match")),
            )
        )
    return tuple(cards)


def _facts(groups: Groups, samples: Mapping[str, Sequence[CellSamples]]) -> RunFacts:
    cells = [cell for group in groups.values() for cell in group]
    manifest = cells[0].manifest
    backbone: Mapping[str, Any] = manifest.raw.get("backbone") or {}
    reviews = {uid: facts for group in samples.values() for cell in group for uid, facts in cell.reviews.items()}
    majority = manifest.majority
    return RunFacts(
        run_id=manifest.run_id,
        purpose=str(manifest.raw.get("run_purpose") or ""),
        package_version=manifest.package_version,
        config_name=manifest.config_path.name,
        backbone=f"{backbone.get('provider')}:{backbone.get('model')}",
        temperature=backbone.get("temperature"),
        split=manifest.dataset.processing_split,
        reviews=len(reviews),
        languages=_counted(one.language for one in reviews.values()),
        domains=_counted(one.domain for one in reviews.values()),
        with_gold=sum(one.gold != "null" for one in reviews.values()),
        seeds=tuple(dict.fromkeys(cell.manifest.seed for cell in cells)),
        seed_supported=manifest.backbone.seed_supported,
        answers_shared=manifest.answers_shared,
        majority=f"{majority.polarity} ({majority.source} gold)" if majority else "",
    )


def _counted(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _first_pair(comparisons: Sequence[ComparisonView], groups: Groups) -> tuple[str, str]:
    """The conditions that the explorer opens with: those of the first comparison, else one alone."""
    return (comparisons[0].a, comparisons[0].b) if comparisons else (next(iter(groups)), "")


def _explorer(groups: Groups, samples: Mapping[Path, CellSamples], first: tuple[str, str]) -> Explorer:
    cells = [cell for group in groups.values() for cell in group]
    found = [samples[cell.path] for cell in cells]
    reviews = {uid: facts for one in reversed(found) for uid, facts in one.reviews.items()}
    order = dict.fromkeys(uid for one in found for uid in one.reviews)
    return Explorer(
        cells=tuple(ExplorerCell(condition=cell.condition, seed=cell.manifest.seed) for cell in cells),
        reviews=tuple(
            ReviewEntry(
                uid=uid,
                text=reviews[uid].text,
                language=reviews[uid].language,
                domain=reviews[uid].domain,
                case_type=reviews[uid].case_type,
                gold=reviews[uid].gold,
                cells=tuple(one.samples.get(uid) for one in found),
            )
            for uid in order
        ),
        first=first,
    )


def _integrity(cells: Sequence[FinishedCell], grid: Path | None) -> Integrity:
    names = [cell.path.resolve().name for cell in cells]
    places = [cell.path for cell in cells]
    if grid is not None:
        names, places = [*names, _GRID], [*places, grid]
    found = {name: _checks(place) for name, place in zip(names, places, strict=True)}
    columns = tuple(name for name in names if found[name])
    if not columns:
        return Integrity(verified=False)
    by_check: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name in columns:
        for one in found[name]:
            by_check.setdefault(one["check"], {})[name] = one
    results = [one["result"] for name in columns for one in found[name]]
    return Integrity(
        verified=True,
        columns=columns,
        rows=tuple(_check_row(check, by_name, columns) for check, by_name in by_check.items()),
        passed=results.count("pass"),
        failed=results.count("fail"),
        not_applicable=results.count("not_applicable"),
        unverified=tuple(name for name in names if not found[name]),
    )


def _check_row(check: str, by_name: Mapping[str, Mapping[str, Any]], columns: Sequence[str]) -> CheckRow:
    failures = [name for name in columns if by_name.get(name, {}).get("result") == "fail"]
    return CheckRow(
        check=check,
        results=tuple(by_name[name]["result"] if name in by_name else "" for name in columns),
        details=tuple(f"{name}: {by_name[name].get('detail', '')}" for name in failures),
    )


def _checks(directory: Path) -> list[dict[str, Any]]:
    """Read what `verify` wrote; nothing where it was not run or its file is not what it writes."""
    try:
        value = json.loads((directory / INTEGRITY).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    known = {"pass", "fail", "not_applicable"}
    if not isinstance(value, list):
        return []
    return [one for one in value if isinstance(one, dict) and one.get("check") and one.get("result") in known]

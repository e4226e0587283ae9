"""Every table of a report by its name, as values."""

from collections.abc import Iterator, Sequence
from typing import Final

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.certificate_view import CertificateView
from episodic_absa.reports.data.quality_views import CostView, ErrorRow, GroupTable, ScoreView
from episodic_absa.reports.data.report_data import (
    ConditionCard,
    ConditionValue,
    Integrity,
    MetricRow,
    MetricTable,
    ReportData,
)
from episodic_absa.reports.export.difference_tables import difference_tables
from episodic_absa.reports.export.export_table import (
    ExportTable,
    MetricCell,
    Score,
    column,
    named,
)
from episodic_absa.reports.export.memory_tables import memory_tables

_TITLES: Final = {
    "quality": Bilingual(en="Quality metrics", ko="품질 지표"),
    "rq1": Bilingual(en="RQ1: structural errors", ko="RQ1: 구조 오류"),
    "rq2": Bilingual(en="RQ2: stability", ko="RQ2: 안정성"),
    "rq3": Bilingual(en="RQ3: process", ko="RQ3: 과정"),
    "memory": Bilingual(en="Memory metrics", ko="메모리 지표"),
    "impact": Bilingual(en="Impact metrics", ko="영향 지표"),
    "efficiency": Bilingual(en="Efficiency", ko="효율"),
}
_GROUPS: Final = {"language": ("language", "언어"), "domain": ("domain", "분야")}
_CONDITION: Final = column("condition", "condition", "조건", "name")
_REVIEWS: Final = column("reviews", "reviews", "리뷰", "count")


def tables_of(data: ReportData) -> dict[str, ExportTable]:
    """Return the tables of a page by name."""
    return {table.name: table for table in _tables(data)}


def _tables(data: ReportData) -> Iterator[ExportTable]:
    for table in data.tables:
        yield _metrics(f"metrics_{table.name}", _TITLES[table.name], table, table.rows, data.conditions)
        if table.counts:
            title = _TITLES[table.name]
            counted = Bilingual(en=f"{title.en}, counts by reason", ko=f"{title.ko}, 사유별 횟수")
            yield _metrics(f"counts_{table.name}", counted, table, table.counts, data.conditions)
    for group in data.views.groups:
        yield _group(group, data.conditions)
    if data.views.cost:
        yield _cost(data.views.cost)
    if data.views.errors:
        yield _errors(data.views.errors)
    yield from difference_tables(data)
    yield from memory_tables(data)
    if data.integrity.verified:
        yield _checks(data.integrity)
    if data.certificate:
        yield _certificate(data.certificate)
    yield _cells(data)


def _metrics(
    name: str, title: Bilingual, table: MetricTable, rows: Sequence[MetricRow], conditions: Sequence[ConditionCard]
) -> ExportTable:
    with_baseline = table.name == "quality"
    names = [card.name for card in conditions] + (["baseline_majority"] if with_baseline else [])
    columns = (named("metric", "name"), named("kind", "name"), *(named(condition, "metric") for condition in names))

    def cells(row: MetricRow) -> tuple[object, ...]:
        values = [*row.values, *([row.baseline or ConditionValue(value=None)] if with_baseline else [])]
        return (row.metric, row.kind, *(_metric_cell(value, is_count=row.is_count) for value in values))

    return ExportTable(name, title, columns, tuple(map(cells, rows)), note=table.note)


def _metric_cell(value: ConditionValue, *, is_count: bool) -> MetricCell:
    return MetricCell(value.value, value.sd, value.numerator, value.denominator, value.low, value.high, is_count)


def _group(table: GroupTable, conditions: Sequence[ConditionCard]) -> ExportTable:
    en, ko = _GROUPS[table.by]
    columns = [column(table.by, en, ko, "name"), _REVIEWS]
    for card in conditions:
        columns.append(named(card.name, "score"))
        columns.append(column(f"{card.name}_n", "n", "n", "count"))
    rows = (
        (row.name, row.reviews, *(cell for value in row.values for cell in (_score(value.score), value.reviews)))
        for row in table.rows
    )
    title = Bilingual(en=f"tuple_f1_explicit (mean per review) by {en}", ko=f"{ko}별 tuple_f1_explicit(리뷰별 평균)")
    return ExportTable(f"quality_by_{table.by}", title, tuple(columns), tuple(rows))


def _score(view: ScoreView) -> Score:
    return Score(view.value, view.low, view.high)


def _cost(view: CostView) -> ExportTable:
    columns = (
        _CONDITION,
        _REVIEWS,
        column("calls", "calls", "호출", "amount"),
        column("tokens_in", "tokens in", "입력 토큰", "amount"),
        column("tokens_out", "tokens out", "출력 토큰", "amount"),
        column("cost_usd", "cost, USD", "비용(USD)", "amount"),
        column("micro_f1", "micro F1", "micro F1", "score"),
        column("macro_f1", "macro F1", "macro F1", "score"),
        column("stage1_calls", "Stage1 calls", "Stage1 호출", "amount"),
        column("stage1_tokens", "Stage1 tokens", "Stage1 토큰", "amount"),
        column("stage1_micro_f1", "Stage1 micro", "Stage1 micro", "number"),
        column("stage1_macro_f1", "Stage1 macro", "Stage1 macro", "number"),
    )
    rows = tuple(
        (
            point.condition,
            point.reviews,
            point.cost.calls,
            point.cost.tokens_in,
            point.cost.tokens_out,
            point.cost.cost_usd,
            _score(point.micro),
            _score(point.macro),
            point.stage1_cost.calls if point.stage1_cost else None,
            point.stage1_cost.tokens if point.stage1_cost else None,
            point.stage1_micro,
            point.stage1_macro,
        )
        for point in view.points
    )
    title = Bilingual(en="Quality and cost per sample", ko="샘플당 품질과 비용")
    return ExportTable("quality_and_cost", title, columns, rows)


def _errors(errors: Sequence[ErrorRow]) -> ExportTable:
    columns = (
        _CONDITION,
        column("samples", "samples", "샘플", "count"),
        column("gold_pairs", "gold pairs", "정답 쌍", "count"),
        column("predicted_pairs", "predicted pairs", "예측 쌍", "count"),
        column("right", "right", "일치", "count"),
        *(named(count.error, "count") for count in errors[0].errors),
    )
    rows = tuple(
        (row.condition, row.samples, row.gold, row.predicted, row.right, *(count.pairs for count in row.errors))
        for row in errors
    )
    return ExportTable("errors", Bilingual(en="Errors by condition", ko="조건별 오류 유형"), columns, rows)


def _checks(integrity: Integrity) -> ExportTable:
    columns = (column("check", "check", "검사", "name"), *(named(cell, "name") for cell in integrity.columns))
    rows = tuple((row.check, *row.results) for row in integrity.rows)
    return ExportTable("checks", Bilingual(en="Checks by cell", ko="셀별 검사"), columns, rows)


def _certificate(certificate: CertificateView) -> ExportTable:
    columns = (
        column("target", "to be found out", "알아내려는 것", "name"),
        column("source", "from", "출처", "name"),
        column("scope", "scope", "범위", "name"),
        column("n", "n", "n", "count"),
        column("figure", "figure", "값", "score"),
        column("chance", "chance", "우연", "number"),
        column("noticed_from", "noticed from", "감지 기준", "number"),
        column("verdict", "verdict", "판정", "name"),
    )
    rows = tuple(
        (
            row.target.en,
            row.source.en,
            row.scope.en,
            row.n,
            Score(row.figure, row.low, row.high),
            row.chance,
            row.noticed_from,
            row.verdict.en,
        )
        for row in certificate.rows
    )
    return ExportTable("certificate", Bilingual(en="Probes of the certificate", ko="인증서의 프로브"), columns, rows)


def _cells(data: ReportData) -> ExportTable:
    columns = (
        column("cell", "cell", "셀", "name"),
        column("samples", "samples", "샘플", "count"),
        column("expected", "expected", "예정", "count"),
        column("failed", "failed", "실패", "count"),
        column("completed", "state", "상태", "name"),
    )
    rows = tuple(
        (cell.name, cell.done, cell.expected, cell.failed, "complete" if cell.completed else "unfinished")
        for cell in data.cells
    )
    return ExportTable("cells", Bilingual(en="Cells", ko="셀"), columns, rows)

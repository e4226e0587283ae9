"""The tables of the report's section on memory, as values."""

from collections.abc import Iterator
from typing import Final

from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import ReportData
from episodic_absa.reports.export.export_table import ExportTable, column

_CONDITION: Final = column("condition", "condition", "조건", "name")


def memory_tables(data: ReportData) -> Iterator[ExportTable]:
    """Yield the tables of the section on memory that the page shows."""
    if any(flow.withheld for flow in data.flows):
        yield _withheld(data)
    if data.principles:
        yield _principles(data)
    if data.impact:
        yield _impact(data)


def _withheld(data: ReportData) -> ExportTable:
    columns = (
        _CONDITION,
        column("episodes_blocked", "episodes blocked", "차단된 에피소드", "count"),
        column("advisories_blocked", "advisories blocked", "차단된 조언", "count"),
        column("advisories_demoted", "demoted", "강등", "count"),
        column("firewall_dropped", "dropped by the label firewall", "라벨 방화벽이 제거", "count"),
    )
    rows = tuple(
        (
            flow.condition,
            flow.blocked_episodes,
            flow.blocked_advisories,
            flow.demoted_advisories,
            flow.firewall_dropped,
        )
        for flow in data.flows
    )
    return ExportTable("withheld_advice", Bilingual(en="Withheld advice", ko="차단된 조언"), columns, rows)


def _principles(data: ReportData) -> ExportTable:
    shown = [(place, card.name) for place, card in enumerate(data.conditions) if card.shows]
    columns = [column("principle", "principle", "원칙", "name"), column("advice", "advice", "조언", "words")]
    for _, name in shown:
        columns.append(column(f"{name}_retrieved", f"{name}, retrieved", f"{name}, 검색", "count"))
        columns.append(column(f"{name}_shown", f"{name}, shown", f"{name}, 제시", "count"))
    rows = tuple(
        (
            use.principle_id,
            use.message,
            *(count for place, _ in shown for count in (use.retrieved[place], use.injected[place])),
        )
        for use in data.principles
    )
    title = Bilingual(en="Principles retrieved and shown, in samples", ko="검색되고 제시된 원칙(샘플 수)")
    return ExportTable("principles_retrieved", title, tuple(columns), rows)


def _impact(data: ReportData) -> ExportTable:
    columns = (
        _CONDITION,
        column("follow_rate", "follow rate", "따른 비율", "number"),
        column("followed", "followed", "따름", "count"),
        column("risk_change_followed", "risk change (mean per sample)", "위험 변화(샘플별 평균)", "signed"),
        column("risk_rose_followed", "risk rose", "위험 증가", "number"),
        column("ignored", "ignored", "따르지 않음", "count"),
        column("risk_change_ignored", "risk change (mean per sample)", "위험 변화(샘플별 평균)", "signed"),
        column("risk_rose_ignored", "risk rose", "위험 증가", "number"),
    )
    rows = tuple(
        (
            row.condition,
            row.follow_rate,
            row.followed,
            row.delta_followed,
            row.harm_followed,
            row.ignored,
            row.delta_ignored,
            row.harm_ignored,
        )
        for row in data.impact
    )
    title = Bilingual(
        en="Followed and ignored advice (descriptive, not causal)",
        ko="따른 조언과 따르지 않은 조언(기술 통계, 인과 관계 아님)",
    )
    return ExportTable("followed_and_ignored", title, columns, rows)

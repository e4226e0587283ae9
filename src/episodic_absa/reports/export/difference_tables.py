"""The tables of differences, as values: arms, pairs of conditions, strata, principles."""

from collections.abc import Iterator
from typing import Final

from episodic_absa.reports.data.answer.arm_views import ArmsView
from episodic_absa.reports.data.answer.stratum_views import EffectTable, StratumTable
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.data.report_data import ComparisonView, ReportData
from episodic_absa.reports.export.export_table import ExportTable, Interval, column, file_stem, named

_REVIEWS: Final = column("reviews", "reviews", "리뷰", "count")
_DIFFERENCE: Final = column("difference", "difference", "차이", "signed")
_INTERVAL: Final = column("ci", "95 % interval", "95 % 신뢰구간", "interval")
_P: Final = named("p", "p")
_P_ORDERS: Final = column("p_orders", "p, orders", "p(순서)", "p")
_P_HOLM: Final = column("p_holm", "Holm p", "Holm p", "p")


def difference_tables(data: ReportData) -> Iterator[ExportTable]:
    """Yield the tables of differences that the page shows."""
    if data.arms:
        yield _arms(data.arms)
    yield from map(_comparison, data.comparisons)
    yield from map(_strata, data.strata)
    yield from map(_effects, data.effects)


def _arms(view: ArmsView) -> ExportTable:
    title = Bilingual(
        en=f"Paired differences in {view.metric} against {view.baseline}",
        ko=f"{view.baseline} 대비 {view.metric}의 짝지은 차이",
    )
    rows = tuple(
        (
            row.condition,
            row.mean,
            row.baseline_mean,
            row.difference,
            Interval(row.ci_low, row.ci_high),
            row.p_value,
            row.p_orders,
            row.reviews,
            row.orders,
            "exploratory" if row.exploratory else "asked",
            row.words,
        )
        for row in view.rows
    )
    columns = (
        column("arm", "arm", "조건", "name"),
        column("mean", "mean", "평균", "number"),
        column("baseline_mean", f"mean of {view.baseline}", f"{view.baseline} 평균", "number"),
        _DIFFERENCE,
        _INTERVAL,
        _P,
        _P_ORDERS,
        _REVIEWS,
        column("orders", "orders", "순서", "count"),
        column("question", "question", "질문", "name"),
        column("in_words", "in words", "판정", "words"),
    )
    return ExportTable("difference_by_arm", title, columns, rows)


def _comparison(comparison: ComparisonView) -> ExportTable:
    columns = (
        named("metric", "name"),
        named("kind", "name"),
        column("averaging", "averaging", "평균 방식", "name"),
        named(comparison.a, "number", prefix="value_"),
        named(comparison.b, "number", prefix="value_"),
        _DIFFERENCE,
        _INTERVAL,
        _P,
        _P_ORDERS,
        _P_HOLM,
        column("dz", "dz", "dz", "signed"),
        _REVIEWS,
        column("in_words", "in words", "판정", "words"),
    )
    rows = tuple(
        (
            row.metric,
            row.kind,
            "ratio of sums" if row.is_micro else "mean",
            row.mean_a,
            row.mean_b,
            row.difference,
            Interval(row.ci_low, row.ci_high),
            row.p_value,
            row.p_orders,
            row.p_holm,
            row.dz,
            row.n_uids,
            row.words,
        )
        for row in comparison.rows
    )
    title = Bilingual(
        en=f"Paired differences, {comparison.a} minus {comparison.b}",
        ko=f"짝지은 차이, {comparison.a} − {comparison.b}",
    )
    return ExportTable(file_stem(comparison.name), title, columns, rows, note=comparison.exploratory)


def _strata(table: StratumTable) -> ExportTable:
    columns = (
        column("stratum", "stratum", "층", "name"),
        _REVIEWS,
        named(table.a, "number", prefix="mean_"),
        named(table.b, "number", prefix="mean_"),
        _DIFFERENCE,
        _INTERVAL,
        _P,
        _P_HOLM,
    )
    rows = tuple(
        (
            row.stratum,
            row.n_uids,
            row.mean_a,
            row.mean_b,
            row.difference,
            Interval(row.ci_low, row.ci_high),
            row.p_value,
            row.p_holm,
        )
        for row in table.rows
    )
    pair = f"{table.a} − {table.b}"
    title = Bilingual(en=f"{pair} in {table.metric}. {table.title.en}", ko=f"{table.metric}의 {pair}. {table.title.ko}")
    return ExportTable(file_stem(table.name), title, columns, rows, note=_note(table))


def _effects(table: EffectTable) -> ExportTable:
    columns = (
        column("principle", "principle", "원칙", "name"),
        column("n_shown", "shown", "제시", "count"),
        column("n_withheld", "withheld", "보류", "count"),
        column("effect", "effect", "효과", "signed"),
        _INTERVAL,
        _P,
        _P_HOLM,
        column("verdict", "verdict", "판정", "name"),
    )
    rows = tuple(
        (
            row.principle_id,
            row.n_shown,
            row.n_withheld,
            row.effect,
            Interval(row.ci_low, row.ci_high),
            row.p_value,
            row.p_holm,
            row.verdict,
        )
        for row in table.rows
    )
    title = Bilingual(
        en=f"Effect of each principle on {table.metric} in {table.condition}",
        ko=f"{table.condition}에서 각 원칙이 {table.metric}에 준 효과",
    )
    return ExportTable(file_stem(table.name), title, columns, rows, note=_note(table))


def _note(table: StratumTable | EffectTable) -> Bilingual:
    if not table.exploratory:
        return table.sentence
    return Bilingual(en=f"Exploratory. {table.sentence.en}", ko=f"탐색적 결과입니다. {table.sentence.ko}")

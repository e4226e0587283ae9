"""The forests of the report: arms against the baseline, strata, principles."""

from typing import Final

from episodic_absa.reports.data.answer.arm_views import ArmsView
from episodic_absa.reports.data.answer.stratum_views import EffectTable, StratumTable
from episodic_absa.reports.data.bilingual import Bilingual
from episodic_absa.reports.plots.forest_plot import Forest, ForestRow

_EXPLORATORY: Final = Bilingual(en="exploratory", ko="탐색적")
_SAME: Final = Bilingual(en="no variation", ko="변동 없음")
_TOO_FEW: Final = Bilingual(en="too few", ko="너무 적음")


def arms_forest(view: ArmsView) -> Forest:
    """Return every arm minus the baseline, with a band for the smallest effect."""
    baseline, size = view.baseline, f"{view.smallest_effect:g}"
    return Forest(
        rows=tuple(
            ForestRow(
                label=row.condition,
                difference=row.difference,
                low=row.ci_low,
                high=row.ci_high,
                without_interval=_SAME if row.reviews > 1 else _TOO_FEW,
                colour=row.colour,
                tag=_EXPLORATORY if row.exploratory else None,
                is_first=row.is_asked,
                is_dashed=row.exploratory,
            )
            for row in view.rows
        ),
        title=Bilingual(
            en=f"Paired difference of every arm against {baseline}", ko=f"{baseline} 대비 각 조건의 짝지은 차이"
        ),
        below=Bilingual(en=f"← below {baseline}", ko=f"← {baseline}보다 낮음"),
        above=Bilingual(en=f"above {baseline} →", ko=f"{baseline}보다 높음 →"),
        axis_title=Bilingual(
            en=f"{view.metric}, arm minus {baseline}; band: ±{size}",
            ko=f"{view.metric}, 조건 − {baseline}; 띠: ±{size}",
        ),
        band=view.smallest_effect,
    )


def strata_forest(table: StratumTable) -> Forest:
    """Return the difference of one pair in each stratum."""
    pair = f"{table.a} − {table.b}"
    return Forest(
        rows=tuple(
            ForestRow(
                label=row.stratum,
                difference=row.difference,
                low=row.ci_low,
                high=row.ci_high,
                without_interval=_TOO_FEW if row.is_small else _SAME,
                tag=Bilingual(en=f"n {row.n_uids:,}", ko=f"n {row.n_uids:,}"),
                is_dashed=table.exploratory,
            )
            for row in table.rows
        ),
        title=Bilingual(en=f"{pair}: {table.title.en}", ko=f"{pair}: {table.title.ko}"),
        below=Bilingual(en=f"← below {table.b}", ko=f"← {table.b}보다 낮음"),
        above=Bilingual(en=f"above {table.b} →", ko=f"{table.b}보다 높음 →"),
        axis_title=Bilingual(en=f"{table.metric}, {pair}", ko=f"{table.metric}, {pair}"),
    )


def effects_forest(table: EffectTable) -> Forest:
    """Return the effect of every principle that was shown and withheld."""
    return Forest(
        rows=tuple(
            ForestRow(
                label=row.principle_id,
                difference=row.effect,
                low=row.ci_low,
                high=row.ci_high,
                without_interval=_TOO_FEW,
                tag=Bilingual(
                    en=f"n {row.n_shown:,} / {row.n_withheld:,}", ko=f"n {row.n_shown:,} / {row.n_withheld:,}"
                ),
            )
            for row in table.rows
            if row.effect is not None
        ),
        title=Bilingual(en=f"Effect of each principle in {table.condition}", ko=f"{table.condition}의 원칙별 효과"),
        below=Bilingual(en="← lowers", ko="← 낮춤"),
        above=Bilingual(en="raises →", ko="높임 →"),
        axis_title=Bilingual(en=f"{table.metric}, shown minus withheld", ko=f"{table.metric}, 제시 − 보류"),
    )

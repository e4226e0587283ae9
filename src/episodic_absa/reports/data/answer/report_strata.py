"""Builds the report's tables of strata and of the effects of principles."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from episodic_absa.analysis.strata import FEWEST_CLAIMED, SMALLEST_STRATUM, StratumRow, interaction_word
from episodic_absa.analysis.trial import PrincipleEffect
from episodic_absa.metrics.statistics.number_text import p_equals
from episodic_absa.metrics.statistics.power import FEWEST_ORDERS
from episodic_absa.reports.data.answer.stratum_views import EffectTable, EffectView, StratumTable, StratumView
from episodic_absa.reports.data.bilingual import Bilingual

_TITLES: Final = {
    "language": Bilingual(en="By language", ko="언어별"),
    "domain": Bilingual(en="By domain", ko="분야별"),
    "structure": Bilingual(en="By structure of the text", ko="본문 구조별"),
    "risk": Bilingual(en="By risk in Stage1 of the baseline", ko="기준 조건의 Stage1 위험별"),
    "principle": Bilingual(en="By principle offered", ko="제공된 원칙별"),
    "quarter": Bilingual(en="By quarter of the run (learning curve)", ko="실행 구간(4등분)별 학습 곡선"),
}
_VERDICTS: Final = ("helps", "harms", "not shown")


def stratum_tables(rows: Iterable[StratumRow]) -> tuple[StratumTable, ...]:
    """Return one table per pair and property of the reviews."""
    return tuple(_stratum_table(list(group)) for _, group in groupby(rows, key=lambda row: (row.a, row.b, row.by)))


def effect_tables(effects: Iterable[PrincipleEffect]) -> tuple[EffectTable, ...]:
    """Return one table per condition that tossed coins."""
    return tuple(_effect_table(list(group)) for _, group in groupby(effects, key=lambda effect: effect.condition))


def _stratum_table(rows: Sequence[StratumRow]) -> StratumTable:
    first = rows[0]
    return StratumTable(
        a=first.a,
        b=first.b,
        by=first.by,
        title=_TITLES[first.by],
        metric=first.metric,
        exploratory=first.exploratory,
        overlapping=any(row.overlapping for row in rows),
        interaction_p=first.interaction_p,
        sentence=_interaction(rows),
        rows=tuple(StratumView(**{name: getattr(row, name) for name in StratumView.model_fields}) for row in rows),
    )


def _interaction(rows: Sequence[StratumRow]) -> Bilingual:
    tested = sum(not row.is_small for row in rows)
    word, p_value = interaction_word(rows), rows[0].interaction_p
    if word == "too_few":
        return Bilingual(
            en=f"Fewer than two strata have {SMALLEST_STRATUM} reviews, so they cannot be compared.",
            ko=f"리뷰가 {SMALLEST_STRATUM}건 이상인 층이 둘보다 적어 서로 비교할 수 없습니다.",
        )
    if p_value is None:
        return Bilingual(en="The difference does not vary between reviews.", ko="리뷰 간 차이에 변동이 없습니다.")
    test_en = f"interaction {p_equals(p_value)} over {tested} strata"
    test_ko = f"층 {tested}개의 상호작용 {p_equals(p_value)}"
    if word == "small_stratum":
        return Bilingual(
            en=f"No claim, because a stratum has fewer than {FEWEST_CLAIMED} reviews ({test_en}).",
            ko=f"리뷰가 {FEWEST_CLAIMED}건보다 적은 층이 있어 주장하지 않습니다({test_ko}).",
        )
    if word == "few_orders":
        return Bilingual(
            en=f"No claim, because the order changes results and a claim needs {FEWEST_ORDERS} orders ({test_en}).",
            ko=f"순서가 결과를 바꾸며, 주장하려면 순서가 {FEWEST_ORDERS}개 이상 필요합니다({test_ko}).",
        )
    if word == "differs":
        return Bilingual(
            en=f"The difference is not the same in every stratum ({test_en}).",
            ko=f"차이가 모든 층에서 같지는 않습니다({test_ko}).",
        )
    return Bilingual(
        en=f"The data are consistent with one difference in all strata ({test_en}).",
        ko=f"모든 층의 차이가 같다는 가설과 모순되지 않습니다({test_ko}).",
    )


def _effect_table(effects: Sequence[PrincipleEffect]) -> EffectTable:
    ordered = sorted(effects, key=lambda effect: (_VERDICTS.index(effect.verdict), effect.principle_id))
    helping, harming = (
        [effect.principle_id for effect in ordered if effect.verdict == verdict] for verdict in _VERDICTS[:2]
    )
    tested = sum(effect.p_value is not None for effect in effects)
    return EffectTable(
        condition=effects[0].condition,
        shadow=effects[0].shadow,
        metric=effects[0].metric,
        exploratory=effects[0].exploratory,
        sentence=Bilingual(
            en=f"Helps: {_names(helping, 'none')}. Harms: {_names(harming, 'none')}. "
            f"{tested} of {len(effects)} principles have enough reviews for a test.",
            ko=f"도움이 되는 원칙: {_names(helping, '없음')}. 해로운 원칙: {_names(harming, '없음')}. "
            f"원칙 {len(effects)}개 중 {tested}개는 검정할 만큼 리뷰가 있습니다.",
        ),
        rows=tuple(
            EffectView(**{name: getattr(effect, name) for name in EffectView.model_fields}) for effect in ordered
        ),
    )


def _names(principle_ids: Sequence[str], nothing: str) -> str:
    return ", ".join(principle_ids) or nothing

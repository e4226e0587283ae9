"""Differences within strata, and the effect of each principle: sentences, tables and pictures."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from episodic_absa.analysis import PrincipleEffect
from episodic_absa.analysis.strata import FEWEST_CLAIMED, SMALLEST_STRATUM, StratumRow, interaction_word
from episodic_absa.metrics.statistics import FEWEST_ORDERS
from episodic_absa.metrics.statistics.number_text import p_equals
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.data.arms import SAME, TOO_FEW
from episodic_absa.reports.data.comparisons import DIFFERENCE, IN_WORDS, INTERVAL_HEAD, REVIEWS
from episodic_absa.reports.data.report_data import DifferencePart
from episodic_absa.reports.plots.figure import Figure
from episodic_absa.reports.plots.forest_plot import WIDE, Forest, ForestRow, forest_plot
from episodic_absa.reports.tables.table import Column, Interval, Missing, Table, Verdict, column, file_stem

_TITLES: Final = {
    "language": Bilingual("By language", "언어별"),
    "domain": Bilingual("By domain", "분야별"),
    "structure": Bilingual("By structure of the text", "본문 구조별"),
    "risk": Bilingual("By risk in Stage1 of the baseline", "기준 조건의 Stage1 위험별"),
    "principle": Bilingual("By principle offered", "제공된 원칙별"),
    "quarter": Bilingual("By quarter of the run (learning curve)", "실행 구간(4등분)별 학습 곡선"),
}
_VERDICTS: Final = {
    "helps": Bilingual("helps", "도움"),
    "harms": Bilingual("harms", "해로움"),
    "not shown": Bilingual("no effect shown", "효과 미확인"),
}
"""In the order of the rows."""
_TESTS: Final = (column("p", "p", "p", "p_value"), column("p_holm", "Holm p", "p"))


def stratum_parts(rows: Iterable[StratumRow]) -> tuple[DifferencePart, ...]:
    """Return one part per pair and property of the reviews."""
    return tuple(_stratum_part(tuple(group)) for _, group in groupby(rows, key=lambda row: (row.a, row.b, row.by)))


def effect_parts(effects: Iterable[PrincipleEffect]) -> tuple[DifferencePart, ...]:
    """Return one part per condition that tossed coins."""
    return tuple(_effect_part(list(group)) for _, group in groupby(effects, key=lambda effect: effect.condition))


def part_figure(part: DifferencePart) -> Figure:
    """Return a picture that fits beside its table; its file has room for the intervals as numbers."""
    return Figure(part.table.name, forest_plot(part.forest), saved=forest_plot(part.forest, WIDE))


def _stratum_part(rows: tuple[StratumRow, ...]) -> DifferencePart:
    a, b, metric, title = rows[0].a, rows[0].b, rows[0].metric, _TITLES[rows[0].by]
    pair, sentence, is_exploratory = f"{a} − {b}", _interaction(rows), rows[0].exploratory
    columns = (
        column("stratum", ("stratum", "층"), "name"),
        REVIEWS,
        column(f"mean_{a}", a, "number", "mean_a"),
        column(f"mean_{b}", b, "number", "mean_b"),
        DIFFERENCE,
        _interval_or(lambda row: row.is_small),
        *_TESTS,
    )
    forest = Forest(
        rows=tuple(
            ForestRow(
                row.stratum,
                row.difference,
                row.ci_low,
                row.ci_high,
                without_interval=TOO_FEW if row.is_small else SAME,
                tag=Bilingual(f"n {row.n_uids:,}", f"n {row.n_uids:,}"),
                is_dashed=is_exploratory,
            )
            for row in rows
        ),
        title=Bilingual(f"{pair}: {title.en}", f"{pair}: {title.ko}"),
        below=Bilingual(f"← below {b}", f"← {b}보다 낮음"),
        above=Bilingual(f"above {b} →", f"{b}보다 높음 →"),
        axis_title=Bilingual(f"{metric}, {pair}", f"{metric}, {pair}"),
    )
    name = file_stem(f"strata_{rows[0].by}_{a}_minus_{b}")
    caption = Bilingual(f"{pair} in {metric}. {title.en}", f"{metric}의 {pair}. {title.ko}")
    table = Table(name, caption, columns, rows, note=_note(sentence, is_exploratory=is_exploratory))
    return DifferencePart(table, forest, metric, sentence, is_exploratory, title, pair)


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


def _interval_or(is_too_small: Callable[[Any], bool]) -> Column:
    def interval(row: Any) -> Interval | Missing:
        is_missing = row.ci_low is None and is_too_small(row)
        return Missing(TOO_FEW) if is_missing else Interval(row.ci_low, row.ci_high)

    return column("ci", INTERVAL_HEAD, "interval", interval)


def _effect_part(effects: Sequence[PrincipleEffect]) -> DifferencePart:
    rows = tuple(sorted(effects, key=lambda effect: ([*_VERDICTS].index(effect.verdict), effect.principle_id)))
    condition, metric, is_exploratory = rows[0].condition, rows[0].metric, rows[0].exploratory
    helping, harming = ([row.principle_id for row in rows if row.verdict == verdict] for verdict in ("helps", "harms"))
    tested = sum(row.p_value is not None for row in rows)
    sentence = Bilingual(
        en=f"Helps: {_names(helping, 'none')}. Harms: {_names(harming, 'none')}. "
        f"{tested} of {len(rows)} principles have enough reviews for a test.",
        ko=f"도움이 되는 원칙: {_names(helping, '없음')}. 해로운 원칙: {_names(harming, '없음')}. "
        f"원칙 {len(rows)}개 중 {tested}개는 검정할 만큼 리뷰가 있습니다.",
    )
    columns = (
        column("principle", ("principle", "원칙"), "code", "principle_id"),
        column("n_shown", ("shown", "제시"), "count"),
        column("n_withheld", ("withheld", "보류"), "count"),
        column("effect", ("effect", "효과"), "signed"),
        _interval_or(lambda row: row.p_value is None),
        *_TESTS,
        column("verdict", IN_WORDS, "verdict", lambda row: Verdict(row.verdict, _VERDICTS[row.verdict])),
    )
    forest = Forest(
        rows=tuple(
            ForestRow(
                row.principle_id,
                row.effect,
                row.ci_low,
                row.ci_high,
                without_interval=TOO_FEW,
                tag=Bilingual(*[f"n {row.n_shown:,} / {row.n_withheld:,}"] * 2),
            )
            for row in rows
            if row.effect is not None
        ),
        title=Bilingual(f"Effect of each principle in {condition}", f"{condition}의 원칙별 효과"),
        below=Bilingual("← lowers", "← 낮춤"),
        above=Bilingual("raises →", "높임 →"),
        axis_title=Bilingual(f"{metric}, shown minus withheld", f"{metric}, 제시 − 보류"),
    )
    caption = Bilingual(
        f"Effect of each principle on {metric} in {condition}", f"{condition}에서 각 원칙이 {metric}에 준 효과"
    )
    name, note = file_stem(f"principle_effects_{condition}"), _note(sentence, is_exploratory=is_exploratory)
    return DifferencePart(Table(name, caption, columns, rows, note=note), forest, metric, sentence, is_exploratory)


def _note(sentence: Bilingual, *, is_exploratory: bool) -> Bilingual:
    if not is_exploratory:
        return sentence
    return Bilingual(f"Exploratory. {sentence.en}", f"탐색적 결과입니다. {sentence.ko}")


def _names(principle_ids: Sequence[str], nothing: str) -> str:
    return ", ".join(principle_ids) or nothing

"""The first screen and the sections that answer the question: verdict, arms, strata, principles."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser

from episodic_absa.analysis import PrincipleEffect, load_run
from episodic_absa.analysis.strata import StratumRow
from episodic_absa.metrics.statistics import PairedDifference, find_unsupported_claims
from episodic_absa.metrics.statistics.verdict import verdict_of
from episodic_absa.reports.data import Arm, Arms, ReportData, SampleReader
from episodic_absa.reports.data.arms import arms_figure, arms_forest, arms_table
from episodic_absa.reports.data.strata import effect_parts, part_figure, stratum_parts
from episodic_absa.reports.page import render_report
from episodic_absa.reports.plots import leaves_axis, zoomed
from episodic_absa.reports.report_json import report_json
from episodic_absa.reports.run_report import REPORT, build_report


def arm(name: str, low: float, high: float, *, exploratory: bool = False) -> Arm:
    paired = PairedDifference(
        metric="tuple_f1_explicit",
        kind="outcome",
        n_uids=900,
        n_pairs=4500,
        unpaired_a=0,
        unpaired_b=0,
        mean_a=0.6,
        mean_b=0.6 - (low + high) / 2,
        difference=(low + high) / 2,
        ci_low=low,
        ci_high=high,
        p_value=0.001 if low * high > 0 else 0.4,
        p_orders=0.02,
        dz=0.1,
        variation=True,
        orders_n=5,
        differing_n=900,
        is_primary=True,
    )
    return Arm(name, 1, name == "C2", exploratory, paired, verdict_of(paired))


def stratum(name: str, difference: float, *, is_small: bool = False) -> StratumRow:
    return StratumRow(
        a="C2",
        b="C1",
        by="language",
        metric="tuple_f1_explicit",
        stratum=name,
        n_uids=6 if is_small else 450,
        n_pairs=450,
        mean_a=0.6,
        mean_b=0.6 - difference,
        difference=difference,
        ci_low=None if is_small else difference - 0.01,
        ci_high=None if is_small else difference + 0.01,
        p_value=None if is_small else 0.001,
        p_holm=None if is_small else 0.002,
        is_small=is_small,
        interaction_p=0.004,
        overlapping=False,
        exploratory=True,
    )


def effect(principle_id: str, size: float, verdict: str) -> PrincipleEffect:
    return PrincipleEffect.model_validate(
        {
            "condition": "C2_trial",
            "shadow": "C1",
            "principle_id": principle_id,
            "metric": "tuple_f1_explicit",
            "n_shown": 40,
            "n_withheld": 41,
            "mean_shown": size,
            "mean_withheld": 0.0,
            "effect": size,
            "ci_low": size - 0.02,
            "ci_high": size + 0.02,
            "p_value": 0.01,
            "p_holm": 0.03,
            "verdict": verdict,
        }
    )


@pytest.fixture(scope="module")
def answered(reported: Path) -> ReportData:
    """The page of the small grid with an answer that its few reviews cannot give."""
    run = load_run(reported)
    reader = SampleReader(with_text=True)
    data = build_report(run, {cell.path: reader.read(cell) for cell in run.cells})
    rows = (arm("C2", 0.012, 0.04), arm("C2_placebo", -0.01, 0.012, exploratory=True), arm("one_call", -0.6, -0.4))
    arms = Arms(baseline="C1", metric="tuple_f1_explicit", smallest_effect=0.01, rows=rows)
    strata = stratum_parts([stratum("ko", 0.05), stratum("en", -0.02), stratum("other", 0.3, is_small=True)])
    effects = effect_parts([effect("P-NEG-01", -0.08, "harms"), effect("P-CON-04", 0.07, "helps")])
    tables = [arms_table(arms), *(part.table for part in (*strata, *effects))]
    figures = [arms_figure(arms), *map(part_figure, (*strata, *effects))]
    return replace(
        data,
        arms=arms,
        strata=strata,
        effects=effects,
        tables={**data.tables, **{table.name: table for table in tables}},
        figures={**data.figures, **{figure.name: figure for figure in figures}},
    )


@pytest.fixture(scope="module")
def answer_page(answered: ReportData) -> PageParser:
    return PageParser(render_report(answered))


def line_of(page: PageParser, start: str) -> str:
    return next(line for line in page.text.splitlines() if line.startswith(start))


def test_the_first_screen_is_a_sentence_then_a_picture_then_numbers(reported: Path) -> None:
    page = (reported / REPORT).read_text("utf-8")
    sentence = page.index("<h1>")
    assert (
        "Whether C2 changes mean F1 (tuple_f1_explicit) compared with C1 cannot be told from 20 reviews"
        in page[sentence:]
    )
    places = [page.index(part, sentence) for part in ("<h1>", '<figure class="arms">', "<table", 'class="cards"')]
    assert places == sorted(places)
    values = json.loads((reported / "report.json").read_text("utf-8"))
    assert values["comparisons"][0]["answer"] == values["headline"]
    assert [row["arm"] for row in values["tables"]["difference_by_arm"]["rows"]] == ["C2"]


def test_the_axis_is_zoomed_to_the_asked_pair_and_an_arm_far_away_gets_an_arrow(answered: ReportData) -> None:
    assert answered.arms is not None
    forest = arms_forest(answered.arms)
    low, high = zoomed(forest)
    assert (round(low, 3), round(high, 3)) == (-0.014, 0.044)
    assert leaves_axis(forest)


def test_what_was_not_asked_is_marked_in_picture_and_table(answer_page: PageParser) -> None:
    assert line_of(answer_page, "C2_placebo exploratory 탐색적").endswith("undecided 판단할 수 없음")
    assert "Arrow: the arm lies beyond the axis. Dashed: exploratory" in answer_page.text


def test_strata_say_whether_they_differ_and_small_ones_have_no_test(answer_page: PageParser) -> None:
    words = answer_page.text
    assert "The difference is not the same in every stratum (interaction p = 0.004 over 2 strata)." in words
    assert line_of(answer_page, "other 6").endswith("+0.300 too few 너무 적음 – –")
    assert "By language 언어별 exploratory 탐색적" in words


def test_principles_are_listed_by_their_effect_and_nothing_is_claimed_in_vain(
    answered: ReportData, answer_page: PageParser
) -> None:
    assert "Helps: P-CON-04. Harms: P-NEG-01. 2 of 2 principles have enough reviews for a test." in answer_page.text
    assert line_of(answer_page, "P-NEG-01").endswith("harms 해로움")
    assert find_unsupported_claims(answer_page.own_words) == ()
    assert (
        json.loads(report_json(answered))["tables"]["principle_effects_C2_trial"]["rows"][0]["principle"] == "P-CON-04"
    )
    names = answer_page.files()
    assert {"strata_language_C2_minus_C1.csv", "principle_effects_C2_trial.svg"} <= names.keys()

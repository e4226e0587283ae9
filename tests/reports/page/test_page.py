"""The contents of a report page."""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser

from episodic_absa.analysis import load_run
from episodic_absa.metrics.definitions import definition_of
from episodic_absa.reports.page import page_script, style_sheet
from episodic_absa.reports.run_report import REPORT, write_pages


def section(page: str, name: str) -> str:
    """Return the visible words of one section."""
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    assert found, name
    return PageParser(found.group()).text


@pytest.fixture(scope="session")
def page(reported: Path) -> str:
    return (reported / REPORT).read_text("utf-8")


def test_reporting_again_gives_the_same_bytes_and_touches_nothing_of_the_run(grid: Path) -> None:
    before = {path: path.read_bytes() for path in sorted(grid.rglob("*")) if path.is_file()}
    write_pages(load_run(grid))
    assert {path: path.read_bytes() for path in sorted(grid.rglob("*")) if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "metrics"),
    [
        ("rq1", ("polarity_conflict_rate", "outcome_residual_risk_rate", "validator_residual_risk_rate")),
        ("rq2", ("tuple_agreement_rate", "variance", "flip_flop_rate")),
        (
            "rq3",
            (
                "override_applied_rate",
                "override_skipped_rate",
                "override_success_rate",
                "override_harm_rate",
                "coverage_rate",
            ),
        ),
    ],
)
def test_each_question_shows_its_metrics_marked_by_kind(page: str, name: str, metrics: tuple[str, ...]) -> None:
    lines = section(page, name).splitlines()
    for metric in metrics:
        line = next(line for line in lines if line.startswith(metric))
        kind = definition_of(metric).kind
        assert ("process, not outcome" if kind == "process" else kind) in line


def test_every_metric_that_can_be_pointed_at_is_defined_in_both_languages(page: str) -> None:
    elements = PageParser(page).elements
    ids = {attributes.get("id") for _, attributes in elements}
    asked = {attributes["data-def"] for tag, attributes in elements if tag == "button" and "data-def" in attributes}
    assert len(asked) > 100
    assert {f"def-{metric}" for metric in asked} <= ids
    assert page.count('<p class="ko" lang="ko">') >= len(asked)


def test_values_stand_with_numerator_and_denominator(page: str) -> None:
    line = next(line for line in section(page, "rq1").splitlines() if line.startswith("explicit_rate"))
    assert re.search(r"\d / 48", line)  # two seeds of 24 reviews


def test_every_report_shows_the_majority_baseline_and_names_the_similarity(reported: Path) -> None:
    for path in (reported / REPORT, reported / "C2__seed42" / REPORT, reported / "C1__seed123" / REPORT):
        words = section(path.read_text("utf-8"), "quality")
        assert "baseline_majority" in words
        assert re.search(r"baseline 기준선 0\.\d{3}", words.replace("\n", " "))
        line = next(line for line in words.splitlines() if line.startswith("generalized_f1@0.95"))
        assert "similarity: " in line


def test_seeds_that_change_nothing_are_no_repetitions_and_the_page_says_why(page: str) -> None:
    words = section(page, "rq2")
    assert "No value for C1: eligible=false: the backend ignores the seed and memory is never shown" in words
    line = next(line for line in words.splitlines() if line.startswith("tuple_agreement_rate"))
    assert re.search(r"– \d\.\d{3}", line)  # C1 has none, C2 has one


def test_comparisons_tell_interval_tests_and_how_many_reviews_are_needed(page: str) -> None:
    words = section(page, "comparisons")
    assert "C2 minus C1" in words
    assert "95 % CI [" in words
    assert "no variation" in words
    assert "McNemar" in words
    assert re.search(r"cannot be told from .* orders would be needed", words)


def test_verify_results_are_shown_and_their_absence_is_named(grid: Path) -> None:
    assert "checks hold, 0 fail" in section((grid / REPORT).read_text("utf-8"), "integrity")
    for path in grid.rglob("integrity.json"):
        path.unlink()
    write_pages(load_run(grid))
    assert "Not verified yet: run episodic-absa verify" in section((grid / REPORT).read_text("utf-8"), "integrity")


def test_a_failed_check_is_told_with_its_cell(grid: Path) -> None:
    path = grid / "C1__seed42" / "integrity.json"
    path.write_text('[{"check": "hashes", "count": 1, "detail": "manifest says otherwise", "result": "fail"}]', "utf-8")
    write_pages(load_run(grid))
    words = section((grid / REPORT).read_text("utf-8"), "integrity")
    assert "C1__seed42: manifest says otherwise" in words


def test_only_the_pages_own_script_and_style_may_run(page: str) -> None:
    parser = PageParser(page)
    metas = [attributes for tag, attributes in parser.elements if tag == "meta"]
    policy = next(meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy") or ""
    for text in (style_sheet(), page_script()):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, attributes in parser.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert not {"src", "srcset", "action", "formaction", "data"} & attributes.keys(), tag
        assert (attributes.get("href") or "#").startswith("#"), tag
    assert [tag for tag, _ in parser.elements if tag in ("link", "iframe", "object", "base", "img")] == []


def test_no_clock_and_no_path_of_the_machine_enter_the_page(reported: Path) -> None:
    for path in (reported / REPORT, reported / "C2__seed42" / REPORT):
        parser = PageParser(path.read_text("utf-8"))
        # Packed data are read unpacked: by chance base64 may spell anything.
        written = [script for script in parser.scripts if " " in script]
        assert written
        everything = parser.text + "".join(written) + str(parser.unpacked())
        assert str(reported.parent.parent) not in everything
        assert "/tmp" not in everything  # noqa: S108 - looked for, not written to
        assert not re.search(r"20\d\d-\d\d-\d\dT", everything)


def test_the_page_of_hostile_reviews_has_the_elements_of_a_page_and_no_others(hostile: Path) -> None:
    page = (hostile / REPORT).read_text("utf-8")
    parser = PageParser(page)
    assert [tag for tag, _ in parser.elements].count("script") == 4  # the index, a block, the files, the script
    assert "\x00" not in page
    texts = [row[1] for row in parser.unpacked()[0]["rows"]]
    assert any("</script><script>" in text for text in texts)
    assert any("\x00" in text for text in texts)


def test_building_a_report_needs_no_template_engine_until_a_page_is_rendered() -> None:
    heavy = "{'jinja2', 'scipy', 'playwright'}"
    code = f"import sys, episodic_absa.reports.run_report; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""The sample explorer, clicked through in a real browser."""

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reports.grid_making import Line, read_lines
from tests.run_copies import change_samples, copied, failed
from tests.runs.sealed_files import write_sealed

from episodic_absa.analysis import load_run
from episodic_absa.reports.data import SampleReader
from episodic_absa.reports.page import render_report
from episodic_absa.reports.run_report import REPORT, build_report, write_pages

if TYPE_CHECKING:
    from playwright.sync_api import Page

Reader = Any


def found(page: "Page") -> int:
    """How many samples the list says it holds."""
    match = re.match(r"(\d[\d,]*) of", page.inner_text("#found"))
    assert match
    return int(match.group(1).replace(",", ""))


def open_listed(reader: Reader, page: "Page", place: int = 0) -> str:
    """Open a sample of the list and wait until it is shown: another one may be open already. Return its uid."""
    item = page.locator("#sample-list button").nth(place)
    uid = str(item.get_attribute("data-uid"))
    item.click()
    reader.expect(page.locator("#sample-title")).to_have_text(uid)
    return uid


def titles(page: "Page") -> list[str]:
    texts: list[str] = page.locator(".part h4").all_inner_texts()  # typed where playwright is not installed, too
    return texts


def test_filters_leave_what_their_counts_promise_and_can_be_cleared(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    assert found(page) == 24
    names = page.locator("#chips button").evaluate_all("(chips) => chips.map((chip) => chip.dataset.filter)")
    assert len(names) == 13
    for name in names:
        chip = page.locator(f"[data-filter={name}]")
        promised = int(chip.locator(".count").inner_text())
        chip.click()
        assert chip.get_attribute("aria-pressed") == "true"
        assert found(page) == promised
        chip.click()
    page.locator("[data-filter=injected]").click()
    assert 0 < found(page) < 24
    page.select_option("#pick-language", "ko")
    page.fill("#search", "no such words at all")
    assert found(page) == 0
    assert "no sample matches" in page.inner_text("#sample-list")
    page.click("button[type=reset]")
    assert found(page) == 24
    assert page.input_value("#pick-a") == "C2"


def test_search_finds_text_and_uid_in_any_case(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    page.fill("#search", "THE")
    assert 0 < found(page) < 24
    uid = page.locator("#sample-list button").first.get_attribute("data-uid")
    page.fill("#search", str(uid).upper())
    assert found(page) == 1


def test_the_condition_decides_what_is_listed(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    shown = int(page.locator("[data-filter=injected] .count").inner_text())
    page.select_option("#pick-b", "")
    assert page.locator("[data-filter=differs]").is_hidden()
    page.select_option("#pick-a", "C1")
    assert int(page.locator("[data-filter=injected] .count").inner_text()) == 0 < shown


def test_a_sample_is_told_from_its_text_to_the_moderator(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    page.select_option("#pick-b", "")
    page.locator("[data-filter=changed]").click()
    for item in page.locator("#sample-list button").all():
        item.click()
        reader.expect(page.locator("#sample-title")).to_have_text(str(item.get_attribute("data-uid")))
        if page.locator("mark").count():  # a sample whose aspects are all implicit has none
            break
    assert titles(page) == [
        "Stage1, final, gold",
        "Risks",
        "Memory and gates",
        "Debate",
        "Stage2 verdicts and override",
        "Adoption and moderator",
        "Calls",
    ]
    body = page.inner_text("#sample-body")
    for words in ("debate gate", "EPM", "judge", "adopted", "EV 0.", "threshold", "moderator", "own episode"):
        assert words in body
    assert page.locator("mark").count() > 0
    assert set(page.locator("mark .sign").all_inner_texts()) <= {"+", "−", "○", "±"}
    marked_final = page.locator(".review").inner_html()
    page.locator(".layers button", has_text="Stage1").click()
    assert page.locator(".review").inner_html() != marked_final


def test_under_rules_v3_a_sample_lists_its_candidates_with_their_witnesses(reader: Reader, v3_report: Path) -> None:
    page = reader.open(v3_report)
    page.fill("#search", "v3-0")
    page.locator("#sample-list button").first.click()
    part = page.locator(".part", has=page.locator("h4", has_text="Candidates"))
    reader.expect(part).to_have_count(1)
    rows = [row.inner_text() for row in part.locator("tbody tr").all()]
    [dropped] = [row for row in rows if "dropped" in row]
    for expected in ("주민센터", "unlikely", "Stage1", "TAN", "judge"):
        assert expected in dropped
    assert len([row for row in rows if "kept: it is likely enough" in row]) == 2
    assert [title.removesuffix("same in both").removesuffix("≠ differs") for title in titles(page)] == [
        "Stage1, final, gold",
        "Risks",
        "Memory and gates",
        "Debate",
        "Stage2 verdicts",
        "Candidates",
        "Adoption and moderator",
        "Calls",
    ]
    assert "label from the final pairs" in page.inner_text("#sample-body")
    page.select_option("#pick-b", "")
    page.select_option("#pick-a", "adaptive")
    page.fill("#search", "v3-0")
    open_listed(reader, page)
    debate = page.locator(".part", has=page.locator("h4", has_text="Debate"))
    reader.expect(debate).to_contain_text("asked the reader alone: none of its pairs is in doubt")


def test_the_same_sample_stands_side_by_side_with_its_differences_marked(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    page.locator("[data-filter=differs]").click()
    assert found(page) > 0
    open_listed(reader, page)
    result = page.locator(".part", has_text="Stage1, final, gold")
    assert "≠ differs" in result.inner_text()
    assert result.locator(".side").count() == 2
    assert result.locator(".side-name").all_inner_texts() == ["C2", "C1"]
    assert result.locator("li.only").count() > 0
    left, right = (side.bounding_box() for side in result.locator(".side").all())
    assert left
    assert right
    assert left["x"] + left["width"] <= right["x"]
    page.select_option("#pick-b", "")
    reader.expect(page.locator(".side")).to_have_count(0)


def test_a_failed_sample_says_where_and_why(reader: Reader, report: Path, tmp_path: Path) -> None:
    grid = copied(report.parent, tmp_path)
    cell = grid / "C2__seed42"
    uid = read_lines(cell / "scorecards.jsonl")[0]["uid"]

    def fail_first(record: Line, _: Line) -> None:
        if record["uid"] == uid:
            failed(record, "timeout", "no answer <b>within</b> 60 s")

    change_samples(cell, fail_first)
    write_pages(load_run(grid))
    page = reader.open(grid / REPORT)
    page.locator("[data-filter=failed]").click()
    assert found(page) == 1
    for name in ("differs", "gained", "lost"):  # only what ended well on both sides is compared
        page.locator(f"[data-filter={name}]").click()
        assert found(page) == 0
        page.locator(f"[data-filter={name}]").click()
    page.locator("#sample-list button").click()
    reader.expect(page.locator(".failure")).to_have_text("failed timeout in debate: no answer <b>within</b> 60 s")
    page.select_option("#pick-b", "")
    reader.expect(page.locator(".part")).to_have_count(1)


def test_a_reader_chooses_the_order_and_the_address_names_it(reader: Reader, report: Path, tmp_path: Path) -> None:
    grid = copied(report.parent, tmp_path)
    for place, seed in enumerate((42, 123), start=1):
        for path in grid.glob(f"C*__seed{seed}/manifest.json"):
            manifest = json.loads(path.read_bytes()) | {"shuffle": False, "order": place, "seed": 42}
            write_sealed(path, manifest)
    run, samples = load_run(grid), SampleReader(with_text=True)
    data = build_report(run, {cell.path: samples.read(cell) for cell in run.cells})
    (grid / REPORT).write_text(render_report(data), "utf-8")
    page = reader.open(grid / REPORT)
    assert page.locator("#pick-order option").all_inner_texts() == ["1", "2"]
    assert page.locator("#pick-seed").is_hidden()
    page.select_option("#pick-order", "2")
    open_listed(reader, page)
    assert "order=2&seed=42" in page.evaluate("location.hash")
    assert found(reader.open(grid / REPORT, hash_=page.evaluate("location.hash"))) == 24


def test_a_condition_that_lacks_a_seed_is_never_shown_with_another(
    reader: Reader, report: Path, tmp_path: Path
) -> None:
    grid = copied(report.parent, tmp_path)
    shutil.rmtree(grid / "C1__seed42")
    write_pages(load_run(grid))
    page = reader.open(grid / REPORT)
    assert page.locator("#pick-seed option").all_inner_texts() == ["42", "123"]
    assert page.input_value("#pick-seed") == "123"  # the first that both were run with
    assert page.locator("#not-run").is_hidden()
    page.select_option("#pick-seed", "42")
    assert page.inner_text("#not-run") == "C1 was not run with seed 42"
    assert [page.inner_text(f"[data-filter={name}] .count") for name in ("differs", "gained", "lost")] == ["0"] * 3
    open_listed(reader, page)
    assert "C1 was not run with seed 42" in page.inner_text("#sample-body")
    assert page.locator(".side").count() == 0
    page.select_option("#pick-a", "C1")
    assert found(page) == 0


def test_an_address_opens_its_sample_and_opening_one_changes_the_address(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    assert page.evaluate("location.hash") == ""  # a first sample is open, and the address does not name it
    uid = open_listed(reader, page, 3)
    address = page.evaluate("location.hash")
    assert address == f"#uid={uid}&a=C2&b=C1&seed=42"
    other = reader.open(report, hash_=f"#uid={uid}&a=C1&seed=123")
    reader.expect(other.locator("#sample-title")).to_have_text(uid)
    assert [other.input_value(f"#pick-{name}") for name in ("a", "b", "seed")] == ["C1", "", "123"]
    reader.open(report, hash_="#uid=nobody&a=C1")
    reader.open(report, hash_="#rq2")


def test_the_keyboard_reaches_samples_and_walks_the_list(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    page.locator("#sample-list button").first.focus()
    page.keyboard.press("ArrowDown")
    second = page.locator("#sample-list button").nth(1).get_attribute("data-uid")
    assert page.evaluate("document.activeElement.dataset.uid") == second
    page.keyboard.press("Enter")
    reader.expect(page.locator("#sample-title")).to_have_text(str(second))
    page.click("#sample-on")
    reader.expect(page.locator("#sample-title")).not_to_have_text(str(second))


def test_definitions_answer_to_hover_focus_and_tap(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    button = page.locator("#quality button[data-def=tuple_f1_explicit]").first
    button.hover()
    assert "Mean F1 over samples with explicit gold" in page.inner_text("#bubble")
    page.mouse.move(2, 2)
    assert page.locator("#bubble").is_hidden()
    button.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator("#bubble").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#bubble").is_hidden()
    page.click("#language")
    button.click()
    assert "정답" in page.inner_text("#bubble")


@pytest.mark.parametrize("denied", [False, True])
def test_the_theme_is_remembered_where_that_is_allowed_and_works_where_not(
    reader: Reader, report: Path, denied: bool
) -> None:
    page = reader.open(report)
    if denied:
        page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})")
        page.reload()
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("#theme")
    assert page.inner_text("#theme-name") == "light"
    page.click("#theme")
    assert page.inner_text("#theme-name") == "dark"
    assert page.evaluate(paper) != light
    page.reload()
    assert page.inner_text("#theme-name") == ("auto" if denied else "dark")


def test_the_system_theme_is_the_default(reader: Reader, report: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    assert reader.open(report, scheme="dark").evaluate(paper) != reader.open(report).evaluate(paper)


def test_a_count_of_errors_lists_its_samples(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    for button in page.locator("#errors button[data-show]").all():
        promised = int(re.findall(r"(\d+) sample", button.inner_text())[0])
        button.click()
        assert found(page) == promised
        pressed = page.locator("#chips [aria-pressed=true]").all()
        assert [chip.get_attribute("data-filter") for chip in pressed] == [button.get_attribute("data-show")]
        assert page.input_value("#pick-a") == button.get_attribute("data-a")
    assert page.locator("#errors button[data-show]").count() > 4

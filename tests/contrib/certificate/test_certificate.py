"""The certificate of a clean run is clean, and the same probes find a leak that is planted in its files."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reports.grid_making import run
from tests.reports.shared_grids import once
from tests.runs.sealed_files import change_records

from episodic_absa.analysis import load_run
from episodic_absa.contrib.certificate import build_certificate, check_certificate
from episodic_absa.contrib.certificate.review_evidence import gold_polarity
from episodic_absa.reports.run_report import write_pages
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.run_files.certificate import Certificate, ProbeResult
from episodic_absa.verification import read_certificate, verify

DATA = Path(__file__).parents[3] / "experiments" / "data"
CELL = "C2__seed42"
_CONFIG = """
run_id: probed
data: {allowed_roots: [data], valid_file: data/all.csv}
eval: {gold_jsonl: data/all.gold.jsonl}
experiment: {conditions: [C2], seeds: [42]}
"""
Line = dict[str, Any]


def _make(folder: Path) -> Path:
    data = folder / "data"
    shutil.copytree(DATA, data)
    header, *_ = (data / "valid.csv").read_text("utf-8").splitlines(keepends=True)
    # One split alone has too few reviews that memory is shown to and that may be confused with each other.
    rows = [(data / f"{split}.csv").read_text("utf-8").removeprefix(header) for split in ("valid", "train")]
    (data / "all.csv").write_text("".join([header, *rows]), "utf-8")
    gold = [(data / f"{split}.gold.jsonl").read_text("utf-8") for split in ("valid", "train")]
    (data / "all.gold.jsonl").write_text("".join(gold), "utf-8")
    (folder / "probed.yaml").write_text(_CONFIG, "utf-8")
    run(folder / "probed.yaml")
    grid = folder / "results" / "probed"
    verify(grid, with_certificate=True)
    return grid


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid over the reviews of the quickstart, with its certificate; tests must not change it."""
    return once(tmp_path_factory, "probed", _make)


@pytest.fixture(scope="module")
def planted(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """The certificate of a copy whose advisories name the gold polarity and whose store holds words of the text."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(clean.parents[1], folder, dirs_exist_ok=True)
    cell = folder / "results" / "probed" / CELL
    files = CellFiles(cell)
    gold = {uid: gold_polarity(card.gold_tuples or ()) for uid, card in files.cards.items()}
    texts = dict(files.texts)

    def name_gold(lines: list[Line]) -> None:
        for record in lines[1:]:
            for advisory in record["bundle"]["retrieved"]:
                advisory["message"] += f" {gold[record['uid']]}"

    def keep_words(line: Line) -> None:
        if "provenance" in line:
            line["case_summary"]["symptom"] += " " + " ".join(texts[line["provenance"]["source_id"]].split()[-3:])

    change_records(cell, name_gold)
    _rewrite(cell / "episodic_store.jsonl", keep_words)
    return build_certificate([CellFiles(cell)])


def _rewrite(path: Path, change: Callable[[Line], None]) -> None:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line in lines:
        change(line)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


def probes(certificate: Certificate | None, scope: str) -> Iterator[ProbeResult]:
    assert certificate is not None
    return (probe for probe in certificate.probes if probe.scope == scope)


def test_a_clean_run_has_no_leak_and_its_probes_have_power(clean: Path) -> None:
    beyond = list(probes(read_certificate(clean), "beyond"))
    assert {probe.target for probe in beyond} == {"gold_polarity", "identity", "text"}
    assert {probe.verdict for probe in beyond} <= {"not_distinguishable", "too_few"}
    decided = [probe for probe in beyond if probe.verdict == "not_distinguishable"]
    assert {probe.target for probe in decided} == {"gold_polarity", "identity", "text"}
    assert all(probe.control and probe.n >= 20 and probe.figure is not None for probe in decided)


def test_stored_terms_tell_which_review_it_is_and_count_as_allowed(clean: Path) -> None:
    certificate = read_certificate(clean)
    told = {
        (probe.target, probe.source) for probe in probes(certificate, "allowed") if probe.verdict == "distinguishable"
    }
    assert {("identity", "store"), ("text", "store")} <= told
    assert certificate is not None
    assert certificate.leaks == ()


def test_a_planted_leak_is_found_by_the_same_probes(planted: Certificate) -> None:
    leaks = {(probe.target, probe.source): probe for probe in planted.leaks}
    for place in (("gold_polarity", "advisories_shown"), ("identity", "store"), ("text", "store")):
        probe = leaks[place]
        # A figure of 1 has no interval: all reviews are equal.
        assert (probe.low or probe.figure or 0.0) > (probe.noticed_from or 1.0)


def test_a_leak_in_one_place_does_not_show_in_another(planted: Certificate) -> None:
    quiet = {(probe.target, probe.source) for probe in probes(planted, "beyond") if not probe.is_leak}
    # The polarity in the shown advice tells a little of the words beside it: these two are no separate places.
    elsewhere = {("gold_polarity", "store"), ("identity", "advisories_passed_on"), ("text", "advisories_passed_on")}
    assert elsewhere <= quiet


def test_the_certificate_holds_neither_text_nor_uids(clean: Path) -> None:
    written = (clean / "certificate.json").read_text("utf-8")
    assert not any(text in written or uid in written for uid, text in CellFiles(clean / CELL).texts.items())


def test_a_later_verify_makes_the_same_certificate_again(clean: Path) -> None:
    result = next(result for result in verify(clean).grid if result.check == "certificate")
    assert result.result == "pass"


def test_a_certificate_that_is_foreign_or_tells_of_a_leak_fails(
    clean: Path, planted: Certificate, tmp_path: Path
) -> None:
    path = tmp_path / "certificate.json"
    path.write_text('{"certificate_version": 1}', "utf-8")
    assert [finding and "is no certificate" in finding for finding in check_certificate(tmp_path, [])] == [True]
    path.write_text(planted.model_dump_json(), "utf-8")
    first, *others = check_certificate(tmp_path, [CellFiles(clean / CELL)])
    assert "not what the probes give now" in (first or "")
    assert "gold polarity can be told from advisories shown, beyond what memory may hold" in others


def test_the_page_shows_the_certificate_in_both_languages(clean: Path) -> None:
    write_pages(load_run(clean))
    page = (clean / "report.html").read_text("utf-8")
    section = page[page.index('id="certificate"') :]
    for words in ("not distinguishable from chance", "우연과 구별되지 않음", "distinguishable, as allowed"):
        assert words in section

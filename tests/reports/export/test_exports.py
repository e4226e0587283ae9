"""Figures and tables as files: everything on the page can be saved, by a button or by `report --export`."""

import csv
import io
from operator import itemgetter
from pathlib import Path

import pytest
from tests.reports.grid_making import PageParser

from episodic_absa.analysis import load_run
from episodic_absa.metrics.statistics import find_unsupported_claims
from episodic_absa.reports.bilingual import Bilingual
from episodic_absa.reports.run_report import REPORT, write_pages
from episodic_absa.reports.tables import Interval, Table, column, table_csv, table_latex


@pytest.fixture(scope="module")
def exported(reported: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("exported") / "new" / "folder"
    paths = write_pages(load_run(reported), export=folder).exported
    assert sorted(paths) == sorted(folder.iterdir())
    return {path.name: path.read_text("utf-8") for path in paths}


def test_a_button_and_the_command_save_the_same_files(reported: Path, exported: dict[str, str]) -> None:
    assert PageParser((reported / REPORT).read_text("utf-8")).files() == exported


def test_every_figure_and_every_table_of_the_page_can_be_saved(reported: Path, exported: dict[str, str]) -> None:
    elements = PageParser((reported / REPORT).read_text("utf-8")).elements
    buttons = [attributes for tag, attributes in elements if tag == "button" and "data-save" in attributes]
    names = [f"{button['data-save']}.{button['data-kind']}" for button in buttons]
    assert len(names) == len(set(names))
    assert set(names) == {name for name in exported if ".ko." not in name}
    tags = [tag for tag, _ in elements]
    assert sum(name.endswith(".svg") for name in names) == tags.count("figure")
    assert sum(name.endswith(".csv") for name in names) == tags.count("table")


def test_a_figure_stands_alone_in_one_language(exported: dict[str, str]) -> None:
    english, korean = exported["difference_by_arm.svg"], exported["difference_by_arm.ko.svg"]
    assert english.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "above C1 →" in english
    assert "C1보다 높음 →" in korean
    assert not [letter for letter in english if "가" <= letter <= "힣"]
    for name, text in exported.items():
        if name.endswith(".svg"):
            assert "var(" not in text, name
            assert "data-ko" not in text, name
    # On the page all panels share one key; a picture of its own needs one.
    assert ">C2</text>" in exported["along_the_run_episodes_in_the_store.svg"]


def test_a_table_has_full_numbers_for_programs_and_short_ones_for_papers(exported: dict[str, str]) -> None:
    row = next(csv.DictReader(io.StringIO(exported["difference_by_arm.csv"])))
    low, high = float(row["ci_low"]), float(row["ci_high"])
    assert low <= float(row["difference"]) <= high
    latex = exported["difference_by_arm.tex"]
    assert r"\toprule" in latex
    assert r"tuple\_f1\_explicit" in latex
    assert f"{abs(high):.3f}]" in latex
    assert r"\usepackage{kotex}" in exported["difference_by_arm.ko.tex"]


def test_no_file_makes_a_claim_in_vain(exported: dict[str, str]) -> None:
    for name, text in exported.items():
        # This table quotes the catalogue, whose advice is no claim of the report.
        if name.endswith((".svg", ".tex")) and not name.startswith("principles_retrieved"):
            assert find_unsupported_claims(text.partition("</style>")[2] or text) == (), name


def test_a_name_is_neither_a_formula_nor_a_command() -> None:
    table = Table(
        "odd",
        Bilingual("50 % of $x_1", "절반"),
        (
            column("arm", ("arm", "조건"), "name", itemgetter(0)),
            column("ci", ("interval", "구간"), "interval", itemgetter(1)),
        ),
        (("=1+1", Interval(-0.01, 0.02)), ("[a]\\input{b}", Interval(None, None))),
    )
    assert table_csv(table) == "arm,ci_low,ci_high\n'=1+1,-0.01,0.02\n[a]\\input{b},,\n"
    latex = table_latex(table, "en")
    assert r"\caption{50 \% of \$x\_1}" in latex
    assert r"=1+1 & [$-$0.010, +0.020] \\" in latex
    assert r"{[}a]\textbackslash{}input\{b\} & -- \\" in latex

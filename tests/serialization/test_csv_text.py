"""No cell that we write is a formula to a spreadsheet, and our readers see the value as it was."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.datasets.tables import open_review_table
from episodic_absa.serialization.csv_text import csv_text, safe_cell, unprotected_cell

CELLS = st.text(st.sampled_from("'=+-@＝\t\r\n 1.e식a"), max_size=6)


@given(CELLS)
def test_a_cell_comes_back_as_it_was(cell: str) -> None:
    assert unprotected_cell(safe_cell(cell)) == cell


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "-inf", "+a"]
)
def test_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert safe_cell(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-5", "+5", "-0.25", "-1e-05", "-0.04|-0.05|0.1", "-", "good", "'good'", "", "a=1"])
def test_a_number_and_a_word_stay_as_they_are(cell: str) -> None:
    assert safe_cell(cell) == cell


def test_no_cell_ends_its_row(tmp_path: Path) -> None:
    texts = ["a\rb", "\r=1", "a\nb", 'a"b,c', "a\u2028b", "a\0b"]
    (tmp_path / "a.csv").write_text(csv_text(["text", "n"], [(text, 1) for text in texts]), newline="")
    rows = [row.cells for row in open_review_table(tmp_path / "a.csv")]
    assert rows == [{"text": text.replace("\0", "\ufffd"), "n": "1"} for text in texts]


def test_tables_protect_text_and_leave_numbers() -> None:
    text = csv_text(["=name", "value"], [("@uid", -0.5), ("ok", "-0.125"), (None, "-0.1 to 0.2")], quote_text=True)
    header, *rows = csv.reader(io.StringIO(text))
    assert header == ["'=name", "value"]
    assert rows == [["'@uid", "-0.5"], ["ok", "-0.125"], ["", "'-0.1 to 0.2"]]

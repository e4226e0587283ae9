"""Files as shops and spreadsheets write them become rows with a text."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra

from episodic_absa.datasets.tables import open_review_table
from episodic_absa.errors import ConfigError, DatasetError, EpisodicAbsaError

TEXTS = ("방이 깨끗해요, 또 올게요", "직원이 불친절했습니다", "조식은 그저 그랬어요")


def csv_of(header: str, separator: str = ",") -> str:
    rows = [f'{number}{separator}"{text}"{separator}{number}.5' for number, text in enumerate(TEXTS)]
    return "\n".join([header, *rows, f"9{separator}{separator}", f"{separator}{separator}", ""])


@pytest.mark.parametrize(
    ("encoding", "separator", "told"),
    [
        ("utf-8", ",", ""),
        ("utf-8-sig", ",", ""),
        ("cp949", ";", ', encoded as cp949, separated by ";"'),
        ("utf-16", "\t", ", encoded as utf-16, separated by a tab"),
        ("utf-16-le", ",", ", encoded as utf-16-le"),
        ("utf-8", "|", ', separated by "|"'),
    ],
)
def test_encoding_and_separator_are_found_and_told(tmp_path: Path, encoding: str, separator: str, told: str) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(csv_of(separator.join(("id", "리뷰 내용", "rating")), separator).encode(encoding))
    table = open_review_table(path)
    assert [row.text for row in table] == [*TEXTS, ""]
    assert [row.cells["rating"] for row in table] == ["0.5", "1.5", "2.5", ""]
    assert table.described() == f"{path}: 4 rows, text in column '리뷰 내용'{told}, 1 without text"


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("id,Content,product", "Content"),
        ("review,comment,product", "comment"),  # of two names the one with the longer texts
        ("a,b,c", "b"),  # no name: it stands out by its length
        ("", "column_2"),
    ],
)
def test_the_text_column_is_found_by_name_and_by_content(tmp_path: Path, header: str, column: str) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(f"{header or ',,'}\nx,The room was clean and quiet.,y\nx,Never again.,y\n".replace(",,\n", ",,z\n"))
    assert open_review_table(path).text_column == column


def test_json_lines_keep_their_values(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    rows: list[dict[str, Any]] = [{"body": TEXTS[0], "stars": 5}, {"body": None, "tags": ["a"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    table = open_review_table(path)
    assert (table.columns, table.text_column, table.empty_n) == (("body", "stars", "tags"), "body", 1)
    assert [row.cells for row in table] == rows


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("a,b\nshort,small\n", ConfigError, "Say --text-column NAME with one of: 'a', 'b'"),
        ("review\n", DatasetError, "holds no rows"),
        ("", DatasetError, "holds no rows"),
        ("id,review\n1,good food, bad room\n", DatasetError, "line 2: 3 cells under 2 columns"),
        ("review\ngood food, bad room\n", DatasetError, "line 2: 2 cells under 1 column; put"),
        ("id,review\ncustomer-00001,\n", DatasetError, "no row has a text in column 'review'; name another one with"),
        ("id,id,review\n1,2,good\n", DatasetError, "names column 'id' twice"),
        ('id,review\n1,"good\n', DatasetError, "line 2: the row that begins here is not valid CSV"),
    ],
)
def test_a_bad_file_is_refused_before_any_review_is_analysed(
    tmp_path: Path, content: str, error: type[EpisodicAbsaError], message: str
) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(content)
    with pytest.raises(error, match=message):
        open_review_table(path)


def test_an_empty_column_and_an_unknown_one_are_named(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("note,review\n,good food\n")
    with pytest.raises(ConfigError, match="has no column 'text'; choose one of: 'note', 'review'"):
        open_review_table(path, text_column="text")
    with pytest.raises(DatasetError, match="no row has a text in column 'note'"):
        open_review_table(path, text_column="note")


def test_an_excel_file_is_read(tmp_path: Path) -> None:
    require_extra("excel")
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["Date", "Comment"], ["2024-05-01", TEXTS[0]], [None, None], ["2024-05-02", None]):
        book.active.append(row)
    book.save(tmp_path / "reviews.xlsx")
    table = open_review_table(tmp_path / "reviews.xlsx")
    assert [row.text for row in table] == [TEXTS[0], ""]
    (tmp_path / "broken.xlsx").write_bytes(b"no zip")
    with pytest.raises(DatasetError, match="as an Excel file"):
        open_review_table(tmp_path / "broken.xlsx")


def rewritten(path: Path, old: bytes, new: bytes) -> None:
    """Replace bytes in the sheet of a workbook."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content.replace(old, new))


def test_a_sheet_is_read_beyond_the_extent_that_it_states(tmp_path: Path) -> None:
    require_extra("excel")
    import openpyxl

    path = tmp_path / "reviews.xlsx"
    book = openpyxl.Workbook()
    for row in [["id", "stars", "note", "review"], *([at, 5, None, TEXTS[0]] for at in range(9))]:
        book.active.append(row)
    book.save(path)
    rewritten(path, b'ref="A1:D10"', b'ref="A1:C4"')
    assert [row.text for row in open_review_table(path)] == [TEXTS[0]] * 9


def test_a_workbook_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    require_extra("excel")
    import openpyxl

    path = tmp_path / "reviews.xlsx"
    book = openpyxl.Workbook()
    for row in (["review"], [TEXTS[0]]):
        book.active.append(row)
    book.save(path)
    rewritten(
        path, b"</sheetData>", b'<row><c r="XFD3" t="inlineStr"><is><t> </t></is></c></row>' * 1300 + b"</sheetData>"
    )
    with pytest.raises(DatasetError, match=r"has more than 20,000,000 cells; save .* as \.csv"):
        open_review_table(path)
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02", 0, content.rfind(b"sheet1.xml"))
    content[entry + 24 : entry + 28] = (301_000_000).to_bytes(4, "little")  # the size that the archive states
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="unpacks to more than 300 MB"):
        open_review_table(path)


def test_a_table_without_a_header_keeps_its_first_review_and_a_long_question_is_a_header(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("7,The room was clean and quiet\n8,Never again will I come\n")
    table = open_review_table(path)
    assert (table.columns, [row.text for row in table]) == (
        ("column_1", "column_2"),
        ["The room was clean and quiet", "Never again will I come"],
    )
    assert table.described().endswith(
        "has no header, its first row is read as a review; "
        "add a first line with the names of the columns, for example column_1,review"
    )
    assert open_review_table(path, text_column="column_2").rows_n == 2
    for header in ("id,Tell us about your stay here", "7,What did you like about it?"):
        path.write_text(f"{header}\n1,The room was clean and quiet\n")
        assert open_review_table(path).rows_n == 1
    path.write_text("방은 깨끗했지만 직원이 불친절했어요\n다시는 안 갑니다\n")
    assert open_review_table(path).described().startswith(f"{path}: 2 rows, text in column 'column_1'\nwarning: ")


def test_a_number_in_place_of_a_review_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_text('{"review": "good food"}\n{"review": 5}\n{"review": null}\n')
    table = open_review_table(path)
    assert [row.text for row in table] == ["good food", "", ""]
    assert table.described().endswith("2 without text, 1 of them with a number or a list in its place")
    path.write_text('{"review": 5}\n')
    with pytest.raises(DatasetError, match="in column 'review'; its cells hold numbers or lists; name another"):
        open_review_table(path)

"""Files that try to stop a loader: half characters, deep nesting, endless fields, damaged workbooks, sheer size."""

import csv
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra

from episodic_absa.datasets import GoldColumns, InputFormat, load_gold, load_split
from episodic_absa.datasets.tables import open_review_table
from episodic_absa.errors import DatasetError

REVIEW = "PRIVATE of a review that nobody may repeat"
HALF = "\ud83d"
ROW = {"uid": "r17", "text": f"{REVIEW} {HALF}"}
Make = Callable[[], bytes]


def as_csv(row: dict[str, Any]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([list(row), list(row.values())])
    return stream.getvalue().encode("utf-8", "surrogatepass")


def as_xml(text: str) -> bytes:
    return f'<sentences>\n<sentence id="r17"><text>{text}</text></sentence></sentences>'.encode(
        "utf-8", "surrogatepass"
    )


def problem_of(load: Callable[[], Any]) -> str:
    with pytest.raises(DatasetError) as raised:
        load()
    assert "PRIVATE" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "input_format", "content", "expected"),
    [
        ("a.csv", "csv", as_csv(ROW), "a.csv, line 2: the row with uid 'r17' holds half a character"),
        (
            "a.jsonl",
            "jsonl",
            json.dumps(ROW).encode(),
            "a.jsonl, line 1: the row with uid 'r17' holds half a character",
        ),
        (
            "raw.jsonl",
            "jsonl",
            json.dumps(ROW, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            "raw.jsonl, line 1: the row with uid 'r17' holds half a character",
        ),
        ("key.jsonl", "jsonl", b'{"id": 5, "text": "ok", "\\udc00": 1}', "line 1: the row with uid '5' holds half"),
        ("uid.jsonl", "jsonl", b'{"uid": "\\udc00", "text": "ok"}', "line 1: the row holds half a character"),
        (
            "n.jsonl",
            "nikl_absa_2022",
            json.dumps({"id": "r17", "sentence_form": f"{REVIEW}{HALF}", "annotation": []}).encode(),
            "n.jsonl, line 1: the row with uid 'r17' holds half a character",
        ),
        ("a.xml", "semeval_xml", as_xml(f"{REVIEW}&#xD83D;"), "a.xml, line 2: not valid XML"),
        ("b.xml", "semeval_xml", as_xml(f"{REVIEW}{HALF}"), "b.xml, line 2: not valid XML"),
    ],
)
def test_half_a_character_is_refused_with_file_line_and_uid(
    tmp_path: Path, name: str, input_format: InputFormat, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert expected in problem_of(lambda: load_split(tmp_path / name, input_format, "train"))


def test_a_table_replaces_half_a_character_or_names_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(ROW))
    (tmp_path / "b.csv").write_bytes(as_csv(ROW).decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass"))
    for name in ("a.csv", "b.csv"):
        table = open_review_table(tmp_path / name)
        assert [row.text.rstrip("\ufffd") for row in table] == [f"{REVIEW} "]
        assert "damaged character" in table.described()
    (tmp_path / "a.json").write_text(json.dumps(["ok", ROW]))
    assert "a.json, item 2: the row with uid 'r17' holds half" in problem_of(
        lambda: open_review_table(tmp_path / "a.json")
    )


def test_a_parquet_string_that_is_no_unicode_is_named(tmp_path: Path) -> None:
    require_extra("parquet")
    import pyarrow as pa
    from pyarrow import parquet

    words = pa.array([b"good food", f"{REVIEW}{HALF}".encode("utf-8", "surrogatepass")], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 2, words.buffers())
    parquet.write_table(pa.table({"uid": ["r1", "r17"], "text": text}), tmp_path / "a.parquet")
    expected = "a.parquet, line 2: the row with uid 'r17' holds half a character"
    assert expected in problem_of(lambda: open_review_table(tmp_path / "a.parquet"))


def test_a_damaged_sheet_of_a_workbook_is_refused(tmp_path: Path) -> None:
    require_extra("excel")
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["text"])
    book.active.append([REVIEW])
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "cut.xlsx", "w") as cut:
        for part in whole.namelist():
            cut.writestr(part, whole.read(part).replace(b"</sheetData>", b""))
    assert "as an Excel file" in problem_of(lambda: open_review_table(tmp_path / "cut.xlsx"))


@pytest.mark.parametrize("levels", [65, 300, 100_000])
def test_deep_metadata_is_refused_everywhere(tmp_path: Path, levels: int) -> None:
    deep = "[" * levels + "]" * levels
    (tmp_path / "a.jsonl").write_text(f'{{"uid": "r1", "text": "{REVIEW}", "more": {deep}, "gold_tuples": {deep}}}\n')
    (tmp_path / "a.json").write_text(f'[{{"text": "{REVIEW}", "more": {deep}}}]')
    (tmp_path / "a.csv").write_bytes(as_csv({"text": REVIEW, "gold": deep}))
    for load in (
        lambda: load_split(tmp_path / "a.jsonl", "jsonl", "train"),
        lambda: open_review_table(tmp_path / "a.jsonl"),
        lambda: open_review_table(tmp_path / "a.json"),
        lambda: load_gold(tmp_path / "a.jsonl"),
        lambda: load_split(tmp_path / "a.csv", "csv", "train", gold_columns=GoldColumns(gold="gold")),
    ):
        assert "nested more than 64 levels deep" in problem_of(load)


def test_metadata_within_the_limit_is_kept(tmp_path: Path) -> None:
    deep = "[" * 63 + "]" * 63  # within the row
    (tmp_path / "a.jsonl").write_text(f'{{"uid": "r1", "text": "ok", "more": {deep}}}\n')
    assert load_split(tmp_path / "a.jsonl", "jsonl", "train")[0].metadata == {"more": json.loads(deep)}


@pytest.mark.parametrize(
    ("input_format", "line"),
    [
        ("jsonl", {"text": [REVIEW]}),
        ("jsonl", {"text": "ok", "gold_tuples": REVIEW}),
        ("jsonl", {"text": "ok", "gold_tuples": [REVIEW]}),
        ("jsonl", {"text": "ok", "gold_tuples": [{"aspect_term": [REVIEW]}]}),
        ("jsonl", {"text": "ok", "gold_tuples": [{"aspect_term": "", "span": REVIEW}]}),
        ("jsonl", {"text": "ok", "gold_tuples": [{"aspect_term": "", REVIEW: 1}]}),
        ("jsonl", {"text": "ok", "lang": [REVIEW]}),
        ("jsonl", {"text": "ok", "uid": [REVIEW]}),
        ("jsonl", {REVIEW: 1}),
        ("nikl_absa_2022", {"sentence_form": "ok", "annotation": REVIEW}),
        ("nikl_absa_2022", {"sentence_form": "ok", "annotation": [[REVIEW]]}),
        ("csv", {REVIEW: "a file without a header"}),
    ],
)
def test_no_error_quotes_a_review(tmp_path: Path, input_format: InputFormat, line: dict[str, Any]) -> None:
    content = as_csv(line) if input_format == "csv" else json.dumps(line).encode()
    (tmp_path / "a.txt").write_bytes(content)
    assert "a.txt, line 1: " in problem_of(lambda: load_split(tmp_path / "a.txt", input_format, "train"))


def test_a_number_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{"text": "ok", "more": {"9" * 5000}}}')
    assert "more than 1000 digits" in problem_of(lambda: load_split(tmp_path / "a.jsonl", "jsonl", "train"))
    term = f'<aspectTerms><aspectTerm term="ok" polarity="positive" from="{"9" * 5000}" to="2"/></aspectTerms>'
    (tmp_path / "a.xml").write_bytes(as_xml(f"ok</text>{term}<text>"))
    assert "from of <aspectTerm>" in problem_of(lambda: load_split(tmp_path / "a.xml", "semeval_xml", "train"))


def test_a_long_field_is_read_and_one_without_end_is_refused(tmp_path: Path) -> None:
    text = "good food " * 20_000
    (tmp_path / "long.csv").write_bytes(as_csv({"uid": "r1", "text": text}))
    assert load_split(tmp_path / "long.csv", "csv", "train")[0].sample.text == text
    assert [row.text for row in open_review_table(tmp_path / "long.csv")] == [text]
    (tmp_path / "open.csv").write_text('uid,text\nr1,"' + "x" * (1 << 24) + "\n")
    assert "line 2: the row that begins here" in problem_of(lambda: load_split(tmp_path / "open.csv", "csv", "train"))


def test_a_protected_cell_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("uid,text\n'=r1,'-10 for the soup\nr2,'quoted'\n")
    samples = [labelled.sample for labelled in load_split(tmp_path / "a.csv", "csv", "train")]
    assert [(sample.uid, sample.text) for sample in samples] == [("=r1", "-10 for the soup"), ("r2", "'quoted'")]
    assert [row.text for row in open_review_table(tmp_path / "a.csv")] == ["-10 for the soup", "'quoted'"]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_large_file_takes_few_bytes_of_memory_per_byte(tmp_path: Path, ending: InputFormat) -> None:
    path = tmp_path / f"large.{ending}"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [
            {
                "uid": f"r{number}",
                "text": f"음식은 맛있지만 직원이 불친절했어요. {number} " * 5,
                "domain": "hotel",
                "rating": "5",
            }
            for number in range(4000)
        ]
        if ending == "csv":
            csv.DictWriter(file, list(rows[0])).writerows([dict(zip(rows[0], rows[0], strict=True)), *rows])
        else:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    del rows
    load_split(path, ending, "train")  # what is loaded once is not counted
    tracemalloc.start()
    try:
        samples = load_split(path, ending, "train")
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(samples) == 4000
    # Reading all at once took 13 bytes per byte, at 9 that stay.
    assert peak < 6 * path.stat().st_size
    assert peak < held + 1_000_000

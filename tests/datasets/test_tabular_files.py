import csv
import io
import json
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.datasets import InputFormat, load_split
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.gold import GoldTuple, LabelledSample


def load(
    folder: Path, content: str | bytes, input_format: InputFormat, *, text_column: str = "text", name: str = "reviews"
) -> tuple[LabelledSample, ...]:
    path = folder / f"{name}.{input_format}"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return load_split(path, input_format, "valid", text_column=text_column)


def texts(samples: tuple[LabelledSample, ...]) -> list[str]:
    return [labelled.sample.text for labelled in samples]


def test_a_csv_row_becomes_a_sample_and_its_other_columns_metadata(tmp_path: Path) -> None:
    rows = "uid,text,language_code,domain_id,case_type,stars\na1,Fine soup.,en,restaurant,plain,4\n"
    (labelled,) = load(tmp_path, rows, "csv")
    assert labelled.sample == Sample(
        uid="a1", text="Fine soup.", split="valid", language_code="en", domain_id="restaurant", case_type="plain"
    )
    assert labelled.metadata == {"stars": "4"}
    assert labelled.gold is None


def test_a_json_line_becomes_a_sample_with_its_gold_and_metadata(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "text": "국물이 진해요",
        "language": "ko",
        "domain": "restaurant",
        "type": "plain",
        "stars": 5,
        "tags": ["a", {"b": None}],
        "gold_tuples": [
            {"aspect_term": "국물", "polarity": "POS", "aspect_ref": "food", "span": {"start": 0, "end": 2}}
        ],
    }
    (labelled,) = load(tmp_path, json.dumps(row), "jsonl")
    assert labelled.sample == Sample(
        uid="7", text="국물이 진해요", split="valid", language_code="ko", domain_id="restaurant", case_type="plain"
    )
    span = Span(start=0, end=2)
    assert labelled.gold == (GoldTuple(aspect_ref="food", aspect_term="국물", polarity="positive", span=span),)
    assert labelled.metadata == {"stars": 5, "tags": ["a", {"b": None}]}


@pytest.mark.parametrize(
    ("columns", "field", "value"),
    [
        ({"uid": "a", "id": "b"}, "uid", "a"),
        ({"id": "b"}, "uid", "b"),
        ({"uid": "", "id": "b"}, "uid", "b"),
        ({"uid": " a "}, "uid", "a"),
        ({"uid": "  "}, "uid", "reviews:1"),
        ({}, "uid", "reviews:1"),
        ({"language_code": "ko-KR", "lang": "en"}, "language_code", "ko-KR"),
        ({"lang": "en"}, "language_code", "en"),
        ({"language": "en"}, "language_code", "en"),
        ({"language": ""}, "language_code", None),
        ({}, "language_code", None),
        ({"domain": "hotel"}, "domain_id", "hotel"),
        ({"domain_id": "", "domain": "hotel"}, "domain_id", "hotel"),
        ({}, "domain_id", "unknown"),
        ({"type": "irony"}, "case_type", "irony"),
        ({}, "case_type", "unknown"),
    ],
)
@pytest.mark.parametrize("input_format", ["csv", "jsonl"])
def test_a_field_is_read_from_the_first_of_its_names_that_has_a_value(
    tmp_path: Path, input_format: InputFormat, columns: dict[str, str], field: str, value: str | None
) -> None:
    row = {"text": "ok", **columns}
    content = json.dumps(row) if input_format == "jsonl" else f"{','.join(row)}\n{','.join(row.values())}\n"
    (labelled,) = load(tmp_path, content, input_format)
    assert getattr(labelled.sample, field) == value


def test_a_name_that_was_not_needed_stays_in_the_metadata(tmp_path: Path) -> None:
    (labelled,) = load(tmp_path, "uid,id,text\na,b,ok\n", "csv")
    assert labelled.metadata == {"id": "b"}


def test_texts_without_a_uid_are_numbered_from_one_and_blank_lines_do_not_count(tmp_path: Path) -> None:
    samples = load(tmp_path, "text,stars\n\nfirst,1\n,\n\nsecond,2\n\n", "csv", name="mine")
    assert [labelled.sample.uid for labelled in samples] == ["mine:1", "mine:2"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\ufefftext\nwith a mark\n", ["with a mark"]),
        ("text\r\none\r\ntwo\r\n\r\n", ["one", "two"]),
        ("text\none", ["one"]),
        ('text\n"one, two"\n', ["one, two"]),
        ('text\n"line one\nline two"\n', ["line one\nline two"]),
        ('text\n"line one\r\nline two"\r\n', ["line one\r\nline two"]),
        ('text\n"she said ""no"""\n', ['she said "no"']),
        (" text ,x\n a ,b\n", [" a "]),
        ("text\none\n\n  \n", ["one"]),
        (f"text\n{unicodedata.normalize('NFD', '떡볶이')}\n", ["떡볶이"]),
        ("text\nCafe\u0301\n", ["Café"]),
        ("text\na\u2028b\n", ["a\u2028b"]),
    ],
)
def test_csv_files_are_read_however_programs_write_them(tmp_path: Path, content: str, expected: list[str]) -> None:
    assert texts(load(tmp_path, content, "csv")) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('\ufeff{"text": "with a mark"}\n', ["with a mark"]),
        ('{"text": "one"}\r\n\r\n{"text": "two"}\r\n\r\n', ["one", "two"]),
        ('{"text": "a\u2028b"}', ["a\u2028b"]),
        ('{"text": "a\\nb"}', ["a\nb"]),
        (json.dumps({"text": unicodedata.normalize("NFD", "떡볶이")}), ["떡볶이"]),
        ('{"text": "\\ud83d\\ude00"}', ["😀"]),
    ],
)
def test_jsonl_files_are_read_however_programs_write_them(tmp_path: Path, content: str, expected: list[str]) -> None:
    assert texts(load(tmp_path, content, "jsonl")) == expected


def test_the_text_column_can_have_another_name(tmp_path: Path) -> None:
    assert texts(load(tmp_path, "review,text\nread me,not me\n", "csv", text_column="review")) == ["read me"]
    assert texts(load(tmp_path, '{"review": "read me"}', "jsonl", text_column="review")) == ["read me"]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("", 1, "no column 'text'"),
        ("uid;review\na;b\n", 1, "found: 'uid', 'review'"),
        ("uid,review\na,b\n", 1, "data.text_column"),
        ("text,uid,text\na,b,c\n", 1, "'text' twice"),
        ("uid,text\na,one\nb,\n", 3, "empty"),
        ("uid,text\na,one\nb, \t\n", 3, "empty"),
        ("uid,text\na,one, two\n", 2, "quotes"),
        ("uid,text\na,one\nb\n", 3, "1 cell under 2 columns"),
        ('uid,text\na,"one\ntwo"\nb\n', 4, "1 cell"),
        ('uid,text\na,one\nb,"never closed\nc,three\n', 3, "not valid CSV"),
        ('uid,text\na,"one" two\n', 2, "not valid CSV"),
        ("uid,text\na,one\nb,two\na,three\n", 4, "already used in line 2"),
        (b"uid,text\na,one\nb,\xff\n", 3, "UTF-8"),
        ("uid,text\na,one\n".encode("utf-16")[:-1], 2, "UTF-16"),
        ("uid,text\na,\ud83d\n".encode("utf-16-le", "surrogatepass"), 2, "half a character"),
    ],
)
def test_a_bad_csv_row_is_refused_with_its_file_and_line(
    tmp_path: Path, content: str | bytes, line: int, said: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, content, "csv")
    assert (caught.value.path, caught.value.line) == (tmp_path / "reviews.csv", line)
    assert str(caught.value).startswith(f"{tmp_path / 'reviews.csv'}, line {line}: ")
    assert said in str(caught.value)


GOOD = '{"text": "ok"}\n'


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        (GOOD + "{\n", 2, "not valid JSON"),
        (GOOD + "[1]\n", 2, "object is expected"),
        ('[{"text": "ok"}]', 1, "one JSON object per line"),
        (GOOD + '{"review": "a"}', 2, "data.text_column"),
        (GOOD + '{"text": ""}', 2, "empty"),
        (GOOD + '{"text": null}', 2, "empty"),
        (GOOD + '{"text": 5}', 2, "must be a string"),
        (GOOD + '{"text": ["a"]}', 2, "must be a string"),
        (GOOD + '{"text": "a", "text": "b"}', 2, "twice"),
        (GOOD + '{"text": "a", "uid": 1.5}', 2, "uid must be"),
        (GOOD + '{"text": "a", "uid": true}', 2, "uid must be"),
        (GOOD + '{"text": "a", "domain": 3}', 2, "domain must be a string"),
        (GOOD + '{"text": "a", "lang": ["ko"]}', 2, "lang must be a string"),
        (GOOD + '{"text": "a", "x": NaN}', 2, "NaN"),
        (GOOD + '{"text": "a", "x": 1e999}', 2, "too large"),
        (GOOD + '{"text": "\\ud83d"}', 2, "half a character"),
        (GOOD + '{"text": "a", "x": ' + "[" * 100_000, 2, "nested"),
        (GOOD + '{"text": "a", "uid": "reviews:1"}', 2, "already used in line 1"),
        (GOOD + '{"text": "a", "gold_tuples": {}}', 2, "list"),
        (GOOD + '{"text": "a", "gold_tuples": [{"polarity": "positive"}]}', 2, "aspect_term"),
        (GOOD.encode() + b'{"text": "\xff"}', 2, "UTF-8"),
    ],
)
def test_a_bad_json_line_is_refused_with_its_file_and_line(
    tmp_path: Path, content: str | bytes, line: int, said: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, content, "jsonl")
    assert (caught.value.path, caught.value.line) == (tmp_path / "reviews.jsonl", line)
    assert said in str(caught.value)


@pytest.mark.parametrize(("content", "input_format"), [("text\n", "csv"), ("text\n\n\n", "csv"), ("\n", "jsonl")])
def test_a_file_without_a_text_is_refused(tmp_path: Path, content: str, input_format: InputFormat) -> None:
    with pytest.raises(DatasetError, match="holds no text"):
        load(tmp_path, content, input_format)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"cannot read .*none\.csv"):
        load_split(tmp_path / "none.csv", "csv", "train")


def as_csv(rows: list[dict[str, str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fieldnames=["uid", "text", "note"])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


CHARACTERS = st.characters(codec="utf-8")
READABLE = st.text(CHARACTERS, min_size=1).filter(lambda text: text.strip() != "")


@st.composite
def rows_of_texts(draw: st.DrawFn) -> list[dict[str, str]]:
    found = draw(st.lists(st.tuples(READABLE, st.text(CHARACTERS)), min_size=1, max_size=5))
    return [{"uid": f"u{at}", "text": text, "note": note} for at, (text, note) in enumerate(found)]


@settings(max_examples=40)
@given(rows=rows_of_texts(), as_file=st.sampled_from([("csv", as_csv), ("jsonl", as_jsonl)]))
def test_what_is_written_as_csv_or_jsonl_is_read_back_in_nfc(rows: list[dict[str, str]], as_file: Any) -> None:
    input_format, write = as_file
    with tempfile.TemporaryDirectory() as folder:
        samples = load(Path(folder), write(rows), input_format)
    assert [labelled.sample.uid for labelled in samples] == [row["uid"] for row in rows]
    assert texts(samples) == [unicodedata.normalize("NFC", row["text"]) for row in rows]
    assert [labelled.metadata for labelled in samples] == [{"note": row["note"]} for row in rows]

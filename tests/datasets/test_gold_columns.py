"""Gold in columns of the reviews' own file: both forms, what an empty cell means, and what is refused."""

import json
from pathlib import Path

import pytest

from episodic_absa.datasets import GoldColumns, load_split
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.gold import LabelledSample

CELL = GoldColumns(gold="gold", are_required=True)
PAIRS = GoldColumns(aspect="aspect", polarity="polarity", are_required=True)


def load_csv(folder: Path, content: str, columns: GoldColumns, text_column: str = "text") -> tuple[LabelledSample, ...]:
    path = folder / "reviews.csv"
    path.write_text(content, encoding="utf-8")
    return load_split(path, "csv", "valid", text_column=text_column, gold_columns=columns)


def pairs_of(labelled: LabelledSample) -> list[tuple[str, str | None]] | None:
    if labelled.gold is None:
        return None
    return [(gold_tuple.aspect_term, gold_tuple.polarity) for gold_tuple in labelled.gold]


@pytest.mark.parametrize(
    ("cell", "pairs"),
    [
        ("국물:positive; 면:negative", [("국물", "positive"), ("면", "negative")]),
        (" Soup : POS ;", [("Soup", "positive")]),
        ("set 3:1:neu", [("set 3:1", "neutral")]),
        (":negative", [("", "negative")]),
        ("NULL:negative", [("", "negative")]),
        ("-", []),
        ("[]", []),
        ("", None),
        ('"[[""soup"", ""positive""]]"', [("soup", "positive")]),
        ('"[{""aspect_term"": ""soup"", ""polarity"": ""positive""}]"', [("soup", "positive")]),
        ("soup:good", [("soup", None)]),
        ("soup:", [("soup", None)]),
    ],
)
def test_a_cell_holds_all_pairs_of_its_text(
    tmp_path: Path, cell: str, pairs: list[tuple[str, str | None]] | None
) -> None:
    (labelled,) = load_csv(tmp_path, f"text,gold,stars\nSoup.,{cell},4\n", CELL)
    assert pairs_of(labelled) == pairs
    assert labelled.metadata == {"stars": "4"}


def test_words_that_are_not_spelled_out_are_kept_for_the_check(tmp_path: Path) -> None:
    (labelled,) = load_csv(tmp_path, "text,gold\nSoup.,a:positive; b:pos; c:postive; d:긍정; e:\n", CELL)
    assert labelled.odd_polarities == ("postive", "긍정", "")


def test_rows_of_one_text_are_one_sample_if_each_row_holds_a_pair(tmp_path: Path) -> None:
    rows = [
        "id,text,aspect,polarity,stars",
        '1,"Rich soup, cold tea.",soup,positive,3',
        "2,Never again.,,negative,1",
        '3,"Rich soup, cold tea.",tea,negative,3',
        '4,"Rich soup, cold tea.",soup,positive,3',
        "5,We went there.,-,,3",
        "6,Nobody read this.,,,3",
    ]
    samples = load_csv(tmp_path, "\n".join(rows) + "\n", PAIRS)
    assert {labelled.sample.uid: pairs_of(labelled) for labelled in samples} == {
        "1": [("soup", "positive"), ("tea", "negative")],
        "2": [("", "negative")],
        "5": [],
        "6": None,
    }
    assert samples[0].metadata == {"stars": "3"}


def test_keys_of_json_lines_hold_gold_too(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    rows = [{"text": "Soup.", "gold": [["soup", "positive"]]}, {"text": "Tea.", "gold": "tea:negative"}, {"text": "-"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    samples = load_split(path, "jsonl", "valid", gold_columns=CELL)
    assert [pairs_of(labelled) for labelled in samples] == [[("soup", "positive")], [("tea", "negative")], None]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("A whole secret review", "column 'gold' holds a pair without a colon; write `term:polarity"),
        ("\"[('soup', 'positive')]\"", "column 'gold' is not valid JSON"),
        ('"[1, 2]"', "column 'gold' does not hold pairs"),
        ('"[{""aspect"": ""soup""}]"', "unknown key 'aspect'"),
    ],
)
def test_a_cell_that_holds_no_pairs_is_refused_with_its_line_and_not_quoted(
    tmp_path: Path, cell: str, said: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        load_csv(tmp_path, f"text,gold\nTea.,-\nSoup.,{cell}\n", CELL)
    assert caught.value.line == 3
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_column_is_an_error_only_where_gold_is_needed(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no column 'gold' \\(found: 'text', 'Gold'\\)"):
        load_csv(tmp_path, "text,Gold\nSoup.,-\n", CELL)
    (labelled,) = load_csv(tmp_path, "text,Gold\nSoup.,-\n", CELL._replace(are_required=False))
    assert labelled.gold is None


@pytest.mark.parametrize("separator", [";", "\t"])
def test_what_some_spreadsheets_write_between_columns_is_read(tmp_path: Path, separator: str) -> None:
    rows = [["uid", "text", "gold"], ["a", "Soup, tea.", "soup:positive"]]
    content = "\n".join(separator.join(cells) for cells in rows) + "\n"
    (labelled,) = load_csv(tmp_path, content, CELL)
    assert (labelled.sample.uid, labelled.sample.text, pairs_of(labelled)) == (
        "a",
        "Soup, tea.",
        [("soup", "positive")],
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04rest", "an Excel file, not text; open it, choose Save As, CSV UTF-8"),
        (b"\xd0\xcf\x11\xe0rest", "an Excel file"),
        ("text\nSoup.\n".encode("utf-16")[:-1], "line 2: UTF-16 that ends in the middle of a character"),
        ("text\nCafé\n".encode("latin-1"), "line 2: neither UTF-8, UTF-16 nor CP949; save it as UTF-8"),
        (("text\n" + "국물이 진해요\n" * 9).encode() + b"\xff\n", "line 11: neither UTF-8, UTF-16 nor CP949"),
    ],
)
def test_a_file_with_characters_to_guess_is_refused_with_what_to_do(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        load_split(path, "csv", "valid")
    assert said in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp949"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_files_of_a_study_are_read_in_the_encodings_of_spreadsheets(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    rows = [["id", "text", "gold"], ["가", "국물이 진해요.", "국물:positive"], ["나", "좋아요! Good tea.", "-"]]
    (tmp_path / "reviews.csv").write_bytes("\r\n".join(separator.join(cells) for cells in rows).encode(encoding))
    first, second = load_split(tmp_path / "reviews.csv", "csv", "valid", gold_columns=CELL)
    assert (first.sample.uid, first.sample.text, pairs_of(first)) == ("가", "국물이 진해요.", [("국물", "positive")])
    assert (second.sample.uid, second.sample.text, second.gold) == ("나", "좋아요! Good tea.", ())
    line = json.dumps({"uid": "가", "text": "국물이 진해요.", "gold": [["국물", "positive"]]}, ensure_ascii=False)
    (tmp_path / "reviews.jsonl").write_bytes(f"{line}\n".encode(encoding))
    (labelled,) = load_split(tmp_path / "reviews.jsonl", "jsonl", "valid", gold_columns=CELL)
    assert (labelled.sample.text, pairs_of(labelled)) == ("국물이 진해요.", [("국물", "positive")])

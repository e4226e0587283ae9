"""`analyze FILE` as an analyst types it. All commands run in one process: each would spend its time on imports."""

import contextlib
import csv
import io
import json
import re
import resource
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra

from episodic_absa import analyze
from episodic_absa.analysed_review import AnalysedReview
from episodic_absa.cli import main
from episodic_absa.cli.analyze.analysed_rows import AnalysedRow
from episodic_absa.cli.analyze.analysis_view import shown_text
from episodic_absa.cli.analyze.file_run import Target
from episodic_absa.cli.analyze.review_input import read_input
from episodic_absa.datasets.tables import open_review_table
from episodic_absa.errors import ConfigError

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
REVIEWS = (
    ("1", "=1+1", "The battery lasts long, but the screen is too dark."),
    ("2", "-5", ""),
    ("3", "-5 off", "방은 깨끗했지만 직원이 불친절했어요"),
    ("4", "p", "The battery lasts long, but the screen is too dark."),
)


_HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class Done:
    """What one command left behind."""

    def __init__(self, *arguments: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["episodic-absa", "analyze", *arguments]
        self.code: Any = 0
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
        except SystemExit as end:
            self.code = end.code
        finally:
            sys.argv = before
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";")
    writer.writerows([("id", "product", "후기"), *REVIEWS])
    (tmp_path / "reviews.csv").write_bytes(text.getvalue().encode("cp949"))
    return tmp_path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_table_gets_columns_with_what_was_found(folder: Path) -> None:
    done = Done("reviews.csv", "--out", "results.csv")
    assert done.code == 0
    assert done.err == (
        "reviews.csv: 4 rows, text in column '후기', encoded as cp949, separated by \";\", 1 without text\n"
    )
    rows = rows_of(folder / "results.csv")
    assert [(row["id"], row["후기"]) for row in rows] == [(uid, text) for uid, _, text in REVIEWS]
    assert [row["product"] for row in rows] == ["'=1+1", "-5", "'-5 off", "p"]  # no spreadsheet runs a cell
    assert [(row["label"], row["language"], row["error"]) for row in rows] == [
        ("mixed", "en", ""),
        ("", "", "the cell is empty"),
        ("mixed", "ko", ""),
        ("mixed", "en", ""),
    ]
    aspects = json.loads(rows[0]["aspects"])
    assert [(aspect["term"], aspect["polarity"]) for aspect in aspects] == [
        ("battery", "positive"),
        ("screen", "negative"),
    ]
    assert set(aspects[0]) == {"term", "polarity", "confidence", "evidence"}
    assert aspects[1]["evidence"] in REVIEWS[0][2]
    assert done.out.startswith("3 reviews: 3 mixed\n")
    counted = [line.split() for line in done.out.splitlines()]
    assert ["battery", "2", "0"] in counted
    assert ["screen", "0", "2"] in counted
    assert done.out.endswith("\n4 rows: 3 analysed, 1 without text, 0 failed\nresults.csv: 4 rows\n")
    assert sorted(path.name for path in folder.iterdir()) == ["results.csv", "reviews.csv"]


def test_one_row_per_aspect_can_be_analysed_again(folder: Path) -> None:
    assert Done("--file", "reviews.csv", "--out", "long.jsonl", "--long").code == 0
    rows = [json.loads(line) for line in (folder / "long.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["aspect"], row["polarity"]) for row in rows] == [
        ("1", "battery", "positive"),
        ("1", "screen", "negative"),
        ("2", None, None),
        ("3", "방", "positive"),
        ("3", "직원", "negative"),
        ("4", "battery", "positive"),
        ("4", "screen", "negative"),
    ]
    # The results have columns of the names that a second analysis would add.
    assert Done("long.jsonl", "--out", "again.csv").code == 0
    again = rows_of(folder / "again.csv")
    assert [(row["label"], row["absa_label"]) for row in again][:3] == [("mixed", "mixed")] * 2 + [("", "")]


@pytest.mark.usefixtures("folder")
def test_json_lines_carry_the_other_columns() -> None:
    done = Done("reviews.csv", "--json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [(line["sample_index"], line["columns"]) for line in lines] == [
        (place, {"id": uid, "product": product}) for place, (uid, product, text) in enumerate(REVIEWS) if text
    ]
    assert {line["status"] for line in lines} == {"ok"}


def test_a_parquet_file_has_the_aspects_as_lists(folder: Path) -> None:
    require_extra("parquet")
    from pyarrow import parquet

    assert Done("reviews.csv", "--out", "results.parquet").code == 0
    rows = parquet.read_table(folder / "results.parquet").to_pylist()
    assert [aspect["term"] for aspect in rows[0]["aspects"]] == ["battery", "screen"]
    assert "4 rows, text in column '후기'" in Done("results.parquet", "--json").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reviews.csv", "--text-column", "text"), "reviews.csv has no column 'text'; choose one of: 'id', "),
        (("missing.csv",), "cannot read missing.csv: No such file or directory"),
        (("reviews.csv", "good food"), "reviews.csv is a file; give it alone"),
        (("reviews.csv", "--uid", "u"), "--uid names one review; a table has many"),
        (("good food", "--text-column", "text"), "--text-column is for tables"),
        (("reviews.csv", "--long"), "--long says how --out is written"),
        (("reviews.csv", "--out", "r.csv", "--json"), "--out writes the results to a file"),
        (("reviews.csv", "--out", "r.xls"), "--out r.xls: the ending must be one of .csv, .jsonl, .parquet"),
        (("reviews.csv", "--out", "nowhere/r.csv"), "cannot write nowhere/r.csv: No such file or directory"),
        (("reviews.csv", "--out", "reviews.csv"), "--out reviews.csv is the file of the reviews"),
        (("reviews.csv", "--record", "./reviews.csv"), "--record reviews.csv is the file of the reviews"),
        (("reviews.csv", "--summary", "reviews.csv"), "--summary reviews.csv: the ending must be one of .html, .htm"),
        (("good food", "--summary", "p"), "--summary p: the ending must be one of .html, .htm"),
        (("good food", "--record", "r.csv", "--out", "r.csv"), "--record r.csv is the file of --out"),
        (("--file", "reviews.csv", "good food"), "reviews.csv is a table; give it alone"),
        (("--file", "reviews.csv", "reviews.csv"), "reviews.csv is a file; give it alone"),
        ((".",), ". is a directory; give one file of reviews in it"),
        (("review.cvs",), "there is no file review.cvs; check the name"),
        (("reviews.xslx",), "there is no file reviews.xslx; check the name"),
        (("data/reviews",), "there is no file data/reviews; check the name"),
        (("x.doc",), "there is no file x.doc; check the name"),
        (("reviews.json",), "cannot read reviews.json: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_is_written(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = Done(*arguments)
    assert (done.code, done.out) == (2, "")
    assert f"error: {message}" in done.err
    assert [path.name for path in folder.iterdir()] == ["reviews.csv"]


def test_files_of_other_kinds_are_refused_and_a_list_in_json_is_read(folder: Path) -> None:
    for name in ("x.doc", "notes.md", "page.html", "zip.csv", "zeros.csv", "object.json", "number.json"):
        (folder / name).write_bytes(b"good food\n")
    (folder / "zip.csv").write_bytes(b"PK\x03\x04good,food\n")
    (folder / "zeros.csv").write_bytes(b"review\ngood\0food\n")
    (folder / "object.json").write_text('{"review": "good food"}')
    (folder / "number.json").write_text('["good food", 5]')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for arguments, message in {
        ("x.doc",): "x.doc is a file whose ending is none of .csv, .tsv, .json,",
        ("notes.md",): "or say --file PATH if it is plain text with one review per line",
        ("zip.csv",): "zip.csv is no text file; open it in its program",
        ("zeros.csv",): "zeros.csv is no text file",
        ("object.json",): "object.json holds no list; write a list of objects or of strings",
        ("number.json",): "number.json, item 2: an object or a string is expected, got a number",
        ("--file", "page.html", "--summary", "page.html"): "--summary page.html is the file of the reviews",
    }.items():
        done = Done(*arguments)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "list.json").write_text('["The soup was good.", {"text": "The room is dark."}]')
    (folder / "other.json").write_text('["この部屋はとても綺麗でした"]', "utf-8")
    done = Done("other.json", "--out", "r.csv")
    assert done.err.splitlines()[1].startswith("warning: 1 of 1 row holds a text in a language that the embedded")
    assert (done.out.splitlines()[0], done.out.splitlines()[-1]) == (
        "1 review: 1 in an unknown language",
        "r.csv: 1 row",
    )
    assert Done("list.json", "--out", "r.csv").code == 0
    assert [row["label"] for row in rows_of(folder / "r.csv")] == ["positive", "negative"]
    assert Done("10/10", "--json").code == 0  # a rating is a review


@pytest.mark.usefixtures("folder")
def test_the_readme_shows_what_the_command_prints() -> None:
    command, *printed = README.split("```console\n$ episodic-absa analyze ")[1].split("```")[0].splitlines()
    assert Done(command.strip('"')).out.splitlines() == printed


def test_ten_failures_alike_end_the_command_and_a_few_are_told_by_their_cause(folder: Path) -> None:
    recorded = folder / "recording.jsonl"
    assert Done("good food", "--record", "recording.jsonl").code == 0
    for name, texts in (("some.csv", ["good food", "a", "b"]), ("all.csv", [f"text {n}" for n in range(30)])):
        (folder / name).write_text("\n".join(["review", *texts]))
    some = Done("some.csv", "--out", "some_results.csv", "--backend", f"replay:{recorded}")
    assert some.code == 1
    assert some.err.count("2 of 3 reviews: the recording") == 1
    assert [bool(row["error"]) for row in rows_of(folder / "some_results.csv")] == [False, True, True]
    every = Done("all.csv", "--out", "none.csv", "--backend", f"replay:{recorded}")
    assert every.code == 2
    assert every.err.splitlines()[1].startswith("error: the first 10 reviews failed alike: the recording")
    assert not list(folder.glob("*none*"))


def test_a_full_disk_leaves_no_half_of_a_file(folder: Path) -> None:
    reviews = read_input(["reviews.csv"], None)
    row = next(iter(reviews.rows))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def write_much() -> None:
        with Target(Path("r.csv"), reviews, one_per_aspect=False) as target:
            for position in range(1000):
                target.write(AnalysedRow(position, row, None), AnalysedReview(row.text, {}, "en", "positive", ()))

    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(ConfigError, match=r"cannot write r\.csv: File too large; choose another --out"):
            write_much()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [path.name for path in folder.iterdir()] == ["reviews.csv"]


def test_an_interrupt_keeps_what_was_done_and_says_how_far_it_came(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviews = read_input(["reviews.csv"], None)
    rows = iter(reviews.rows)

    def interrupt_after(number: int) -> None:
        with Target(Path("r.csv"), reviews, one_per_aspect=False) as target:
            for position, row in zip(range(number), rows, strict=False):
                review = AnalysedReview(row.text, {}, "en", "positive", ()) if row.text else None
                target.write(AnalysedRow(position, row, None), review)
            raise KeyboardInterrupt

    for number in (0, 3):
        with pytest.raises(KeyboardInterrupt):
            interrupt_after(number)
    assert capsys.readouterr().err == "stopped after 3 of 4 reviews; their results are in r.partial.csv\n"
    assert len(rows_of(folder / "r.partial.csv")) == 3
    assert sorted(path.name for path in folder.iterdir()) == ["r.partial.csv", "reviews.csv"]


def test_an_analyst_gets_a_page_a_table_and_the_same_numbers_in_the_terminal(folder: Path) -> None:
    done = Done("reviews.csv", "--summary", "page.html", "--out", "results.csv", "--effort", "stage1")
    assert done.code == 0, done.err
    assert "cp949" in done.err.lower()
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "reviews.csv" in page
    assert "default-src" in page  # it may load nothing
    assert len(rows_of(folder / "results.csv")) == len(REVIEWS)
    battery = next(line for line in done.out.splitlines() if line.startswith("battery"))
    assert battery.split()[1:] == ["2", "0"]
    assert done.out.startswith("3 reviews: 3 mixed\n")
    assert "\n4 rows: 3 analysed, 1 without text, 0 failed\n" in done.out
    assert "of 4 rows, 1 without text" in page
    assert "page.html" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reviews.csv", "--summary", "nowhere/page.html"), "--summary nowhere/page.html cannot be written"),
        (("reviews.csv", "--summary", "page.html", "--json"), "leave --explain and --json out"),
        (("reviews.csv", "--effort", "adaptive", "--conditions", "v1_2"), "effort: adaptive needs rules v3"),
    ],
)
def test_what_cannot_be_obeyed_is_said_before_anything_is_analysed(
    folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = Done(*arguments)
    assert done.code == 2
    assert words in " ".join(done.err.split())
    assert sorted(path.name for path in folder.iterdir()) == ["reviews.csv"]


HOSTILE = (
    "The food\x1b[31m was \x9b2Jgreat\x85.",
    "The \u202efood\u202c was \u2066great\u2069.",
    "=HYPERLINK(1) The food was great",
    "The food\u2028 was great \u200b\ufeff </script>.",
    "The " + "a" * 100_000 + " was great, but the food was bad.",
)


def test_no_review_steers_a_terminal_or_a_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"re\u202eview": text, "@id": f"-{number}+1"} for number, text in enumerate(HOSTILE)]
    (tmp_path / "hostile.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    column = ("--text-column", "re\u202eview")

    printed = Done("hostile.jsonl", *column, "--json")
    assert not _HIDDEN.search(printed.out + printed.err)
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert [(line["text"], line["columns"]) for line in lines] == [
        (row["re\u202eview"], {"@id": row["@id"]}) for row in rows
    ]

    page = Done("hostile.jsonl", *column, "--explain")
    assert not _HIDDEN.search(page.out + page.err)
    assert "The \\u202efood\\u202c was" in page.out
    assert shown_text("a" * 100_000).endswith("… (100,000 characters)")
    assert len(page.out) < 200_000

    assert Done("hostile.jsonl", *column, "--out", "results.csv").code == 0
    written = rows_of(tmp_path / "results.csv")
    assert [row["'@id"] for row in written] == [f"'{row['@id']}" for row in rows]
    read = open_review_table(tmp_path / "results.csv", text_column="re\u202eview")
    assert [(row.text, row.cells["@id"]) for row in read] == [(row["re\u202eview"], row["@id"]) for row in rows]


@pytest.mark.usefixtures("folder")
def test_a_text_in_another_language_is_said_to_be_unknown() -> None:
    done = Done("Das Essen war sehr gut und die Bedienung war freundlich.")
    assert "unknown language: not read; the embedded engine reads Korean and English only" in done.out
    assert "label  the text was not read" in done.out
    assert "no opinion found" not in done.out
    result = analyze("El hotel es muy bonito y la comida estaba fría.")
    assert (result.language, result.label, repr(result)) == ("other", "", "SampleResult(not read: unknown language)")

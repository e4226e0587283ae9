"""The benchmarks of confidence and accuracy: figures of tiny tables, and both scripts on a folder of own sentences."""

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import accuracy  # noqa: E402 - the folder is no package: it is run, not installed
import calibration  # noqa: E402
import everyday  # noqa: E402
from reading import write_lines  # noqa: E402
from reliability import (  # noqa: E402
    JudgedPair,
    chance_error,
    expected_calibration_error,
    reliability_table,
    wilson,
)

SENTENCES = {
    "en": (("The room was clean but the staff was rude.", ("room", "positive"), ("staff", "negative")),),
    "ko": (("배터리는 오래 가지만 화면은 너무 어두워요.", ("배터리", "positive"), ("화면", "positive")),),
}


def rows_of(language: str, file: str = "own") -> list[dict[str, Any]]:
    return [
        {"uid": f"{file}:{number}", "text": text, "gold_tuples": [{"aspect_term": t, "polarity": p} for t, p in gold]}
        for number in range(4)
        for text, *gold in SENTENCES[language]
    ]


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for file, language in calibration.FILES.items():
        write_rows(folder / f"{file}.dev.jsonl", rows_of(language, file))
    write_rows(folder / "mams_atsa.train.jsonl", rows_of("en"))
    return folder


def test_the_error_is_the_mean_distance_weighted_by_pairs() -> None:
    pairs = [JudgedPair(0.25, is_right) for is_right in (True, False, False, False)]
    assert expected_calibration_error(pairs) == 0.0
    pairs += [JudgedPair(0.95, is_right=False), JudgedPair(1.0, is_right=True)]
    assert [(place.n, place.right_n) for place in reliability_table(pairs)] == [(4, 1), (2, 1)]
    assert expected_calibration_error(pairs) == pytest.approx(2 / 6 * (0.975 - 0.5))
    assert expected_calibration_error([]) is None


def test_exact_probabilities_have_an_error_by_chance_that_falls_with_their_number() -> None:
    few, many = (chance_error([JudgedPair(0.5, is_right=True)] * n) for n in (10, 400))
    assert few is not None
    assert many is not None
    assert 0.0 < many < few < 0.2


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [(0, 0, (0.0, 1.0)), (5, 10, (0.2366, 0.7634)), (10, 10, (0.7225, 1.0)), (0, 10, (0.0, 0.2775))],
)
def test_the_interval_is_wilsons(right: int, n: int, expected: tuple[float, float]) -> None:
    assert wilson(right, n) == pytest.approx(expected, abs=1e-4)


def line_of(row: dict[str, Any], p: float) -> dict[str, Any]:
    """A reading of a row by a reader that never saw its corpus: all its pairs, equally sure."""
    pairs = []
    for gold in row["gold_tuples"]:
        start = row["text"].index(gold["aspect_term"])
        pairs.append([start, start + len(gold["aspect_term"]), gold["polarity"], p, "other"])
    return {"corpus": "any", "uid": row["uid"], "tag": "no_tag", "pairs": pairs, "label": ["mixed", 0.9]}


def test_calibration_writes_figures_and_a_plot_beside_what_is_known(data: Path, tmp_path: Path) -> None:
    latest, plot, readings = tmp_path / "latest.json", tmp_path / "plot.svg", tmp_path / "readings"
    latest.write_text('{"framework": 1}')
    lines = [line_of(row, 0.7) for file in calibration.FILES for row in rows_in(data / f"{file}.dev.jsonl")]
    write_lines(lines, readings / "all.jsonl.gz")
    arguments = ["--data", str(data), "--latest", str(latest), "--plot", str(plot), "--readings", str(readings)]
    assert calibration.main(arguments) == 0
    written = json.loads(latest.read_text())
    assert written["framework"] == 1
    unknown = written["calibration"]["unknown"]
    # Every pair of the readings is one of the gold, and tables of the other files know it.
    assert (unknown["mams_atsa"]["n"], unknown["mams_atsa"]["ece"]) == (8, 0.0)
    assert unknown["en"]["n"] == 5 * unknown["mams_atsa"]["n"]
    assert sum(row["n"] for row in unknown["ko"]["table"]) == unknown["ko"]["n"]
    assert set(written["calibration"]["known"]) <= {*calibration.FILES, "en", "ko"}
    picture = ET.parse(plot).getroot()  # noqa: S314 - written by this test
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) >= 2
    assert "prefers-color-scheme: dark" in plot.read_text()


def test_calibration_measures_finished_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write_rows(tmp_path / "gold.jsonl", rows_of("en"))
    room = {"aspect_term": "room", "polarity": "positive", "confidence": 0.75, "grounding": "explicit"}
    implicit = {**room, "aspect_term": "", "grounding": "implicit"}
    backfilled = {**room, "aspect_term": "staff", "is_backfilled": True}
    stage1 = [room, {**room, "polarity": "neutral"}]
    outputs: list[dict[str, Any]] = [
        {"uid": "own:1", "status": "ok", "final_result": {"stage1_tuples": stage1, "final_tuples": [room, implicit]}},
        {"uid": "own:2", "status": "ok", "final_result": {"stage1_tuples": [], "final_tuples": [backfilled]}},
        {"uid": "own:3", "status": "error"},
        {"uid": "another", "status": "ok", "final_result": {"stage1_tuples": [], "final_tuples": [room]}},
    ]
    cell = tmp_path / "grid" / "C1__seed1"
    cell.mkdir(parents=True)
    write_rows(cell / "outputs.jsonl", outputs)
    assert calibration.main(["--run", str(tmp_path / "grid"), str(gold)]) == 0
    first, final = (json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{"))
    assert (first["pairs"], first["n"], first["ece"]) == ("C1__seed1, Stage1", 2, 0.25)
    assert (final["pairs"], final["n"], final["ece"]) == ("C1__seed1, final", 1, 0.25)
    assert calibration.main(["--run", str(tmp_path), str(gold)]) == 1


@pytest.mark.parametrize("script", [calibration, accuracy])
def test_without_data_a_script_says_so_and_succeeds(
    script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--data", str(tmp_path / "none")]) == 0
    assert "skipped, there is no data" in capsys.readouterr().out


def test_accuracy_scores_dev_files_and_writes_nothing(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = accuracy.LATEST.read_bytes()
    arguments = ["--data", str(data), "--split", "dev"]
    assert accuracy.main([*arguments, "--only", "mams_atsa", "--only", "nsmc_raw_docpol"]) == 0
    shown, skipped = capsys.readouterr().out.splitlines()
    scores = json.loads(shown)
    assert (scores["dataset"], scores["texts"], scores["majority"]["f1"] > 0) == ("mams_atsa", 4, True)
    assert 0.0 <= scores["reader"]["f1"] <= 1.0
    assert skipped == "nsmc_raw_docpol: skipped, it has no dev split"
    assert accuracy.LATEST.read_bytes() == before


ROOM, STAFF = ("room", "positive"), ("staff", "negative")


@pytest.mark.parametrize(
    ("shown", "is_right"),
    [
        ({ROOM}, True),
        ({("rooms", "positive")}, True),
        ({ROOM, STAFF}, True),
        ({STAFF}, False),
        ({ROOM, ("soup", "positive")}, False),
        (set(), False),
    ],
)
def test_a_real_review_is_right_with_one_of_each_required_list_and_nothing_unknown(
    shown: set[tuple[str, str]], *, is_right: bool
) -> None:
    marked = everyday.Marked("u", "real", "", (frozenset([ROOM, ("rooms", "positive")]),), frozenset([STAFF]))
    assert marked.is_right(shown) is is_right

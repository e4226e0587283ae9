"""`episodic-absa compare` on a small real grid; most commands are run within this process, which is a second faster."""

import asyncio
import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.run_copies import copied, failed
from tests.runs.sealed_files import change_records

from episodic_absa.cli import main
from episodic_absa.experiment import run_grid
from episodic_absa.metrics.statistics import find_unsupported_claims
from episodic_absa.runs.config import load_experiment

Cli = Callable[..., subprocess.CompletedProcess[str]]
Compare = Callable[..., "Told"]
DATA = Path(__file__).parents[3] / "experiments" / "data"
CONFIG = """
run_id: small
data: {allowed_roots: [data], valid_file: data/valid.csv}
eval: {gold_jsonl: data/valid.gold.jsonl}
experiment: {conditions: [C1, C2, C2_silent], seeds: [1, 2], shuffle: true}
"""


class Told(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Run the command as `main` does."""
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object, columns: str | None = None) -> Told:
        if columns:
            monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr(sys, "argv", ["episodic-absa", "compare", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Told(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of three conditions and two seeds over some of our own reviews."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "data").mkdir()
    with open(DATA / "valid.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    with open(folder / "data" / "valid.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows[::5]])
    uids = [row[header.index("uid")] for row in rows[::5]]
    gold = (DATA / "valid.gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in gold if json.loads(line)["uid"] in uids]
    (folder / "data" / "valid.gold.jsonl").write_text("".join(kept), "utf-8")
    (folder / "small.yaml").write_text(CONFIG, "utf-8")
    asyncio.run(run_grid(load_experiment(folder / "small.yaml"), use_cache_file=False))
    return folder / "results" / "small"


@pytest.fixture
def grid(finished: Path, tmp_path: Path) -> Path:
    """A copy to write into, or to damage."""
    return copied(finished, tmp_path)


def change_manifest(cell: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((cell / "manifest.json").read_text("utf-8"))
    change(manifest)
    (cell / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def change_cards(cell: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Let the records of a cell give other final tuples, failures, or fewer samples; nothing else is taken over."""
    path = cell / "scorecards.jsonl"
    cards = change([json.loads(line) for line in path.read_text("utf-8").splitlines()])

    def change_all(lines: list[dict[str, Any]]) -> None:
        header, *records = lines
        lines[:] = [header, *records[: len(cards)]]
        for record, card in zip(lines[1:], cards, strict=True):
            if card["status"] == "error":
                failed(record, "timeout")
            else:
                record["analysis"]["final_tuples"] = card["final_tuples"]

    change_records(cell, change_all)


def score_with(cell: Path, gold: list[dict[str, Any]]) -> None:
    """Let the manifest of a cell name another gold file."""
    path = cell.parents[2] / "data" / f"{cell.name}.gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in gold), "utf-8")
    named = {"path": f"data/{path.name}", "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    change_manifest(cell, lambda manifest: manifest["gold"].update(named))


def give_gold_answers(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer everything as the annotators did."""
    for card in cards:
        card["final_tuples"] = [
            {
                "aspect_term": gold_tuple["aspect_term"],
                "polarity": gold_tuple["polarity"],
                "confidence": 0.9,
                "grounding": "explicit" if gold_tuple["aspect_term"] else "implicit",
            }
            for gold_tuple in card["gold_tuples"]
        ]
    return cards


def test_two_conditions_of_a_grid_are_compared_over_all_seeds(cli: Cli, grid: Path) -> None:
    done = cli("compare", grid, "C2", "C1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "C2" in lines[0]
    assert "tuple_f1_explicit" in lines[0]
    assert re.search(r"9[05] % CI \[|the difference is 0 in all of them;", " ".join(lines[:3]))
    header = next(line for line in lines if line.startswith("metric"))
    assert header.split() == ["metric", "C2", "C1", "A", "-", "B", "95", "%", "CI", "p", "Holm", "p", "dz", "n"]
    titles = [lines.index(title) for title in ("outcome", "process, not outcome", "efficiency")]
    assert titles == sorted(titles)
    path = Path(lines[-1].removeprefix("changed  "))
    assert path == grid / "comparisons" / "C2_vs_C1" / "changed_samples.csv"
    assert path.exists()


def test_what_is_printed_claims_no_more_than_it_shows(compare: Compare, grid: Path) -> None:
    for condition in ("C2", "C2_silent"):
        for cell in grid.glob(f"{condition}__*"):
            change_cards(cell, give_gold_answers)
    for sides in (("C2", "C1"), ("C1", "C2"), ("C1", "C2_silent")):
        sentence, rest = compare(grid, *sides).stdout.split("\n\n", maxsplit=1)
        assert find_unsupported_claims(sentence.replace("\n", " ")) == ()
        assert find_unsupported_claims(rest) == ()
    frozen, growing = (" ".join(compare(grid, "C1", arm).stdout.split()) for arm in ("C2_silent", "C2"))
    assert frozen.startswith("C1 lowered mean F1 (tuple_f1_explicit) compared with C2_silent: -0.")
    # Two orders of a memory that grows support no claim.
    assert growing.startswith("Whether C1 changes mean F1 (tuple_f1_explicit) compared with C2 cannot be told from 13")


def test_equal_runs_print_no_variation_and_never_nan(compare: Compare, grid: Path) -> None:
    done = compare(grid, "C2_silent", "C1")
    assert done.stdout.startswith("C2_silent and C1 give the same answers by construction")
    assert "Only 13 reviews: figures of fewer than 30 describe these reviews" in " ".join(done.stdout.split())
    assert "Every review has the same difference in all 2 orders." in done.stdout
    assert "nan" not in done.stdout.lower().split()
    told = json.loads(compare(grid, "C2_silent", "C1", "--json").stdout)
    assert {metric["variation"] for metric in told["metrics"]} == {False}
    assert told["changed"] == {"better": 0, "worse": 0, "different": 0}
    assert (told["verdict"]["kind"], told["verdict"]["reason"]) == ("same", "")
    assert "구성상 답이 같습니다" in told["verdict_sentence_ko"]


def test_cells_conditions_and_grids_can_be_named_and_give_the_same_bytes_twice(compare: Compare, grid: Path) -> None:
    by_place = compare(grid / "C2", grid / "C1", "--json").stdout
    assert json.loads(by_place)["a"] == "C2"
    assert by_place == compare(grid, "C2", "C1", "--json").stdout
    cells = json.loads(compare(grid / "C2__seed1", grid / "C1__seed1", "--json").stdout)
    assert (cells["a"], cells["b"]) == ("C2__seed1", "C1__seed1")
    assert (cells["metrics"][0]["n_pairs"], cells["metrics"][0]["n_uids"]) == (cells["metrics"][0]["n_uids"],) * 2
    assert json.loads(by_place)["metrics"][0]["n_pairs"] == 2 * cells["metrics"][0]["n_pairs"]


def test_the_same_condition_of_two_grids_is_named_after_its_grid(compare: Compare, grid: Path) -> None:
    other = shutil.copytree(grid, grid.parent / "other")
    for cell in other.glob("*__seed*"):
        change_manifest(cell, lambda manifest: manifest.update(run_id="other"))
    told = json.loads(compare(grid / "C2", other / "C2", "--json").stdout)
    assert (told["a"], told["b"]) == ("small/C2", "other/C2")
    assert told["changed_samples"] == str(grid / "comparisons" / "small_C2_vs_other_C2" / "changed_samples.csv")
    for cell in (*other.glob("C1__*"), *other.glob("C2_silent__*")):
        shutil.rmtree(cell)
    assert json.loads(compare(grid / "C1", other, "--json").stdout)["b"] == "C2"


def test_changed_samples_are_listed_with_the_pairs_of_each_side(compare: Compare, grid: Path, tmp_path: Path) -> None:
    change_cards(grid / "C2__seed1", lambda cards: give_gold_answers(cards[:1]) + cards[1:])
    change_cards(grid / "C2__seed2", lambda cards: [{**cards[0], "final_tuples": []}, *cards[1:]])
    done = compare(grid, "C2", "C2_silent", "--out", tmp_path / "new" / "folder", "--json")
    told = json.loads(done.stdout)
    path = tmp_path / "new" / "folder" / "changed_samples.csv"
    assert told["changed_samples"] == str(path)
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["uid", "order", "seed", "status", "pairs_a", "pairs_b", "pairs_gold", "f1_a", "f1_b"]
    assert {row["status"] for row in rows} <= {"better", "worse", "different"}
    assert {status: sum(row["status"] == status for row in rows) for status in told["changed"]} == told["changed"]
    assert [(row["uid"], row["seed"]) for row in rows] == sorted((row["uid"], row["seed"]) for row in rows)
    for row in rows:
        assert row["pairs_a"] != row["pairs_b"]
        if row["f1_a"] != row["f1_b"]:
            assert (row["status"] == "better") == (float(row["f1_a"]) > float(row["f1_b"]))
    assert not list(tmp_path.rglob("*.new"))


def test_sides_that_are_not_comparable_are_warned_about_and_compared(compare: Compare, grid: Path) -> None:
    def spoil(manifest: dict[str, Any]) -> None:
        manifest["dataset"]["sha256"]["valid"] = "0" * 64
        manifest["backbone"]["model"] = "another"
        manifest["completed"] = False

    def drop_and_fail(cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
        cards[0]["status"] = "error"
        return cards[:-1]

    change_manifest(grid / "C1__seed1", spoil)
    change_cards(grid / "C1__seed1", drop_and_fail)
    gold = [
        json.loads(line) for line in (grid.parents[1] / "data" / "valid.gold.jsonl").read_text("utf-8").splitlines()
    ]
    uid = json.loads((grid / "C1__seed1" / "outputs.jsonl").read_text("utf-8").splitlines()[1])["uid"]
    score_with(grid / "C1__seed1", [{**line, "gold_tuples": []} if line["uid"] == uid else line for line in gold])
    done = compare(grid / "C2", grid / "C1__seed1")
    assert done.returncode == 0
    warnings = [line.removeprefix("warning: ") for line in done.stdout.splitlines() if line.startswith("warning: ")]
    assert warnings[:2] == ["not the same reviews", "not the same gold"]
    assert warnings[2] == "not the same backbone.model (C2: reader-1; C1__seed1: another)"
    assert warnings[3:] == [
        "C1__seed1 is not finished",
        "left out: 1 sample of C1__seed1 that failed",
        "left out: seed 2, with which only C2 was run",
        "left out: 1 sample of C2 that C1__seed1 lacks",
        "1 sample scored against different gold",
    ]
    assert json.loads(compare(grid / "C2", grid / "C1__seed1", "--json").stdout)["warnings"] == warnings


def test_without_gold_no_claim_is_made_about_quality(compare: Compare, grid: Path) -> None:
    for cell in grid.glob("*__seed*"):
        change_manifest(cell, lambda manifest: manifest.update(gold=None))
    done = compare(grid, "C2", "C1")
    assert done.returncode == 0
    assert done.stdout.startswith("Without gold, nothing can be said about quality")
    assert "tuple_f1" not in done.stdout


def test_detect_shows_how_many_reviews_a_difference_needs(compare: Compare, grid: Path) -> None:
    for cell in grid.glob("C2_silent__*"):
        change_cards(cell, give_gold_answers)
    cells = grid / "C2_silent__seed1", grid / "C1__seed1"
    told = json.loads(compare(*cells, "--detect", "0.05", "--json").stdout)
    primary = told["metrics"][0]
    assert told["detect"] == 0.05 < primary["detectable"]
    assert told["detect_n"] > max(primary["n_uids"], (2.8 * primary["sd"] / 0.05) ** 2)
    assert (
        f"0.05 in tuple_f1_explicit with 80 % power: about {told['detect_n']}"
        in compare(*cells, "--detect", "0.05").stdout
    )
    assert re.search(r"about \d+ reviews; these 13 are enough", compare(*cells, "--detect", "1").stdout)
    # A memory that grows needs orders, whatever the number of reviews.
    assert "power: more orders are needed." in " ".join(
        compare(grid, "C2", "C2_silent", "--detect", "1").stdout.split()
    )


@pytest.mark.parametrize("columns", ["60", "80", "140"])
def test_the_table_fits_a_terminal_and_shows_both_values_with_their_n(
    compare: Compare, grid: Path, columns: str
) -> None:
    done = compare(grid, "C2", "C1", columns=columns)
    lines = done.stdout.splitlines()
    assert max(map(len, lines[:-1])) <= int(columns)
    head = next(line for line in lines if line.startswith("metric")).split()
    assert head[1:3] in (["C2", "C1"], ["A", "B"])
    assert head[-1] == "n"
    calls = next(line.split() for line in lines if line.split()[:1] == ["calls"])
    assert float(calls[1]) == float(calls[2]) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("{grid}", "C2", "C9"), "holds no condition 'C9'; choose from C1, C2, C2_silent"),
        (("{grid}", "{grid}/C1"), "holds several conditions (C1, C2, C2_silent); name two: episodic-absa compare"),
        (("{grid}/nowhere/C1", "{grid}/C1"), "is not a directory; name that of a run, or GRID/CONDITION"),
        (
            ("{grid}/C1__seed1", "{grid}/C2__seed2"),
            "paired by uid, order and seed; name runs that share an",
        ),
        (("{grid}/..", "{grid}/C1"), "holds no cell of a run; name a directory that a run wrote"),
    ],
)
def test_the_error_for_what_cannot_be_compared_says_what_to_do_in_one_line(
    compare: Compare, grid: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = compare(*(argument.format(grid=grid) for argument in arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (grid / "comparisons").exists()


def test_damaged_files_are_named(compare: Compare, grid: Path) -> None:
    samples = grid / "C1__seed1" / "samples.jsonl"
    samples.write_text(samples.read_text("utf-8").replace('"attempts":1', '"attempts":2', 1), "utf-8")
    done = compare(grid, "C2", "C1")
    assert done.returncode == 2
    assert "samples.jsonl, line 2: its checksum does not fit" in done.stderr
    (grid / "C1__seed1" / "manifest.json").write_text("{}", "utf-8")
    done = compare(grid, "C2", "C2_silent")
    assert done.returncode == 2
    assert "C1__seed1: manifest.json" in done.stderr


def test_a_condition_may_be_named_by_its_alias(compare: Compare, grid: Path) -> None:
    assert json.loads(compare(grid, "C2", "C3", "--json").stdout)["b"] == "C2_silent"


def test_the_result_is_printed_even_if_the_file_cannot_be_written(compare: Compare, grid: Path, tmp_path: Path) -> None:
    (grid / "comparisons").write_text("in the way", "utf-8")
    done = compare(grid, "C2", "C1")
    assert done.returncode == 2
    assert "tuple_f1_explicit" in done.stdout
    assert not any(line.startswith("changed  ") for line in done.stdout.splitlines())
    assert "changed_samples.csv: " in done.stderr
    assert "--out DIR" in done.stderr
    assert json.loads(compare(grid, "C2", "C1", "--json").stdout)["changed_samples"] is None
    assert compare(grid, "C2", "C1", "--out", tmp_path / "elsewhere").returncode == 0


def test_samples_that_all_failed_leave_nothing_to_compare(compare: Compare, grid: Path) -> None:
    for cell in grid.glob("C1__*"):
        change_cards(cell, lambda cards: [{**card, "status": "error"} for card in cards])
    done = compare(grid, "C2", "C1")
    assert done.returncode == 0
    assert done.stdout.startswith("No sample succeeded on both sides")
    assert "metric" not in done.stdout


def test_a_side_without_samples_was_not_run_yet(compare: Compare, grid: Path) -> None:
    for cell in grid.glob("C1__*"):
        change_cards(cell, lambda _: [])
        change_manifest(cell, lambda manifest: manifest.update(completed=False))
    done = compare(grid, "C2", "C1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "C1 was not run yet" in done.stderr


def _rename(name: str, manifest: dict[str, Any]) -> None:
    manifest["conditions"]["flags"]["name"] = name


def test_names_made_of_symbols_have_folders_of_their_own(compare: Compare, grid: Path) -> None:
    for name, symbols in (("C1", "+"), ("C2", "!")):
        for cell in grid.glob(f"{name}__*"):
            change_manifest(cell, partial(_rename, symbols))
    folders = {
        Path(json.loads(compare(grid, a, b, "--json").stdout)["changed_samples"]).parent.name
        for a, b in (("+", "!"), ("!", "+"), ("+", "C2_silent"), ("!", "C2_silent"))
    }
    assert len(folders) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("one",),
        ("one", "two", "three", "four"),
        *(("one", "two", "--detect", difference) for difference in ("0", "1e-300", "2", "inf", "nan", "-1")),
    ],
)
def test_bad_usage_prints_the_usage(compare: Compare, arguments: tuple[str, ...]) -> None:
    done = compare(*arguments)
    assert done.returncode == 2
    assert "Usage: " in done.stderr
    assert "Traceback" not in done.stderr

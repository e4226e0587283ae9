"""A grid fixes its question before the first sample; what is added later takes effect at once and is marked."""

import asyncio
import csv
import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.runs.sealed_files import write_sealed
from tests.runs.small_grid import Around, write_experiment
from tests.warm_python import run_warm

from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiment import run_grid
from episodic_absa.reports.written_results import write_results
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.fixed_question import refresh_question
from episodic_absa.runs.question import is_exploratory, load_question
from episodic_absa.schemas.run_files.question import AskedQuestion, Question
from episodic_absa.verification import Verified, verify

EXPERIMENT = {
    "conditions": ["C1", "C2", "C2_silent"],
    "seeds": [1],
    "comparisons": [["C2", "C1"]],
    "primary_metric": "exact_match",
}


class _Watching(Around):
    """The embedded engine, which notes at each question whether the grid's own question is on disk."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.seen: list[bool] = []

    async def reply(self, request: Request) -> Reply:
        self.seen.append(self._path.is_file())
        return await super().reply(request)


class Grown:
    """One grid, as it was at first and after each addition."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.grid = folder / "results" / "grid"
        engine = _Watching(self.grid / "question.json")
        self._run(engine, **EXPERIMENT)
        self.seen = engine.seen
        self.first = self._kept("first")
        # On a finished grid: nothing is run, `report` alone makes it take effect.
        self.config(comparisons=[["C2_silent", "C1"]], smallest_effect=0.02, primary_metric="tuple_f1_explicit")
        refresh_question(self.grid)
        write_results(self.grid)
        self.edited = self._kept("edited")
        self._run(None, comparisons=[["C2_silent", "C1"]], seeds=[1, 2])
        self.seeded = self._kept("seeded")
        self.verified: Verified = verify(self.grid)

    def copied(self, kept: str, folder: Path) -> Path:
        """Return a copy of a kept grid, with its data beside it."""
        shutil.copytree(self._folder / "data", folder / "data", dirs_exist_ok=True)
        shutil.copy(self._folder / "grid.yaml", folder)
        return Path(shutil.copytree(getattr(self, kept), folder / "results" / kept))

    def config(self, **experiment: Any) -> Path:
        settings = {**EXPERIMENT, **experiment}
        return write_experiment(self._folder, experiment=settings, data={"limit": 6}, episodic_memory={"build": None})

    def _run(self, engine: _Watching | None, **experiment: Any) -> None:
        config = load_experiment(self.config(**experiment))
        backend = None if engine is None else RepairingBackend(engine)
        asyncio.run(run_grid(config, use_cache_file=False, backend=backend))

    def _kept(self, name: str) -> Path:
        return Path(shutil.copytree(self.grid, self._folder / name))


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    return Grown(tmp_path_factory.mktemp("grown"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def marks_of(grid: Path) -> list[tuple[str, ...]]:
    """Return every comparison of a table with the mark of its primary metric, in the table's order."""
    rows = [row for row in rows_of(grid / "comparisons.csv") if row["is_primary"] == "true"]
    keys = ("a", "b", "exploratory", "exploratory_because", "seeds")
    return list(dict.fromkeys(tuple(row[key] for key in keys) for row in rows))


def question_of(grid: Path) -> Question:
    question = load_question(grid)
    assert question is not None
    return question


def test_the_question_is_on_disk_before_the_model_is_asked(grown: Grown) -> None:
    assert grown.seen
    assert all(grown.seen)
    asked = question_of(grown.first).asked
    assert (asked.pairs, asked.primary_metric, asked.smallest_effect) == ((("C2", "C1"),), "exact_match", 0.01)
    assert (asked.conditions, asked.seeds, asked.orders) == (("C1", "C2", "C2_silent"), (1,), (0,))
    assert (asked.sample_n, len(asked.uids_sha256), asked.strata) == (6, 64, ())
    manifest = json.loads((grown.first / "C2__seed1" / "manifest.json").read_bytes())
    assert manifest["question_sha256"] == asked.sha256


def test_a_comparison_that_is_edited_later_takes_effect_at_once_and_is_marked(grown: Grown) -> None:
    assert marks_of(grown.first) == [("C2", "C1", "false", "", "1")]
    # The pair that was asked stays, although the config no longer names it.
    added = ("C2_silent", "C1", "true", "pair C2_silent - C1 added", "1")
    assert marks_of(grown.edited) == [("C2", "C1", "false", "", "1"), added]
    question = question_of(grown.edited)
    assert question.asked == question_of(grown.first).asked
    [addition] = question.added
    assert (addition.pairs, addition.smallest_effects, addition.seeds) == ((("C2_silent", "C1"),), (0.02,), ())
    assert addition.primary_metrics == ("tuple_f1_explicit",)
    # The asked metric and effect decide, whatever the config says by now.
    decided = [row for row in rows_of(grown.edited / "comparisons.csv") if row["is_primary"] == "true"]
    assert {(row["metric"], row["smallest_effect"]) for row in decided} == {("exact_match", "0.01")}
    later = [row for row in rows_of(grown.edited / "comparisons.csv") if row["metric"] == "tuple_f1_explicit"]
    assert later[0]["exploratory_because"] == "primary metric tuple_f1_explicit added"


def test_an_added_seed_leaves_the_headline_as_it_was_and_stands_in_a_row_of_its_own(grown: Grown) -> None:
    first, seeded = rows_of(grown.first / "comparisons.csv"), rows_of(grown.seeded / "comparisons.csv")
    # The config of "edited" made this metric the primary one.
    same = [row for row in first if row["metric"] != "tuple_f1_explicit"]
    assert [row for row in seeded if row["metric"] != "tuple_f1_explicit"][: len(same)] == same
    assert [mark[2:] for mark in marks_of(grown.seeded)] == [
        ("false", "", "1"),
        ("true", "seed 2 added", "1|2"),
        ("true", "pair C2_silent - C1 added; seed 2 added", "1|2"),
    ]
    means = [
        {(row["condition"], row["metric"]): row["mean"] for row in rows_of(grid / "grid_metrics.csv") if is_asked(row)}
        for grid in (grown.first, grown.seeded)
    ]
    assert means[0] == means[1]
    marked = [row for row in rows_of(grown.seeded / "grid_metrics.csv") if row["exploratory"] == "true"]
    assert {row["seed_values"].count("|") for row in marked if row["metric"] == "tuple_f1_explicit"} == {1}


def is_asked(row: dict[str, str]) -> bool:
    return row["exploratory"] == "false"


def test_the_report_says_what_was_added(grown: Grown) -> None:
    pages = [(grid / "report.html").read_text("utf-8") for grid in (grown.first, grown.seeded)]
    headlines = [page[page.index("<h1>") : page.index("</h1>")] for page in pages]
    assert headlines[0] == headlines[1]
    assert "Exploratory" not in pages[0].partition("<script")[0]  # an arm that no pair names is "exploratory"
    assert "Exploratory: seed 2 added." in pages[1]
    assert "추가한 시드 2" in pages[1]
    exploratory = json.loads((grown.seeded / "report.json").read_bytes())["exploratory"]
    assert [(pair["a"], pair["b"]) for pair in exploratory] == [("C2", "C1"), ("C2_silent", "C1")]


def test_verify_holds_the_cells_against_the_question(grown: Grown, tmp_path: Path) -> None:
    assert [name for name, _ in grown.verified.failures] == []
    assert "seed 2 added" in grown.verified.exploratory
    grid = grown.copied("seeded", tmp_path)
    question = json.loads((grid / "question.json").read_bytes())

    def kept(**changes: Any) -> str:
        write_sealed(grid / "question.json", {**question, **changes})
        result = next(check for check in verify(grid).grid if check.check == "question_kept")
        return f"{result.result}: {result.detail}"

    assert kept().startswith("pass")
    assert "was run under another question" in kept(asked={**question["asked"], "smallest_effect": 0.5})
    assert "C1__seed2: seed 2 is neither asked nor added" in kept(added=[])
    assert "hold 6 reviews" in kept(asked={**question["asked"], "sample_n": 7})
    assert "cannot read" in kept(asked=3)
    with pytest.raises(RunDirectoryError, match="restore the file"):
        write_results(grid)
    (grid / "question.json").unlink()
    assert "question_kept" in {check.check for _, check in verify(grid).failures}


def test_an_edited_question_or_a_missing_cell_makes_even_the_asked_pair_exploratory(
    grown: Grown, tmp_path: Path
) -> None:
    grid = grown.copied("first", tmp_path)
    question = (grid / "question.json").read_text("utf-8")
    (grid / "question.json").write_text(question.replace('"smallest_effect": 0.01', '"smallest_effect": 0.2'), "utf-8")
    write_results(grid)
    assert marks_of(grid) == [("C2", "C1", "true", "question.json was changed after the first sample", "1")]
    assert "첫 샘플 뒤에 question.json이 바뀌었습니다" in (grid / "report.html").read_text("utf-8")
    # Two asked seeds, of which one is there: who looks at a part of them, explores.
    seeded = grown.copied("seeded", tmp_path)
    asked = json.loads((seeded / "question.json").read_bytes())
    asked["asked"]["seeds"] = [1, 2]
    sha256 = Question.model_validate(asked).asked.sha256
    for path in seeded.glob("*__seed*/manifest.json"):
        manifest = json.loads(path.read_bytes())
        manifest["question_sha256"], manifest["completed"] = sha256, "C1__seed1" not in str(path)
        write_sealed(path, manifest)
    (seeded / "question.json").write_text(json.dumps(asked), "utf-8")
    shutil.rmtree(seeded / "C2__seed2")
    write_results(seeded)
    assert marks_of(seeded)[0] == ("C2", "C1", "true", "asked seed 2 left out; C1 unfinished", "1|2")


def test_a_grid_of_an_earlier_version_is_read_with_a_notice(grown: Grown, tmp_path: Path) -> None:
    grid = grown.copied("first", tmp_path)
    (grid / "question.json").unlink()
    for path in grid.glob("*__seed1/manifest.json"):
        manifest = json.loads(path.read_bytes())
        del manifest["question_sha256"]
        write_sealed(path, manifest)
    assert refresh_question(grid) is None
    write_results(grid)
    assert marks_of(grid) == [("C2", "C1", "unknown", "no question was fixed beforehand", "1")]
    assert {row["exploratory"] for row in rows_of(grid / "grid_metrics.csv")} == {"unknown"}
    assert "No question was fixed before the first sample" in (grid / "report.html").read_text("utf-8")
    verified = verify(grid)
    assert verified.failures == ()
    assert verified.exploratory == ("no question was fixed beforehand",)
    assert not (grid / "question.json").exists()


def test_a_run_killed_before_its_first_sample_may_ask_anew_and_one_with_samples_may_not(
    grown: Grown, tmp_path: Path
) -> None:
    path = write_experiment(tmp_path, experiment=EXPERIMENT)
    fix = (
        "import os, signal, sys\n"
        "from episodic_absa.runs.config.experiment_config import load_experiment\n"
        "from episodic_absa.runs.config.experiment_data import ExperimentData\n"
        "from episodic_absa.runs.fixed_question import fix_question\n"
        "config = load_experiment(sys.argv[1])\n"
        "fix_question(config, ExperimentData(config))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for pair in (["C2", "C1"], ["C2_silent", "C1"]):
        write_experiment(tmp_path, experiment={**EXPERIMENT, "comparisons": [pair]})
        killed = run_warm(["-c", fix, path], loads_engine=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        question = question_of(tmp_path / "results" / "grid")
        assert (question.asked.pairs, question.added) == ((tuple(pair),), ())
        assert [entry.name for entry in (tmp_path / "results" / "grid").iterdir()] == ["question.json"]
    assert question_of(grown.seeded).asked == question_of(grown.first).asked


def test_what_was_asked_is_told_from_what_was_added() -> None:
    asked = AskedQuestion(
        pairs=(("C2", "C1"),),
        primary_metric="tuple_f1_explicit",
        smallest_effect=0.01,
        sample_n=10,
        uids_sha256="",
        conditions=("C1", "C2"),
        orders=(1, 2),
        seeds=(42,),
        strata=("language",),
    )
    more = {"primary_metric": "exact_match", "orders": (1, 2, 3), "pairs": (("C1", "C2"), ("C2", "C3"))}
    question = Question(asked=asked).adding(asked.model_copy(update=more))
    assert question.pairs == (("C2", "C1"), ("C2", "C3"))
    assert question.adding(asked) is question
    for known in ({"pair": ("C1", "C2")}, {"metric": "tuple_f1_explicit"}, {"stratum": "language"}, {"order": 2}, {}):
        assert not is_exploratory(question, **known)
        assert is_exploratory(None, **known)
    for new in ({"pair": ("C2", "C3")}, {"metric": "exact_match"}, {"stratum": "risk"}, {"order": 3}, {"seed": 7}):
        assert is_exploratory(question, **new)

"""`analyze --engine ray` on a real cluster of this machine: the bytes of the local engine, also with lost workers."""

import contextlib
import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.ray.cluster_processes import kill_workers, wait_until_ended

from episodic_absa import Analyzer, SampleResult
from episodic_absa.backends.create_backend import backbone_from
from episodic_absa.batch import AnalysisFailure, EngineSettings
from episodic_absa.cli import main
from episodic_absa.conditions import load_condition
from episodic_absa.contrib.ray import ray_processes, worker_number
from episodic_absa.errors import BackendUnavailableError, ConfigError

# Ray warns of its own settings, and of files that it leaves to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TEXTS = (
    "The battery lasts long, but the screen is too dark.",
    "방은 깨끗했지만 직원이 불친절했어요",
    "",
    "\u200b",
    "The battery lasts long, but the screen is too dark.",
    "The soup was cold.",
    "분위기가 좋아요",
)


class Done:
    """What one command left behind."""

    def __init__(self, *arguments: object) -> None:
        out, err = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["episodic-absa", "analyze", *map(str, arguments)]
        self.code: Any = 0
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
        except SystemExit as end:
            self.code = end.code
        finally:
            sys.argv = before
        self.out, self.err = out.getvalue(), err.getvalue()


def shown(outcome: SampleResult | AnalysisFailure) -> Any:
    assert isinstance(outcome, SampleResult)
    return (outcome.sample.text, outcome.final_result, outcome.memory)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table of an old encoding and one with types."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";")
    writer.writerows([("id", "product", "후기"), *((n, "=1+1", review) for n, review in enumerate(TEXTS) if n != 3)])
    (tmp_path / "a.csv").write_bytes(text.getvalue().encode("cp949"))
    lines = [{"id": 1, "후기": TEXTS[0]}, {"id": 2.5, "tags": ["x", None], "후기": TEXTS[3]}, {"id": None, "후기": 7}]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "notes.md").write_text("not a table")
    return tmp_path


@pytest.mark.usefixtures("cluster")
def test_two_workers_give_the_bytes_of_one_machine(folder: Path) -> None:
    out = folder / "results"
    out.mkdir()
    here = [Done(folder / name, "--out", out / f"{name}.local.jsonl") for name in ("a.csv", "b.jsonl")]
    there = Done(folder, "--engine", "ray", "--processes", 2, "--out", out / "ray.jsonl")
    local = (out / "a.csv.local.jsonl").read_bytes() + (out / "b.jsonl.local.jsonl").read_bytes()
    assert (out / "ray.jsonl").read_bytes() == local
    assert [done.code for done in (*here, there)] == [0, 1, 1]  # an invisible character is no review; the rest goes on
    assert "9 rows: 6 analysed, 2 without text, 1 failed" in there.out
    assert "raylet" not in there.out
    assert "1 of 9 reviews: the review is empty" in there.err
    assert "encoded as cp949" in there.err
    assert {path.name for path in out.iterdir()} == {"a.csv.local.jsonl", "b.jsonl.local.jsonl", "ray.jsonl"}


@pytest.mark.usefixtures("cluster")
def test_reviews_of_killed_workers_are_analysed_again_with_the_memory_that_all_read(tmp_path: Path) -> None:
    texts = [f"{text} ({place})" for place in range(40) for text in (TEXTS[0], TEXTS[5])]
    with Analyzer(condition="C2", store=tmp_path / "store.sqlite") as learning:
        learning.analyze(TEXTS[0])
    with Analyzer(condition="C2_frozen", store=tmp_path / "store.sqlite") as analyzer:
        alone = list(analyzer.analyze_many(texts))
        with ray_processes(number=2) as processes:
            outcomes = analyzer.analyze_many(texts, processes=processes)
            first = next(outcomes)
            assert kill_workers() >= 1
            together = [first, *outcomes]
    assert [shown(outcome) for outcome in together] == [shown(outcome) for outcome in alone]
    wait_until_ended()


def test_a_cluster_that_is_too_small_is_refused(cluster: Any) -> None:
    assert worker_number(cluster) in (1, 2)
    with pytest.raises(ConfigError, match="the Ray cluster has 2; ask for at most 2"):
        worker_number(cluster, 3)


def test_a_worker_that_sees_another_store_reports_it_instead_of_results(cluster: Any, tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    settings = EngineSettings(backbone_from("embedded"), load_condition("C2_frozen"), None, None, 0, str(store))
    with ray_processes() as processes:
        worker = processes.start(settings)
        store.write_text("{}\n")
        del cluster
        with pytest.raises(BackendUnavailableError, match="the store of the memory is another one there"):
            worker.wait_until_ready()
        worker.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.csv", "--engine", "ray", "--json"), "--engine ray is for files; use --out or --summary"),
        (("a.csv", "--engine", "ray", "--condition", "C2"), "condition C2 writes a memory"),
        (("a.csv", "--engine", "ray", "--record", "r.jsonl"), "leave --record and a model behind a server"),
        (("a.csv", "--engine", "ray", "--backend", "openai:m"), "leave --record and a model behind a server"),
        (("a.csv", "--ray-address", "auto"), "--ray-address is for --engine ray"),
        (("Great food.", "--engine", "ray"), "--engine ray is for files; give a file"),
        (("*.parquet", "--engine", "ray"), "names no table"),
        ((".", "--engine", "ray", "--out", "b.jsonl"), "--out b.jsonl is b.jsonl, a file of the reviews"),
        ((".", "--engine", "ray", "--text-column", "tags"), "has no column 'tags'"),
    ],
)
def test_what_does_not_go_with_a_cluster_is_refused_before_it_is_started(
    arguments: tuple[str, ...], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    done = Done(*arguments)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert sorted(folder.iterdir()) == before

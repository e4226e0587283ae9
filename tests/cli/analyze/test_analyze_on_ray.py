"""`analyze --engine ray` on a real cluster of this machine: the bytes of the local engine, also with a lost worker.

One cluster serves all tests of this file; its start is most of their time.
"""

import contextlib
import csv
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra

from episodic_absa.cli import main
from episodic_absa.cli.analyze import cluster_run
from episodic_absa.cli.analyze.analysed_rows import Finding, finding_of
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.engines.ray_cluster import connect

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


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    require_extra("ray")
    with connect(None, feature="this test", num_cpus=2):
        yield


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
def test_two_workers_of_which_one_is_killed_give_the_bytes_of_one_machine(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, killed = folder / "results", folder / "results" / "killed"
    out.mkdir()
    here = [Done(folder / name, "--out", out / f"{name}.local.jsonl") for name in ("a.csv", "b.jsonl")]

    def finding_or_death(result: SampleResult) -> Finding:
        if "soup" in result.sample.text and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return finding_of(result)

    # The only way to end a worker in the middle of a task, whatever the speed of the machine.
    monkeypatch.setattr(cluster_run, "finding_of", finding_or_death)
    there = Done(folder, "--engine", "ray", "--processes", 2, "--out", out / "ray.jsonl")
    assert killed.exists()
    local = (out / "a.csv.local.jsonl").read_bytes() + (out / "b.jsonl.local.jsonl").read_bytes()
    assert (out / "ray.jsonl").read_bytes() == local
    assert [done.code for done in (*here, there)] == [0, 1, 1]  # an invisible character is no review; the rest goes on
    assert "9 rows: 6 analysed, 2 without text, 1 failed" in there.out
    assert "raylet" not in there.out
    assert "1 of 9 reviews: the review is empty" in there.err
    assert "encoded as cp949" in there.err
    assert {path.name for path in out.iterdir()} == {"a.csv.local.jsonl", "b.jsonl.local.jsonl", "ray.jsonl", "killed"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.csv", "--engine", "ray", "--json"), "--engine ray is for files; use --out or --summary"),
        (("a.csv", "--engine", "ray", "--condition", "C2"), "condition C2 writes a memory"),
        (("a.csv", "--engine", "ray", "--record", "r.jsonl"), "workers write no recording"),
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

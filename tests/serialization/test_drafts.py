"""Drafts of killed processes do not stay behind: they may hold reviews."""

import os
import subprocess
import sys
from pathlib import Path

from episodic_absa.serialization.csv_text import replace_file
from episodic_absa.serialization.durable_file import draft_of


def _ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_the_next_writer_removes_the_draft_of_a_killed_process_and_no_other(tmp_path: Path) -> None:
    page = tmp_path / "report[1].html"
    abandoned = tmp_path / f".report[1].html.{_ended_process()}.new"
    others = [
        tmp_path / f".report[1].html.{os.getppid()}.new",
        tmp_path / ".report[1].html.mine.new",
        tmp_path / f".other.html.{_ended_process()}.new",
    ]
    for draft in (abandoned, *others):
        draft.write_text("a review")
    replace_file(page, "new")
    assert page.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == sorted([page, *others])


def test_a_draft_lies_hidden_beside_its_file_and_names_its_process(tmp_path: Path) -> None:
    assert draft_of(tmp_path / "a.csv") == tmp_path / f".a.csv.{os.getpid()}.new"

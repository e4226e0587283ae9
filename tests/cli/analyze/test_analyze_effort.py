"""`analyze --effort`: what is asked, what the page says of it, and what is refused before anything is asked."""

from pathlib import Path

import pytest
from tests.cli.analyze.test_analyze import run_analyze

PLAIN = "The room was clean, but the breakfast was cold."


def test_an_adaptive_analysis_says_how_far_it_asked_and_why(tmp_path: Path) -> None:
    done = run_analyze(tmp_path, PLAIN, "--conditions", "v3_0", "--effort", "adaptive", "--explain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the reader alone: none of its pairs is in doubt" in done.stdout
    assert done.stdout.count("not asked") == 2
    assert "no model was asked" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--conditions", "v1_2", "--effort", "adaptive"), "effort: adaptive needs rules v3"),
        (("--conditions", "v3_0", "--condition", "one_call", "--effort", "full"), "one_call sets effort: one_call"),
        (("--effort", "half"), "'half'"),
    ],
)
def test_an_effort_that_cannot_be_obeyed_is_refused_before_anything_is_recorded(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = run_analyze(tmp_path, PLAIN, *arguments, "--record", tmp_path / "answers.jsonl")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert PLAIN not in done.stderr
    assert list(tmp_path.iterdir()) == []

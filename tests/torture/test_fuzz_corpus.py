"""The kept corpus, replayed: what fuzzing found once is not found again. And proof that findings are noticed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.torture.fuzzed_inputs import ROOT, row_of
from tests.torture.fuzzing.outcome import LostDataError, Target, examine
from tests.torture.fuzzing.targets import CORPUS, TARGETS, kept_inputs

from episodic_absa.errors import InputError


@pytest.mark.parametrize("name", dict.fromkeys((*TARGETS, "table_excel")))
def test_no_input_of_the_kept_corpus_shows_a_defect(name: str, tmp_path: Path) -> None:
    if name == "table_excel":
        require_extra("excel")
    target = TARGETS[name]
    inputs = kept_inputs(target) or {str(place): seed for place, seed in enumerate(target.seeds())}
    assert inputs
    assert {kept: examine(target, data, tmp_path) for kept, data in inputs.items()} == dict.fromkeys(inputs)


def test_every_folder_of_the_corpus_belongs_to_a_target_and_holds_small_files() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} <= {*TARGETS, "table_excel"}
    assert all(path.stat().st_size <= 20_000 for path in CORPUS.rglob("*") if path.is_file())


def _target(read: object) -> Target:
    return Target("made_up", read, inputs=1, leaves=frozenset({"data"}))  # type: ignore[arg-type]


def _quotes(data: bytes, _folder: Path) -> None:
    raise InputError(f"unknown word {data.decode()}", argument="word")


def _recurses(data: bytes, folder: Path) -> None:
    _recurses(data, folder)


def _loses(_data: bytes, _folder: Path) -> None:
    raise LostDataError("an episode is gone")


def _keeps_open(_data: bytes, folder: Path) -> None:
    os.open(folder / "data", os.O_CREAT | os.O_RDWR)


def _leaves_a_draft(_data: bytes, folder: Path) -> None:
    (folder / "data.new").touch()


@pytest.mark.parametrize(
    ("read", "data", "kind"),
    [
        (_quotes, b"x" * 211, "message"),
        (_quotes, bytes(range(65, 91)) * 100, "message"),
        (_recurses, b"", "RecursionError"),
        (_loses, b"", "lost"),
        (_keeps_open, b"", "leak"),
        (_leaves_a_draft, b"", "leak"),
        (lambda data, _folder: data.decode("ascii"), b"\xff", "UnicodeDecodeError"),
    ],
)
def test_an_outcome_that_is_not_permitted_is_a_finding(read: object, data: bytes, kind: str, tmp_path: Path) -> None:
    opened = set(os.listdir("/proc/self/fd"))
    finding = examine(_target(read), data, tmp_path)
    assert finding is not None
    assert finding.kind == kind
    assert list(tmp_path.iterdir()) == []
    for descriptor in set(os.listdir("/proc/self/fd")) - opened:
        if Path(f"/proc/self/fd/{descriptor}").exists():
            os.close(int(descriptor))


def test_a_short_message_of_an_own_error_is_permitted(tmp_path: Path) -> None:
    assert examine(_target(_quotes), b"x" * 200, tmp_path) is None


def test_without_atheris_hypothesis_fuzzes_the_same_targets_and_says_so(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['atheris'] = None\n"
        "from tests.torture.fuzzing.__main__ import main\n"
        "sys.exit(main(['answers', '--inputs', '60', '--keep', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    row = row_of(json.loads(done.stdout))
    assert row.passed
    assert row.trials >= 60
    assert "hypothesis" in row.note
    assert "atheris is not installed" in row.note

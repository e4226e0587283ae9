"""Every family of `make torture`, small enough for CI; and proof that the families see what they look for."""

import importlib
import json
from pathlib import Path

import pytest
from tests.torture.__main__ import main
from tests.torture.chance import chance_for
from tests.torture.damaged_files import cut, flipped, line_moved
from tests.torture.doomed import KILLED, Moment, run_doomed
from tests.torture.families import FAMILIES, present_families
from tests.torture.table import Row, print_table

SCALE = 0.02
FEWER = {"fuzzed_inputs": 0.005}  # at least 25 inputs for every reader; test_fuzz_corpus.py replays what was found


@pytest.mark.parametrize("family", present_families())
def test_a_small_share_of_every_family_loses_nothing(family: str) -> None:
    rows = list(importlib.import_module(f"tests.torture.{family}").rows(FEWER.get(family, SCALE)))
    assert rows
    assert [f"{row.name}: {row.verdict}. {row.note}" for row in rows if not row.passed] == []
    assert all(row.verdict == "0 acknowledged lost, 0 torn, resumed byte-identical" for row in rows)


def test_a_doomed_process_dies_before_inside_and_after_a_write(tmp_path: Path) -> None:
    program = tmp_path / "writes.py"
    program.write_text(
        "import os, sys\n"
        "file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)\n"
        "os.write(file, b'one '); os.write(file, b'two '); os.write(file, b'three')\n"
    )
    left = {}
    for when in ("before", "half", "after"):
        path = tmp_path / when
        assert run_doomed([program, path], *Moment(3, "write", when).options).returncode == KILLED
        left[when] = path.read_bytes()
    assert left == {"before": b"one ", "half": b"one tw", "after": b"one two "}


def test_damage_changes_lines_in_every_way() -> None:
    whole = b"".join(b'{"line":%d}\n' % number for number in range(3))
    chance = chance_for("damage")
    assert sum(a != b for a, b in zip(flipped(whole, chance), whole, strict=True)) == 1
    assert whole.startswith(cut(whole, chance))
    assert {line_moved(whole, chance) for _ in range(40)} - {whole}


def test_the_table_ends_every_row_with_its_verdict_and_marks_a_failed_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("kills", Row("writers", 1200, note="kill -9")), ("kills", Row("grids", 3, lost=1, differing=2))]
    print_table(rows)
    out = capsys.readouterr().out
    assert "  writers      1,200 trials  0 acknowledged lost, 0 torn, resumed byte-identical\n    kill -9\n" in out
    assert "! grids            3 trials  1 acknowledged lost, 0 torn, 2 resumed differently\n" in out
    assert out.endswith("1,203 trials in 2 rows; 1 rows failed\n")
    assert not Row("nothing was tried", 0).passed


def test_the_command_runs_a_family_prints_its_rows_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "rows.json"
    assert main(["--only", "cache_killed", "--scale", "0", "--seed", "4", "--json", str(written)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("seed 4, scale 0, 2 families at once: cache_killed\n")
    assert (
        "cache_killed: cache writers killed at random: 2 trials: 0 acknowledged lost, 0 torn, resumed byte-identical"
        in out
    )
    document = json.loads(written.read_text("utf-8"))
    assert [row["passed"] for row in document["rows"]] == [True]
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "no family nothing; there are grids_killed, " in capsys.readouterr().err
    assert set(present_families()) <= set(FAMILIES)

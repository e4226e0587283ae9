"""`--shard` and `join` on the command line: the files of one command, whichever machine did which share."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.extras import require_extra
from tests.runs.small_grid import exact_bytes, write_experiment

TEXTS = (
    "The room was clean.",
    "방이 깨끗했어요.",
    "",
    "The staff was rude, but the food was good.",
    "=1+1",
    "아쉬워요",
    "x",
)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_shards_of_a_file_join_to_what_one_command_writes(cli: Cli, tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "elsewhere"  # where commands run
    if ending == ".parquet":
        require_extra("parquet")
    with open(folder / "reviews.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("odd\nname", "review"), *((number, text) for number, text in enumerate(TEXTS))])
    assert cli("analyze", "reviews.csv", "--out", f"whole{ending}").returncode in (0, 1)
    parts = [f"part{number}{ending}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, start=1):
        assert cli("analyze", "reviews.csv", "--shard", f"{number}/3", "--out", part).returncode in (0, 1)
    done = cli("join", f"joined{ending}", *parts)
    assert done.returncode == 0, done.stderr
    if ending == ".parquet":
        import pyarrow.parquet as pq

        whole, joined = (pq.read_table(folder / f"{name}{ending}").to_pylist() for name in ("whole", "joined"))
        assert whole == joined
    else:
        assert (folder / f"joined{ending}").read_bytes() == (folder / f"whole{ending}").read_bytes()
    assert "exists already" in cli("join", f"joined{ending}", *parts).stderr


def test_a_grid_of_shards_is_joined_reported_and_verified(cli: Cli, tmp_path: Path) -> None:
    small: dict[str, Any] = {"experiment": {"conditions": ["C1"], "seeds": [1, 2]}, "data": {"limit": 3}}
    path = write_experiment(tmp_path / "study", **small, episodic_memory={"build": None})
    for number in (1, 2):
        done = cli("run", str(path), "--shard", f"{number}/2", "--out", str(tmp_path / f"shard{number}"))
        assert done.returncode == 0, done.stderr
        assert "3 of 3 samples are done and kept" in done.stderr
    shards = [str(tmp_path / f"shard{number}" / "grid") for number in (1, 2)]
    some = cli("join", str(path), shards[0])
    assert some.returncode == 1
    assert "1 cells are in no shard: C1__seed2" in some.stderr
    assert cli("join", str(path), shards[1]).returncode == 0
    out = path.parent / "results" / "grid"
    assert (out / "report.html").is_file()
    assert len(exact_bytes(out)) >= 8
    assert cli("verify", str(out)).returncode == 0
    again = cli("run", str(path), "--json")
    assert json.loads(again.stdout)["was_finished"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("analyze", "a.csv", "--shard", "3/2"), "give K/N"),
        (("analyze", "a.csv", "--shard", "1/2", "--condition", "C2"), "condition C2 writes a memory"),
        (("join", "all.csv", "a.csv", "b.jsonl"), "join needs files of one ending"),
        (("join", "all.csv", "a.csv", "c.csv"), "c.csv has other columns than a.csv"),
        (("join", "all.csv", "a.csv", "absent.csv"), "absent.csv: No such file"),
    ],
)
def test_what_does_not_join_is_refused(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    folder = tmp_path / "elsewhere"
    (folder / "a.csv").write_text("review\nThe room was clean.\n")
    (folder / "c.csv").write_text("text\nThe room was clean.\n")
    (folder / "b.jsonl").write_text("{}\n")
    done = cli(*arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (folder / "all.csv").exists()

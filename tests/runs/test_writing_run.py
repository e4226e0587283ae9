"""What a run holds on to while it writes, and what its evaluation counts."""

import csv
import fcntl
import json
from dataclasses import replace
from pathlib import Path

from tests.runs.small_grid import Around, run_here, write_experiment

from episodic_absa.backends.backend import Reply, Request


def is_free(lock: Path) -> bool:
    """Whether the lock can be taken; it is released again."""
    with open(lock, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


class TryLock(Around):
    """The embedded engine, which tries at each request to take the lock of a store."""

    def __init__(self, lock: Path) -> None:
        self._lock = lock
        super().__init__()
        self.was_free: list[bool] = []

    async def reply(self, request: Request) -> Reply:
        self.was_free.append(is_free(self._lock))
        return await super().reply(request)


def test_a_writing_run_holds_the_lock_of_its_store_from_the_first_request_to_the_last(tmp_path: Path) -> None:
    path = write_experiment(
        tmp_path, experiment={"conditions": ["C2"]}, episodic_memory={"build": None}, data={"limit": 4}
    )
    cell = tmp_path / "results" / "grid" / "C2__seed42"
    cell.mkdir(parents=True)
    engine = TryLock(cell / "episodic_store.jsonl.lock")
    run_here(path, engine)
    assert engine.was_free == [False] * 40
    assert is_free(cell / "episodic_store.jsonl.lock")


class Unjudged(Around):
    """The embedded engine without sentiments: every aspect becomes a neutral backfill."""

    async def reply(self, request: Request) -> Reply:
        reply = await super().reply(request)
        return reply if request.ask.role != "atsa" else replace(reply, text=json.dumps({"sentiments": []}))


def test_the_experiment_decides_whether_backfills_are_predictions(tmp_path: Path) -> None:
    recall = {}
    for counted in (False, True):
        path = write_experiment(tmp_path / str(counted), experiment={"conditions": ["C1"]})
        gold = path.parent / "data" / "valid.gold.jsonl"
        neutral = gold.read_text("utf-8").replace('"positive"', '"neutral"').replace('"negative"', '"neutral"')
        gold.write_text(neutral, "utf-8")
        document = json.loads(path.read_text("utf-8"))
        document["eval"]["count_backfilled"] = counted
        document["pipeline"] = {"enable_stage2": False}
        path.write_text(json.dumps(document), "utf-8")
        table = run_here(path, Unjudged()).out_dir / "C1__seed42" / "structural_metrics.csv"
        rows = {row["metric"]: row for row in csv.DictReader(table.read_text("utf-8").splitlines())}
        recall[counted] = float(rows["tuple_recall_explicit"]["value"])
    assert recall[False] == 0.0
    assert recall[True] > 0.5

"""What the evaluation of a run counts."""

import csv
import json
from dataclasses import replace
from pathlib import Path

from tests.runs.small_grid import Around, run_here, write_experiment

from episodic_absa.backends.backend import Reply, Request


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

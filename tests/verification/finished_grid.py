"""A small real grid: its config, its data and its results."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from episodic_absa.conditions import load_conditions
from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import load_experiment

DATA = Path(__file__).parents[2] / "experiments" / "data"
CHANGED = "valid-en-phone-2"
"""A review of which the second look of rules v3 drops a target."""
_CONFIG = """
run_id: small
data: {allowed_roots: [data], train_file: data/train.csv, valid_file: data/valid.csv, limit: 6}
eval: {gold_jsonl: data/valid.gold.jsonl}
episodic_memory: {conditions_path: conditions.yaml, build: {split: train, condition: C2_silent}}
experiment: {conditions: [C1, C2, C2_silent, C2_eval_only, C2_seed_rules], seeds: [42]}
"""


def lay_out(folder: Path, config: str = _CONFIG) -> Path:
    """Write a config, its conditions and its data: a part of train, and of valid more than the run takes."""
    shutil.copytree(DATA, folder / "data")
    for name, lines in (("train.csv", 26), ("valid.csv", 13)):
        head, *rows = (folder / "data" / name).read_text("utf-8").splitlines(keepends=True)
        changed = [row for row in rows if row.startswith(f"{CHANGED},")]
        others = [row for row in rows if row not in changed]
        whole = [head, *others[:5], *changed, *others[5:]]
        (folder / "data" / name).write_text("".join(whole[:lines]), "utf-8")
    uids = {row.partition(",")[0] for row in (folder / "data" / "valid.csv").read_text("utf-8").splitlines()}
    gold = (folder / "data" / "valid.gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in gold if json.loads(line)["uid"] in uids]
    (folder / "data" / "valid.gold.jsonl").write_text("".join(kept), "utf-8")
    (folder / "conditions.yaml").write_text(json.dumps(_both_rules()), "utf-8")  # JSON is YAML
    (folder / "small.yaml").write_text(config, "utf-8")
    return folder / "small.yaml"


def _both_rules() -> dict[str, Any]:
    """Return the default conditions and C2 under seed rules, which alone have override decisions."""
    document: dict[str, Any] = yaml.safe_load(load_conditions().path.read_text("utf-8"))
    conditions = document["conditions"]
    conditions["C2_seed_rules"] = {**conditions["C2"], "rules": "seed"}
    return document


def run_small_grid(folder: Path) -> Path:
    """Run the grid to its end in a folder, and return the folder with config, data and results."""
    asyncio.run(run_grid(load_experiment(lay_out(folder)), use_cache_file=False))
    return folder


def copy_of(finished: Path, folder: Path) -> Path:
    """Return the directory of a copied grid, to be damaged; its config and data lie where they should."""
    shutil.copytree(finished, folder / "copy")
    return folder / "copy" / "results" / "small"

"""Runs the study of docs/results.md on the embedded engine: what memory changes, beside its controls.

python benchmarks/memory_study.py --out FOLDER [--only mams_atsa] [--orders 5]

The reviews are test files of the public datasets, to be looked at once per release. The store of each file is built
from its dev file without gold. Every condition runs in every order; the run of each file is an ordinary experiment.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml
from model_study import FLAGS_FROZEN, FLAGS_OFF

from episodic_absa import Run, run_experiment

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from corpora import public_data

FILES: Final = ("mams_atsa", "mabsa_hotel_ko", "mabsa_phone_ko")
FLAGS_ON: Final = FLAGS_FROZEN | {"store_write": True}
CONDITIONS: Final[dict[str, dict[str, Any]]] = {
    "C1": FLAGS_OFF,
    "stage1_only": FLAGS_OFF | {"pipeline": {"effort": "stage1"}},
    "C2": FLAGS_ON,
    "C2_frozen": FLAGS_FROZEN,
    "C2_random": FLAGS_ON | {"advice": {"from": "random"}},
    "C2_placebo": FLAGS_ON | {"advice": {"from": "placebo"}},
    "C2_constant": FLAGS_ON | {"advice": {"from": "constant", "principle": "P-EVG-01"}},
    "reading": FLAGS_OFF | {"memory_mode": "silent", "retrieval_execute": True, "store_write": True},
}
COMPARISONS: Final = (
    ("C2_frozen", "C1"),
    ("C2", "C1"),
    ("C2_frozen", "C2_random"),
    ("C2_frozen", "C2_placebo"),
    ("C2_frozen", "C2_constant"),
    ("C1", "stage1_only"),
)
METRICS: Final = (
    "tuple_f1_explicit",
    "tuple_f1_explicit_micro",
    "tuple_precision_explicit_micro",
    "tuple_recall_explicit_micro",
)


def write_reviews(source: Path, target: Path) -> None:
    """Write the reviews of a file with their gold, as an experiment reads them."""
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    kept = [
        {"uid": row["uid"], "text": row["text"], "language_code": row["language"], "gold_tuples": row["gold_tuples"]}
        for row in rows
    ]
    target.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), "utf-8")


def run_file(out: Path, data: Path, name: str, orders: int) -> Run:
    """Run every condition in every order on the test reviews of a file."""
    conditions = {"version": "memory-study", "dangerous_advice": "block", "use_lexical": True, "conditions": CONDITIONS}
    folder = out / name
    write_reviews(data / f"{name}.dev.jsonl", folder / "data" / "dev.jsonl")
    write_reviews(data / f"{name}.test.jsonl", folder / "data" / "test.jsonl")
    (folder / "conditions.yaml").write_text(yaml.safe_dump(conditions, sort_keys=False), "utf-8")
    config = {
        "run_id": name,
        "out": "runs",
        "data": {
            "input_format": "jsonl",
            "allowed_roots": ["data"],
            "train_file": "data/dev.jsonl",
            "test_file": "data/test.jsonl",
            "process_split": "test",
        },
        "episodic_memory": {
            "conditions_path": "conditions.yaml",
            "build": {"split": "train", "condition": "reading"},
        },
        "experiment": {
            "conditions": [condition for condition in CONDITIONS if condition != "reading"],
            "orders": orders,
            "seeds": [42],
            "comparisons": [list(pair) for pair in COMPARISONS],
        },
        "cache": {"path": "runs/cache.sqlite"},
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    return run_experiment(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--only", choices=FILES, action="append")
    parser.add_argument("--orders", type=int, default=5)
    given = parser.parse_args()
    if not given.data.is_dir():
        parser.error(f"no data at {given.data}; see training/README.md for what is needed")
    for name in given.only or FILES:
        run = run_file(given.out, given.data, name, given.orders)
        values = {cell.condition: cell.metrics["tuple_f1_explicit_micro"] for cell in run.cells}
        print(f"{name}: micro F1 of C1 {values['C1']:.3f}")
        for a, b in COMPARISONS:
            comparison = run.compare(a, b)
            for metric in METRICS:
                row = comparison.of(metric)
                interval = "no review differs" if row.ci_low is None else f"[{row.ci_low:+.3f}, {row.ci_high:+.3f}]"
                print(f"  {a} - {b}: {metric} {row.difference:+.3f} {interval}, n = {row.n_uids}", flush=True)


if __name__ == "__main__":
    main()

"""Measures what showing the memory changes: one experiment that ends in a table and a figure. No key, no network.

python examples/ablation.py [FOLDER]
"""

import sys
from pathlib import Path

from episodic_absa import run_experiment
from episodic_absa.metrics.statistics import verdict_sentence

METRICS = ("tuple_f1_explicit", "tuple_precision_explicit", "tuple_recall_explicit")
DATA = Path(__file__).resolve().parents[1] / "experiments" / "data"
EXPERIMENT = f"""
run_id: ablation
out: .
data:
  allowed_roots: ["{DATA}"]
  train_file: "{DATA}/train.csv"
  valid_file: "{DATA}/valid.csv"
  limit: 24                    # a trial; the interval narrows with more reviews
eval: {{gold_jsonl: "{DATA}/valid.gold.jsonl"}}
episodic_memory:
  build: {{split: train, condition: C2_silent}}
experiment:
  conditions: [C1, C2_silent, C2]
  seeds: [42]
"""

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
folder.mkdir(parents=True, exist_ok=True)
experiment = folder / "ablation.yaml"
experiment.write_text(EXPERIMENT, encoding="utf-8")

run = run_experiment(experiment)
print("| condition | reviews |", " | ".join(METRICS), "|")
print("|---|---|" + "---|" * len(METRICS))
for cell in run.cells:
    scores = " | ".join(f"{cell.metrics[metric]:.3f}" for metric in METRICS)
    print(f"| {cell.condition} | {cell.samples} | {scores} |")
# C2_silent does everything except show the memory, so the second sentence is about showing it and nothing else.
for other in ("C1", "C2_silent"):
    print(verdict_sentence("C2", other, run.compare("C2", other).verdict()))
run.export(folder / "figures")
print(folder / "figures" / "difference_by_arm.svg")
print(run.report())

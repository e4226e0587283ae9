"""Measures what showing the memory changes: one experiment, two comparisons, one report. No key, no network."""

import sys
from pathlib import Path

from episodic_absa import run_experiment
from episodic_absa.metrics.statistics import claim_sentence

METRIC = "tuple_f1_explicit"
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
for cell in run.cells:
    print(cell.condition, f"{cell.samples} samples", f"{cell.metrics[METRIC]:.3f}", sep="\t")
# C2_silent does everything except show the memory, so the second sentence is about showing it and nothing else.
for other in ("C1", "C2_silent"):
    print(claim_sentence("C2", other, run.compare("C2", other).of(METRIC)))
print(run.report())

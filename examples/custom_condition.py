"""Defines a condition in a file: the debate may see the memory, Stage2 may not. No code has to know its name."""

import sys
from pathlib import Path

from episodic_absa import Analyzer

CONDITIONS = """
version: "my-1"
dangerous_advice: block
use_lexical: true
conditions:
  debate_only:
    memory_mode: "on"
    retrieval_execute: true
    injection_mask: false
    store_write: true
    exposed_to_debate: true
    exposed_to_stage2: false
aliases: {}
"""
REVIEWS = (
    "I don't think the curry is good.",
    "I can't say the service is friendly.",
)

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "memory")
folder.mkdir(parents=True, exist_ok=True)
conditions = folder / "my_conditions.yaml"
conditions.write_text(CONDITIONS, encoding="utf-8")

with Analyzer(condition="debate_only", conditions=conditions, store=folder / "debate_only.jsonl") as analyzer:
    for text in REVIEWS:
        memory = analyzer.analyze(text).memory
        seen_by = ", ".join(memory.memory_debate_slot_present_for) or "nobody"
        print(f"retrieved {memory.retrieved_k}", f"debate: {seen_by}", memory.stage2_injection_skip_reason, sep="\t")

"""What outputs, scorecards and traces record where memory is read and never shown."""

import json
from pathlib import Path
from typing import Any

from tests.runs.small_grid import run_here, write_experiment

from episodic_absa.memory import MemoryStore
from episodic_absa.runs.derived.derived_samples import OUTPUTS, SCORECARDS, TRACES
from episodic_absa.runs.run_directory import STORE


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_the_records_of_c3_prove_that_memory_was_read_and_not_shown(tmp_path: Path) -> None:
    config = run_here(write_experiment(tmp_path, experiment={"conditions": ["C3", "C2"]}, data={"limit": 8}))
    cell = config.out_dir / "C2_silent__seed42"
    outputs, cards, traces = (lines_of(cell / name) for name in (OUTPUTS, SCORECARDS, TRACES))
    assert len(outputs) == len(cards) == len(traces) == 8
    for output, card, trace in zip(outputs, cards, traces, strict=True):
        memory = output["meta"]["memory"]
        assert memory == card["memory"] == trace["memory"]
        assert (memory["condition"], memory["memory_mode"]) == ("C2_silent", "silent")
        assert memory["exposed_to_debate"] is memory["exposed_to_stage2"] is False
        assert memory["prompt_injection_chars"] == memory["stage2_memory_prompt_injection_chars"] == 0
        assert memory["memory_debate_slot_present_for"] == []
        assert not any(call["memory_slot_present"] for call in trace["calls"])
        assert memory["retrieval_calls"] == 1
        assert memory["retrieved_k"] == len(memory["retrieved_ids"])
        retrieval = trace["case_trace"]["retrieval"]
        assert retrieval["returned_ids"] == memory["retrieved_ids"]
        assert (retrieval["k"], retrieval["hit"]) == (memory["retrieved_k"], memory["retrieved_k"] > 0)

    retrieved = [card["memory"]["retrieved_ids"] for card in cards]
    assert any(retrieved)
    with MemoryStore(cell / STORE) as store:
        sources = [store.get(episode_id) for ids in retrieved for episode_id in ids]
    assert None not in sources
    shown = lines_of(config.out_dir / "C2__seed42" / SCORECARDS)
    # Before the first advice is shown both conditions have the same store, so the same episodes come back.
    first_shown = next(i for i, card in enumerate(shown) if card["memory"]["prompt_injection_chars"])
    assert retrieved[: first_shown + 1] == [card["memory"]["retrieved_ids"] for card in shown[: first_shown + 1]]

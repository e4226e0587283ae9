"""The keys of an experiment that steer the memory reach the prompts and the records."""

import json
from pathlib import Path
from typing import Any

from tests.runs.small_grid import Around, outputs_of, run_here, write_experiment

from episodic_absa.backends.backend import Reply, Request
from episodic_absa.runs.derived.derived_samples import TRACES


class ReadPrompts(Around):
    """The embedded engine, which keeps the keys of every prompt by role."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[tuple[str, list[str]]] = []

    async def reply(self, request: Request) -> Reply:
        self.keys.append((request.ask.role, list(json.loads(request.ask.prompt.user))))
        return await super().reply(request)


def run_with(folder: Path, **changes: Any) -> tuple[ReadPrompts, Path]:
    engine = ReadPrompts()
    config = run_here(
        write_experiment(folder, experiment={"conditions": ["C2_frozen"]}, data={"limit": 12}, **changes), engine
    )
    return engine, config.out_dir / "C2_frozen__seed42"


def test_slot_name_visibility_and_topk_of_the_file_are_obeyed(tmp_path: Path) -> None:
    engine, cell = run_with(
        tmp_path,
        io={"slot_memory_name": "MY_SLOT"},
        pipeline={"debate": {"memory_visible_to": ["tan"]}},
        episodic_memory={"conditions_path": "v1_3", "topk": 1},
    )
    assert {role for role, keys in engine.keys if "MY_SLOT" in keys} == {"tan"}
    assert not any("DEBATE_CONTEXT__MEMORY" in keys for _, keys in engine.keys)
    metas = [output["meta"]["memory"] for output in outputs_of(cell)]
    assert max(meta["retrieved_k"] for meta in metas) == 1
    assert {json.dumps(meta["memory_access_policy"]) for meta in metas} == {'{"debate": ["tan"]}'}
    for meta in metas:
        assert meta["memory_debate_slot_present_for"] == (["tan"] if meta["prompt_injection_chars"] else [])


def test_the_character_cap_of_the_file_is_obeyed_in_both_slots(tmp_path: Path) -> None:
    _, free = run_with(tmp_path / "free")
    shown = [output["meta"]["memory"]["prompt_injection_chars"] for output in outputs_of(free)]
    assert max(shown) > 900
    _, capped = run_with(tmp_path / "capped", pipeline={"memory_prompt_injection_chars_cap": 900})
    metas = [output["meta"]["memory"] for output in outputs_of(capped)]
    assert 0 < max(meta["prompt_injection_chars"] for meta in metas) <= 900
    assert 0 < max(meta["stage2_memory_prompt_injection_chars"] for meta in metas) <= 900
    _, closed = run_with(tmp_path / "closed", pipeline={"memory_prompt_injection_chars_cap": 0})
    calls = [json.loads(line)["calls"] for line in (closed / TRACES).read_text("utf-8").splitlines()]
    assert not any(call["memory_slot_present"] for sample in calls for call in sample)

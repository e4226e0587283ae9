"""What a condition may say about its advice, and which contradictions are refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from episodic_absa.conditions import load_condition
from episodic_absa.errors import ConfigError
from episodic_absa.schemas.overlays import AdviceOverlay
from episodic_absa.schemas.run import Condition

ON = {
    "memory_mode": "on",
    "retrieval_execute": True,
    "injection_mask": False,
    "store_write": True,
    "exposed_to_debate": True,
    "exposed_to_stage2": False,
    "rules": "v3",
}
SILENT = {**ON, "memory_mode": "silent", "injection_mask": True, "exposed_to_debate": False}


def load_arm(folder: Path, advice: Any, **flags: Any) -> Condition:
    """Return a condition with this overlay, read from a file."""
    conditions = {"arm": {**ON, **flags, "advice": advice}}
    document = {"version": "1", "dangerous_advice": "block", "use_lexical": True, "conditions": conditions}
    (folder / "arms.yaml").write_text(json.dumps(document), "utf-8")  # JSON is YAML
    return load_condition("arm", folder / "arms.yaml")


@pytest.mark.parametrize(
    "advice",
    [
        {},
        {"from": "random", "topk": 1},
        {"from": "donor", "store": "other/store.jsonl", "withhold": 0.25},
        {"from": "constant", "principle": "P-NEG-01"},
        {"from": "placebo", "match_chars": False},
        {"withhold": 1.0, "catalogue": "retired.yaml"},
    ],
)
def test_an_overlay_is_read_and_written_as_it_was_named(tmp_path: Path, advice: dict[str, Any]) -> None:
    condition = load_arm(tmp_path, advice)
    written = json.loads(condition.model_dump_json())
    assert written["advice"] == advice
    assert Condition.model_validate(written) == condition


@pytest.mark.parametrize(
    ("advice", "flags", "named"),
    [
        ({"source": "random"}, {}, r"unknown key conditions.arm.advice.source; a condition may set from, store"),
        ({"from": "oracle"}, {}, r"advice.from"),
        ({"withhold": 1.5}, {}, r"advice.withhold"),
        ({"withhold": True}, {}, r"advice.withhold"),
        ({"topk": 4}, {}, r"advice.topk"),
        ({"from": "constant", "principle": "NEG"}, {}, r"advice.principle"),
        ({"from": "donor"}, {}, r"advice.from: donor needs advice.store"),
        ({"from": "constant"}, {}, r"advice.from: constant needs advice.principle"),
        ({"from": "random", "store": "a.jsonl"}, {}, r"advice.store is for from: donor"),
        ({"principle": "P-NEG-01"}, {}, r"advice.principle is for from: constant"),
        ({"match_chars": True}, {}, r"advice.match_chars is for from: placebo"),
        ({"from": "placebo", "withhold": 0.5}, {}, r"advice.withhold leaves out principles"),
        ({"from": "constant", "principle": "P-NEG-01", "topk": 2}, {}, r"advice.topk has no effect"),
        ({"from": "random"}, SILENT, r"advice needs a condition that exposes memory"),
        ({"from": "random"}, {"pipeline": {"effort": "stage1"}}, r"effort: stage1 has neither"),
        ("random", {}, r"conditions.arm.advice must be a mapping"),
    ],
)
def test_unknown_keys_and_contradictions_are_refused_by_name(
    tmp_path: Path, advice: Any, flags: dict[str, Any], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        load_arm(tmp_path, advice, **flags)


def test_without_an_overlay_advice_is_retrieved_and_a_silent_condition_is_allowed() -> None:
    assert {load_condition(name).advice for name in ("C1", "C2", "C2_silent")} == {AdviceOverlay()}
    assert AdviceOverlay().source == "retrieved"

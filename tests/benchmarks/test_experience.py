"""The benchmark of experience statements: one hand-made store and run whose Brier scores are known."""

import copy
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from episodic_absa import MemoryStore

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import experience  # noqa: E402 - the folder is no package: it is run, not installed

BASE: dict[str, Any] = json.loads((ROOT / "tests" / "memory" / "episode.json").read_text(encoding="utf-8"))
SIGNATURE = {**BASE["input_signature"], "language": "en", "contrast_marker": None, "detected_structure": ["none"]}
OTHER = {**SIGNATURE, "detected_structure": ["negation"]}


def change(kind: str, outcome: str) -> dict[str, Any]:
    return {"adopted": True, "kind": kind, "outcome": outcome}


def write_store(path: Path, episodes: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]) -> Path:
    with MemoryStore(path) as store:
        for source, (signature, changes) in episodes.items():
            body = copy.deepcopy(BASE) | {"schema_version": "1.2", "input_signature": signature, "changes": changes}
            body["provenance"]["source_id"] = source
            body.pop("episode_id", None)
            store.append(body)
    return path


def write_cell(folder: Path, samples: dict[str, list[dict[str, Any]]]) -> Path:
    folder.mkdir()
    traces = [{"case_trace": {"case_id": uid, "input_signature": SIGNATURE}} for uid in samples]
    outputs = [{"uid": uid, "changes": changes} for uid, changes in samples.items()]
    for name, rows in (("traces.jsonl", traces), ("outputs.jsonl", outputs)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_brier_scores_are_those_of_hand_made_counts(tmp_path: Path) -> None:
    store = write_store(
        tmp_path / "store.jsonl",
        {
            "a": (SIGNATURE, [*[change("flip", "contradicted")] * 5, change("flip", "confirmed")]),
            "b": (OTHER, [*[change("flip", "confirmed")] * 3, change("drop", "confirmed"), change("flip", "open")]),
        },
    )
    cell = write_cell(
        tmp_path / "cell",
        {
            "a": [change("flip", "confirmed")],
            "c": [change("flip", "contradicted"), change("flip", "open"), change("drop", "confirmed")],
            "d": [change("flip", "confirmed")],
        },
    )
    latest = tmp_path / "latest.json"
    latest.write_text('{"memory": 1}')
    command = ["--store", str(store), "--run", str(cell), "--name", "own", "--latest", str(latest)]
    assert experience.main(command) == 0
    written = json.loads(latest.read_text())
    figures = written["experience"]["own"]
    assert written["memory"] == 1
    assert figures["skipped"] == {"in_store": 1, "no_experience": 1, "open": 1}
    # Experience says (1 + 1) / (6 + 2), the language (5 + 1) / (10 + 2), the kind (4 + 1) / (9 + 2).
    brier = figures["all"]
    assert (brier["n"], brier["samples"]) == (2, 2)
    assert brier["brier_experience"] == pytest.approx((0.25**2 + 0.75**2) / 2, abs=1e-4)
    assert brier["brier_base"] == pytest.approx(0.25, abs=1e-4)
    assert brier["brier_base_of_kind"] == pytest.approx(((5 / 11) ** 2 + (6 / 11) ** 2) / 2, abs=1e-4)
    assert brier["minus_base"] == {"mean": 0.0625, "interval": None}
    assert [(row["bin"], row["n"], row["share_confirmed"]) for row in figures["reliability"]] == [("0.25-0.50", 2, 0.5)]


def test_the_interval_is_drawn_over_samples_and_not_over_changes() -> None:
    differences = np.array([-0.2, 0.2] * 20)
    by_sample = experience.difference([f"s{place // 2}" for place in range(40)], differences)
    by_change = experience.difference([f"s{place}" for place in range(40)], differences)
    assert by_sample == {"mean": 0.0, "interval": [0.0, 0.0]}
    assert by_change["interval"] == pytest.approx([-1.96 * 0.2 / 40**0.5, 1.96 * 0.2 / 40**0.5], abs=0.01)


def test_a_missing_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = write_store(tmp_path / "store.jsonl", {})
    store.touch()
    assert experience.main(["--store", str(store), "--run", str(tmp_path / "none")]) == 1
    assert "outputs.jsonl" in capsys.readouterr().out

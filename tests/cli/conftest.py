"""Real stores, made with the library, and the real command, run in a process of its own."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.warm_python import plain_environment, run_warm

from episodic_absa.memory import MemoryStore, load_catalogue
from episodic_absa.vocabulary import ActionTaken, EpisodeType, Language, RiskId, Structure

Cli = Callable[..., subprocess.CompletedProcess[str]]
MakeStore = Callable[..., Path]
MakeEpisode = Callable[..., dict[str, Any]]


def _episode(
    *,
    language: Language = "ko",
    structures: Sequence[Structure] = ("negation",),
    risk: RiskId = "NEGATION_SCOPE",
    before: int = 3,
    after: int = 0,
    action: ActionTaken = "polarity_flip",
    outcome: EpisodeType = "success",
    source_id: str = "toy-0001",
    aspects: Sequence[str] = ("배송",),
    marker: str | None = None,
) -> dict[str, Any]:
    """Make an episode that the store accepts, told in the words that differ between tests."""
    principle = load_catalogue().lookup(risk, action, outcome)
    polarity_after = "positive" if action == "polarity_flip" else "negative"
    return {
        "outcome": {"by": "risk", "value": outcome},
        "error_category": ["negation"],
        "risk_type": "L3",
        "action_taken": action,
        "input_signature": {
            "language": language,
            "detected_structure": list(structures),
            "contrast_marker": marker,
            "has_negation": None if language == "other" else "negation" in structures,
            "num_aspects": len(aspects),
            "length_bucket": "short",
        },
        "case_summary": {
            "target_aspect_type": aspects[0] or "implicit",
            "symptom": f"risks={risk}; structure={','.join(sorted(structures))}; max_severity=high",
            "rationale_summary": f"proposals=FLIP_POLARITY; action={action}; adopt=risk_resolved",
        },
        "stage_snapshot": {
            "stage1": {
                "aspects_norm": list(aspects),
                "polarities": dict.fromkeys(aspects, "negative"),
                "confidence": 0.61,
            },
            "final": {
                "aspects_norm": list(aspects),
                "polarities": dict.fromkeys(aspects, polarity_after),
                "confidence": 0.78,
            },
        },
        "correction": {
            "corrective_principle": principle.text_en,
            "applicable_conditions": [f"language={language}", f"structure={structures[0]}", f"risk={risk}"],
            "principle_id": principle.principle_id,
            "anti_pattern": principle.anti_pattern_en,
        },
        "evaluation": {
            "risk_before": {"severity_sum": before, "tags": [risk] if before else []},
            "risk_after": {"severity_sum": after, "tags": [risk] if after else []},
            "override_applied": action == "polarity_flip",
            "override_success": outcome == "success",
            "override_harm": outcome == "harm",
        },
        "outcome_delta": {"conflict_resolved": None, "delta_risk": after - before},
        "provenance": {
            "source_id": source_id,
            "created_from_split": "train",
            "used_in_eval": False,
            "sample_index": 0,
            "seed": 7,
        },
    }


@pytest.fixture
def make_episode() -> MakeEpisode:
    return _episode


@pytest.fixture
def make_store(tmp_path: Path) -> MakeStore:
    """Write a store: so many plain episodes, or the ones given."""

    def make(*episodes: Mapping[str, Any], plain: int = 0, path: Path | None = None) -> Path:
        path = path or tmp_path / "store.jsonl"
        with MemoryStore(path) as store:
            for episode in episodes:
                store.append(episode)
            for number in range(plain):
                store.append(_episode(source_id=f"toy-{number + 1:04d}"))
        return path

    return make


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run `python -m episodic_absa` in an empty working directory, without a terminal.

    An interpreter that is told something by its environment starts cold; the others are warm.
    """
    directory = tmp_path / "elsewhere"
    directory.mkdir()

    def run(*arguments: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = ["-m", "episodic_absa", *map(str, arguments)]
        environment = plain_environment() | dict(env or {})
        if not any(name.startswith("PYTHON") for name in env or ()):
            return run_warm(
                command,
                cwd=directory,
                env=environment,
                loads_engine=bool({"analyze", "drill", "plan", "run"} & set(command)),
            )
        return subprocess.run(
            [sys.executable, *command],
            cwd=directory,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    return run

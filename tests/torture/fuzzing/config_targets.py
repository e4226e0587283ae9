"""Targets: the YAML files that a user writes, and recordings."""

from pathlib import Path
from typing import Final

from tests.torture.fuzzing.outcome import Target

from episodic_absa.backends.replay import ReplayReplier
from episodic_absa.conditions import load_conditions
from episodic_absa.memory.advice.principles import load_catalogue
from episodic_absa.runs.config import load_experiment
from episodic_absa.serialization.canonical_json import canonical_json


def _read_config(data: bytes, folder: Path) -> None:
    path = folder / "study.yaml"
    path.write_bytes(data)
    config = load_experiment(path)
    names = {condition.name for condition in config.conditions}
    assert all(names.issuperset(pair) for pair in config.comparisons), "a comparison names a condition that is not run"
    canonical_json(config.file.model_dump(mode="json")).encode("utf-8")


def _read_conditions(data: bytes, folder: Path) -> None:
    path = folder / "conditions.yaml"
    path.write_bytes(data)
    conditions = load_conditions(path)
    for name in (*conditions.conditions, *conditions.aliases):
        canonical_json(conditions.resolve(name)).encode("utf-8")


def _read_catalogue(data: bytes, folder: Path) -> None:
    path = folder / "principles.yaml"
    path.write_bytes(data)
    for principle in load_catalogue(path):
        principle.model_dump_json().encode("utf-8")


def _read_recording(data: bytes, folder: Path) -> None:
    path = folder / "recording.jsonl"
    path.write_bytes(data)
    ReplayReplier(path)


CONFIG_TARGETS: Final = (
    Target("config", _read_config, inputs=20_000, leaves=frozenset({"study.yaml"})),
    Target("conditions", _read_conditions, inputs=10_000, leaves=frozenset({"conditions.yaml"})),
    Target("catalogue", _read_catalogue, inputs=10_000, leaves=frozenset({"principles.yaml"})),
    Target("recording", _read_recording, inputs=10_000, leaves=frozenset({"recording.jsonl"})),
)

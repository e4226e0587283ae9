"""The hash that names a cell's configuration, and the hashes of the files that results depend on."""

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from episodic_absa.backends.provider_facts import reader_fingerprint, shipped_fingerprint
from episodic_absa.errors import ConfigError
from episodic_absa.language import lexicon_sha256
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.placebo import placebo_sha256
from episodic_absa.pipeline.decision.weights import decision_sha256
from episodic_absa.pipeline.gate_reading import gate_rules_sha256
from episodic_absa.pipeline.prompt_files import prompt_versions
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.store.open_store import store_sha256
from episodic_absa.vocabulary import ProcessSplit

_NOT_HASHED: Final = ("out", "run_purpose", "eval", "memory")
_EXPERIMENT_NOT_HASHED: Final = (
    "conditions",
    "orders",
    "seeds",
    "comparisons",
    "primary_metric",
    "smallest_effect",
    "strata",
    "concurrency",
    "speculate",
    "speculate_ahead",
    "max_failures",
)


def cell_config(config: ExperimentConfig, cell: Cell) -> dict[str, Any]:
    """Return the resolved configuration of one cell."""
    resolved = config.file.model_dump(mode="json")
    resolved["episodic_memory"]["condition"] = cell.condition.name
    resolved["experiment"]["order"] = cell.order
    resolved["experiment"]["seed"] = cell.seed
    resolved["memory"] = None
    return resolved


def cfg_hash(
    config: ExperimentConfig, cell: Cell, data_sha256: Mapping[ProcessSplit, str], start_store_sha256: str | None
) -> str:
    """Return the hash over everything that may change a result of the cell."""
    hashed = hashed_settings(cell_config(config, cell))
    if config.file.eval.aspect_column is not None:
        # They decide which rows are one sample. Other gold changes no result.
        hashed["pair_columns"] = [config.file.eval.aspect_column, config.file.eval.polarity_column]
    hashed["cell"] = {"split": cell.split, "is_build": cell.is_build}
    hashed["hashes"] = {
        **resource_hashes(config, cell.condition),
        "data": dict(data_sha256),
        "start_store": start_store_sha256,
        "package_version": version("episodic-absa"),
    }
    return hashlib.sha256(canonical_json(hashed).encode()).hexdigest()


def hashed_settings(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a cell's configuration that decides its results."""
    hashed = {key: value for key, value in resolved.items() if key not in _NOT_HASHED}
    for block, kept in (("experiment", _without_pace), ("cache", _share_only)):
        if block in resolved:
            hashed[block] = kept(resolved[block])
    if not resolved.get("episodic_memory", {}).get("referee"):
        # Without a referee a cell is the same as before there was one.
        hashed["episodic_memory"] = {
            key: value for key, value in resolved["episodic_memory"].items() if key != "referee"
        }
    return hashed


def _without_pace(experiment: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in experiment.items() if key not in _EXPERIMENT_NOT_HASHED}
    if not kept.get("order") or kept.get("shuffle"):
        # The order of the file, or the one that the seed sets: such a cell is the same as in version 0.1.
        kept.pop("order", None)
    return kept


def _share_only(cache: Mapping[str, Any]) -> dict[str, Any]:
    return {"share": cache["share"]}


def resource_hashes(config: ExperimentConfig, condition: Condition) -> dict[str, Any]:
    """Return the hashes of the files, other than data, that results under this condition depend on."""
    recording, allowlist = config.file.backbone.recording, config.file.pipeline.stage1.allowlist
    return {
        "allowlist_sha256": sha256_of(config.resolve(allowlist)) if allowlist else None,
        "prompts": prompt_versions(condition.rules),
        "lexicon_sha256": lexicon_sha256(),
        "catalogue_sha256": load_catalogue().sha256,
        "conditions_sha256": config.conditions_file.sha256,
        "recording_sha256": sha256_of(config.resolve(recording)) if recording else None,
        "weights_sha256": shipped_fingerprint(config.file.backbone),
        **decision_hashes(config.file.pipeline, condition, weights=_weights(config)),
        **advice_hashes(config, condition),
    }


def _weights(config: ExperimentConfig) -> Path | None:
    named = config.file.pipeline.decision_weights
    return None if named is None else config.resolve(named)


def decision_hashes(pipeline: PipelineSettings, condition: Condition, *, weights: Path | None = None) -> dict[str, str]:
    """Return the hashes of what rules v3 add: weights, gates, texts of principles and, if it is heard, the reader.

    The keys are those of the manifest. Seed rules depend on none of them.

    Raises:
        ConfigError: the settings and the condition contradict each other, or the weights cannot be read.
    """
    wording = load_catalogue().v3_sha256
    if not condition.decides_changes or wording is None:
        return {}
    reader = {"reader_sha256": reader_fingerprint()} if pipeline.under(condition).reader else {}
    return {
        "decision_sha256": decision_sha256(weights),
        "gates_sha256": gate_rules_sha256(),
        "wording_sha256": wording,
        **reader,
    }


def advice_hashes(config: ExperimentConfig, condition: Condition) -> dict[str, str]:
    """Return the hashes of the files that the condition's `advice` reads; the keys are those of the manifest.

    Raises:
        ConfigError: a file cannot be read.
    """
    overlay = condition.advice
    hashes = {}
    if overlay.store is not None:
        hashes["donor_store_sha256"] = store_sha256(config.resolve(overlay.store))
    if overlay.catalogue is not None:
        hashes["catalogue_overlay_sha256"] = sha256_of(config.resolve(overlay.catalogue))
    return hashes | ({"placebo_sha256": placebo_sha256()} if overlay.source == "placebo" else {})


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error

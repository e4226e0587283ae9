"""The hash that names a cell's configuration, and the hashes of the files that results depend on."""

import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from episodic_absa.backends.provider_facts import reader_fingerprint, shipped_fingerprint
from episodic_absa.errors import ConfigError
from episodic_absa.language import lexicon_sha256
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.placebo import placebo_sha256
from episodic_absa.pipeline.decision.weights import decision_sha256
from episodic_absa.pipeline.gate_reading import gate_rules_sha256
from episodic_absa.pipeline.prompt_files import prompt_versions
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.experiment_config import ExperimentConfig, ExperimentFile
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.quoted_value import reasons_of
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


_KEYS_SHOWN: Final = 5
_FILES: Final = {
    "package_version": "the version of episodic-absa",
    "prompt_versions": "the prompts",
    "lexicon_sha256": "the lexicon",
    "catalogue_sha256": "the catalogue",
    "wording_sha256": "the texts of principles under rules v3",
    "allowlist_sha256": "the allowlist",
    "recording_sha256": "the recording",
    "weights_sha256": "the weights of the engine",
    "start_store_sha256": "the store that the cell starts from",
}
_FILES_OF_MEMORY: Final = {
    "donor_store_sha256": "the donor's store",
    "catalogue_overlay_sha256": "the retired principles",
    "placebo_sha256": "the placebo texts",
}
"""Fields of a manifest that may differ beside the settings, in words."""
_VALUE_CHARS: Final = 60


def differing_settings(known: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return `key (was A, now B)` for every setting that decides results and differs.

    Args:
        known: the recorded configuration of a cell, `Manifest.cfg_canonical`.
        now: its present configuration.

    Example:
        >>> differing_settings({"backbone": {"model": "a", "seed": 1}}, {"backbone": {"model": "b", "seed": 1}})
        ("backbone.model (was 'a', now 'b')",)
    """
    before, after = _flat(hashed_settings(known)), _flat(hashed_settings(now))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    newer = [key for key in keys if not _is_recorded(key, before)]
    version = (f"the version of episodic-absa (the run's has no {', '.join(newer)})",) if newer else ()
    changed = [key for key in keys if key not in newer]
    return (*version, *(f"{key} (was {_shown(before.get(key))}, now {_shown(after.get(key))})" for key in changed))


def differences_text(known: Manifest, now: Manifest) -> str:
    """Return what differs between two manifests of a cell, in words for a message."""
    return shown_differences(
        [*differing_settings(known.cfg_canonical, now.cfg_canonical), *_differing_files(known, now)]
    )


def shown_differences(differences: Sequence[str]) -> str:
    """Return the first differences in one line, and how many more there are."""
    more = f" and {len(differences) - _KEYS_SHOWN} more" if len(differences) > _KEYS_SHOWN else ""
    return "; ".join(differences[:_KEYS_SHOWN]) + more


def _differing_files(known: Manifest, now: Manifest) -> list[str]:
    """Return what differs beside the settings: files that they name, and what the package ships."""
    before, after = known.episodic_memory, now.episodic_memory
    of_data, of_conditions = (
        (known.dataset.sha256, now.dataset.sha256),
        (known.conditions.sha256, now.conditions.sha256),
    )
    compared: list[tuple[str, object, object]] = [
        ("the content of the data files", *of_data),
        *((words, getattr(known, name), getattr(now, name)) for name, words in _FILES.items()),
        ("the conditions file", *of_conditions),
        *((words, getattr(before, name), getattr(after, name)) for name, words in _FILES_OF_MEMORY.items()),
    ]
    return [words for words, was, value in compared if was != value]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        flat |= _flat(inner, f"{prefix}{key}.") if isinstance(inner, Mapping) else {f"{prefix}{key}": inner}
    return flat


def _is_recorded(key: str, recorded: Mapping[str, Any]) -> bool:
    """Return whether the key or a block that holds it is recorded: a block may be null."""
    names = key.split(".")
    return any(".".join(names[:length]) in recorded for length in range(1, len(names) + 1))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}…"


def recorded_experiment(manifest: Manifest) -> ExperimentFile:
    """Return the experiment file that a cell was run with; the cell's order and seed stand in the manifest.

    Raises:
        ValidationError: this version of the package cannot read the configuration.
    """
    recorded = manifest.cfg_canonical
    experiment = {key: value for key, value in recorded["experiment"].items() if key not in ("order", "seed")}
    return ExperimentFile.model_validate({**recorded, "experiment": experiment})


def recorded_problem(manifest: Manifest) -> str:
    """Return why the recorded configuration cannot be read, an empty text if it can."""
    try:
        recorded_experiment(manifest)
    except ValidationError as error:
        return f"cfg_canonical: {reasons_of(error)}"
    return ""


_TIMEOUT_S: Final = 5


@cache
def source_commit() -> str | None:
    """Return the commit, followed by `-dirty` if files changed since; None for an installed package."""
    return commit_of(Path(str(files("episodic_absa"))).parents[1])


def commit_of(checkout: Path) -> str | None:
    """Return the commit of a checkout; None if the directory is no checkout or git is not installed."""
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return None
    command = [git, "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)  # noqa: S603 - git, on our own checkout
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() or None

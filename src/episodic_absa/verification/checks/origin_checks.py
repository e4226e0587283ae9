"""Checks of a cell's origin: data, configuration and resources are those of the run, if they are within reach."""

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, get_args

from episodic_absa.conditions import ConditionsVersion, load_conditions
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.language import effective_language
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.cfg_hash import cfg_hash, recorded_experiment, resource_hashes
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError


def check_cfg_hash(cell: CellFiles) -> Findings:
    """The hash that names the configuration follows from the manifest and the files it names."""
    _require_same_package(cell.known_manifest)
    config, ours, data = _as_run(cell)
    try:
        computed = cfg_hash(config, ours, data.hashes, cell.known_manifest.start_store_sha256)
    except EpisodicAbsaError:
        yield "a file that the configuration in the manifest names cannot be read"
        return
    same = computed == cell.known_manifest.cfg_hash
    yield None if same else "cfg_hash does not follow from the configuration in the manifest"


def check_data_hashes(cell: CellFiles) -> Findings:
    """The data and gold files are those of the run."""
    dataset, gold = cell.known_manifest.dataset, cell.known_manifest.gold
    named = [(f"{split} file", path, dataset.sha256[split]) for split, path in dataset.paths.items()]
    named += [("gold file", gold.path, gold.sha256)] if gold is not None else []
    for name, path, sha256 in named:
        place = cell.resolve(path)
        if place is None or not place.is_file():
            yield f"the {name} does not lie where the manifest says"
        else:
            same = hashlib.sha256(place.read_bytes()).hexdigest() == sha256
            yield None if same else f"the {name} is not the one of the run"


def check_resources(cell: CellFiles) -> Findings:
    """Prompts, lexicon, catalogue, conditions, engine and all else that decides results are those of the run."""
    manifest = cell.known_manifest
    _require_same_package(manifest)
    config, _, _ = _as_run(cell)
    recorded: dict[str, Any] = {
        **dict(manifest),
        **dict(manifest.episodic_memory),
        "prompts": manifest.prompt_versions,
        "conditions_sha256": manifest.conditions.sha256,
    }
    try:
        hashes = resource_hashes(config, manifest.condition)
        flags = config.conditions_file.resolve(manifest.conditions.condition)
    except EpisodicAbsaError as error:
        yield f"what the run depends on cannot be read any more: {error}"
        return
    for name, sha256 in hashes.items():
        same = recorded[name] == sha256
        yield None if same else f"{name.removesuffix('_sha256').replace('_', ' ')}: not as in the run"
    yield None if flags == manifest.condition else f"{flags.name} has other flags in the conditions file"


def check_samples(cell: CellFiles) -> Findings:
    """The samples are those of the data, in the cell's order, and complete where the cell is finished."""
    manifest = cell.known_manifest
    _, ours, data = _as_run(cell)
    counts = {split: len(samples) for split, samples in data.splits.items()}
    yield None if manifest.dataset.split_counts == counts else "split_counts are not those of the data"
    yield None if manifest.majority == data.majority else "majority is not that of the gold"
    uids = [record.uid for record in cell.records]
    labelled = data.samples_of(ours)[: None if manifest.completed else len(uids)]
    is_same = uids == [labelled_sample.sample.uid for labelled_sample in labelled]
    yield None if is_same else "the samples are not those of the data, in order"
    for labelled_sample, record in zip(labelled, cell.records, strict=False):
        sample, source = labelled_sample.sample, record.input
        language = effective_language(sample.language_code, sample.text)
        meant = (language, sample.split, sample.domain_id, sample.case_type)
        is_same = (source.language, source.split, source.domain_id, source.case_type) == meant
        yield None if is_same else f"{sample.uid}: language, split, domain or case_type is not that of the data"


ORIGIN_CHECKS: Final[Mapping[str, Check]] = {
    "cfg_hash": check_cfg_hash,
    "data_hashes": check_data_hashes,
    "resources": check_resources,
    "samples": check_samples,
}


def _require_same_package(manifest: Manifest) -> None:
    if manifest.package_version != version("episodic-absa"):
        raise NotApplicableError(
            f"the run is of version {manifest.package_version}, installed is {version('episodic-absa')}"
        )


def _as_run(cell: CellFiles) -> tuple[ExperimentConfig, Cell, ExperimentData]:
    """Return the config, cell and data of the run, from the manifest: the config file may have changed since."""
    manifest, root = cell.known_manifest, cell.config_root
    if root is None:
        raise NotApplicableError("the config file is not reachable from here")
    conditions = manifest.conditions_source
    try:
        config = ExperimentConfig(
            path=root / manifest.config_path,
            file=recorded_experiment(manifest),
            conditions_file=load_conditions(
                conditions if conditions in get_args(ConditionsVersion) else root / Path(conditions)
            ),
            conditions=(manifest.condition,),
            build_condition=None,
        )
        data = ExperimentData(config)
    except EpisodicAbsaError as error:
        raise NotApplicableError("the data or the conditions file of the run cannot be read any more") from error
    ours = Cell(
        cell.path.name,
        manifest.condition,
        *manifest.repetition,
        manifest.dataset.processing_split,
        is_build=manifest.is_build,
        path=cell.path,
        store=cell.store_path if manifest.needs_store else None,
    )
    return config, ours, data

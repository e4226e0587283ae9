"""Checks of a cell's origin: hashes, conditions and samples, as far as the files are within reach."""

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, get_args

from episodic_absa.backends.provider_facts import facts_of, shipped_fingerprint
from episodic_absa.conditions import ConditionsVersion, load_conditions
from episodic_absa.errors import ConfigError, EpisodicAbsaError
from episodic_absa.language import effective_language, lexicon_sha256
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.advice.placebo import placebo_sha256
from episodic_absa.pipeline.prompt_files import prompt_versions
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.config.cfg_hash import cfg_hash, decision_hashes
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.config.recorded_experiment import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError
from episodic_absa.verification.checks.majority_checks import majority_problem


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
    """The data, gold, recording and advice files are those of the run."""
    manifest = cell.known_manifest
    hashes = manifest.dataset.sha256
    named = [(f"{split} file", path, hashes.get(split)) for split, path in manifest.dataset.paths.items()]
    if manifest.gold is not None:
        named.append(("gold file", manifest.gold.path, manifest.gold.sha256))
    recording = recorded_experiment(manifest).backbone.recording
    if recording is not None:
        named.append(("recording", recording, manifest.recording_sha256))
    advice, memory = manifest.condition.advice, manifest.episodic_memory
    if advice.store is not None:
        named.append(("donor's store", advice.store, memory.donor_store_sha256))
    if advice.catalogue is not None:
        named.append(("catalogue overlay", advice.catalogue, memory.catalogue_overlay_sha256))
    reached = [(name, place, sha256) for name, path, sha256 in named if (place := cell.resolve(path)) is not None]
    if not reached:
        raise NotApplicableError("the config file is not reachable from here, nor are the files it names")
    for name, path, sha256 in reached:
        if not path.is_file():
            yield f"the {name} does not lie where the manifest says"
        else:
            same = hashlib.sha256(path.read_bytes()).hexdigest() == sha256
            yield None if same else f"the {name} is not the one of the run"


def check_package_hashes(cell: CellFiles) -> Findings:
    """Prompts, lexicon, catalogue, embedded engine, adoption table and reader are those of the run."""
    manifest = cell.known_manifest
    _require_same_package(manifest)
    prompts = prompt_versions(manifest.condition.rules)
    for name in sorted(prompts.keys() | manifest.prompt_versions.keys()):
        same = prompts.get(name) == manifest.prompt_versions.get(name)
        yield None if same else f"the prompt {name} is not the one of the run"
    yield None if lexicon_sha256() == manifest.lexicon_sha256 else "the lexicon is not the one of the run"
    yield None if load_catalogue().sha256 == manifest.catalogue_sha256 else "the catalogue is not the one of the run"
    if manifest.weights_sha256 is not None:
        shipped = shipped_fingerprint(recorded_experiment(manifest).backbone)
        yield None if shipped == manifest.weights_sha256 else "the embedded engine is not that of the run"
    placebo = manifest.episodic_memory.placebo_sha256
    if placebo is not None:
        yield None if placebo_sha256() == placebo else "the placebo texts are not those of the run"
    yield from _decision_findings(manifest)


def check_conditions(cell: CellFiles) -> Findings:
    """The conditions file is that of the run, and gives the condition these flags."""
    manifest = cell.known_manifest
    try:
        known = load_conditions(_conditions_source(cell))
        flags = known.resolve(manifest.conditions.condition)
    except EpisodicAbsaError:
        yield "the conditions file cannot be read, or does not know the condition"
        return
    yield None if known.sha256 == manifest.conditions.sha256 else "the conditions file is not the one of the run"
    yield None if flags == manifest.condition else f"{flags.name} has other flags in the conditions file"


def check_manifest_agrees(cell: CellFiles) -> Findings:
    """The manifest agrees with the configuration that it records."""
    manifest = cell.known_manifest
    config = recorded_experiment(manifest)
    backbone, pipeline, block = config.backbone, config.pipeline, config.episodic_memory
    compared: dict[str, tuple[Any, Any]] = {
        "run_id": (manifest.run_id, config.run_id),
        "run_purpose": (manifest.run_purpose, config.run_purpose),
        "seed": (manifest.seed, manifest.config.experiment.seed),
        "order": (manifest.order, manifest.config.experiment.order),
        "shuffle": (manifest.shuffle, config.experiment.shuffle),
        "backbone.provider": (manifest.backbone.provider, backbone.provider),
        "backbone.model": (manifest.backbone.model, backbone.model),
        "backbone.base_url": (manifest.backbone.base_url, backbone.base_url),
        "backbone.output": (manifest.backbone.output, backbone.output),
        "backbone.max_tokens": (manifest.backbone.max_tokens, backbone.max_tokens),
        "backbone.temperature": (manifest.backbone.temperature, backbone.temperature),
        "backbone.seed": (manifest.backbone.seed, manifest.seed),
        "conditions.condition": (manifest.conditions.condition, block.condition),
        "episodic_memory.topk": (manifest.episodic_memory.topk, manifest.condition.advice.topk or block.topk),
        "override_effective.profile": (manifest.override_effective.profile, pipeline.override_profile),
        "override_effective.thresholds": (manifest.override_effective.thresholds, pipeline.thresholds),
    }
    if facts_of(backbone).is_reproducible:
        compared["answers_shared"] = (manifest.answers_shared, True)
    elif config.cache.share != "all":
        compared["answers_shared"] = (manifest.answers_shared, False)
    for name, (recorded, configured) in compared.items():
        yield None if recorded == configured else f"{name} contradicts the configuration in the manifest"
    try:
        _, _, data = _as_run(cell)
    except NotApplicableError:
        # The data are out of reach. The scorecards hold gold, too.
        yield majority_problem([cell], manifest.majority)
        return
    counts = {split: len(samples) for split, samples in data.splits.items()}
    yield None if manifest.dataset.split_counts == counts else "split_counts are not those of the data"
    yield None if manifest.majority == data.majority else "majority is not that of the gold"


def check_samples(cell: CellFiles) -> Findings:
    """The samples are those of the data, in the cell's order, and complete where the cell is finished."""
    _, ours, data = _as_run(cell)
    uids = [record.uid for record in cell.records]
    labelled = data.samples_of(ours)[: None if cell.known_manifest.completed else len(uids)]
    yield (
        None
        if uids == [labelled_sample.sample.uid for labelled_sample in labelled]
        else "the samples are not those of the data, in order"
    )
    for labelled_sample, record in zip(labelled, cell.records, strict=False):
        sample, source = labelled_sample.sample, record.input
        meant = (effective_language(sample.language_code, sample.text), sample.split, sample.domain_id)
        differing = {
            "language, split or domain": (source.language, source.split, source.domain_id) != meant,
            "case_type": source.case_type != sample.case_type,
        }
        names = [name for name, differs in differing.items() if differs]
        yield f"{sample.uid}: not as in the data: {', '.join(names)}" if names else None


_DECIDING: Final = {
    "decision_sha256": "file of decision weights",
    "gates_sha256": "file of gate thresholds",
    "wording_sha256": "file of the principles' texts under rules v3",
    "reader_sha256": "reader",
}
"""What decides under rules v3, by its key in the manifest."""

ORIGIN_CHECKS: Final[Mapping[str, Check]] = {
    "manifest_agrees": check_manifest_agrees,
    "cfg_hash": check_cfg_hash,
    "data_hashes": check_data_hashes,
    "package_hashes": check_package_hashes,
    "conditions": check_conditions,
    "samples": check_samples,
}


def _decision_findings(manifest: Manifest) -> Findings:
    try:
        pipeline = recorded_experiment(manifest).pipeline
        hashes = decision_hashes(pipeline, manifest.condition)
    except ConfigError:
        yield "the pipeline settings in the manifest contradict its condition"
        return
    if pipeline.decision_weights is not None:
        del hashes["decision_sha256"]  # the file of the experiment is out of reach; its hash stays in the manifest
    for key, what in _DECIDING.items():
        if key in hashes:
            yield None if hashes[key] == getattr(manifest, key) else f"the {what} is not the one of the run"


def _require_same_package(manifest: Manifest) -> None:
    if manifest.package_version != version("episodic-absa"):
        raise NotApplicableError(
            f"the run is of version {manifest.package_version}, installed is {version('episodic-absa')}"
        )


def _conditions_source(cell: CellFiles) -> str | Path:
    source = cell.known_manifest.conditions_source
    if source in get_args(ConditionsVersion):
        return source
    path = cell.resolve(Path(source))
    if path is None:
        raise NotApplicableError("the config file is not reachable from here, nor is its conditions file")
    return path


def _as_run(cell: CellFiles) -> tuple[ExperimentConfig, Cell, ExperimentData]:
    """Return the config, cell and data of the run, from the manifest: the config file may have changed since."""
    manifest, root = cell.known_manifest, cell.config_root
    if root is None:
        raise NotApplicableError("the config file is not reachable from here")
    try:
        config = ExperimentConfig(
            path=root / manifest.config_path,
            file=recorded_experiment(manifest),
            conditions_file=load_conditions(_conditions_source(cell)),
            conditions=(manifest.condition,),
            build_condition=None,
        )
        data = ExperimentData(config)
    except EpisodicAbsaError as error:
        raise NotApplicableError("the data or the conditions file of the run cannot be read any more") from error
    condition, split = manifest.condition, manifest.dataset.processing_split
    store = cell.store_path if manifest.needs_store else None
    ours = Cell(
        cell.path.name,
        condition,
        *manifest.repetition,
        split,
        is_build=manifest.is_build,
        path=cell.path,
        store=store,
    )
    return config, ours, data

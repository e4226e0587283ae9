"""Builds the manifest of a cell: its configuration, and the hashes of everything its results depend on."""

import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from episodic_absa.memory.advice.opened_advice import retired_principles
from episodic_absa.pipeline.prompt_files import prompt_versions
from episodic_absa.runs.config.cells import Cell, shown_store_path
from episodic_absa.runs.config.cfg_hash import cell_config, cfg_hash, resource_hashes, sha256_of, source_commit
from episodic_absa.runs.config.experiment_config import ExperimentConfig
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.runs.question import load_question
from episodic_absa.schemas.run_files.manifest import (
    MANIFEST_VERSION,
    Manifest,
    ManifestBackbone,
    ManifestConditions,
    ManifestDataset,
    ManifestGold,
    ManifestMemory,
    ManifestOverride,
)


def build_manifest(
    config: ExperimentConfig,
    cell: Cell,
    data: ExperimentData,
    *,
    start_sha256: str | None,
    seed_supported: bool,
    answers_shared: bool,
) -> Manifest:
    """Return the manifest of a cell that is not completed.

    Args:
        config: the experiment.
        cell: the cell.
        data: the samples of the experiment.
        start_sha256: hash of the store that the cell's own store begins as a copy of.
        seed_supported: whether the backend's answers depend on the seed.
        answers_shared: whether all cells of a seed are sure to get equal answers to equal prompts.
    """
    hashes = resource_hashes(config, cell.condition)
    return Manifest(
        manifest_version=MANIFEST_VERSION,
        run_id=config.file.run_id,
        config_path=Path(config.path.name),
        config_root=Path(os.path.relpath(config.root.resolve(), cell.path.resolve())),
        cfg_hash=cfg_hash(config, cell, data.hashes, start_sha256),
        cfg_canonical=cell_config(config, cell),
        run_purpose=config.file.run_purpose,
        package_version=version("episodic-absa"),
        git_commit=source_commit(),
        backbone=_backbone(config, cell, seed_supported=seed_supported),
        answers_shared=answers_shared,
        prompt_versions=prompt_versions(cell.condition.rules),
        **{name: value for name, value in hashes.items() if name in Manifest.model_fields},
        conditions=ManifestConditions(
            file=config.conditions_file.path.name,
            sha256=config.conditions_file.sha256,
            version=config.conditions_file.version,
            condition=cell.condition.name,
            flags=cell.condition,
        ),
        dataset=_dataset(config, cell, data),
        gold=_gold(config, data),
        majority=data.majority,
        episodic_memory=_memory(config, cell, start_sha256, hashes),
        override_effective=_override(config),
        seed=cell.seed,
        order=cell.order,
        shuffle=config.file.experiment.shuffle,
        question_sha256=_question_sha256(config),
        completed=False,
    )


def _question_sha256(config: ExperimentConfig) -> str | None:
    question = load_question(config.out_dir)
    return question.asked.sha256 if question else None


def _backbone(config: ExperimentConfig, cell: Cell, *, seed_supported: bool) -> ManifestBackbone:
    asked = set(ManifestBackbone.model_fields) - {"seed", "seed_supported"}
    stated = config.file.backbone.model_dump(include=asked)
    return ManifestBackbone(**stated, seed=cell.seed, seed_supported=seed_supported)


def _dataset(config: ExperimentConfig, cell: Cell, data: ExperimentData) -> ManifestDataset:
    return ManifestDataset(
        paths={split: config.file.data.files[split] for split in data.paths},
        sha256=data.hashes,
        split_counts={split: len(samples) for split, samples in data.splits.items()},
        processing_split=cell.split,
        processing_count=len(data.samples_of(cell)),
    )


def _gold(config: ExperimentConfig, data: ExperimentData) -> ManifestGold | None:
    settings, split = config.file.eval, config.file.data.process_split
    if settings.gold_jsonl is not None and data.gold_path is not None:
        return ManifestGold(path=settings.gold_jsonl, sha256=sha256_of(data.gold_path))
    if columns := settings.gold_columns(are_required=True).names:
        return ManifestGold(path=config.file.data.files[split], sha256=data.hashes[split], columns=columns)
    return None


def _memory(
    config: ExperimentConfig, cell: Cell, start_sha256: str | None, hashes: Mapping[str, Any]
) -> ManifestMemory:
    block, advice = config.file.episodic_memory, cell.condition.advice
    return ManifestMemory(
        store_path=shown_store_path(config, cell),
        initial_store_sha256=start_sha256 if block.initial_store and not cell.is_build else None,
        build_store_sha256=start_sha256 if block.build and not cell.is_build else None,
        dangerous_advice=block.dangerous_advice or cell.condition.dangerous_advice,
        use_lexical=cell.condition.use_lexical if block.use_lexical is None else block.use_lexical,
        topk=advice.topk or block.topk,
        retired_principles=tuple(sorted(retired_principles(advice, config.root))),
        **{name: value for name, value in hashes.items() if name in ManifestMemory.model_fields},
    )


def _override(config: ExperimentConfig) -> ManifestOverride:
    pipeline = config.file.pipeline
    return ManifestOverride(
        profile=pipeline.override_profile,
        thresholds=pipeline.thresholds,
        source="config" if pipeline.debate_override.model_dump(exclude_none=True) else "profile",
    )

"""`check`: checks an experiment before it runs. It asks no model and writes nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from episodic_absa.backends.cache.postgres_cache import check_database
from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.provider_facts import facts_of, key_variables_for, needs_key_for
from episodic_absa.datasets.dataset_checks import count_invalid_gold, find_shared_texts
from episodic_absa.errors import ConfigError, EpisodicAbsaError, MemoryStoreError, MissingExtraError
from episodic_absa.memory import MemoryStore
from episodic_absa.metrics.statistics import FEWEST_REVIEWS, few_reviews
from episodic_absa.runs.config.cells import build_cells, evaluated_cells, require_stores
from episodic_absa.runs.config.experiment_config import ExperimentConfig, load_experiment
from episodic_absa.runs.config.experiment_data import ExperimentData
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.redaction import redacted
from episodic_absa.store.maintenance import check_store
from episodic_absa.verification.gold_preflight import gold_lines, separator_lines

Level = Literal["ok", "warning", "error"]


class PreflightLine(FrozenModel):
    """The result of one check."""

    level: Level
    check: str
    message: str


class Preflight(FrozenModel):
    """All results, in order."""

    run_id: str
    run_purpose: str
    lines: tuple[PreflightLine, ...]

    @property
    def has_errors(self) -> bool:
        """Whether the experiment should not be run as it is."""
        return any(line.level == "error" for line in self.lines)


def check_experiment(path: Path) -> Preflight:
    """Check a config file and the files that it names.

    Raises:
        ConfigError: the config file cannot be used.
    """
    config = load_experiment(path)
    return Preflight(
        run_id=config.file.run_id,
        run_purpose=config.file.run_purpose,
        lines=tuple(PreflightLine(level=level, check=check, message=text) for level, check, text in _look(config)),
    )


_Said = tuple[Level, str, str]


def _look(config: ExperimentConfig) -> Iterator[_Said]:
    names = ", ".join(condition.name for condition in config.conditions)
    seeds = ", ".join(map(str, config.file.experiment.seeds))
    orders = ", ".join(map(str, config.file.experiment.orders or ()))
    try:
        data = ExperimentData(config)
    except EpisodicAbsaError as error:
        yield "error", "data", str(error)
        data = None
    if data is not None:
        yield from gold_lines(config, data)
        yield from _data_lines(config, data)
        yield from separator_lines(config, data)
    yield "ok", "config", f"conditions {names}; {f'orders {orders}; ' if orders else ''}seeds {seeds}"
    yield from _key_lines(config.file.backbone)
    yield from _store_lines(config, data)
    if config.file.run_purpose == "paper":
        yield from _paper_lines(config, data)


def _data_lines(config: ExperimentConfig, data: ExperimentData) -> Iterator[_Said]:
    counts = ", ".join(f"{split} {len(samples)}" for split, samples in data.splits.items())
    yield "ok", "data", f"{counts} samples; files distinct and below allowed_roots, uids unique, gold uids known"
    evaluated = data.splits[config.file.data.process_split]
    reviews_n = len(data.samples_of(next(iter(evaluated_cells(config)))))
    if reviews_n < FEWEST_REVIEWS:
        yield "warning", "reviews", few_reviews(reviews_n).rstrip(".")
    for split in _store_splits(config):
        shared_n = len(find_shared_texts(data.splits[split], evaluated))
        yield _counted(
            config,
            "shared_texts",
            shared_n,
            f"{shared_n} texts occur in {split} and in {config.file.data.process_split}",
            f"{split} and {config.file.data.process_split} share no text",
        )
    invalid_n = count_invalid_gold(evaluated)
    yield _counted(
        config,
        "invalid_gold",
        invalid_n,
        f"{invalid_n} samples have gold without a valid polarity; quality metrics leave them out",
        "all gold polarities are valid",
    )


def _store_splits(config: ExperimentConfig) -> list[Literal["train", "valid", "test"]]:
    """Return the splits that a store may have been filled from before the evaluation."""
    block, data = config.file.episodic_memory, config.file.data
    if block.build is not None:
        return [block.build.split]
    if block.initial_store is not None:
        return [split for split in data.files if split != data.process_split]
    return []


def _counted(config: ExperimentConfig, check: str, found_n: int, problem: str, otherwise: str) -> _Said:
    if not found_n:
        return "ok", check, otherwise
    return ("error" if config.file.run_purpose == "paper" else "warning"), check, problem


def _store_lines(config: ExperimentConfig, data: ExperimentData | None) -> Iterator[_Said]:
    block = config.file.episodic_memory
    initial = config.resolve(block.initial_store) if block.initial_store else None
    builds = {cell.repetition: cell.store for cell in build_cells(config)}
    starts = {cell.name: builds.get(cell.repetition, initial) for cell in evaluated_cells(config)}
    try:
        require_stores(config, starts)
    except EpisodicAbsaError as error:
        yield "error", "stores", str(error)
    else:
        used = sum(cell.needs_store for cell in evaluated_cells(config))
        yield "ok", "stores", f"{used} cells use a store of their own"
    if initial is not None:
        yield from _given_store_lines(config, "initial_store", initial, data)
    donors = {condition.advice.store for condition in config.conditions if condition.advice.store is not None}
    for donor in sorted(donors):
        yield from _given_store_lines(config, "donor_store", config.resolve(donor), data)


def _given_store_lines(
    config: ExperimentConfig, check: str, given: Path, data: ExperimentData | None
) -> Iterator[_Said]:
    """Check a store that another run wrote: it is sound, and nothing in it comes from an evaluated sample."""
    if not given.is_file():
        yield "error", check, f"{given} does not exist"
        return
    try:
        with MemoryStore(given, reads_only=True) as store:
            if store.exists() and not check_store(store.dialect).is_sound:
                yield "error", check, f"{given} is not sound; `episodic-absa memory check` names what is affected"
                return
            sources = [entry.provenance.source_id for entry in store.load()]
    except MemoryStoreError as error:
        yield "error", check, str(error)
        return
    evaluated = {labelled.sample.uid for labelled in data.splits[config.file.data.process_split]} if data else set()
    known_n = sum(source in evaluated for source in sources)
    yield _counted(
        config,
        check,
        known_n,
        f"{known_n} of {len(sources)} episodes come from samples that are evaluated",
        f"{len(sources)} episodes, none from a sample that is evaluated",
    )


def _key_lines(backbone: BackboneSettings) -> Iterator[_Said]:
    try:
        if not needs_key_for(backbone):
            return
    except ConfigError as error:
        yield "error", "key", str(error)
        return
    variables = key_variables_for(backbone)
    if any(os.environ.get(variable, "").strip() for variable in variables):
        yield "ok", "key", f"a key for {backbone.provider} is set"
    else:
        yield "error", "key", f"no key for {backbone.provider}; set {' or '.join(variables)}"


def _paper_lines(config: ExperimentConfig, data: ExperimentData | None) -> Iterator[_Said]:
    if config.file.data.process_split == "train":
        yield "error", "paper_split", "data.process_split is train; a paper reports a split that nothing was built from"
    else:
        yield "ok", "paper_split", f"{config.file.data.process_split} is evaluated"
    if data is not None:
        samples = data.splits[config.file.data.process_split]
        missing_n = sum(labelled.gold is None for labelled in samples)
        if missing_n:
            yield "error", "paper_gold", f"{missing_n} of {len(samples)} evaluated samples have no gold"
        else:
            yield "ok", "paper_gold", f"all {len(samples)} evaluated samples have gold"
    yield _answers_line(config)


def _answers_line(config: ExperimentConfig) -> _Said:
    """Check that the answers of a paper's run can be reproduced."""
    backbone = config.file.backbone
    if backbone.recording is not None:
        recording = config.resolve(backbone.recording)
        if recording.is_file():
            return "ok", "paper_answers", f"answers come from {recording.name}"
        return "error", "paper_answers", "backbone.recording does not name a recording that exists"
    facts = facts_of(backbone)
    if facts.is_reproducible:
        return "ok", "paper_answers", f"{facts.title} gives every answer again"
    cache = config.cache_location
    if isinstance(cache, str):
        return _database_line(cache)
    folder = next(parent for parent in cache.absolute().parents if parent.exists())
    if cache.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        return "error", "paper_answers", f"answers cannot be kept: cache.path {cache} cannot be written"
    return "ok", "paper_answers", f"answers are kept in {cache.name}"


def _database_line(address: str) -> _Said:
    """Check that answers can be kept in a database."""
    try:
        check_database(address)
    except (ConfigError, MissingExtraError) as error:
        return "error", "paper_answers", f"answers cannot be kept: {error}"
    return "ok", "paper_answers", f"answers are kept in {redacted(address)}"

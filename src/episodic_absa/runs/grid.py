"""The cells of an experiment: which samples each sees, where its files lie, and the hash of its configuration."""

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from episodic_absa.agents.asking import prompt_versions
from episodic_absa.backends.provider_facts import shipped_fingerprint
from episodic_absa.datasets.dataset_checks import majority_polarity, require_unique_uids
from episodic_absa.datasets.dataset_loading import load_split
from episodic_absa.datasets.gold_files import attach_gold, load_gold
from episodic_absa.errors import ConfigError, DatasetError
from episodic_absa.language import lexicon_sha256
from episodic_absa.memory import load_catalogue
from episodic_absa.runs.experiment_config import ExperimentConfig, ProcessSplit
from episodic_absa.runs.run_directory import STORE
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.schemas.run import Condition
from episodic_absa.serialization.canonical_json import canonical_json

_NOT_HASHED: Final = ("out", "run_purpose", "eval", "memory")
_EXPERIMENT_NOT_HASHED: Final = (
    "conditions",
    "seeds",
    "comparisons",
    "concurrency",
    "speculate",
    "speculate_ahead",
    "max_failures",
)


@dataclass(frozen=True)
class Cell:
    """One condition with one seed, or the building of a store for a seed."""

    name: str
    condition: Condition
    seed: int
    split: ProcessSplit
    is_build: bool
    path: Path
    store: Path | None
    """None: the condition neither reads nor writes one."""

    @property
    def needs_store(self) -> bool:
        """Whether memory is read or written."""
        return self.store is not None


class ExperimentData:
    """The samples of all splits, with their gold kept apart from what agents see."""

    def __init__(self, config: ExperimentConfig) -> None:
        data = config.file.data
        self._config = config
        self.paths = {split: config.resolve(path) for split, path in data.files.items()}
        for split, path in self.paths.items():
            _require_below(path, [config.resolve(root) for root in data.allowed_roots], f"data.{split}_file")
        if len({path.resolve() for path in self.paths.values()}) < len(self.paths):
            raise ConfigError("two splits name the same file; splits must be distinct files", key="data")
        self.splits: dict[ProcessSplit, tuple[LabelledSample, ...]] = {
            split: load_split(path, data.input_format, split, text_column=data.text_column)
            for split, path in self.paths.items()
        }
        require_unique_uids({self.paths[split]: samples for split, samples in self.splits.items()})
        self.gold_path = config.resolve(config.file.eval.gold_jsonl) if config.file.eval.gold_jsonl else None
        if self.gold_path is not None:
            self._attach(data.process_split)

    def _attach(self, split: ProcessSplit) -> None:
        assert self.gold_path is not None  # noqa: S101 - asked only with gold
        attached = attach_gold(self.splits[split], load_gold(self.gold_path))
        known = {one.sample.uid for samples in self.splits.values() for one in samples}
        unknown = [uid for uid in attached.unknown_uids if uid not in known]
        if unknown:
            raise DatasetError(
                f"{self.gold_path} has gold for {len(unknown)} unknown uid(s), first {unknown[0]!r}",
                path=self.gold_path,
            )
        self.splits[split] = attached.samples

    def samples_of(self, cell: Cell) -> tuple[LabelledSample, ...]:
        """Return a cell's samples in its order."""
        samples = list(self.splits[cell.split])
        if self._config.file.experiment.shuffle:
            random.Random(cell.seed).shuffle(samples)  # noqa: S311 - a reproducible order, not a secret
        limit = None if cell.is_build else self._config.file.data.limit
        return tuple(samples[:limit])

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the sha256 of every data file."""
        return {split: sha256_of(path) for split, path in self.paths.items()}

    @property
    def majority(self) -> dict[str, str] | None:
        """Return the majority polarity of train gold, else of evaluation gold."""
        sources: list[tuple[str, Sequence[LabelledSample]]] = [
            ("train", self.splits.get("train", ())),
            ("evaluation", self.splits[self._config.file.data.process_split]),
        ]
        for source, samples in sources:
            polarity = majority_polarity(samples)
            if polarity is not None:
                return {"polarity": polarity, "source": source}
        return None


def evaluated_cells(config: ExperimentConfig) -> Iterator[Cell]:
    """Yield conditions x seeds."""
    for condition in config.conditions:
        for seed in config.file.experiment.seeds:
            name = f"{condition.name}__seed{seed}"
            path = config.out_dir / name
            yield Cell(
                name,
                condition,
                seed,
                config.file.data.process_split,
                is_build=False,
                path=path,
                store=_store_path(config, condition, seed, path),
            )


def build_cells(config: ExperimentConfig) -> Iterator[Cell]:
    """Yield one building of a store per seed, if an evaluated condition has use for it."""
    build, condition = config.file.episodic_memory.build, config.build_condition
    if build is None or condition is None or not any(_uses_store(one) for one in config.conditions):
        return
    for seed in config.file.experiment.seeds:
        path = config.out_dir / f"build__seed{seed}"
        yield Cell(path.name, condition, seed, build.split, is_build=True, path=path, store=path / STORE)


def cell_config(config: ExperimentConfig, cell: Cell) -> dict[str, Any]:
    """Return the resolved configuration of one cell."""
    resolved = config.file.model_dump(mode="json")
    resolved["episodic_memory"]["condition"] = cell.condition.name
    resolved["experiment"]["seed"] = cell.seed
    resolved["memory"] = None
    return resolved


def cfg_hash(config: ExperimentConfig, cell: Cell, data: ExperimentData, start_store_sha256: str | None) -> str:
    """Name everything that may change a result of this cell."""
    resolved = cell_config(config, cell)
    hashed = {key: value for key, value in resolved.items() if key not in _NOT_HASHED}
    hashed["experiment"] = {
        key: value for key, value in resolved["experiment"].items() if key not in _EXPERIMENT_NOT_HASHED
    }
    hashed["cache"] = {"share": resolved["cache"]["share"]}
    hashed["cell"] = {"split": cell.split, "is_build": cell.is_build}
    hashed["hashes"] = {
        **resource_hashes(config),
        "data": data.hashes,
        "start_store": start_store_sha256,
        "package_version": version("episodic-absa"),
    }
    return hashlib.sha256(canonical_json(hashed).encode()).hexdigest()


def resource_hashes(config: ExperimentConfig) -> dict[str, Any]:
    """Return the hashes of everything but the data that results depend on."""
    recording, allowlist = config.file.backbone.recording, config.file.pipeline.stage1.allowlist
    return {
        "allowlist_sha256": sha256_of(config.resolve(allowlist)) if allowlist else None,
        "prompts": prompt_versions(),
        "lexicon_sha256": lexicon_sha256(),
        "catalogue_sha256": load_catalogue().sha256,
        "conditions_sha256": config.conditions_file.sha256,
        "recording_sha256": sha256_of(config.resolve(recording)) if recording else None,
        "weights_sha256": shipped_fingerprint(config.file.backbone),
    }


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error


def _uses_store(condition: Condition) -> bool:
    return condition.retrieval_execute or condition.store_write


def _store_path(config: ExperimentConfig, condition: Condition, seed: int, run_dir: Path) -> Path | None:
    if not _uses_store(condition):
        return None
    pattern = config.file.episodic_memory.store_path
    if pattern is None:
        return run_dir / STORE
    return config.resolve(Path(filled_store_path(pattern, condition, seed)))


def filled_store_path(pattern: str, condition: Condition, seed: int) -> str:
    """Put a cell's condition and seed into `episodic_memory.store_path`."""
    return pattern.replace("{condition}", condition.name).replace("{seed}", str(seed))


def shown_store_path(config: ExperimentConfig, cell: Cell) -> str | None:
    """Return the cell's store as a manifest names it: within the run directory, or relative to the config file."""
    pattern = config.file.episodic_memory.store_path
    if cell.store is None:
        return None
    return STORE if pattern is None or cell.is_build else filled_store_path(pattern, cell.condition, cell.seed)


def _require_below(path: Path, roots: Sequence[Path], key: str) -> None:
    if not any(path.resolve().is_relative_to(root.resolve()) for root in roots):
        allowed = ", ".join(map(str, roots))
        raise ConfigError(f"{key} {path} lies below none of data.allowed_roots ({allowed})", path=path, key=key)


def require_stores(config: ExperimentConfig, starts: Mapping[str, Path | None]) -> None:
    """Refuse a condition that only reads a store which is empty at the start, and one that reads another's."""
    cells = list(evaluated_cells(config))
    written = {cell.store: cell for cell in cells if cell.condition.store_write}
    for cell in cells:
        writer = written.get(cell.store, cell)
        if cell.store is not None and writer is not cell:
            raise ConfigError(
                f"{cell.name} and {writer.name} would share one store that is written to: "
                "episodic_memory.store_path must hold {condition} and {seed}",
                path=config.path,
                key="episodic_memory.store_path",
            )
    if config.file.episodic_memory.allow_empty_store:
        return
    is_built = config.file.episodic_memory.build is not None
    for cell in cells:
        reads_only = cell.condition.retrieval_execute and not cell.condition.store_write
        start = starts.get(cell.name)
        has_store = is_built or any(store is not None and _is_filled(store) for store in (start, cell.store))
        if reads_only and not has_store:
            raise ConfigError(
                f"{cell.condition.name} reads a store and never writes one, and its store is empty at the start; "
                "give episodic_memory.build or initial_store, or set allow_empty_store: true",
                path=config.path,
                key="episodic_memory.allow_empty_store",
            )


def _is_filled(store: Path) -> bool:
    return store.exists() and store.stat().st_size > 0

"""An experiment as written in YAML. Every key has an effect; unknown and contradictory keys are refused by name."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator, model_validator

from episodic_absa.backends.backend_facts import BACKEND_FORMS, BackendFacts
from episodic_absa.backends.cache.postgres_cache import cache_database
from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.provider_facts import is_passed_in, settings_of
from episodic_absa.conditions import (
    DEFAULT_COMPARISONS,
    ConditionsFile,
    ConditionsVersion,
    load_conditions,
    resolve_conditions,
)
from episodic_absa.datasets.dataset_loading import InputFormat
from episodic_absa.datasets.gold_columns import GoldColumns
from episodic_absa.errors import ConfigError, DatabaseError
from episodic_absa.memory import DEBATE_SLOT, EpisodicMemorySettings
from episodic_absa.metrics.definitions import definition_of
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS
from episodic_absa.pipeline.shown_values import slot_name_problem
from episodic_absa.postgres.location import is_postgres
from episodic_absa.runs.config.experiment_paths import disallowed_paths, filled_store_path
from episodic_absa.schemas.frozen_model import Flag, FrozenModel
from episodic_absa.schemas.pipeline_settings import PipelineSettings
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.manifest import Repetition
from episodic_absa.serialization.plain_name import name_problem
from episodic_absa.serialization.quoted_value import listed, quoted, shortened
from episodic_absa.serialization.redaction import credential_in
from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N
from episodic_absa.vocabulary import ProcessSplit, StratumName

_AtLeastOne = Annotated[int, Field(strict=True, ge=1)]
_MOST_ORDERS: Final = 10_000
_ColumnName = Annotated[str, Field(min_length=1)]


def _order_ids(orders: object) -> object:
    """Turn a number of orders into their ids."""
    if isinstance(orders, bool) or (isinstance(orders, int) and orders < 1):
        raise ValueError(f"give a number of orders from 1 on, or a list of orders, not {str(orders).lower()}")
    if isinstance(orders, int) and orders > _MOST_ORDERS:
        raise ValueError(f"at most {_MOST_ORDERS:,} orders can be run")
    return tuple(range(1, orders + 1)) if isinstance(orders, int) else orders


class DataSettings(FrozenModel):
    """Where the samples come from."""

    input_format: InputFormat = "csv"
    """The format of the data files."""
    allowed_roots: Annotated[tuple[Path, ...], Field(min_length=1)]
    """Every data path must lie below one of these."""
    train_file: Path | None = None
    """The training split: a store can be built from it, and the majority baseline reads its gold."""
    valid_file: Path | None = None
    """The validation split."""
    test_file: Path | None = None
    """The test split."""
    text_column: Annotated[str, Field(min_length=1)] = "text"
    """The column, or the key of a JSONL line, that holds the review."""
    process_split: ProcessSplit = "valid"
    """The split that is evaluated."""
    limit: _AtLeastOne | None = None
    """Evaluate only the first N samples of each cell. `run --limit N` sets it for a trial."""

    def file_of(self, split: ProcessSplit) -> Path | None:
        """Return the file of a split."""
        return {"train": self.train_file, "valid": self.valid_file, "test": self.test_file}[split]

    @property
    def files(self) -> dict[ProcessSplit, Path]:
        """All configured files by split."""
        splits: tuple[ProcessSplit, ...] = get_args(ProcessSplit)
        return {split: path for split in splits if (path := self.file_of(split)) is not None}


class EvalSettings(FrozenModel):
    """The gold that results are scored against. Only the scorer reads it."""

    gold_jsonl: Path | None = None
    """A file with one line per sample: its uid and its gold tuples."""
    gold_column: _ColumnName | None = None
    """A column of the data file: all pairs of a text in one cell."""
    aspect_column: _ColumnName | None = None
    """A column of the data file with one gold term per row. It needs polarity_column."""
    polarity_column: _ColumnName | None = None
    """With aspect_column: one pair per row; rows with the same text are one sample."""
    count_backfilled: Flag = False
    """Whether a backfilled neutral tuple counts as a prediction."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.aspect_column is None) != (self.polarity_column is None):
            raise ValueError("aspect_column and polarity_column go together; give both")
        given = [key for key in ("gold_jsonl", "gold_column", "aspect_column") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"gold is in one place: give {given[0]} or {given[1]}, not both")
        return self

    def gold_columns(self, *, are_required: bool) -> GoldColumns:
        """Return the columns of the data file that hold gold."""
        return GoldColumns(self.gold_column, self.aspect_column, self.polarity_column, are_required)


class IoSettings(FrozenModel):
    """Names that prompts use."""

    slot_memory_name: Annotated[str, Field(min_length=1, pattern=r"^\S+$")] = DEBATE_SLOT.name
    """The key under which a prompt of the debate holds memory."""

    @model_validator(mode="after")
    def _is_free(self) -> Self:
        if problem := slot_name_problem(self.slot_memory_name):
            raise ValueError(problem)
        if not self.slot_memory_name.isprintable():
            raise ValueError("slot_memory_name holds a control, bidi or zero-width character; choose another name")
        return self


class BuildSettings(FrozenModel):
    """A store that is filled once per order and seed before the evaluation."""

    split: ProcessSplit = "train"
    """The split that fills the store."""
    condition: str = "C2_silent"
    """The condition that fills the store."""


class StoreSettings(FrozenModel):
    """Which condition an experiment runs, and where its store lies and begins."""

    condition: str | None = None
    """One condition by name, instead of experiment.conditions."""
    conditions_path: str | None = None
    """None for the default version, v1_1, v1_2, v1_3, v3_0, or a path."""
    store_path: str | None = None
    """May hold {condition}, {order} and {seed}; None: in the run directory."""
    initial_store: Path | None = None
    """A store that every cell starts with a copy of. Give either this or build."""
    build: BuildSettings | None = None
    allow_empty_store: Flag = False
    """Whether a condition that only reads its store may start with an empty one."""

    @model_validator(mode="after")
    def _one_beginning(self) -> Self:
        if self.build is not None and self.initial_store is not None:
            raise ValueError("give either build or initial_store, not both")
        return self


class EpisodicMemoryBlock(EpisodicMemorySettings, StoreSettings):
    """The memory of an experiment: its store, and the memory's own settings."""

    keep_last_n: _AtLeastOne = DEFAULT_KEEP_LAST_N
    """How many of the newest episodes can be retrieved."""


class ExperimentSettings(FrozenModel):
    """The grid, and how it is run."""

    conditions: tuple[str, ...] | None = None
    """The conditions of the grid. None: the one that episodic_memory.condition names, else C1."""
    seeds: Annotated[tuple[Annotated[int, Field(strict=True)], ...], Field(min_length=1)] = (42, 123, 456)
    """The sampling seeds of the model."""
    orders: Annotated[
        Annotated[tuple[Annotated[int, Field(strict=True, ge=0)], ...], Field(min_length=1)] | None,
        BeforeValidator(_order_ids),
    ] = None
    """The orders that every condition is run in; 0 is the order of the file, and a number N means 1 to N."""
    shuffle: Flag = False
    """Whether the seed sets the order, as before `orders` existed."""
    concurrency: _AtLeastOne = 8
    """In-flight requests over the whole grid."""
    engine: Annotated[Literal["local", "ray"], Field(exclude=True)] = "local"
    """Where cells run. Manifests do not record it: it changes no result."""
    ray_address: Annotated[str | None, Field(exclude=True)] = None
    """The cluster: `HOST:PORT`, `auto` for the one of this machine; None starts one on this machine."""
    speculate: Flag = False
    """Whether samples run ahead with the memory of the moment; those whose memory has changed are run again."""
    speculate_ahead: _AtLeastOne = 4
    """How many samples may run ahead."""
    max_failures: Annotated[int, Field(strict=True, ge=0)] = 20
    """If more samples fail, the run stops. It can be resumed."""
    comparisons: tuple[tuple[str, str], ...] | None = None
    """None: the default pairs, as far as both conditions are run. The first pair is the primary one."""
    primary_metric: str = "tuple_f1_explicit"
    """The outcome metric that decides."""
    smallest_effect: Annotated[float, Field(gt=0, le=1)] = 0.01
    """The smallest difference in the primary metric that matters."""
    strata: tuple[StratumName, ...] = ()
    """What the comparisons are broken down by."""

    @field_validator("primary_metric")
    @classmethod
    def _is_compared(cls, metric: str) -> str:
        outcomes = [name for name in PAIRED_METRICS if definition_of(name).kind == "outcome"]
        if metric not in outcomes:
            raise ValueError(f"unknown outcome metric {quoted(metric)}; choose one of {', '.join(outcomes)}")
        return metric

    @model_validator(mode="after")
    def _repetitions_once(self) -> Self:
        for noun, given in (("a seed", self.seeds), ("an order", self.orders or ())):
            if len(set(given)) < len(given):
                raise ValueError(f"{noun} is given twice: {', '.join(map(str, given))}")
        if self.orders is not None and self.shuffle:
            raise ValueError("orders and shuffle: true both set the order of samples; leave shuffle out")
        return self

    @model_validator(mode="after")
    def _address_of_a_cluster(self) -> Self:
        if self.ray_address is not None and self.engine != "ray":
            raise ValueError("ray_address is for engine: ray; set that, or leave the address out")
        return self

    @property
    def repetitions(self) -> tuple[Repetition, ...]:
        """The orders and seeds that every condition is run with."""
        if self.orders is not None:
            return tuple(Repetition(order, seed) for order in self.orders for seed in self.seeds)
        return tuple(Repetition(seed if self.shuffle else 0, seed) for seed in self.seeds)


class CacheSettings(FrozenModel):
    """Where answers are kept, and which cells share them."""

    path: Path | str = Path(".episodic_absa") / "cache.sqlite"
    """A file, or the address of a database (`postgresql://host/database`), which processes on other machines share."""
    share: Literal["all", "condition"] = "all"
    """Whether all conditions share equal answers, or each condition pays for its own."""

    @field_validator("path", mode="plain")
    @classmethod
    def _file_or_database(cls, location: object) -> Path | str:
        if not isinstance(location, str | Path):
            raise ValueError("give the path of a file or the address of a database")  # noqa: TRY004 - for pydantic
        if not is_postgres(location):
            return Path(location)
        try:
            cache_database(str(location))
        except DatabaseError as error:
            raise ValueError(str(error)) from error
        return str(location)


class ExperimentFile(FrozenModel):
    """The YAML document, key by key."""

    run_id: str
    """Names the directory of the grid."""
    run_purpose: Literal["smoke", "dev", "paper"] = "dev"
    """A label; it changes no result. With `paper`, `check` turns some warnings into errors."""
    out: Path = Path("results")
    """The folder of the results; the grid is written to `<out>/<run_id>`."""
    backbone: BackboneSettings = BackboneSettings()
    data: DataSettings
    eval: EvalSettings = EvalSettings()
    pipeline: PipelineSettings = PipelineSettings()
    io: IoSettings = IoSettings()
    memory: dict[str, Any] | None = None
    """A short form for one condition: {enable: true, mode: advisory} is C2, mode silent C2_silent, enable false C1."""
    episodic_memory: EpisodicMemoryBlock = EpisodicMemoryBlock()
    experiment: ExperimentSettings = ExperimentSettings()
    cache: CacheSettings = CacheSettings()

    @model_validator(mode="after")
    def _run_id_names_a_directory(self) -> Self:
        if "__" in self.run_id:
            raise ValueError('run_id must not hold "__": it separates condition, order and seed in directory names')
        problem = name_problem(self.run_id) or ("holds a space" if " " in self.run_id else None)
        if problem is not None:
            raise ValueError(
                f"run_id {quoted(self.run_id)} cannot name a directory, because it {problem}: "
                "give a name without spaces, / and \\"
            )
        return self


class ExperimentConfig(BaseModel):
    """A checked experiment: the file, where it lies, and the conditions it names."""

    model_config = {"frozen": True, "arbitrary_types_allowed": True}

    path: Path
    file: ExperimentFile
    conditions_file: ConditionsFile
    conditions: tuple[Condition, ...]
    build_condition: Condition | None

    @property
    def root(self) -> Path:
        """The folder of the config file: relative paths start from it, never from the working directory."""
        return self.path.parent

    def resolve(self, path: Path) -> Path:
        """Return where a configured path really lies."""
        return path if path.is_absolute() else self.root / path

    @property
    def cache_location(self) -> Path | str:
        """The file of the response cache where it really lies, or the address of its database."""
        location = self.file.cache.path
        return self.resolve(location) if isinstance(location, Path) else location

    @property
    def out_dir(self) -> Path:
        """The grid's directory."""
        return self.resolve(self.file.out) / self.file.run_id

    def answered_by(self, backend: BackendFacts) -> Self:
        """Return the experiment as it is with a backend that a program passed in: manifest and hash name it."""
        return self.changed(backbone=settings_of(backend, self.file.backbone))

    def changed(self, **keys: object) -> Self:
        """Return the experiment with other values of some keys of its file."""
        return self.model_copy(update={"file": self.file.model_copy(update=keys)})

    def writing_to(self, out: Path) -> Self:
        """Return the experiment with another `out`; a relative path starts from the working directory."""
        # Relative to the config file, as a config names it: `verify` finds the data from there.
        return self.changed(out=Path(os.path.relpath(out.resolve(), self.root)))

    def limited_to(self, sample_n: int) -> Self:
        """Return the experiment on its first samples. It has a run_id, and so a directory, of its own."""
        data = self.file.data.model_copy(update={"limit": sample_n})
        return self.changed(run_id=f"{self.file.run_id}-limit{sample_n}", data=data)

    def running_on(self, engine: Literal["local", "ray"], ray_address: str | None) -> Self:
        """Return the experiment with another engine; an address that is None stays that of the file.

        Raises:
            ConfigError: an address without the engine that has one.
        """
        experiment = self.file.experiment
        if engine == "ray":
            ray_address = ray_address or experiment.ray_address
        elif ray_address is not None:
            raise ConfigError("--ray-address is for --engine ray; add it or leave the address out", key="ray_address")
        return self.changed(experiment=experiment.model_copy(update={"engine": engine, "ray_address": ray_address}))

    @property
    def comparisons(self) -> tuple[tuple[str, str], ...]:
        """The pairs of conditions to compare, by the names that results use."""
        run = {condition.name for condition in self.conditions}
        if self.file.experiment.comparisons is None:
            return tuple(pair for pair in DEFAULT_COMPARISONS if run.issuperset(pair))
        return tuple(
            (self.conditions_file.resolve(a).name, self.conditions_file.resolve(b).name)
            for a, b in self.file.experiment.comparisons
        )


def load_experiment(path: str | Path) -> ExperimentConfig:
    """Return the checked experiment of a file. Nothing is run and no data is read.

    Raises:
        ConfigError: the file cannot be read, or a key in it is unknown, missing, out of range or contradicts another.

    Example:
        >>> from episodic_absa import load_experiment
        >>> experiment = load_experiment("experiments/quickstart.yaml")
        >>> [condition.name for condition in experiment.conditions]
        ['C1', 'C2', 'C2_silent', 'C2_eval_only', 'C2_frozen']
    """
    path = Path(path).resolve()
    document = read_yaml_file(path)
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: an experiment is a mapping of keys; see experiments/paper.yaml", path=path)
    _refuse_credentials(document, path)
    try:
        file = ExperimentFile.model_validate(document)
    except ValidationError as error:
        raise _config_error(error, path) from error
    if is_passed_in(file.backbone):
        raise ConfigError(
            f"{path}: backbone.provider python stands for a backend that a program passes to run_experiment; choose "
            f"{BACKEND_FORMS}",
            path=path,
            key="backbone.provider",
        )
    block = file.episodic_memory
    conditions_file = load_conditions(_conditions_source(block.conditions_path, path.parent))
    conditions = resolve_conditions(
        conditions_file, memory=file.memory, condition=block.condition, conditions=file.experiment.conditions
    )
    config = ExperimentConfig(
        path=path,
        file=file,
        conditions_file=conditions_file,
        conditions=conditions,
        build_condition=conditions_file.resolve(block.build.condition, key="episodic_memory.build.condition")
        if block.build
        else None,
    )
    for condition in (*conditions, *filter(None, (config.build_condition,))):
        file.pipeline.under(condition)
    for message, key in _contradictions(config):
        raise ConfigError(f"{path}: {message}", path=path, key=key)
    return config


def _refuse_credentials(document: Mapping[Any, Any], path: Path) -> None:
    """Refuse passwords and keys in the addresses and paths of a configuration, which manifests record."""
    for key, text in _texts(document):
        kind = credential_in(text)
        # The settings of the backbone name the variable that fits the provider.
        if kind is not None and key != "backbone.base_url":
            raise ConfigError(
                f"{path}: {key} holds {kind}, which manifests would record; take it out. Keys and passwords stand in "
                "environment variables: OPENAI_API_KEY for a model, PGPASSWORD for a database",
                path=path,
                key=key,
            )


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a document with the keys that lead to it."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{key}.{shortened(str(name))}" if key else shortened(str(name)))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)


def _conditions_source(source: str | None, root: Path) -> str | Path | None:
    if source is None or source in get_args(ConditionsVersion):
        return source
    return root / source


def _contradictions(config: ExperimentConfig) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with keys that are valid alone but not together, and the key to change."""
    file, block = config.file, config.file.episodic_memory
    data, build = file.data, block.build
    run = {condition.name for condition in config.conditions}
    writer_n = sum(condition.store_write for condition in config.conditions) * len(file.experiment.repetitions)
    shares_store = block.store_path is not None and any(name not in block.store_path for name in _placeholders(file))
    split = data.process_split
    if data.file_of(split) is None:
        yield f"data.process_split is {split}, but data.{split}_file is not given", "data.process_split"
    yield from _gold_contradictions(file)
    yield from _stores_in_databases(config)
    yield from _outside_the_roots(config)
    if writer_n > 1 and shares_store:
        key = "episodic_memory.store_path"
        yield f"{writer_n} cells would write one store: {key} must hold {store_placeholders(config)}", key
    if build is not None and config.build_condition is not None:
        key = "episodic_memory.build.split"
        if data.file_of(build.split) is None:
            yield f"episodic_memory.build reads data.{build.split}_file, which is not given", key
        if build.split == split:
            yield "episodic_memory.build reads the split that is evaluated", key
        if not config.build_condition.store_write:
            name = config.build_condition.name
            yield f"episodic_memory.build uses {name}, which stores nothing", "episodic_memory.build.condition"
    key = "experiment.comparisons"
    for a, b in config.comparisons:
        if a == b:
            yield f"{key} compares {a} with itself; name two conditions", key
        for name in (a, b):
            if name not in run:
                yield f"{key} names {name}, which is not run; run are {listed(sorted(run))}", key


def _stores_in_databases(config: ExperimentConfig) -> Iterator[tuple[str, str]]:
    """Yield the stores that are named by an address: a run copies, cuts and hashes its stores, so they are files."""
    block = config.file.episodic_memory
    named: dict[str, str | Path | None] = {
        "episodic_memory.store_path": block.store_path,
        "episodic_memory.initial_store": block.initial_store,
    }
    for condition in (*config.conditions, *filter(None, (config.build_condition,))):
        named[f"conditions.{condition.name}.advice.store"] = condition.advice.store
    for key, store in named.items():
        if store is not None and is_postgres(store):
            problem = (
                f"{key} is the address of a database; a run records the checksums of its stores and cuts its own back "
                "when it is resumed, so its stores are files; name a .jsonl file"
            )
            yield problem, key


def _outside_the_roots(config: ExperimentConfig) -> Iterator[tuple[str, str]]:
    """Yield the files other than data that lie outside `data.allowed_roots`; data files are refused when they are read.

    A store may also lie below `out`, where the run writes anyway.
    """
    file, block = config.file, config.file.episodic_memory
    named = {"eval.gold_jsonl": file.eval.gold_jsonl, "episodic_memory.initial_store": block.initial_store}
    for condition in (*config.conditions, *filter(None, (config.build_condition,))):
        named[f"conditions.{condition.name}.advice.store"] = condition.advice.store
        named[f"conditions.{condition.name}.advice.catalogue"] = condition.advice.catalogue
    roots = [config.resolve(root) for root in file.data.allowed_roots]
    yield from disallowed_paths({key: config.resolve(path) for key, path in named.items() if path is not None}, roots)
    if block.store_path is None:
        return
    for condition in config.conditions:
        for repetition in file.experiment.repetitions:
            store = config.resolve(Path(filled_store_path(block.store_path, condition.name, repetition)))
            yield from disallowed_paths({"episodic_memory.store_path": store}, [*roots, config.resolve(file.out)])


def _placeholders(file: ExperimentFile) -> tuple[str, ...]:
    """Return what a pattern for stores must hold so that no two cells write one store."""
    several_orders = len(file.experiment.orders or ()) > 1
    return ("{condition}", "{order}", "{seed}") if several_orders else ("{condition}", "{seed}")


def store_placeholders(config: ExperimentConfig) -> str:
    """Return what `episodic_memory.store_path` must hold so that every cell has a store of its own, in words."""
    *most, last = _placeholders(config.file)
    return f"{', '.join(most)} and {last}"


def _gold_contradictions(file: ExperimentFile) -> Iterator[tuple[str, str]]:
    for name in ("gold_column", "aspect_column", "polarity_column"):
        column, key = getattr(file.eval, name), f"eval.{name}"
        if column is not None and file.data.input_format not in ("csv", "jsonl"):
            yield f"{key} is for csv and jsonl; {file.data.input_format} has gold of its own", key
        if column is not None and column == file.data.text_column:
            yield f"{key} names the column of the text, {quoted(column)}; name the column of the gold", key


def _config_error(error: ValidationError, path: Path) -> ConfigError:
    first = error.errors(include_url=False)[0]
    key = ".".join(shortened(str(part)) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(_known_keys(first["loc"][:-1]))
        return ConfigError(f"{path}: unknown key {key}; choose one of {known}", path=path, key=key)
    if first["type"] == "missing":
        return ConfigError(f"{path}: {key} is missing", path=path, key=key)
    message = first["msg"].removeprefix("Value error, ")
    return ConfigError(f"{path}: {key + ': ' if key else ''}{message}", path=path, key=key or None)


def _known_keys(place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that a block may have."""
    model: Any = ExperimentFile
    for part in place:
        annotation = model.model_fields[str(part)].annotation
        options = [annotation, *get_args(annotation)]
        model = next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
    return list(model.model_fields)

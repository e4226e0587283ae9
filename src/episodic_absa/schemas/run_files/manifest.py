"""manifest.json: what a cell was run with. Written before the first sample and once more when the cell is complete."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import AfterValidator, ConfigDict

from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.adoption import OverrideThresholds
from episodic_absa.serialization.redaction import without_credentials
from episodic_absa.vocabulary import DangerousAdvice, DebateCall, Effort, MemoryMode, Polarity, ProcessSplit


class Repetition(NamedTuple):
    """One order with one seed. The cells of a repetition share the store that was built for it."""

    order: int
    """0 is the order of the file."""
    seed: int

    def words(self, *, with_order: bool) -> str:
        """Return the repetition as messages name it.

        Args:
            with_order: False where all orders are the same, or where the seed sets the order.

        Example:
            >>> Repetition(3, 42).words(with_order=True)
            'order 3, seed 42'
        """
        return f"order {self.order}, seed {self.seed}" if with_order else f"seed {self.seed}"


class _Excerpt(FrozenModel):
    model_config = ConfigDict(extra="ignore")


class RecordedData(_Excerpt):
    """The block `data`."""

    input_format: Literal["csv", "jsonl", "semeval_xml", "nikl_absa_2022"]
    text_column: str
    train_file: Path | None
    process_split: ProcessSplit


class RecordedEval(_Excerpt):
    """The block `eval`."""

    gold_column: str | None = None
    aspect_column: str | None = None
    polarity_column: str | None = None
    count_backfilled: Flag


class RecordedDebate(_Excerpt):
    """The block `pipeline.debate`."""

    memory_visible_to: tuple[DebateCall, ...]


class RecordedPipeline(_Excerpt):
    """The block `pipeline`."""

    debate: RecordedDebate

    ev_weights: tuple[float, float, float, float]
    effort: Effort = "full"
    votes: int = 1


class RecordedMemory(_Excerpt):
    """The block `episodic_memory`."""

    conditions_path: str | None
    store_path: str | None
    keep_last_n: int


class RecordedExperiment(_Excerpt):
    """The block `experiment`."""

    conditions: tuple[str, ...] | None
    comparisons: tuple[tuple[str, str], ...] | None
    shuffle: Flag
    seed: int | None = None
    """The seed of the one cell."""
    order: int | None = None
    """The order of the one cell."""


class RecordedConfig(_Excerpt):
    """An excerpt: a reader of a run needs no model of backends, agents or memory to read these keys."""

    out: Path
    data: RecordedData
    eval: RecordedEval
    pipeline: RecordedPipeline
    episodic_memory: RecordedMemory
    experiment: RecordedExperiment


class Majority(FrozenModel):
    """The most frequent polarity of gold, and the gold it was counted in."""

    polarity: Polarity
    source: Literal["train", "evaluation"]

    @property
    def note(self) -> str:
        """The note beside every value of the baseline."""
        return f"majority: {self.polarity}, from {self.source} gold"


MANIFEST_VERSION: Final = 5
"""Versions 0.1 and 0.2 of the package wrote smaller numbers."""

_Address = Annotated[str, AfterValidator(without_credentials)]


class _Recorded(FrozenModel):
    # A later version may add keys; they do not hinder reading.
    model_config = ConfigDict(extra="ignore")


class ManifestBackbone(_Recorded):
    """The model that answered, and how it was asked."""

    provider: str
    model: str
    base_url: _Address | None
    temperature: float | None
    max_tokens: int
    output: str
    seed: int
    seed_supported: Flag


class ManifestConditions(_Recorded):
    """The condition that was run, by its flags."""

    file: str
    sha256: str
    version: str
    condition: str
    flags: Condition


class ManifestDataset(_Recorded):
    """The data files, and the split that was run."""

    paths: dict[ProcessSplit, Path]
    sha256: dict[ProcessSplit, str]
    split_counts: dict[ProcessSplit, Count]
    processing_split: ProcessSplit
    processing_count: Count


class ManifestGold(_Recorded):
    """The file that holds the gold."""

    path: Path
    sha256: str
    columns: tuple[str, ...] = ()
    """The columns of the data file that hold it; none if the gold has a file of its own."""


class ManifestMemory(_Recorded):
    """The store and how memory was set."""

    store_path: str | None
    initial_store_sha256: str | None
    build_store_sha256: str | None
    dangerous_advice: DangerousAdvice
    use_lexical: Flag
    topk: Count
    donor_store_sha256: str | None = None
    """The store that advice came from; None unless the condition's advice comes from a donor."""
    catalogue_overlay_sha256: str | None = None
    """The file that retires principles; None if the condition names none."""
    retired_principles: tuple[str, ...] = ()
    """What that file retires."""
    placebo_sha256: str | None = None
    """The texts of a placebo; None for other conditions."""


class ManifestOverride(_Recorded):
    """The thresholds of the override gate that took effect."""

    profile: str
    thresholds: OverrideThresholds
    source: Literal["config", "profile"]


class Manifest(_Recorded):
    """One cell: its configuration, and the hashes of everything that its results depend on."""

    manifest_version: int
    run_id: str
    config_path: Path
    """The name of the config file."""
    config_root: Path
    """The folder of the config file, seen from the directory of the cell: there lie the data."""
    cfg_hash: str
    cfg_canonical: dict[str, Any]
    """The resolved configuration of the cell; `cfg_hash` is taken over it."""
    run_purpose: str
    package_version: str
    git_commit: str | None
    backbone: ManifestBackbone
    answers_shared: Flag
    """Whether all cells of a seed are sure to get equal answers to equal prompts."""
    prompt_versions: dict[str, str]
    lexicon_sha256: str
    catalogue_sha256: str
    allowlist_sha256: str | None
    recording_sha256: str | None
    weights_sha256: str | None
    decision_sha256: str | None = None
    """The weights by which rules v3 decide; None under seed rules."""
    gates_sha256: str | None = None
    """The thresholds of the memory's gates under rules v3; None under seed rules and in older runs."""
    wording_sha256: str | None = None
    """The texts of principles under rules v3; None under seed rules and in older runs."""
    reader_sha256: str | None = None
    """The reader's rules, weights and calibration; None if no reader is heard."""
    conditions: ManifestConditions
    dataset: ManifestDataset
    gold: ManifestGold | None
    majority: Majority | None
    episodic_memory: ManifestMemory
    override_effective: ManifestOverride
    seed: int
    order: int
    """The order of the samples: 0 is that of the file; with `shuffle` the seed names the order."""
    shuffle: Flag
    """Whether the seed sets the order."""
    question_sha256: str | None = None
    """The question that was asked before the first sample, `AskedQuestion.sha256`; None if none was fixed."""
    completed: Flag

    @cached_property
    def config(self) -> RecordedConfig:
        """The keys of `cfg_canonical` that readers need."""
        return RecordedConfig.model_validate(self.cfg_canonical)

    @property
    def condition(self) -> Condition:
        """The flags of the cell."""
        return self.conditions.flags

    @property
    def conditions_source(self) -> str:
        """The conditions file as a config names it: its path, or the version that was the default at the time."""
        version = f"v{self.conditions.version.replace('.', '_')}"
        return self.config.episodic_memory.conditions_path or version

    @property
    def names_order(self) -> bool:
        """Whether the order is one that `orders` names: neither that of the file nor one that the seed sets."""
        return bool(self.order) and not self.shuffle

    @property
    def repetition(self) -> Repetition:
        """The order and the seed."""
        return Repetition(self.order, self.seed)

    @property
    def is_build(self) -> bool:
        """Whether the cell filled a store; an experiment never builds from the split it evaluates."""
        return self.dataset.processing_split != self.config.data.process_split

    @property
    def needs_store(self) -> bool:
        """Whether memory is read or written."""
        return self.condition.retrieval_execute or self.condition.store_write

    @property
    def start_store_sha256(self) -> str | None:
        """Hash of the store that the cell's own store began as a copy of."""
        return self.episodic_memory.initial_store_sha256 or self.episodic_memory.build_store_sha256


class Speculation(FrozenModel):
    """What running ahead of the memory cost."""

    redone_samples: Count
    wasted_calls: Count


class RunMeta(FrozenModel):
    """The last invocation that ran samples of the cell."""

    condition: str
    memory_mode: MemoryMode
    started_at: str
    ended_at: str
    seconds: float
    speculation: Speculation

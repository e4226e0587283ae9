"""Reads a finished cell as it lies on disk, line by line and without trusting it; what cannot be read is a problem."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from episodic_absa.agents.asking import CallRecord
from episodic_absa.agents.decision.adoption import Adoption
from episodic_absa.memory.store.episode_line import reasons_of
from episodic_absa.metrics.majority import Majority
from episodic_absa.runs.experiment_config import ExperimentFile, ProcessSplit
from episodic_absa.runs.grid import filled_store_path
from episodic_absa.runs.run_directory import (
    JOURNAL,
    MANIFEST,
    OUTPUTS,
    OVERRIDE_DEBUG,
    SCORECARDS,
    STORE,
    TRACES,
)
from episodic_absa.schemas.absa import DebateOutput, FinalResult, ModeratorOutput, Stage1Result, Stage2Result
from episodic_absa.schemas.case_trace import CaseTraceV1_1
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.schemas.patch_log import PatchLogEntry
from episodic_absa.schemas.run import Condition, MemoryMeta
from episodic_absa.schemas.scorecard import Scorecard
from episodic_absa.vocabulary import ErrorType, Language, MemoryMode, Polarity, Split

LineT = TypeVar("LineT", bound=BaseModel)
_LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_NEEDED_FILES: Final = (OUTPUTS, SCORECARDS, TRACES, JOURNAL)


class OutputError(FrozenModel):
    """What outputs tell of a failure; the message stands in traces."""

    type: ErrorType
    stage: str


class OutputStage1(Stage1Result):
    """Stage1 as outputs show it."""

    unmatched_sentiment: tuple[str, ...] = ()


class OutputMeta(FrozenModel):
    """Where an output comes from and what memory did for it."""

    condition: str
    memory_mode: MemoryMode
    seed: int
    language_code: Language
    split: Split
    domain_id: str
    case_type: str
    memory: MemoryMeta | None = None
    store_decision: Literal["stored", "skipped"] | None = None
    store_skip_reason: str = ""
    store_reason_tags: tuple[str, ...] = ()
    episode_id: str | None = None


class OutputLine(FrozenModel):
    """One line of outputs.jsonl."""

    uid: str
    sample_index: Count
    status: Literal["ok", "error"]
    error: OutputError | None = None
    stage1: OutputStage1 | None = None
    debate: DebateOutput | None = None
    stage2: Stage2Result | None = None
    patch_log: tuple[PatchLogEntry, ...] = ()
    adoption: Adoption | None = None
    moderator: ModeratorOutput | None = None
    final_result: FinalResult | None = None
    meta: OutputMeta


class TraceTiming(FrozenModel):
    """How long a sample's calls took."""

    latency_ms_sum: float


class TraceError(FrozenModel):
    """How a sample failed."""

    type: ErrorType
    stage: str
    message: str


class TraceLine(FrozenModel):
    """One line of traces.jsonl."""

    case_trace: CaseTraceV1_1
    text: str
    memory: MemoryMeta
    calls: tuple[CallRecord, ...]
    timing: TraceTiming
    error: TraceError | None = None


class JournalLine(FrozenModel):
    """One commit."""

    sample_index: Count
    uid: str
    offsets: dict[str, Count]
    store_last_sha256: str | None = None


class DecisionLine(FrozenModel):
    """One decision of the override gate."""

    uid: str
    aspect: str
    pos: float
    neg: float
    total: float
    margin: float
    target: Polarity | None
    decision: Literal["APPLY", "SKIP"]
    reason: str
    thresholds: dict[str, float | bool]


class ManifestConditions(BaseModel):
    """Which condition was run, by its flags."""

    file: str
    sha256: str
    condition: str
    flags: Condition


class ManifestDataset(BaseModel):
    """What was run over."""

    paths: dict[ProcessSplit, Path]
    sha256: dict[ProcessSplit, str]
    processing_split: ProcessSplit
    processing_count: Count


class ManifestGold(BaseModel):
    """What was scored against."""

    path: Path
    sha256: str


class ManifestBackbone(BaseModel):
    """What answered."""

    seed_supported: bool


class ManifestMemory(BaseModel):
    """What the store began with."""

    initial_store_sha256: str | None
    build_store_sha256: str | None


class Manifest(BaseModel):
    """What `verify` reads of manifest.json; further keys are none of its business."""

    run_id: str
    config_path: Path
    cfg_hash: str
    cfg_canonical: dict[str, Any]
    package_version: str
    backbone: ManifestBackbone
    answers_shared: bool
    prompt_versions: dict[str, str]
    lexicon_sha256: str
    catalogue_sha256: str
    recording_sha256: str | None
    weights_sha256: str | None
    conditions: ManifestConditions
    dataset: ManifestDataset
    gold: ManifestGold | None
    majority: Majority | None
    episodic_memory: ManifestMemory
    seed: int
    completed: bool
    raw: dict[str, Any] = Field(exclude=True)

    @cached_property
    def config(self) -> ExperimentFile:
        """The resolved configuration of the cell; its seed stands in `seed`."""
        experiment = {key: value for key, value in self.cfg_canonical["experiment"].items() if key != "seed"}
        return ExperimentFile.model_validate({**self.cfg_canonical, "experiment": experiment})

    @property
    def condition(self) -> Condition:
        """The flags of the cell."""
        return self.conditions.flags

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
        """Hash of the store that the cell's own began as a copy of."""
        return self.episodic_memory.initial_store_sha256 or self.episodic_memory.build_store_sha256


@dataclass(frozen=True)
class ReadLines(Generic[LineT]):
    """A JSONL file: its bytes, what each line says, and what is wrong with it."""

    raw: tuple[bytes, ...]
    """Each with its line end."""
    objects: tuple[Any, ...]
    """Parsed JSON, None where it is none."""
    values: tuple[LineT | None, ...]
    """Validated, None where it is not valid."""
    problems: tuple[str, ...]

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Where each line ends in the file."""
        return tuple(accumulate(len(line) for line in self.raw))

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.ends[-1] if self.ends else 0

    def count_until(self, offset: int) -> int:
        """How many lines end at or before an offset."""
        return bisect_right(self.ends, offset)

    def valid(self) -> Iterator[LineT]:
        """Yield what could be read."""
        return (value for value in self.values if value is not None)


class CellFiles:
    """One cell directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest, self.manifest_problem = _read_manifest(path / MANIFEST)

    @cached_property
    def outputs(self) -> ReadLines[OutputLine]:
        """outputs.jsonl."""
        return read_lines(self.path / OUTPUTS, OutputLine)

    @cached_property
    def scorecards(self) -> ReadLines[Scorecard]:
        """scorecards.jsonl."""
        return read_lines(self.path / SCORECARDS, Scorecard)

    @cached_property
    def traces(self) -> ReadLines[TraceLine]:
        """traces.jsonl."""
        return read_lines(self.path / TRACES, TraceLine)

    @cached_property
    def journal(self) -> ReadLines[JournalLine]:
        """journal.jsonl."""
        return read_lines(self.path / JOURNAL, JournalLine)

    @cached_property
    def decisions(self) -> ReadLines[DecisionLine]:
        """override_gate_debug.jsonl."""
        return read_lines(self.path / OVERRIDE_DEBUG, DecisionLine)

    @property
    def known_manifest(self) -> Manifest:
        """The manifest; checks run only where there is one."""
        if self.manifest is None:
            raise ValueError(self.manifest_problem)
        return self.manifest

    @cached_property
    def config_root(self) -> Path | None:
        """Where the config file lies, if one lies where this directory says it should."""
        manifest, grid = self.known_manifest, self.path.resolve().parent
        climbs = ".." in manifest.config.out.parts
        for parent in grid.parents[: len(manifest.config.out.parts) + 1]:
            # Where `out` climbs (../results) the config lies in a folder beside the results.
            beside = sorted(one for one in parent.iterdir() if one.is_dir()) if climbs else []
            for root in (parent, *beside):
                out_dir = root / manifest.config.out / manifest.run_id
                if (root / manifest.config_path).is_file() and out_dir.resolve() == grid:
                    return root
        return None

    def resolve(self, path: Path) -> Path | None:
        """Return where a configured path lies, None if the config is out of reach."""
        if path.is_absolute():
            return path
        return self.config_root / path if self.config_root else None

    @cached_property
    def store_path(self) -> Path | None:
        """Where the cell's store lies, None if that cannot be told."""
        manifest = self.known_manifest
        pattern = manifest.config.episodic_memory.store_path
        if pattern is None or manifest.is_build:
            return self.path / STORE
        return self.resolve(Path(filled_store_path(pattern, manifest.condition, manifest.seed)))

    @cached_property
    def store(self) -> ReadLines[EpisodicMemoryEntryV1_1]:
        """The store; empty where the cell has none."""
        if self.store_path is None or not self.store_path.exists():
            return ReadLines((), (), (), ())
        if self.store_path.resolve().is_relative_to(self.path.resolve()):
            return read_lines(self.store_path, EpisodicMemoryEntryV1_1)
        # Others may append to a store that lies elsewhere; what came after this run is not its own.
        last = max((entry.offsets.get("store", 0) for entry in self.journal.valid()), default=0)
        return read_lines(self.store_path, EpisodicMemoryEntryV1_1, size=last)

    @cached_property
    def committed(self) -> tuple[range, ...]:
        """For each journalled sample the places of the store lines that it added."""
        ends = [self.store.count_until(entry.offsets.get("store", 0)) for entry in self.journal.valid()]
        return tuple(map(range, [self.start_lines, *ends], ends))

    @cached_property
    def start_lines(self) -> int:
        """How many lines the store began with: what stood there before the first sample was committed."""
        first = next(self.journal.valid(), None)
        if first is None:
            return 0
        stored = any(card.uid == first.uid and card.store_decision == "stored" for card in self.scorecards.valid())
        return max(0, self.store.count_until(first.offsets.get("store", 0)) - stored)

    @cached_property
    def cards(self) -> dict[str, Scorecard]:
        """Scorecards of samples that ended well, by uid."""
        return {card.uid: card for card in self.scorecards.valid() if card.status == "ok"}

    @cached_property
    def traces_by_uid(self) -> dict[str, TraceLine]:
        """Traces, by uid."""
        return {trace.case_trace.case_id: trace for trace in self.traces.valid()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts of this cell and of the build cell that its store may come from, by uid."""
        texts: dict[str, str] = {}
        build = self.path.parent / f"build__seed{self.known_manifest.seed}"
        if build.resolve() != self.path.resolve() and build.is_dir():
            texts |= {uid: trace.text for uid, trace in CellFiles(build).traces_by_uid.items()}
        return texts | {uid: trace.text for uid, trace in self.traces_by_uid.items()}


def read_lines(path: Path, model: type[LineT], *, size: int | None = None) -> ReadLines[LineT]:
    """Read a JSONL file, or its first bytes; problems name lines and fields and quote nothing."""
    try:
        content = path.read_bytes()[:size]
    except OSError as error:
        missing = () if path.name not in _NEEDED_FILES else (f"{path.name}: {error.strerror}",)
        return ReadLines((), (), (), missing)
    raw = tuple(_LINE.findall(content))
    objects: list[Any] = []
    values: list[LineT | None] = []
    problems: list[str] = []
    for number, line in enumerate(raw, start=1):
        value: LineT | None = None
        parsed: Any = None
        try:
            parsed = json.loads(line)
            value = model.model_validate_json(json.dumps(parsed))
        except ValidationError as error:
            problems.append(f"{path.name}, line {number}: {reasons_of(error)}")
        except ValueError:
            problems.append(f"{path.name}, line {number}: not JSON")
        objects.append(parsed)
        values.append(value)
    if raw and not raw[-1].endswith(b"\n"):
        problems.append(f"{path.name}: the last line is not ended")
    return ReadLines(raw, tuple(objects), tuple(values), tuple(problems))


def _read_manifest(path: Path) -> tuple[Manifest | None, str]:
    try:
        raw = json.loads(path.read_bytes())
        manifest = Manifest.model_validate({**raw, "raw": raw})
        _ = manifest.config
    except OSError as error:
        return None, f"{path.name}: {error.strerror}"
    except ValidationError as error:
        return None, f"{path.name}: {reasons_of(error)}"
    except (ValueError, TypeError, KeyError):
        return None, f"{path.name}: not a JSON object with the keys of a manifest"
    return manifest, ""

"""samples.jsonl: the one record of a sample, and the header before the first. No review text, no gold, no clock.

Each fact stands once: totals, risk vectors, tuples of stages and flags of the condition follow from these and from the
manifest. A field that has its default is left out of the line.
"""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from episodic_absa.schemas.absa import (
    DebateOutput,
    FinalTuple,
    ModeratorOutput,
    SentimentItem,
    Stage1Result,
    Stage2Result,
)
from episodic_absa.schemas.frozen_model import Count, Flag, FrozenModel
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyBundle
from episodic_absa.schemas.run import MemoryRecord, StoreDecision
from episodic_absa.schemas.run_files.adoption import Adoption, OverrideDecision, PatchLogEntry
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.vocabulary import ErrorType, Language, ResultLabel, Role, Split

SAMPLES_FORMAT: Final = "episodic_absa.samples"


class CallRecord(FrozenModel):
    """One call: what was asked, what it took, and how it ended."""

    stage: str
    agent: Role
    call_index: int
    prompt_hash: str
    memory_slot_present: bool
    """Computed by searching the rendered prompt."""
    model: str
    attempts: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cached: bool
    latency_ms: float
    """From the ask to its answer, waiting included."""
    waited_ms: float | None = None
    """The part of `latency_ms` in queues, in failed requests and in the pauses after them; None in a trace of 0.1."""
    started_at: str
    error: str | None = None


NANO: Final = 1_000_000_000

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class StoreStart(FrozenModel):
    """A cell's store before the first sample."""

    episodes: Count = 0
    sha256: Sha256
    """Of its episodes as lines of the exported store."""
    source_sha256: Sha256 | None = None
    """Of the file that it began as a copy of."""


class SamplesHeader(FrozenModel):
    """The first line: which cell the samples are of."""

    format: Literal["episodic_absa.samples"] = SAMPLES_FORMAT
    schema_version: Literal["1.0"] = "1.0"
    cfg_hash: str
    store: StoreStart | None = None
    """None: the condition neither reads nor writes a store."""


class InputReference(FrozenModel):
    """Which text was analysed: the data hold it, and its gold."""

    sha256: Sha256
    """Of the text, NFC-normalised and UTF-8."""
    language: Language
    split: Split
    domain_id: str = "unknown"
    case_type: str = "unknown"
    signature: InputSignatureV1_1


class OverrideOutcome(FrozenModel):
    """How the override turned out, judged by risk and conflict alone."""

    applied: Flag = False
    success: Flag = False
    harm: Flag = False


class PolarityWords(FrozenModel):
    """How many polarity words were read, repaired and unreadable."""

    read: Count = 0
    repaired: Count = 0
    invalid: Count = 0


class DebateScore(FrozenModel):
    """How well the debate could be read."""

    mapping_stats: dict[Literal["direct", "fallback", "none"], int]
    mapping_fail_reasons: dict[str, int]
    hint_valid_n: Count
    hint_invalid_n: Count


class FailureRecord(FrozenModel):
    """How a sample failed."""

    type: ErrorType
    stage: str
    message: str


class StageLabels(FrozenModel):
    """The labels of both stages, each read as the rules in force read the final one."""

    stage1: ResultLabel
    stage2: ResultLabel


class Analysis(FrozenModel):
    """What was said about a sample, and what was decided."""

    stage1: Stage1Result
    unmatched_sentiment: tuple[str, ...] = ()
    """Terms of sentiments that match no aspect."""
    polarity_words: PolarityWords = PolarityWords()
    debate: DebateOutput | None = None
    debate_read: DebateScore | None = None
    """How well the debate could be read; None under rules that map no names."""
    stage2: Stage2Result | None = None
    patched_sentiments: tuple[SentimentItem, ...] | None = None
    """The sentiments after Stage2, adopted or not; None if they are Stage1's."""
    patch_log: tuple[PatchLogEntry, ...] = ()
    override_decisions: tuple[OverrideDecision, ...] = ()
    override: OverrideOutcome = OverrideOutcome()
    decision: DecisionRecord | None = None
    """Every candidate with its witnesses; None under seed rules."""
    adoption: Adoption
    moderator: ModeratorOutput
    labels: StageLabels
    final_tuples: tuple[FinalTuple, ...] = ()
    kept: StoreDecision
    """Why the memory kept the sample or not, and its episode in full."""

    @property
    def final_sentiments(self) -> tuple[SentimentItem, ...]:
        """The sentiments behind the final tuples, with their evidence."""
        is_weighed = self.decision is not None
        return self.stage2_sentiments if is_weighed or self.adoption.adopt else self.stage1.atsa.sentiments

    @property
    def stage2_sentiments(self) -> tuple[SentimentItem, ...]:
        """The sentiments after Stage2, adopted or not."""
        return self.stage1.atsa.sentiments if self.patched_sentiments is None else self.patched_sentiments


class RecordedCall(FrozenModel):
    """One call; its place is its index, its role tells its stage."""

    role: Role
    model: str
    attempts: Count = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    cost_nano_usd: Count | None = None
    """In billionths of a dollar, so that sums of small prices are right; None if the price is unknown."""
    prompt_sha256: Sha256
    slot_shown: Flag = False
    """Whether the rendered prompt held a memory slot."""
    error: str | None = None


class SampleRecord(FrozenModel):
    """One sample."""

    uid: str
    sample_index: Count
    input: InputReference
    analysis: Analysis | None = None
    """None: the sample failed."""
    memory: MemoryRecord = MemoryRecord()
    bundle: AnyBundle
    calls: tuple[RecordedCall, ...] = ()
    error: FailureRecord | None = None

    @model_validator(mode="after")
    def _succeeded_or_failed(self) -> Self:
        if (self.analysis is None) == (self.error is None):
            raise ValueError("a record holds either an analysis or an error")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values of the line: bundle and episode in full, everything else without defaults."""
        value = self.model_dump(mode="json", exclude_defaults=True)
        value["bundle"] = self.bundle.model_dump(mode="json")
        if self.analysis is not None:
            episode = self.analysis.kept.episode
            if episode is not None:
                value["analysis"]["kept"]["episode"] = episode.model_dump(mode="json")
        return value


class CallTiming(FrozenModel):
    """The clock of one call."""

    cached: Flag
    latency_ms: float
    waited_ms: float | None = None
    started_at: str


class SampleTiming(FrozenModel):
    """One line of timings.jsonl: when a sample was recorded, and how long its calls took. It has no seal."""

    uid: str
    recorded_at: str
    calls: tuple[CallTiming, ...] = ()

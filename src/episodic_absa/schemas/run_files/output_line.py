"""One line of outputs.jsonl: everything a sample's analysis said and decided, or how it failed."""

from typing import Any, Final, Literal, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer

from episodic_absa.schemas.absa import DebateOutput, FinalResult, ModeratorOutput, Stage1Result, Stage2Result
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.adoption import Adoption, PatchLogEntry
from episodic_absa.schemas.run_files.candidate_record import DecisionRecord
from episodic_absa.schemas.run_files.sample_record import Analysis
from episodic_absa.vocabulary import ErrorType, Language, MemoryMode, Split

_OF_A_FAILURE: Final = ("uid", "sample_index", "status", "error", "meta")
_OF_A_SUCCESS: Final = ("memory", "store_decision", "store_skip_reason", "store_reason_tags", "episode_id")


class OutputError(FrozenModel):
    """The kind and place of a failure; its message stands in traces.jsonl alone."""

    type: ErrorType
    stage: str


class OutputStage1(Stage1Result):
    """Stage1, with the terms of sentiments that match no aspect."""

    unmatched_sentiment: tuple[str, ...] = ()


class OutputMeta(FrozenModel):
    """The cell and sample of an output, and what memory did for it."""

    condition: str
    memory_mode: MemoryMode
    seed: int
    language_code: Language
    split: Split
    domain_id: str
    case_type: str
    memory: MemoryMeta | None = None
    """None: the sample failed. The line then holds neither this key nor those below."""
    store_decision: Literal["stored", "skipped"] | None = None
    store_skip_reason: str = ""
    store_reason_tags: tuple[str, ...] = ()
    episode_id: str | None = None

    @model_serializer(mode="wrap")
    def _without_unknown(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if self.memory is None:
            for key in _OF_A_SUCCESS:
                del fields[key]
        return fields


class OutputLine(FrozenModel):
    """One sample. A line of a failed sample holds `error` and no result; any other line holds no `error`."""

    uid: str
    sample_index: Count
    status: Literal["ok", "error"]
    error: OutputError | None = None
    stage1: OutputStage1 | None = None
    debate: DebateOutput | None = None
    stage2: Stage2Result | None = None
    patch_log: tuple[PatchLogEntry, ...] = ()
    decision: DecisionRecord | None = None
    """Every candidate under rules v3. A line of seed rules does not hold this key."""
    adoption: Adoption | None = None
    moderator: ModeratorOutput | None = None
    final_result: FinalResult | None = None
    meta: OutputMeta

    @classmethod
    def of_analysis(
        cls, uid: str, analysis: Analysis, final_result: FinalResult, *, sample_index: int, **meta: Any
    ) -> Self:
        """Return the line of a sample that succeeded.

        Args:
            uid: of the sample.
            analysis: what its record holds.
            final_result: label and tuples of every stage, which follow from the analysis.
            sample_index: the place of the sample in its run.
            meta: the fields of `OutputMeta` that the analysis does not tell.
        """
        stage1, kept = analysis.stage1, analysis.kept
        return cls(
            uid=uid,
            sample_index=sample_index,
            status="ok",
            stage1=OutputStage1(
                ate=stage1.ate,
                atsa=stage1.atsa,
                validator=stage1.validator,
                unmatched_sentiment=analysis.unmatched_sentiment,
            ),
            debate=analysis.debate,
            stage2=analysis.stage2,
            patch_log=analysis.patch_log,
            decision=analysis.decision,
            adoption=analysis.adoption,
            moderator=analysis.moderator,
            final_result=final_result,
            meta=OutputMeta(
                **meta,
                store_decision=kept.store_decision,
                store_skip_reason=kept.store_skip_reason,
                store_reason_tags=kept.store_reason_tags,
                episode_id=kept.episode_id,
            ),
        )

    @model_serializer(mode="wrap")
    def _of_its_status(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        if self.status == "error":
            return {key: fields[key] for key in _OF_A_FAILURE}
        del fields["error"]
        if self.decision is None:
            del fields["decision"]
        return fields

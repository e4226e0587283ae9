"""Builds what one sample leaves in the files of its cell: output, scorecard, trace and override decisions."""

from collections.abc import Mapping
from typing import NamedTuple

from episodic_absa.errors import BackendResponseError, BackendUnavailableError, LeakageError
from episodic_absa.memory import SlotAnswer
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.config.cells import Cell
from episodic_absa.runs.ordered_run import SampleError, SampleFailure
from episodic_absa.runs.records.case_traces import Tracer
from episodic_absa.runs.records.scoring import Scorer
from episodic_absa.runs.run_directory import OUTPUTS, OVERRIDE_DEBUG, SCORECARDS, TRACES
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.output_line import OutputError, OutputLine, OutputMeta
from episodic_absa.schemas.run_files.override_decision import OverrideDecisionLine
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.schemas.run_files.trace_line import TraceError, TraceLine
from episodic_absa.serialization.jsonl import json_line, json_lines
from episodic_absa.serialization.redaction import redacted
from episodic_absa.vocabulary import ErrorType

Gold = tuple[GoldTuple, ...] | None


class SampleRecords(NamedTuple):
    """The records of one sample."""

    output: OutputLine
    card: Scorecard
    trace: TraceLine
    decisions: tuple[OverrideDecisionLine, ...] = ()

    @property
    def lines(self) -> Mapping[str, str]:
        """File name -> the sample's lines in it."""
        return {
            OVERRIDE_DEBUG: json_lines(self.decisions),
            TRACES: json_line(self.trace),
            SCORECARDS: json_line(self.card),
            OUTPUTS: json_line(self.output),
        }


class CellRecords:
    """Builds the records of one cell's samples."""

    def __init__(self, cell: Cell, *, run_id: str, cfg_hash: str) -> None:
        self._cell = cell
        self._scorer = Scorer(
            run_id=run_id, condition=cell.condition, seed=cell.seed, cfg_hash=cfg_hash, order=cell.order
        )
        self._tracer = Tracer(run_id=run_id, condition=cell.condition, seed=cell.seed)

    def of_result(self, result: SampleResult, index: int, *, gold: Gold, store_size: int) -> SampleRecords:
        """Return the records of a sample that succeeded."""
        uid = result.sample.uid
        return SampleRecords(
            output=result.output_line(index),
            card=self._scorer.score(result, sample_index=index, gold=gold, store_size=store_size),
            trace=self._tracer.trace(result, index),
            decisions=tuple(OverrideDecisionLine(uid=uid, **dict(decision)) for decision in result.override_decisions),
        )

    def of_failure(self, failure: SampleFailure, index: int, *, gold: Gold, empty_slot: SlotAnswer) -> SampleRecords:
        """Return the records of a sample that failed."""
        sample, condition = failure.sample, self._cell.condition
        kind, stage = error_type_of(failure.error), _stage_of(failure)
        card = self._scorer.score_failure(sample, sample_index=index, error_type=kind, gold=gold, calls=failure.calls)
        output = OutputLine(
            uid=sample.uid,
            sample_index=index,
            status="error",
            error=OutputError(type=kind, stage=stage),
            meta=OutputMeta(
                condition=condition.name,
                memory_mode=condition.memory_mode,
                seed=self._cell.seed,
                language_code=card.language_code,
                split=sample.split,
                domain_id=sample.domain_id,
                case_type=sample.case_type,
            ),
        )
        error = TraceError(type=kind, stage=stage, message=redacted(str(failure.error)))
        trace = self._tracer.trace_failure(sample, index, error=error, calls=failure.calls, empty_slot=empty_slot)
        return SampleRecords(output=output, card=card, trace=trace)


def error_type_of(error: SampleError) -> ErrorType:
    """Return the name that records give a sample's failure."""
    if isinstance(error, BackendUnavailableError | BackendResponseError):
        return error.kind
    return "leakage_error" if isinstance(error, LeakageError) else "contract_error"


def _stage_of(failure: SampleFailure) -> str:
    if isinstance(failure.error, LeakageError):
        return "memory"
    return failure.calls[-1].stage if failure.calls else "stage1"

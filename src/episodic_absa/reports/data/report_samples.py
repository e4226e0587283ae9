"""Reads the samples of a cell for the report's explorer and latencies."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import fsum

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_errors import PairErrors, pair_errors
from episodic_absa.metrics.per_sample.pair_scores import score_exact
from episodic_absa.metrics.per_sample.sample_values import was_changed
from episodic_absa.reports.data.report_data import CellSample, IndexRow
from episodic_absa.reports.data.sample_detail import (
    SampleParts,
    TermNames,
    analysis_json,
    gold_json,
    memory_json,
)
from episodic_absa.runs.derived.derived_samples import DerivedSample
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.advisory_v1_2 import AnyBundle
from episodic_absa.schemas.run_files.call_record import CallRecord
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.canonical_json import canonical_json


@dataclass(frozen=True)
class ReviewFacts:
    """The facts of a review, which are the same in every cell."""

    text: str
    language: str
    domain: str
    case_type: str
    gold: str


@dataclass
class PrincipleCount:
    """How many samples of a cell retrieved and were shown advice from one principle."""

    retrieved: int = 0
    injected: int = 0
    advisory_type: str = ""
    messages: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class StageUsage:
    """What the calls of one stage took for one sample."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


@dataclass
class CellSamples:
    """The report's extract from the outputs and traces of one cell."""

    samples: dict[str, CellSample] = field(default_factory=dict)
    reviews: dict[str, ReviewFacts] = field(default_factory=dict)
    answering_ms: list[float] = field(default_factory=list)
    """The time of each sample's calls, without waiting; samples whose waiting is unknown are left out."""
    stage1_usage: dict[str, StageUsage] = field(default_factory=dict)
    calls: int = 0
    cached_calls: int = 0
    principles: dict[str, PrincipleCount] = field(default_factory=dict)


@dataclass(frozen=True)
class _Traced:
    """The extract of a trace that is kept until its output is read."""

    text: str
    bundle: AnyBundle
    answering_ms: float | None
    waited_ms: float | None
    error_message: str


class SampleReader:
    """Reads cell after cell; equal details of different cells, and the numbers of terms, are kept once."""

    def __init__(self, *, with_text: bool) -> None:
        self._with_text = with_text
        self._names: defaultdict[str, TermNames] = defaultdict(lambda: TermNames(with_text))
        self._pool: dict[str, str] = {}

    def read(self, cell: FinishedCell) -> CellSamples:
        """Read one cell."""
        samples, derived = CellSamples(), CellFiles(cell.path).derived
        traces = self._traces(derived, samples)
        weights = cell.manifest.config.pipeline.ev_weights
        for sample in derived:
            trace = traces[sample.card.uid]
            self._add(cell, _parts(sample, trace, weights), trace, samples)
        return samples

    def _traces(self, derived: Iterable[DerivedSample], samples: CellSamples) -> dict[str, _Traced]:
        traces: dict[str, _Traced] = {}
        for line in (sample.trace for sample in derived):
            timing = line.timing
            if timing.answering_ms is not None:
                samples.answering_ms.append(timing.answering_ms)
            samples.calls += len(line.calls)
            samples.cached_calls += sum(call.cached for call in line.calls)
            message = line.error.message if line.error else ""
            case = line.case_trace
            samples.stage1_usage[case.case_id] = _stage1_usage(line.calls)
            traces[case.case_id] = _Traced(
                line.text, case.memory_bundle, timing.answering_ms, timing.waited_ms_sum, message
            )
        return traces

    def _add(self, cell: FinishedCell, parts: SampleParts, trace: _Traced, samples: CellSamples) -> None:
        card = parts.card
        names = self._names[card.uid]
        samples.reviews[card.uid] = ReviewFacts(
            text=names.quote(trace.text),
            language=card.language_code,
            domain=card.domain_id,
            case_type=card.case_type,
            gold=self._once(gold_json(card.gold_tuples, names)),
        )
        usage = card.usage
        samples.samples[card.uid] = CellSample(
            index=index_row(card, count_backfilled=cell.count_backfilled),
            analysis=self._once(analysis_json(parts, names)),
            memory=self._once(memory_json(parts)),
            cost=(
                usage.calls,
                usage.tokens_in,
                usage.tokens_out,
                trace.answering_ms,
                trace.waited_ms,
            ),
        )
        _count_principles(parts, samples.principles)

    def _once(self, text: str) -> str:
        return self._pool.setdefault(text, text)


def index_row(card: Scorecard, *, count_backfilled: bool) -> IndexRow:
    """Return the flags by which the explorer filters a sample."""
    gold = valid_gold(card)
    if card.status == "error":
        return IndexRow(failed=True, has_gold=gold is not None, answer="failed")
    final = predictions(card, count_backfilled=count_backfilled)
    before = predictions(card, "stage1", count_backfilled=count_backfilled)
    is_right = gold is not None and score_exact(final, gold) == 1.0
    was_right = gold is not None and score_exact(before, gold) == 1.0
    memory = card.memory
    errors = pair_errors(card, count_backfilled=count_backfilled) or PairErrors()
    return IndexRow(
        changed=was_changed(card),
        fixed=gold is not None and is_right and not was_right,
        broken=gold is not None and was_right and not is_right,
        retrieved=memory is not None and memory.retrieved_k > 0,
        injected=was_injected(card),
        blocked=memory is not None and memory.memory_blocked_episode_n + memory.memory_blocked_advisory_n > 0,
        right=is_right,
        has_gold=gold is not None,
        missed=errors.missed > 0,
        spurious=errors.spurious > 0,
        boundary=errors.boundary > 0,
        polarity=errors.polarity > 0,
        answer=canonical_json(sorted(pairs(final))),
    )


def _stage1_usage(calls: Iterable[CallRecord]) -> StageUsage:
    stage1 = [call for call in calls if call.stage == "stage1"]
    costs = [call.cost_usd for call in stage1 if call.cost_usd is not None]
    return StageUsage(
        calls=len(stage1),
        tokens_in=sum(call.tokens_in for call in stage1),
        tokens_out=sum(call.tokens_out for call in stage1),
        cost_usd=fsum(costs) if len(costs) == len(stage1) else None,
    )


def _parts(sample: DerivedSample, trace: _Traced, ev_weights: tuple[float, ...]) -> SampleParts:
    output, error = sample.output, sample.output.error
    return SampleParts(
        card=sample.card,
        ev_weights=ev_weights,
        stage1=output.stage1,
        debate=output.debate,
        stage2=output.stage2,
        moderator=output.moderator,
        bundle=trace.bundle,
        overrides=sample.decisions,
        patches=output.patch_log,
        decision=output.decision,
        meta=output.meta,
        error=(error.type, error.stage, trace.error_message) if error else None,
    )


def _count_principles(parts: SampleParts, principles: dict[str, PrincipleCount]) -> None:
    shown = set(parts.stage2.advisories_ids) if parts.stage2 else set()
    advisories = parts.bundle.retrieved if parts.bundle else ()
    retrieved = Counter(advisory.evidence.principle_id for advisory in advisories)
    injected = {advisory.evidence.principle_id for advisory in advisories if advisory.advisory_id in shown}
    for advisory in advisories:
        count = principles.setdefault(advisory.evidence.principle_id, PrincipleCount())
        count.advisory_type = advisory.advisory_type
        # The text in brackets is about the past case, not about the principle.
        principle_text = advisory.message.partition(" [")[0]
        count.messages.add(principle_text)
    for principle in retrieved:
        principles[principle].retrieved += 1
        principles[principle].injected += principle in injected

"""Reads the samples of a cell for the report's explorer and latencies."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import fsum

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.memory_use import was_injected
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.metrics.per_sample.pair_errors import PAIR_ERRORS, PairErrors, pair_errors
from episodic_absa.metrics.per_sample.pair_scores import score_exact
from episodic_absa.metrics.per_sample.sample_values import was_changed
from episodic_absa.reports.data.report_data import CellSample, ReviewFacts
from episodic_absa.reports.data.sample_detail import TermNames, analysis_json, gold_json, memory_json
from episodic_absa.reports.plots.cost_plot import CostOfSample
from episodic_absa.runs.derived.derived_samples import DerivedSample
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.finished_cells import FinishedCell
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory
from episodic_absa.schemas.run_files.sample_record import CallRecord
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.canonical_json import canonical_json


@dataclass
class PrincipleCount:
    """How many samples of a cell retrieved and were shown advice from one principle."""

    retrieved: int = 0
    injected: int = 0
    messages: set[str] = field(default_factory=set)


@dataclass
class CellSamples:
    """The report's extract from the outputs and traces of one cell."""

    samples: dict[str, CellSample] = field(default_factory=dict)
    reviews: dict[str, ReviewFacts] = field(default_factory=dict)
    answering_ms: list[float] = field(default_factory=list)
    """The time of each sample's calls, without waiting; samples whose waiting is unknown are left out."""
    stage1_usage: dict[str, CostOfSample] = field(default_factory=dict)
    calls: int = 0
    cached_calls: int = 0
    principles: dict[str, PrincipleCount] = field(default_factory=dict)


class SampleReader:
    """Reads cell after cell; equal details of different cells, and the numbers of terms, are kept once."""

    def __init__(self, *, with_text: bool) -> None:
        self._with_text = with_text
        self._names: defaultdict[str, TermNames] = defaultdict(lambda: TermNames(with_text))
        self._pool: dict[str, str] = {}

    def read(self, cell: FinishedCell) -> CellSamples:
        """Read one cell."""
        samples = CellSamples()
        for sample in CellFiles(cell.path).derived:
            timing = sample.trace.timing
            if timing.answering_ms is not None:
                samples.answering_ms.append(timing.answering_ms)
            samples.calls += len(sample.trace.calls)
            samples.cached_calls += sum(call.cached for call in sample.trace.calls)
            samples.stage1_usage[sample.card.uid] = _stage1_usage(sample.trace.calls)
            self._add(cell, sample, samples)
            _count_principles(sample, samples.principles)
        return samples

    def _add(self, cell: FinishedCell, sample: DerivedSample, samples: CellSamples) -> None:
        card, timing = sample.card, sample.trace.timing
        names, usage = self._names[card.uid], card.usage
        gold = self._once(gold_json(card.gold_tuples, names))
        samples.reviews[card.uid] = ReviewFacts(
            names.quote(sample.trace.text), card.language_code, card.domain_id, card.case_type, gold
        )
        samples.samples[card.uid] = CellSample(
            flags=sample_flags(card, count_backfilled=cell.count_backfilled),
            answer=answer_of(card, count_backfilled=cell.count_backfilled),
            analysis=self._once(analysis_json(sample, cell.manifest.config.pipeline.ev_weights, names)),
            memory=self._once(memory_json(sample)),
            cost=(usage.calls, usage.tokens_in, usage.tokens_out, timing.answering_ms, timing.waited_ms_sum),
        )

    def _once(self, text: str) -> str:
        return self._pool.setdefault(text, text)


def answer_of(card: Scorecard, *, count_backfilled: bool) -> str:
    """Return what a sample answers, as a text that is equal for equal final pairs."""
    if card.status == "error":
        return "failed"
    return canonical_json(sorted(pairs(predictions(card, count_backfilled=count_backfilled))))


def sample_flags(card: Scorecard, *, count_backfilled: bool) -> frozenset[str]:
    """Return which of `SAMPLE_FLAGS` are true of a sample."""
    gold, memory = valid_gold(card), card.memory
    if card.status == "error":
        return frozenset({"failed", *(["has_gold"] if gold is not None else [])})
    final = predictions(card, count_backfilled=count_backfilled)
    before = predictions(card, "stage1", count_backfilled=count_backfilled)
    is_right, was_right = (gold is not None and score_exact(tuples, gold) == 1.0 for tuples in (final, before))
    errors = pair_errors(card, count_backfilled=count_backfilled) or PairErrors()
    flags: dict[str, bool] = {
        "changed": was_changed(card),
        "fixed": is_right and not was_right,
        "broken": was_right and not is_right,
        "retrieved": memory is not None and memory.retrieved_k > 0,
        "injected": was_injected(card),
        "blocked": memory is not None and memory.memory_blocked_episode_n + memory.memory_blocked_advisory_n > 0,
        "right": is_right,
        "has_gold": gold is not None,
        **{error: getattr(errors, error) > 0 for error in PAIR_ERRORS},
    }
    return frozenset(name for name, is_true in flags.items() if is_true)


def _stage1_usage(calls: Iterable[CallRecord]) -> CostOfSample:
    stage1 = [call for call in calls if call.stage == "stage1"]
    costs = [call.cost_usd for call in stage1 if call.cost_usd is not None]
    return CostOfSample(
        calls=len(stage1),
        tokens_in=sum(call.tokens_in for call in stage1),
        tokens_out=sum(call.tokens_out for call in stage1),
        cost_usd=fsum(costs) if len(costs) == len(stage1) else None,
    )


def _count_principles(sample: DerivedSample, principles: dict[str, PrincipleCount]) -> None:
    stage2, bundle = sample.output.stage2, sample.trace.case_trace.memory_bundle
    shown = set(stage2.advisories_ids) if stage2 else set()
    for principle, group in _by_principle(bundle.retrieved if bundle else ()).items():
        count = principles.setdefault(principle, PrincipleCount())
        # The text in brackets is about the past case, not about the principle.
        count.messages.update(advisory.message.partition(" [")[0] for advisory in group)
        count.retrieved += 1
        count.injected += any(advisory.advisory_id in shown for advisory in group)


def _by_principle(advisories: Iterable[AnyAdvisory]) -> dict[str, list[AnyAdvisory]]:
    groups: dict[str, list[AnyAdvisory]] = {}
    for advisory in advisories:
        groups.setdefault(advisory.evidence.principle_id, []).append(advisory)
    return groups

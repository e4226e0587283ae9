"""Checks of a cell's results: its records agree, and only adoption changes tuples."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from episodic_absa.final_tuples import conflicting_aspects, is_sure_of_label, label_of_pairs, pairs
from episodic_absa.language import occurs
from episodic_absa.pipeline.decision.pair_label import whole_text_label
from episodic_absa.pipeline.roles import ROLE_SPECS
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.records.scoring import usage_of
from episodic_absa.runs.run_directory import JOURNAL, OUTPUTS, OVERRIDE_DEBUG, SCORECARDS
from episodic_absa.schemas.absa import DebateSummary, FinalTuple, Stage1Result, StructuralRisk
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run_files.case_trace import CaseTraceV1_1
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk
from episodic_absa.verification.checks.findings import Check, Findings
from episodic_absa.vocabulary import SEVERITY_WEIGHT, SentenceLabel


def check_not_adopted_is_stage1(cell: CellFiles) -> Findings:
    """The final tuples of a sample whose Stage2 was not adopted are exactly those of Stage1."""
    for uid, card in cell.cards.items():
        if card.adoption is not None and not card.adoption.adopt:
            yield (
                None
                if card.final_tuples == card.stage1_tuples
                else (f"{uid}: not adopted, and yet the final tuples are not Stage1's")
            )


def check_selected_stage(cell: CellFiles) -> Findings:
    """The stage whose tuples were used is stage2 if and only if it was adopted."""
    for uid, card in cell.cards.items():
        recorded = card.moderator.selected_stage if card.moderator else None
        meant = "stage2" if card.adoption and card.adoption.adopt else "stage1"
        tuples = card.stage2_tuples if meant == "stage2" else card.stage1_tuples
        if recorded != meant:
            yield f"{uid}: selected_stage is {recorded}, adoption says {meant}"
        else:
            yield None if card.final_tuples == tuples else f"{uid}: the final tuples are not those of {meant}"


def check_no_unguided_change(cell: CellFiles) -> Findings:
    """Tuples change only through adoption, and stage_delta follows from the tuples."""
    for uid, card in cell.cards.items():
        before, after = pairs(card.stage1_tuples), pairs(card.final_tuples)
        adopted = bool(card.adoption and card.adoption.adopt)
        meant = "none" if before == after else "guided" if adopted else "unguided"
        delta = card.stage_delta
        recorded = (delta.changed, delta.change_type, delta.n_s1_pairs, delta.n_final_pairs) if delta else None
        if meant == "unguided":
            yield f"{uid}: the tuples changed without adoption"
        elif recorded != (before != after, meant, len(before), len(after)):
            yield f"{uid}: stage_delta contradicts the tuples"
        else:
            yield None


def check_label_agrees(cell: CellFiles) -> Findings:
    """Under rules v3 a label agrees with the pairs beside it; only where all are unsure may quoted words decide it.

    Without pairs it is the label of the whole text, else neutral. Seed rules promise neither.
    """
    for output in cell.outputs.valid():
        final = output.final_result
        if output.changes is None or final is None:
            continue
        meant = label_of_pairs(final.final_tuples)
        summary = output.debate.summary if output.debate else DebateSummary()
        if meant is None:
            meant = _label_without_pairs(output, summary)
            yield None if meant == final.label else f"{output.uid}: its label is {final.label}, without pairs {meant}"
            continue
        is_quoted = bool(summary.sentence_evidence_spans) and summary.sentence_polarity == final.label
        holds = meant == final.label or (is_quoted and not is_sure_of_label(final.final_tuples))
        yield None if holds else f"{output.uid}: its label is {final.label}, its pairs say {meant}"


def check_terms_in_text(cell: CellFiles) -> Findings:
    """Every explicit final term occurs in the text, and the scorecard says so."""
    for uid, card in _with_text(cell):
        text = cell.traces_by_uid[uid].text
        judged = [
            (sentiment.aspect_term, sentiment.polarity, sentiment.term_in_text, sentiment.grounded)
            for sentiment in card.sentiments_judged
        ]
        yield (
            None
            if judged == [_judge(final_tuple, text) for final_tuple in card.final_tuples]
            else (f"{uid}: sentiments_judged are not what the final tuples and the text say")
        )
        for place, final_tuple in enumerate(card.final_tuples, start=1):
            if final_tuple.aspect_term:
                yield None if occurs(final_tuple.aspect_term, text) else f"{uid}: final term {place} is not in the text"


def check_outputs_agree(cell: CellFiles) -> Findings:
    """Outputs and scorecards agree."""
    cards = {card.uid: card for card in cell.scorecards.valid()}
    for output in cell.outputs.valid():
        card = cards.get(output.uid)
        if card is not None:
            differing = [key for key, (ours, theirs) in _recorded_twice(output, card).items() if ours != theirs]
            yield f"{output.uid}: outputs and scorecards differ in {', '.join(differing)}" if differing else None


def check_traces_agree(cell: CellFiles) -> Findings:
    """Traces and scorecards agree; usage is the sum over all calls."""
    cards = {card.uid: card for card in cell.scorecards.valid()}
    outputs = {output.uid: output for output in cell.outputs.valid()}
    for trace in cell.traces.valid():
        case = trace.case_trace
        uid = case.case_id
        card = cards.get(uid)
        if card is None:
            continue
        usage = usage_of(trace.calls)
        compared: dict[str, tuple[Any, Any]] = {
            "status": (trace.error is None, card.status == "ok"),
            "usage": (usage.model_copy(update={"cost_usd": None}), card.usage.model_copy(update={"cost_usd": None})),
        }
        if card.status == "ok" and case.final_output is not None:
            retrieval = (case.retrieval.k, case.retrieval.hit, case.retrieval.returned_ids)
            ids = trace.memory.retrieved_ids
            compared |= {
                "label": (case.final_output.label, card.label),
                "stage1_tuples": (case.final_output.stage1_tuples, card.stage1_tuples),
                "stage2_tuples": (case.final_output.stage2_tuples, card.stage2_tuples),
                "final_tuples": (case.final_output.final_tuples, card.final_tuples),
                "memory": (trace.memory, card.memory),
                "retrieval": (retrieval, (len(ids), bool(ids), ids)),
                "coverage": (case.coverage, card.coverage),
                **_risk_and_override(case, card),
            }
        output = outputs.get(uid)
        if output is not None and output.stage1 is not None:
            stage1 = Stage1Result(ate=output.stage1.ate, atsa=output.stage1.atsa, validator=output.stage1.validator)
            compared |= {
                "stage1": (case.stage1_output, stage1),
                "final_result": (case.final_output, output.final_result),
            }
        differing = [key for key, (ours, theirs) in compared.items() if ours != theirs]
        yield f"{uid}: traces and scorecards differ in {', '.join(differing)}" if differing else None


def check_calls(cell: CellFiles) -> Findings:
    """Calls are numbered in order and name the stage of their role; a sample that succeeded has no failed call."""
    for trace in cell.traces.valid():
        in_order = [call.call_index for call in trace.calls] == list(range(len(trace.calls)))
        staged = all(call.stage == ROLE_SPECS[call.agent].stage for call in trace.calls)
        answered = trace.error is not None or all(call.error is None for call in trace.calls)
        yield (
            None
            if in_order and staged and answered
            else (f"{trace.case_trace.case_id}: its calls are out of order, of another stage, or without an answer")
        )


def check_risk_follows_adoption(cell: CellFiles) -> Findings:
    """Risk after revision is that of Validator2 if Stage2 was adopted, else that of Stage1."""
    for uid, card in cell.cards.items():
        adopted = bool(card.adoption and card.adoption.adopt)
        before, after = _vector(card.risks_s1), _vector(card.risks_s2 if adopted else card.risks_s1)
        yield (
            None
            if (card.risk_before, card.risk_after) == (before, after)
            else (f"{uid}: risk_before or risk_after is not that of the tuples used")
        )


def check_override_decisions(cell: CellFiles) -> Findings:
    """The override gate's file holds each sample's decisions, in sample order."""
    order = {entry.uid: place for place, entry in enumerate(cell.journal.valid())}
    places = [order.get(decision.uid, -1) for decision in cell.decisions.valid()]
    if places:
        yield None if places == sorted(places) and min(places) >= 0 else f"{OVERRIDE_DEBUG} is not in sample order"
    of_uid = Counter(decision.uid for decision in cell.decisions.valid())
    due = 0
    for entry in cell.journal.valid():
        until = cell.decisions.count_until(entry.offsets.get(OVERRIDE_DEBUG, 0))
        due += of_uid[entry.uid]
        end = cell.decisions.ends[until - 1] if until else 0
        yield (
            None
            if until == due and end == entry.offsets.get(OVERRIDE_DEBUG)
            else (f"{entry.uid}: the journal counts other override decisions than {OVERRIDE_DEBUG} holds")
        )
    decided = Counter((decision.uid, decision.decision) for decision in cell.decisions.valid())
    for uid, card in cell.cards.items():
        if card.stage_delta is not None and card.override is not None:
            recorded = (card.stage_delta.override_gate_applied_n, sum(card.override.skip_counts.values()))
            yield (
                None
                if recorded == (decided[uid, "APPLY"], decided[uid, "SKIP"])
                else (f"{uid}: the scorecard counts other override decisions than {OVERRIDE_DEBUG} holds")
            )


def check_no_clock_values(cell: CellFiles) -> Findings:
    """No clock and no cache hit stands outside traces and run_meta."""
    named: dict[str, Sequence[Any]] = {
        OUTPUTS: cell.outputs.objects,
        SCORECARDS: cell.scorecards.objects,
        JOURNAL: cell.journal.objects,
        OVERRIDE_DEBUG: cell.decisions.objects,
        "the store": cell.store.objects,
        "manifest.json": [cell.manifest_object],
    }
    for name, objects in named.items():
        for number, value in enumerate(objects, start=1):
            key = next((key for key in _keys(value) if _CLOCK_KEY.search(key)), None)
            yield None if key is None else f"{name}, line {number}: the key {key} holds a clock value or a cache hit"


RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "not_adopted_is_stage1": check_not_adopted_is_stage1,
    "selected_stage": check_selected_stage,
    "no_unguided_change": check_no_unguided_change,
    "label_agrees": check_label_agrees,
    "terms_in_text": check_terms_in_text,
    "outputs_agree": check_outputs_agree,
    "traces_agree": check_traces_agree,
    "calls": check_calls,
    "risk_follows_adoption": check_risk_follows_adoption,
    "override_decisions": check_override_decisions,
    "no_clock_values": check_no_clock_values,
}

_CLOCK_KEY: Final = re.compile(
    r"(?:^|_)(?:time|timestamp|date|datetime|clock|latency|elapsed|duration|seconds|started|ended|cached|cache_hit)"
    r"(?:$|_)"
)
_TERM_KEYED: Final = ("polarities", "aspect_evidence", "skip_counts")
"""Keys inside these are aspect terms or our own codes; an aspect term may be "time"."""


def _label_without_pairs(output: OutputLine, summary: DebateSummary) -> SentenceLabel:
    stages = [stage.validator for stage in (output.stage2, output.stage1) if stage is not None]
    whole_text = whole_text_label(summary, *stages)
    return "neutral" if whole_text is None else whole_text.label


def _with_text(cell: CellFiles) -> Iterator[tuple[str, Scorecard]]:
    return ((uid, card) for uid, card in cell.cards.items() if uid in cell.traces_by_uid)


def _judge(final_tuple: FinalTuple, text: str) -> tuple[str, str, bool, bool]:
    term, span = final_tuple.aspect_term, final_tuple.span
    grounded = bool(term) and span is not None and text[span.start : span.end] == term
    return term, final_tuple.polarity, not term or occurs(term, text), grounded


def _risk_and_override(trace: CaseTraceV1_1, card: Scorecard) -> dict[str, tuple[Any, Any]]:
    """Pair the risk and override of a trace with those of the scorecard."""
    before, after, delta, override = card.risk_before, card.risk_after, card.stage_delta, card.override
    if before is None or after is None or delta is None or override is None:
        return {}
    risk = trace.risk
    residual = after.severity_sum > 0 or bool(conflicting_aspects(card.final_tuples))
    decided = delta.override_gate_applied_n + sum(override.skip_counts.values()) > 0
    return {
        "risk_before": (
            (risk.flagged, risk.severity_before, risk.tags_before),
            (before.severity_sum > 0, *_both(before)),
        ),
        "risk_after": ((risk.residual, risk.severity_after, risk.tags_after), (residual, *_both(after))),
        "override": (
            (trace.override.eligible, trace.override.applied, trace.override.success, trace.override.harm),
            (decided, delta.override_applied, override.success, override.harm),
        ),
    }


def _both(vector: RiskVectorV1_1) -> tuple[int, Sequence[str]]:
    return vector.severity_sum, vector.tags


def _recorded_twice(output: OutputLine, card: Scorecard) -> dict[str, tuple[Any, Any]]:
    """Pair the fields that outputs and scorecards both record."""
    final, meta, moderator, adoption = output.final_result, output.meta, output.moderator, output.adoption
    stage1, stage2 = output.stage1, output.stage2
    return {
        "status": (output.status, card.status),
        "error_type": (output.error.type if output.error else None, card.error_type),
        "stage1_tuples": (final.stage1_tuples if final else (), card.stage1_tuples),
        "stage2_tuples": (final.stage2_tuples if final else (), card.stage2_tuples),
        "final_tuples": (final.final_tuples if final else (), card.final_tuples),
        "label": (final.label if final else None, card.label),
        "moderator": (
            (moderator.selected_stage, moderator.applied_rules, moderator.final_label) if moderator else None,
            (card.moderator.selected_stage, card.moderator.applied_rules, card.label) if card.moderator else None,
        ),
        "adoption": (
            (adoption.adopt, adoption.reason, adoption.ev_score, adoption.ev_threshold) if adoption else None,
            (card.adoption.adopt, card.adoption.reason, card.adoption.ev_score, card.adoption.ev_threshold)
            if card.adoption
            else None,
        ),
        "components": (
            adoption.components.model_dump() if adoption else None,
            card.adoption.components if card.adoption else None,
        ),
        "confidence": (final.confidence if final else None, moderator.confidence if moderator else None),
        "drops": (stage1.ate.drops if stage1 else (), card.drops),
        "span_repaired": (stage1.ate.span_repaired if stage1 else 0, card.span_repaired),
        "risks_s1": (_scored(stage1.validator.structural_risks if stage1 else ()), card.risks_s1),
        "risks_s2": (_scored(stage2.validator.structural_risks if stage2 else ()), card.risks_s2),
        "stage2_structural_risk": (
            bool(stage2 and stage2.validator.structural_risks) if output.status == "ok" else None,
            card.stage2_structural_risk,
        ),
        "memory": (meta.memory, card.memory),
        "store_decision": (meta.store_decision, card.store_decision),
        "episode_id": (meta.episode_id is not None, card.store_decision == "stored"),
        "sample": (
            (meta.language_code, meta.split, meta.domain_id, meta.case_type),
            (card.language_code, card.split, card.domain_id, card.case_type),
        ),
    }


def _scored(risks: Sequence[StructuralRisk]) -> tuple[ScoredRisk, ...]:
    return tuple(ScoredRisk(type=risk.type, severity=risk.severity) for risk in risks)


def _vector(risks: Sequence[ScoredRisk]) -> RiskVectorV1_1:
    return RiskVectorV1_1(
        severity_sum=sum(SEVERITY_WEIGHT[risk.severity] for risk in risks),
        tags=tuple(sorted({risk.type for risk in risks})),
    )


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in _TERM_KEYED:
                yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)

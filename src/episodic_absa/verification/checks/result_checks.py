"""What must hold of a cell's results: files in step, records that agree, and tuples that only adoption may change.

A check yields once per thing it looks at: None if it holds, else what is wrong. Nothing looked at is not applicable.
What is wrong is told by uid, line and field; review text never enters integrity.json.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from episodic_absa.agents.roles import ROLE_SPECS
from episodic_absa.final_tuples import conflicting_aspects, pairs
from episodic_absa.language import occurs
from episodic_absa.runs.reading.run_files import CellFiles, OutputLine, ReadLines
from episodic_absa.runs.run_directory import JOURNAL, OUTPUTS, OVERRIDE_DEBUG, SCORECARDS, TRACES
from episodic_absa.runs.scoring import usage_of
from episodic_absa.schemas.absa import FinalTuple, Stage1Result, StructuralRisk
from episodic_absa.schemas.case_trace import CaseTraceV1_1
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.scorecard import Scorecard, ScoredRisk
from episodic_absa.vocabulary import SEVERITY_WEIGHT

Findings = Iterator[str | None]
Check = Callable[[CellFiles], Findings]


class NotApplicableError(Exception):
    """A check has nothing it could say something about, and says why."""


def check_completed(cell: CellFiles) -> Findings:
    """The cell was run to its end."""
    yield None if cell.known_manifest.completed else "the manifest says that the run is not completed"


def check_line_counts(cell: CellFiles) -> Findings:
    """Every file has a line per sample."""
    expected = cell.known_manifest.dataset.processing_count
    for name, lines in _sample_files(cell).items():
        found = len(lines.raw)
        yield None if found == expected else f"{name} has {found} lines; processing_count is {expected}"


def check_schemas(cell: CellFiles) -> Findings:
    """Every line is what its schema says."""
    for lines in (*_sample_files(cell).values(), cell.decisions):
        yield from lines.problems
        yield from (None for _ in lines.valid())


def check_sample_order(cell: CellFiles) -> Findings:
    """All files name the same samples in the same order, each once."""
    committed = [entry.uid if entry else None for entry in cell.journal.values]
    for uid, times in Counter(committed).items():
        yield None if times == 1 else f"{JOURNAL} names {uid!r} {times} times"
    named = {
        JOURNAL: [(one.uid, one.sample_index) if one else None for one in cell.journal.values],
        OUTPUTS: [(one.uid, one.sample_index) if one else None for one in cell.outputs.values],
        SCORECARDS: [(one.uid, one.sample_index) if one else None for one in cell.scorecards.values],
        TRACES: [(one.case_trace.case_id, one.case_trace.sample_index) if one else None for one in cell.traces.values],
    }
    for name, places in named.items():
        expected = [(uid, index) for index, uid in enumerate(committed)]
        for index in range(max(len(places), len(expected))):
            found = places[index] if index < len(places) else None
            meant = expected[index] if index < len(expected) else None
            yield None if found == meant else f"{name}, line {index + 1}: {found} stands where {meant} is due"


def check_journal_offsets(cell: CellFiles) -> Findings:
    """The journal's offsets are the ends of the lines, and the last ones the sizes of the files."""
    files = _sample_files(cell)
    files.pop(JOURNAL)
    entries = list(cell.journal.valid())
    for number, entry in enumerate(entries, start=1):
        for name, lines in files.items():
            end = lines.ends[number - 1] if number <= len(lines.ends) else None
            offset = entry.offsets.get(name)
            yield None if offset == end else f"{JOURNAL}, line {number}: {name} ends at {end}, journalled is {offset}"
    last = entries[-1].offsets if entries else {}
    for name, lines in {**files, OVERRIDE_DEBUG: cell.decisions}.items():
        yield (
            None
            if last.get(name, 0) == lines.size
            else (f"{name} has {lines.size} bytes; the journal ends at {last.get(name, 0)}")
        )


def check_store_offsets(cell: CellFiles) -> Findings:
    """The store is as long as the journal says, and its last line at each commit is the journalled one."""
    _require_store(cell)
    entries = list(cell.journal.valid())
    for number, entry in enumerate(entries, start=1):
        offset = entry.offsets.get("store", 0)
        count = cell.store.count_until(offset)
        line = cell.store.raw[count - 1] if count else None
        ends_there = (cell.store.ends[count - 1] if count else 0) == offset
        same = (hashlib.sha256(line).hexdigest() if line else None) == entry.store_last_sha256
        yield None if ends_there and same else f"{JOURNAL}, line {number}: the store's line there is another one"
    last = entries[-1].offsets.get("store", 0) if entries else 0
    yield None if last == cell.store.size else f"the store has {cell.store.size} bytes; the journal ends at {last}"


def check_same_cell(cell: CellFiles) -> Findings:
    """Every record names the run, condition and seed of the manifest."""
    manifest = cell.known_manifest
    name, mode = manifest.condition.name, manifest.condition.memory_mode
    directory = f"{'build' if manifest.is_build else name}__seed{manifest.seed}"
    yield None if cell.path.resolve().name == directory else f"the directory of {directory} has another name"
    for card in cell.scorecards.valid():
        of_card = (card.run_id, card.condition, card.memory_mode, card.seed, card.cfg_hash)
        same = of_card == (manifest.run_id, name, mode, manifest.seed, manifest.cfg_hash)
        yield None if same else f"{card.uid}: the scorecard belongs to another cell"
    for output in cell.outputs.valid():
        of_output = (output.meta.condition, output.meta.memory_mode, output.meta.seed)
        yield None if of_output == (name, mode, manifest.seed) else f"{output.uid}: the output is of another cell"
    for trace in cell.traces.valid():
        meta = trace.case_trace.run_meta
        same = (meta.run_id, meta.condition, meta.memory_mode, meta.seed) == (
            manifest.run_id,
            name,
            mode,
            manifest.seed,
        )
        yield None if same else f"{trace.case_trace.case_id}: the trace is of another cell"


def check_not_adopted_is_stage1(cell: CellFiles) -> Findings:
    """Where Stage2 was not adopted the final tuples are exactly those of Stage1."""
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
        told = card.moderator.selected_stage if card.moderator else None
        meant = "stage2" if card.adoption and card.adoption.adopt else "stage1"
        tuples = card.stage2_tuples if meant == "stage2" else card.stage1_tuples
        if told != meant:
            yield f"{uid}: selected_stage is {told}, adoption says {meant}"
        else:
            yield None if card.final_tuples == tuples else f"{uid}: the final tuples are not those of {meant}"


def check_no_unguided_change(cell: CellFiles) -> Findings:
    """Adoption is the only way to change; what stage_delta says follows from the tuples."""
    for uid, card in cell.cards.items():
        before, after = pairs(card.stage1_tuples), pairs(card.final_tuples)
        adopted = bool(card.adoption and card.adoption.adopt)
        meant = "none" if before == after else "guided" if adopted else "unguided"
        delta = card.stage_delta
        told = (delta.changed, delta.change_type, delta.n_s1_pairs, delta.n_final_pairs) if delta else None
        if meant == "unguided":
            yield f"{uid}: the tuples changed without adoption"
        elif told != (before != after, meant, len(before), len(after)):
            yield f"{uid}: stage_delta contradicts the tuples"
        else:
            yield None


def check_terms_in_text(cell: CellFiles) -> Findings:
    """Every explicit final term stands in the text, and the scorecard judges it so."""
    for uid, card in _with_text(cell):
        text = cell.traces_by_uid[uid].text
        judged = [(one.aspect_term, one.polarity, one.term_in_text, one.grounded) for one in card.sentiments_judged]
        yield (
            None
            if judged == [_judge(one, text) for one in card.final_tuples]
            else (f"{uid}: sentiments_judged are not what the final tuples and the text say")
        )
        for place, one in enumerate(card.final_tuples, start=1):
            if one.aspect_term:
                yield None if occurs(one.aspect_term, text) else f"{uid}: final term {place} is not in the text"


def check_outputs_agree(cell: CellFiles) -> Findings:
    """Outputs and scorecards tell the same."""
    cards = {card.uid: card for card in cell.scorecards.valid()}
    for output in cell.outputs.valid():
        card = cards.get(output.uid)
        if card is not None:
            differing = [key for key, (ours, theirs) in _told_twice(output, card).items() if ours != theirs]
            yield f"{output.uid}: outputs and scorecards differ in {', '.join(differing)}" if differing else None


def check_traces_agree(cell: CellFiles) -> Findings:
    """Traces and scorecards tell the same; usage is the sum over all calls."""
    cards = {card.uid: card for card in cell.scorecards.valid()}
    outputs = {output.uid: output for output in cell.outputs.valid()}
    for trace in cell.traces.valid():
        uid, told = trace.case_trace.case_id, trace.case_trace
        card = cards.get(uid)
        if card is None:
            continue
        usage = usage_of(trace.calls)
        compared: dict[str, tuple[Any, Any]] = {
            "status": (trace.error is None, card.status == "ok"),
            "usage": (usage.model_copy(update={"cost_usd": None}), card.usage.model_copy(update={"cost_usd": None})),
        }
        if card.status == "ok" and told.final_output is not None:
            retrieval = (told.retrieval.k, told.retrieval.hit, told.retrieval.returned_ids)
            ids = trace.memory.retrieved_ids
            compared |= {
                "label": (told.final_output.label, card.label),
                "stage1_tuples": (told.final_output.stage1_tuples, card.stage1_tuples),
                "stage2_tuples": (told.final_output.stage2_tuples, card.stage2_tuples),
                "final_tuples": (told.final_output.final_tuples, card.final_tuples),
                "memory": (trace.memory, card.memory),
                "retrieval": (retrieval, (len(ids), bool(ids), ids)),
                "coverage": (told.coverage, card.coverage),
                **_risk_and_override(told, card),
            }
        output = outputs.get(uid)
        if output is not None and output.stage1 is not None:
            stage1 = Stage1Result(ate=output.stage1.ate, atsa=output.stage1.atsa, validator=output.stage1.validator)
            compared |= {
                "stage1": (told.stage1_output, stage1),
                "final_result": (told.final_output, output.final_result),
            }
        differing = [key for key, (ours, theirs) in compared.items() if ours != theirs]
        yield f"{uid}: traces and scorecards differ in {', '.join(differing)}" if differing else None


def check_calls(cell: CellFiles) -> Findings:
    """Calls are numbered in order and stand under the stage of their role; a sample that ended well lost none."""
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
    """Risk after revision is Validator2's where it was adopted, else Stage1's."""
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
    places = [order.get(one.uid, -1) for one in cell.decisions.valid()]
    if places:
        yield None if places == sorted(places) and min(places) >= 0 else f"{OVERRIDE_DEBUG} is not in sample order"
    of_uid = Counter(one.uid for one in cell.decisions.valid())
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
    found = Counter((one.uid, one.decision) for one in cell.decisions.valid())
    for uid, card in cell.cards.items():
        if card.stage_delta is not None and card.override is not None:
            told = (card.stage_delta.override_gate_applied_n, sum(card.override.skip_counts.values()))
            yield (
                None
                if told == (found[uid, "APPLY"], found[uid, "SKIP"])
                else (f"{uid}: the scorecard counts other override decisions than {OVERRIDE_DEBUG} holds")
            )


def check_no_clock_values(cell: CellFiles) -> Findings:
    """No clock and no cache hit stands outside traces and run_meta."""  # CHECKLIST 190
    named: dict[str, Sequence[Any]] = {
        OUTPUTS: cell.outputs.objects,
        SCORECARDS: cell.scorecards.objects,
        JOURNAL: cell.journal.objects,
        OVERRIDE_DEBUG: cell.decisions.objects,
        "the store": cell.store.objects,
        "manifest.json": [cell.known_manifest.raw],
    }
    for name, objects in named.items():
        for number, one in enumerate(objects, start=1):
            key = next((key for key in _keys(one) if _CLOCK_KEY.search(key)), None)
            yield None if key is None else f"{name}, line {number}: the key {key} tells a clock value or a cache hit"


RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "completed": check_completed,
    "line_counts": check_line_counts,
    "schemas": check_schemas,
    "sample_order": check_sample_order,
    "journal_offsets": check_journal_offsets,
    "store_offsets": check_store_offsets,
    "same_cell": check_same_cell,
    "not_adopted_is_stage1": check_not_adopted_is_stage1,
    "selected_stage": check_selected_stage,
    "no_unguided_change": check_no_unguided_change,
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
"""Keys inside these are aspect terms or codes of ours; a review may well judge the time."""


def _sample_files(cell: CellFiles) -> dict[str, ReadLines[Any]]:
    return {OUTPUTS: cell.outputs, SCORECARDS: cell.scorecards, TRACES: cell.traces, JOURNAL: cell.journal}


def _require_store(cell: CellFiles) -> None:
    if not cell.known_manifest.needs_store:
        raise NotApplicableError("the condition neither reads nor writes a store")
    if cell.store_path is None:
        raise NotApplicableError("the store lies outside the run directory and the config file is not reachable")


def _with_text(cell: CellFiles) -> Iterator[tuple[str, Scorecard]]:
    return ((uid, card) for uid, card in cell.cards.items() if uid in cell.traces_by_uid)


def _judge(one: FinalTuple, text: str) -> tuple[str, str, bool, bool]:
    term, span = one.aspect_term, one.span
    grounded = bool(term) and span is not None and text[span.start : span.end] == term
    return term, one.polarity, not term or occurs(term, text), grounded


def _risk_and_override(told: CaseTraceV1_1, card: Scorecard) -> dict[str, tuple[Any, Any]]:
    """Pair what a trace's short forms of risk and override say with the scorecard."""
    before, after, delta, override = card.risk_before, card.risk_after, card.stage_delta, card.override
    if before is None or after is None or delta is None or override is None:
        return {}
    risk = told.risk
    residual = after.severity_sum > 0 or bool(conflicting_aspects(card.final_tuples))
    decided = delta.override_gate_applied_n + sum(override.skip_counts.values()) > 0
    return {
        "risk_before": (
            (risk.flagged, risk.severity_before, risk.tags_before),
            (before.severity_sum > 0, *_both(before)),
        ),
        "risk_after": ((risk.residual, risk.severity_after, risk.tags_after), (residual, *_both(after))),
        "override": (
            (told.override.eligible, told.override.applied, told.override.success, told.override.harm),
            (decided, delta.override_applied, override.success, override.harm),
        ),
    }


def _both(vector: RiskVectorV1_1) -> tuple[int, Sequence[str]]:
    return vector.severity_sum, vector.tags


def _told_twice(output: OutputLine, card: Scorecard) -> dict[str, tuple[Any, Any]]:
    """Pair what outputs and scorecards both tell."""
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

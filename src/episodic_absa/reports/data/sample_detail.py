"""Renders one sample of one cell as JSON for the explorer. The only module that decides what `--no-text` omits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from episodic_absa.language import norm
from episodic_absa.metrics.memory_use import followed_advice, was_injected
from episodic_absa.runs.derived.derived_samples import DerivedSample
from episodic_absa.schemas.absa import (
    DebateOutput,
    EditTarget,
    FinalTuple,
    ModeratorOutput,
    ProposedEdit,
    Span,
    Stage2Result,
    StructuralRisk,
)
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord
from episodic_absa.schemas.run_files.output_line import OutputLine
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.canonical_json import canonical_json

Json = dict[str, Any]
_EV_PARTS: Final = ("debate_support", "validator_resolved", "grounding", "confidence_gain")
_LABELS: Final = frozenset({"positive", "negative", "neutral", "mixed"})


@dataclass
class TermNames:
    """How a page writes a review's terms and quotations: as they are, or numbered and left out."""

    with_text: bool
    _numbers: dict[str, int] = field(default_factory=dict)

    def term(self, term: str | None) -> str:
        """Name a term; without text equal terms get equal numbers, in every cell and in gold."""
        if not term or self.with_text:
            return term or ""
        number = self._numbers.setdefault(norm(term), len(self._numbers) + 1)
        return f"aspect {number}"

    def quote(self, text: str | None) -> str:
        """Return free text, which may quote the review; nothing without text."""
        return (text or "") if self.with_text else ""

    def value(self, value: str | None) -> str:
        """Return what an edit sets: a label, or else a term."""
        return value if value in _LABELS else self.term(value)

    def span(self, span: Span | None) -> list[int] | None:
        """Return start and end of a span; None without text."""
        return [span.start, span.end] if span and self.with_text else None


def gold_json(gold: Sequence[GoldTuple] | None, names: TermNames) -> str:
    """Render the gold of a review."""
    if gold is None:
        return "null"
    return canonical_json(
        [_tuple(gold_tuple.aspect_term, gold_tuple.polarity, gold_tuple.span, names) for gold_tuple in gold]
    )


def analysis_json(sample: DerivedSample, ev_weights: Sequence[float], names: TermNames) -> str:
    """Render the analysis and its decisions. No condition is named, so that equal analyses give equal texts."""
    card, output = sample.card, sample.output
    value: Json = {
        "status": card.status,
        "labels": [card.label_s1, card.label_s2, card.label],
        "s1": _tuples(card.stage1_tuples, names),
        "s2": _tuples(card.stage2_tuples, names),
        "final": _tuples(card.final_tuples, names),
        "drops": [[names.term(drop.aspect_term), drop.drop_reason] for drop in card.drops],
        "risks": _risks(output, names),
        "severity": [risk.severity_sum if risk else None for risk in (card.risk_before, card.risk_after)],
        "debate": _debate(output.debate, names),
        "reviews": _reviews(output.stage2, names, has_fates=output.decision is None),
        "patches": [
            [entry.step, entry.what, names.term(entry.aspect_term), entry.applied, names.quote(entry.reason)]
            for entry in output.patch_log
        ],
        "overrides": [
            [names.term(gate.aspect), gate.pos, gate.neg, gate.target, gate.decision, gate.reason]
            for gate in sample.decisions
        ],
        "adoption": _adoption(card, ev_weights),
        "moderator": _moderator(output.moderator),
    }
    if output.decision is not None:
        value["candidates"] = [_candidate(candidate, names) for candidate in output.decision.candidates]
        value["tau"] = output.decision.tau
        if output.decision.reach is not None:
            value["reach"] = output.decision.reach
    if output.error is not None:
        message = sample.trace.error.message if sample.trace.error else ""
        value["error"] = [output.error.type, output.error.stage, names.quote(message)]
    return canonical_json(value)


def memory_json(sample: DerivedSample) -> str:
    """Render what memory did. Advisories are catalogue sentences and hold no word of the review."""
    meta, output, bundle = sample.card.memory, sample.output, sample.trace.case_trace.memory_bundle
    if meta is None:
        return "null"
    shown = set(output.stage2.advisories_ids) if output.stage2 else set()
    value: Json = {
        "mode": meta.memory_mode,
        "calls": meta.retrieval_calls,
        "ids": list(meta.retrieved_ids),
        "advisories": [
            _advisory(advisory, shown=advisory.advisory_id in shown)
            for advisory in (bundle.retrieved if bundle else ())
        ],
        "warnings": list(bundle.warnings) if bundle else [],
        "debate": _gate(meta.injection_trigger_reasons, meta.injection_skip_reason, meta.prompt_injection_chars),
        "stage2": _gate(
            meta.stage2_memory_gate_reasons,
            meta.stage2_injection_skip_reason,
            meta.stage2_memory_prompt_injection_chars,
        ),
        "slots": list(meta.memory_debate_slot_present_for),
        "blocked": {
            "episodes": meta.memory_blocked_episode_n,
            "advisories": meta.memory_blocked_advisory_n,
            "demoted": meta.memory_demoted_advisory_n,
            "firewall": meta.firewall_dropped_n,
            "repeated": meta.repeated_advisory_n,
            "opposed": meta.opposed_advisory_n,
        },
        "expects": meta.advisory_expects,
        "followed": followed_advice(sample.card) if was_injected(sample.card) else None,
    }
    stored = output.meta
    if stored is not None and stored.store_decision is not None:
        tags = list(stored.store_reason_tags)
        value["store"] = [stored.store_decision, stored.store_skip_reason, tags, stored.episode_id]
    return canonical_json(value)


def _advisory(advisory: AnyAdvisory, *, shown: bool) -> Json:
    return {
        "id": advisory.advisory_id,
        "type": advisory.advisory_type,
        "strength": advisory.strength,
        "relevance": advisory.relevance_score,
        "principle": advisory.evidence.principle_id,
        "sources": list(advisory.evidence.source_episode_ids),
        "message": advisory.message,
        "shown": shown,
    }


def _tuple(term: str, polarity: str | None, span: Span | None, names: TermNames) -> Json:
    shown = names.term(term)
    value: Json = {"t": shown, "p": polarity, "s": names.span(span)}
    if names.with_text and norm(term) != term:
        value["n"] = norm(term)  # what pairs are compared by
    return value


def _tuples(tuples: Iterable[FinalTuple], names: TermNames) -> list[Json]:
    return [
        {
            **_tuple(final_tuple.aspect_term, final_tuple.polarity, final_tuple.span, names),
            "c": final_tuple.confidence,
            "b": final_tuple.is_backfilled,
        }
        for final_tuple in tuples
    ]


def _risks(output: OutputLine, names: TermNames) -> list[list[Any]]:
    """List Stage1's risks with their outcome, then the new risks of Validator2."""
    first = output.stage1.validator.structural_risks if output.stage1 else ()
    second = output.stage2.validator if output.stage2 else None
    known = {risk.id for risk in first}
    shown = [_risk(risk, _fate(risk, second.resolved_risk_ids if second else None), names) for risk in first]
    new = [risk for risk in (second.structural_risks if second else ()) if risk.id not in known]
    return [*shown, *(_risk(risk, "new", names) for risk in new)]


def _fate(risk: StructuralRisk, resolved: Sequence[str] | None) -> str:
    if resolved is None:
        return "not reviewed"
    return "resolved" if risk.id in resolved else "remains"


def _risk(risk: StructuralRisk, fate: str, names: TermNames) -> list[Any]:
    return [risk.type, risk.severity, fate, names.quote(risk.description), names.span(risk.scope)]


def _debate(debate: DebateOutput | None, names: TermNames) -> Json | None:
    if debate is None:
        return None
    turns = [
        [debate_round.round_index, turn.agent, [_edit(edit, names) for edit in turn.proposed_edits]]
        for debate_round in debate.rounds
        for turn in debate_round.turns
    ]
    summary = debate.summary
    return {
        "turns": turns,
        "patch": [[edit.op, *_target(edit.target, names), names.value(edit.value)] for edit in summary.final_patch],
        "tuples": [[names.term(judged.aspect_term), judged.polarity] for judged in summary.final_tuples],
        "label": summary.sentence_polarity,
        "unresolved": [names.quote(conflict) for conflict in summary.unresolved_conflicts],
        "rationale": names.quote(summary.rationale),
    }


def _edit(edit: ProposedEdit, names: TermNames) -> list[Any]:
    fields = [edit.op, *_target(edit.target, names), names.value(edit.value)]
    return [*fields, names.quote(edit.evidence), edit.confidence]


def _target(target: EditTarget, names: TermNames) -> tuple[str, str]:
    return names.term(target.aspect_ref or target.aspect_term), names.value(target.polarity)


def _reviews(stage2: Stage2Result | None, names: TermNames, *, has_fates: bool) -> Json | None:
    if stage2 is None:
        return None
    # Under rules v3 the candidates tell what became of a pair, and changes have ids of their own.
    accepted = {change.change_id for change in stage2.accepted_changes if has_fates}
    # The code after the bar says why a verdict was not applied; it quotes nothing.
    rejected = {
        change.change_id: change.reasoning.rpartition(" | not applied: ")[2]
        for change in stage2.rejected_changes
        if has_fates
    }
    kept = 0
    rows: list[list[Any]] = []
    for aspect in stage2.ate_reviews:
        if aspect.action == "keep":
            kept += 1
            continue
        fate = _outcome(aspect.change_id, accepted, rejected, names)
        rows.append(["aspect", names.term(aspect.aspect_term), aspect.action, "", names.quote(aspect.reason), *fate])
    for judged in stage2.atsa_reviews:
        if judged.action == "keep":
            kept += 1
            continue
        fate = _outcome(judged.change_id, accepted, rejected, names)
        row = ["sentiment", names.term(judged.aspect_term), judged.action, judged.revised_polarity or ""]
        rows.append([*row, names.quote(judged.reason), *fate])
    return {"kept": kept, "rows": rows}


def _outcome(
    change_id: str, accepted: set[str], rejected: Mapping[str, str], names: TermNames
) -> tuple[bool | None, str]:
    if change_id in accepted:
        return True, ""
    return (False, names.quote(rejected[change_id])) if change_id in rejected else (None, "")


def _candidate(candidate: CandidateRecord, names: TermNames) -> list[Any]:
    witnesses = [
        [witness.who, witness.stance, names.quote(witness.quote), witness.p] for witness in candidate.witnesses
    ]
    pair = [names.term(candidate.aspect_term), candidate.polarity, candidate.p]
    return [*pair, candidate.is_of_stage1, candidate.is_in, candidate.reason, witnesses]


def _adoption(card: Scorecard, weights: Sequence[float]) -> Json | None:
    if card.adoption is None:
        return None
    parts = []
    for name, weight in zip(_EV_PARTS, weights, strict=False):
        raw = card.adoption.components.get(name, 0.0)
        # The confidence gain is capped by its weight; the others are 0 or 1, times their weight.
        worth = min(weight, raw) if name == "confidence_gain" else weight * raw
        parts.append([name, weight, worth])
    return {
        "adopt": card.adoption.adopt,
        "reason": card.adoption.reason,
        "ev": card.adoption.ev_score,
        "threshold": card.adoption.ev_threshold,
        "parts": parts,
    }


def _moderator(moderator: ModeratorOutput | None) -> Json | None:
    if moderator is None:
        return None
    return {
        "rules": list(moderator.applied_rules),
        "source": moderator.label_source,
        "stage": moderator.selected_stage,
        "reason": moderator.decision_reason,
        "confidence": moderator.confidence,
        "blocked": moderator.arbiter_flags.rule_e_block_reason,
    }


def _gate(reasons: Sequence[str], skip: str, chars: int) -> Json:
    return {"reasons": list(reasons), "skip": skip, "chars": chars}

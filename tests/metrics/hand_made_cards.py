"""Scorecards made of pairs, for tests that say what a metric means."""

from collections.abc import Callable, Sequence
from typing import Any

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics import Majority, MetricValue, compute_cell_metrics
from episodic_absa.schemas.absa import Drop, FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.memory_v1_1 import RiskVectorV1_1
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.sample_record import DebateScore
from episodic_absa.schemas.run_files.scorecard import (
    AdoptionScore,
    Coverage,
    JudgedSentiment,
    MappedTag,
    ModeratorScore,
    OverrideScore,
    Scorecard,
    ScoredRisk,
    StageDelta,
)
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Polarity

Pairs = Sequence[tuple[str, Polarity]]
NO_POLARITY = GoldTuple(aspect_term="food", polarity=None)


def make_tuple(term: str, polarity: Polarity, *, confidence: float = 0.5, backfilled: bool = False) -> FinalTuple:
    return FinalTuple(
        aspect_term=term,
        polarity=polarity,
        confidence=confidence,
        grounding="explicit" if term else "implicit",
        is_backfilled=backfilled,
    )


def make_tuples(found: Pairs, backfilled: Pairs = ()) -> tuple[FinalTuple, ...]:
    return (*(make_tuple(*pair) for pair in found), *(make_tuple(*pair, backfilled=True) for pair in backfilled))


def make_gold(meant: Pairs | None) -> tuple[GoldTuple, ...] | None:
    return None if meant is None else tuple(GoldTuple(aspect_term=term, polarity=polarity) for term, polarity in meant)


def make_memory(**more: Any) -> MemoryMeta:
    fields: dict[str, Any] = {
        "condition": "C2",
        "memory_mode": "on",
        "retrieval_calls": 1,
        "retrieved_k": 0,
        "retrieved_ids": (),
        "exposed_to_debate": True,
        "exposed_to_stage2": True,
        "memory_access_policy": {"debate": ("epm",)},
    }
    return MemoryMeta.model_validate(fields | more)


def make_card(
    final: Pairs = (),
    gold: Pairs | None = None,
    *,
    stage1: Pairs | None = None,
    backfilled: Pairs = (),
    risks_s1: Sequence[ScoredRisk] = (),
    risks_s2: Sequence[ScoredRisk] = (),
    drops: Sequence[Drop] = (),
    **more: Any,
) -> Scorecard:
    """Make the scorecard of a successful sample; derived fields follow from its tuples and risks."""
    after = make_tuples(final, backfilled)
    before = after if stage1 is None else make_tuples(stage1, backfilled)
    changed = pairs(before) != pairs(after)
    fields: dict[str, Any] = {
        "run_id": "toy",
        "uid": "u",
        "sample_index": 0,
        "status": "ok",
        "condition": "C2",
        "memory_mode": "on",
        "seed": 1,
        "language_code": "en",
        "split": "valid",
        "domain_id": "d",
        "case_type": "c",
        "cfg_hash": "0" * 64,
        "stage1_tuples": before,
        "final_tuples": after,
        "gold_tuples": make_gold(gold),
        "label": "positive",
        "label_s1": "positive",
        "label_s2": "positive",
        "drops": tuple(drops),
        "implicit_grounding_candidate": False,
        "risks_s1": tuple(risks_s1),
        "risks_s2": tuple(risks_s2),
        "risk_before": _vector(risks_s1),
        "risk_after": _vector(risks_s2 if changed else risks_s1),
        "stage_delta": StageDelta(
            changed=changed,
            label_changed=False,
            n_s1_pairs=len(pairs(before)),
            n_final_pairs=len(pairs(after)),
            change_type="guided" if changed else "none",
            override_applied=False,
            override_gate_applied_n=0,
        ),
        "override": OverrideScore(success=False, harm=False, skip_counts={}),
        "adoption": AdoptionScore(
            adopt=changed,
            reason="risk_resolved" if changed else "low_signal",
            ev_score=0.5,
            ev_threshold=0.3,
            components={},
        ),
        "moderator": ModeratorScore(selected_stage="stage2" if changed else "stage1", applied_rules=("B",)),
        "debate": DebateScore(
            mapping_stats={"direct": 2, "fallback": 1, "none": 1},
            mapping_fail_reasons={},
            hint_valid_n=3,
            hint_invalid_n=1,
        ),
        "sentiments_judged": tuple(
            JudgedSentiment(
                aspect_term=item.aspect_term,
                polarity=item.polarity,
                term_in_text=True,
                grounded=bool(item.aspect_term),
                evidence_in_text=True,
            )
            for item in after
        ),
        "memory": make_memory(),
        "store_decision": "skipped",
        "store_size_after": 0,
        "coverage": Coverage(),
        "stage1_structural_risk": bool(risks_s1),
        "stage2_structural_risk": bool(risks_s2),
    }
    return Scorecard.model_validate(fields | more)


def failed(card: Scorecard) -> Scorecard:
    """Return the scorecard of the same sample with status error."""
    kept = {name: getattr(card, name) for name in (*list(Scorecard.model_fields)[:14], "gold_tuples", "usage")}
    return Scorecard.model_validate(kept | {"status": "error", "error_type": "timeout"})


def covering(*tags: str) -> Coverage:
    mapped = tuple(MappedTag(risk_tag=tag, principle_id="P-GEN-01") for tag in tags)  # type: ignore[arg-type]
    return Coverage(risk_tag_to_principle_mapped=mapped)


def measure(
    *cards: Scorecard, majority: Majority | None = None, count_backfilled: bool = False
) -> Callable[[str], MetricValue]:
    """Return the metrics of a cell by name."""
    values = compute_cell_metrics(cards, majority=majority, count_backfilled=count_backfilled)
    return {value.metric: value for value in values}.__getitem__


def judged(
    term: str = "food", *, grounded: bool = True, evidence: bool = True, in_text: bool = True
) -> JudgedSentiment:
    return JudgedSentiment(
        aspect_term=term, polarity="positive", term_in_text=in_text, grounded=grounded, evidence_in_text=evidence
    )


def _vector(risks: Sequence[ScoredRisk]) -> RiskVectorV1_1:
    return RiskVectorV1_1(
        severity_sum=sum(SEVERITY_WEIGHT[risk.severity] for risk in risks),
        tags=tuple(sorted({risk.type for risk in risks})),
    )

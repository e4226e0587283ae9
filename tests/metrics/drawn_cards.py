"""Scorecards out of thin air: coherent as those of a run are, drawn from a vocabulary so small that terms collide.

Drawn terms fall into three classes by `norm`: food, 배송 and "" (implicit). No two classes resemble each other, so that
a term similarity of .95 can only mean equality.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Final, Literal, NamedTuple

from hypothesis import strategies as st

from episodic_absa.language import norm
from episodic_absa.schemas.absa import Drop, FinalTuple, Span
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
    UsageSums,
)
from episodic_absa.vocabulary import (
    SEVERITY_WEIGHT,
    AdoptReason,
    DebateGateReason,
    DropReason,
    MemoryMode,
    ModeratorRule,
    OverrideSkip,
    Polarity,
    RiskId,
    SentenceLabel,
    Severity,
    Stage2GateReason,
)

TERMS: Final = ("food", "Food!", "배송", "배송.", "")
PLACES: Final = {"food": 0, "service": 20, "배송": 40, "가격": 50}
POLARITIES: Final[tuple[Polarity, ...]] = ("positive", "negative", "neutral")
LABELS: Final[tuple[SentenceLabel, ...]] = ("positive", "negative", "neutral", "mixed")


class Flags(NamedTuple):
    """The flags of a condition that a memory_meta depends on."""

    memory_mode: MemoryMode
    retrieves: bool
    writes: bool
    exposed: bool


CONDITIONS: Final[dict[str, Flags]] = {
    "C1": Flags("off", retrieves=False, writes=False, exposed=False),
    "C2": Flags("on", retrieves=True, writes=True, exposed=True),
    "C2_silent": Flags("silent", retrieves=True, writes=True, exposed=False),
    "C2_eval_only": Flags("silent", retrieves=True, writes=False, exposed=False),
    "C2_frozen": Flags("on", retrieves=True, writes=False, exposed=True),
}


def final_tuple(
    term: str, polarity: Polarity = "positive", confidence: float = 0.9, *, backfilled: bool = False
) -> FinalTuple:
    start = PLACES.get(norm(term), 60)
    return FinalTuple(
        aspect_term=term,
        polarity=polarity,
        confidence=confidence,
        grounding="explicit" if term else "implicit",
        span=Span(start=start, end=start + len(term)) if term else None,
        is_backfilled=backfilled,
    )


def gold(*pairs: tuple[str, Polarity | None]) -> tuple[GoldTuple, ...]:
    return tuple(GoldTuple(aspect_term=term, polarity=polarity) for term, polarity in pairs)


def extracted(tuples: Iterable[FinalTuple]) -> tuple[FinalTuple, ...]:
    """Return the tuples unique by (norm term, polarity), highest confidence kept, sorted by place, implicit last."""
    best: dict[tuple[str, str], FinalTuple] = {}
    for item in tuples:
        key = (norm(item.aspect_term), item.polarity)
        if key not in best or item.confidence > best[key].confidence:
            best[key] = item

    def place(item: FinalTuple) -> tuple[bool, int, str, str]:
        return (item.span is None, item.span.start if item.span else 0, item.aspect_term, item.polarity)

    return tuple(sorted(best.values(), key=place))


def judged(item: FinalTuple, *, in_text: bool = True, grounded: bool = True, evidence: bool = True) -> JudgedSentiment:
    return JudgedSentiment(
        aspect_term=item.aspect_term,
        polarity=item.polarity,
        term_in_text=in_text or not item.aspect_term,
        grounded=grounded and in_text and bool(item.aspect_term),
        evidence_in_text=evidence,
    )


def risk_vector(risks: Sequence[ScoredRisk]) -> RiskVectorV1_1:
    return RiskVectorV1_1(
        severity_sum=sum(SEVERITY_WEIGHT[r.severity] for r in risks), tags=tuple(sorted({r.type for r in risks}))
    )


def memory_meta(condition: str = "C1", **more: Any) -> MemoryMeta:
    flags = CONDITIONS[condition]
    given: dict[str, Any] = {
        "condition": condition,
        "memory_mode": flags.memory_mode,
        "retrieval_calls": int(flags.retrieves),
        "retrieved_k": 0,
        "exposed_to_debate": flags.exposed,
        "exposed_to_stage2": flags.exposed,
        "memory_access_policy": {"debate": ("epm", "tan", "cj", "judge")},
        **more,
    }
    given.setdefault("retrieved_ids", tuple(f"epi_{i:06d}" for i in range(1, given["retrieved_k"] + 1)))
    return MemoryMeta(**given)


def ok_card(
    uid: str = "u0",
    *,
    stage1: Sequence[FinalTuple] = (),
    stage2: Sequence[FinalTuple] | None = None,
    adopt: bool = False,
    drift: bool = False,
    gold_tuples: tuple[GoldTuple, ...] | None = None,
    judgements: Sequence[JudgedSentiment] | None = None,
    risks_s1: Sequence[ScoredRisk] = (),
    risks_s2: Sequence[ScoredRisk] = (),
    memory: MemoryMeta | None = None,
    condition: str = "C1",
    seed: int = 42,
    sample_index: int = 0,
    applied_rules: tuple[ModeratorRule, ...] = ("B",),
    label: SentenceLabel = "positive",
    **more: Any,
) -> Scorecard:
    """A successful sample; every field that is not given is derived as a run derives it.

    `drift` takes Stage2's tuples without adopting them: an integrity failure, but one that must be counted.
    """
    stage1 = tuple(stage1)
    stage2 = stage1 if stage2 is None else tuple(stage2)
    final = stage2 if adopt or drift else stage1
    changed = _all_pairs(stage1) != _all_pairs(final)
    given: dict[str, Any] = {
        "run_id": "r",
        "uid": uid,
        "sample_index": sample_index,
        "status": "ok",
        "condition": condition,
        "memory_mode": CONDITIONS[condition].memory_mode,
        "seed": seed,
        "language_code": "ko",
        "split": "valid",
        "domain_id": "unknown",
        "case_type": "unknown",
        "cfg_hash": "0",
        "stage1_tuples": stage1,
        "stage2_tuples": stage2,
        "final_tuples": final,
        "gold_tuples": gold_tuples,
        "label": label,
        "label_s1": label,
        "label_s2": label,
        "implicit_grounding_candidate": False,
        "risks_s1": tuple(risks_s1),
        "risks_s2": tuple(risks_s2),
        "risk_before": risk_vector(risks_s1),
        "risk_after": risk_vector(risks_s2 if adopt else risks_s1),
        "stage_delta": StageDelta(
            changed=changed,
            label_changed=False,
            n_s1_pairs=len(_all_pairs(stage1)),
            n_final_pairs=len(_all_pairs(final)),
            change_type="none" if not changed else "guided" if adopt else "unguided",
            override_applied=False,
            override_gate_applied_n=0,
        ),
        "override": OverrideScore(success=False, harm=False, skip_counts={}),
        "adoption": AdoptionScore(
            adopt=adopt,
            reason="debate_action" if adopt else "low_signal",
            ev_score=0.4,
            ev_threshold=0.3,
            components={"debate_support": 1.0},
        ),
        "moderator": ModeratorScore(selected_stage="stage2" if adopt else "stage1", applied_rules=applied_rules),
        "debate": DebateScore(
            mapping_stats={"direct": 0, "fallback": 0, "none": 0},
            mapping_fail_reasons={},
            hint_valid_n=0,
            hint_invalid_n=0,
        ),
        "sentiments_judged": tuple(judged(item) for item in final) if judgements is None else tuple(judgements),
        "memory": memory_meta(condition) if memory is None else memory,
        "store_decision": "skipped",
        "store_size_after": 0,
        "coverage": Coverage(mapping_coverage_hit=False if risks_s1 else None),
        "stage1_structural_risk": bool(risks_s1) or _conflict(stage1),
        "stage2_structural_risk": bool(risks_s2),
        "usage": UsageSums(calls=10, attempts=10),
        **more,
    }
    return Scorecard(**given)


def error_card(uid: str = "u0", **more: Any) -> Scorecard:
    given: dict[str, Any] = {
        "run_id": "r",
        "uid": uid,
        "sample_index": 0,
        "status": "error",
        "error_type": "timeout",
        "condition": "C1",
        "memory_mode": CONDITIONS[more.get("condition", "C1")].memory_mode,
        "seed": 42,
        "language_code": "en",
        "split": "valid",
        "domain_id": "unknown",
        "case_type": "unknown",
        "cfg_hash": "0",
        **more,
    }
    return Scorecard(**given)


def _all_pairs(tuples: Iterable[FinalTuple]) -> set[tuple[str, str]]:
    return {(norm(item.aspect_term), item.polarity) for item in tuples}


def _conflict(tuples: Iterable[FinalTuple]) -> bool:
    pairs = _all_pairs(item for item in tuples if not item.is_backfilled)
    return len({term for term, _ in pairs}) < len(pairs)


# What hypothesis draws from. Whole values, so that a card costs few draws.

_OFTEN: Final[tuple[Polarity, ...]] = ("positive", "negative", "positive", "negative", "neutral")
_FINALS: Final = [final_tuple(t, p, c) for c, t, p in product((0.9, 0.6), TERMS, _OFTEN)]
_BACKFILLS: Final = [final_tuple(t, "neutral", 0.5, backfilled=True) for t in TERMS]
_GOLD_PAIRS: Final = list(product(TERMS, _OFTEN))
_RISK_IDS: Final[tuple[RiskId, ...]] = ("NEGATION_SCOPE", "CONTRAST_SCOPE", "OTHER")
_SEVERITIES: Final[tuple[Severity, ...]] = ("low", "mid", "high")
_RISKS: Final = [ScoredRisk(type=t, severity=s) for t, s in product(_RISK_IDS, _SEVERITIES)]
_DROP_REASONS: Final[tuple[DropReason, ...]] = (
    "alignment_failure",
    "alignment_failure",
    "filter_rejection",
    "semantic_hallucination",
)
_DROPS: Final = [Drop(aspect_term="ghost", drop_reason=reason) for reason in _DROP_REASONS]
_RULES: Final[tuple[tuple[ModeratorRule, ...], ...]] = (("B",), ("Z",), ("B", "A"), ("B", "C", "E"))
_ADOPTED: Final[tuple[AdoptReason, ...]] = ("risk_resolved", "debate_action", "grounding_improved")
_REFUSED: Final[tuple[AdoptReason, ...]] = ("low_signal", "conflict_blocked", "ev_below_threshold")
_SKIPS: Final[tuple[OverrideSkip, ...]] = ("low_signal", "already_confident", "l3_conservative", "neutral_only")
_DEBATE_REASONS: Final[tuple[tuple[DebateGateReason, ...], ...]] = (
    (),
    ("validator",),
    ("conflict", "validator"),
    ("alignment", "explicit_grounding_failure"),
)
_STAGE2_REASONS: Final[tuple[tuple[Stage2GateReason, ...], ...]] = (
    (),
    ("neutral_only",),
    ("validator", "conflict"),
    ("explicit_grounding_failure", "alignment"),
)

_AGREEMENTS: Final = ("chance", "chance", "half", "half", "stage1", "final")
some_tuples: Final = st.lists(st.sampled_from([*_FINALS, *_BACKFILLS]), max_size=4).map(extracted)
valid_gold: Final = st.lists(st.sampled_from(_GOLD_PAIRS), min_size=1, max_size=4).map(lambda pairs: gold(*pairs))
invalid_gold: Final = st.builds(
    lambda pairs, term: gold(*pairs, (term, None)),
    st.lists(st.sampled_from(_GOLD_PAIRS), max_size=2),
    st.sampled_from(("food", "")),
)
any_gold: Final = st.one_of(valid_gold, valid_gold, valid_gold, st.none(), invalid_gold)
some_risks: Final = st.lists(st.sampled_from(_RISKS), max_size=2).map(tuple)
_drops: Final = st.lists(st.sampled_from(_DROPS), max_size=2).map(tuple)
_small: Final = st.integers(0, 3)
_usage: Final = st.builds(
    lambda attempts, tokens, cost: UsageSums(
        calls=10, attempts=10 + attempts, tokens_in=100 * tokens, tokens_out=7 * tokens, cost_usd=cost
    ),
    _small,
    _small,
    st.sampled_from((None, 0.0, 0.25, 0.5)),
)
_judgement: Final = st.sampled_from(
    [(True, True, True), (True, False, True), (False, False, True), (True, True, False), (True, False, False)]
)


@st.composite
def memory_metas(draw: st.DrawFn, condition: str) -> MemoryMeta:
    """What the memory may have done for a sample of this condition."""
    flags = CONDITIONS[condition]
    k = draw(_small) if flags.retrieves else 0
    debate, stage2 = draw(st.sampled_from(_DEBATE_REASONS)), draw(st.sampled_from(_STAGE2_REASONS))
    shown = flags.exposed and k > 0 and draw(st.booleans())
    to_debate, to_stage2 = shown and bool(debate), shown and bool(stage2)
    chars = draw(st.integers(1, 3)) * 100
    blocked = draw(st.integers(0, k))
    return memory_meta(
        condition,
        retrieved_k=k,
        memory_blocked_episode_n=blocked,
        memory_blocked_advisory_n=blocked,
        memory_demoted_advisory_n=k - blocked,
        memory_block_reason="opposite_polarity_failed" if blocked else "",
        injection_trigger_reason=debate[0] if debate else None,
        injection_trigger_reasons=debate,
        prompt_injection_chars=chars if to_debate else 0,
        advisory_injection_gated=flags.exposed and not debate,
        advisory_expects=draw(st.sampled_from(("change", "hold", None))) if to_debate or to_stage2 else None,
        memory_debate_slot_present_for=("epm", "tan", "cj", "judge") if to_debate else (),
        stage2_memory_injected=to_stage2,
        stage2_memory_gate_reason=stage2[0] if stage2 else None,
        stage2_memory_gate_reasons=stage2,
        stage2_memory_prompt_injection_chars=chars if to_stage2 else 0,
    )


@st.composite
def ok_cards(
    draw: st.DrawFn,
    uid: str = "u0",
    condition: str = "C1",
    *,
    seed: int = 42,
    sample_index: int = 0,
    golds: st.SearchStrategy[tuple[GoldTuple, ...] | None] = any_gold,
) -> Scorecard:
    """One successful sample."""
    stage1, stage2 = draw(some_tuples), draw(some_tuples)
    way = draw(st.sampled_from(("keep", "adopt", "adopt", "drift")))
    adopt = way == "adopt"
    final = stage1 if way == "keep" else stage2
    risks_s1, risks_s2 = draw(some_risks), draw(some_risks)
    rules = draw(st.sampled_from(_RULES))
    candidate = draw(st.booleans())
    judgements = [
        judged(item) if item.is_backfilled else judged(item, in_text=t, grounded=g, evidence=e)
        for item in final
        for t, g, e in [draw(_judgement)]
    ]
    drops = draw(_drops)
    memory = draw(memory_metas(condition))
    before, after = risk_vector(risks_s1), risk_vector(risks_s2 if adopt else risks_s1)
    advised = memory.retrieved_k > 0 and memory.exposed_to_debate
    mapped = [tag for tag in before.tags if advised and draw(st.booleans())]
    applied_n = draw(st.integers(0, 1))
    applied = adopt and applied_n > 0 and draw(st.booleans())
    changed = _all_pairs(stage1) != _all_pairs(final)
    repaired, invalid = draw(st.integers(0, 1)), draw(st.integers(0, 1))
    label_s1, label_s2 = draw(st.sampled_from(LABELS)), draw(st.sampled_from(LABELS))
    failed = _fails_explicitly(final, judgements, rules, candidate=candidate)
    return ok_card(
        uid,
        stage1=stage1,
        stage2=stage2,
        adopt=adopt,
        drift=way == "drift",
        gold_tuples=_gold_for(draw(golds), draw(st.sampled_from(_AGREEMENTS)), stage1, final),
        judgements=judgements,
        risks_s1=risks_s1,
        risks_s2=risks_s2,
        memory=memory,
        condition=condition,
        seed=seed,
        sample_index=sample_index,
        applied_rules=rules,
        label="neutral" if rules == ("Z",) else label_s2 if adopt else label_s1,
        label_s1=label_s1,
        label_s2=label_s2,
        drops=drops,
        implicit_grounding_candidate=candidate,
        stage_delta=StageDelta(
            changed=changed,
            label_changed=adopt and label_s1 != label_s2,
            n_s1_pairs=len(stage1),
            n_final_pairs=len(final),
            change_type="none" if not changed else "guided" if adopt else "unguided",
            override_applied=applied,
            override_gate_applied_n=applied_n,
        ),
        override=OverrideScore(
            success=applied and after.severity_sum < before.severity_sum,
            harm=applied and after.severity_sum > before.severity_sum,
            skip_counts=draw(st.dictionaries(st.sampled_from(_SKIPS), st.integers(1, 2), max_size=2)),
        ),
        adoption=AdoptionScore(
            adopt=adopt,
            reason=draw(st.sampled_from(_ADOPTED if adopt else _REFUSED)),
            ev_score=0.4,
            ev_threshold=0.3,
            components={"debate_support": 1.0},
        ),
        debate=DebateScore(
            mapping_stats={"direct": draw(_small), "fallback": draw(_small), "none": draw(_small)},
            mapping_fail_reasons={},
            hint_valid_n=draw(_small),
            hint_invalid_n=draw(_small),
        ),
        store_decision="stored" if CONDITIONS[condition].writes and draw(st.booleans()) else "skipped",
        store_size_after=draw(_small) if CONDITIONS[condition].retrieves else 0,
        coverage=Coverage(
            risk_tag_to_principle_mapped=tuple(MappedTag(risk_tag=tag, principle_id="P-GEN-01") for tag in mapped),
            mapping_coverage_hit=len(mapped) == len(before.tags) if before.tags else None,
        ),
        stage1_structural_risk=bool(risks_s1)
        or _conflict(stage1)
        or sum(d.drop_reason == "alignment_failure" for d in drops) >= 2
        or failed,
        usage=draw(_usage),
        polarity_read_count=repaired + invalid + draw(_small),
        polarity_repair_count=repaired,
        polarity_invalid_count=invalid,
    )


def _gold_for(
    drawn: tuple[GoldTuple, ...] | None, agreement: str, stage1: Sequence[FinalTuple], final: Sequence[FinalTuple]
) -> tuple[GoldTuple, ...] | None:
    """Let gold agree with a stage, wholly or in part, more often than chance would; chance alone corrects nothing."""
    if not drawn or agreement == "chance":
        return drawn
    told = gold(
        *(
            (source_tuple.aspect_term, source_tuple.polarity)
            for source_tuple in (stage1 if agreement == "stage1" else final)
        )
    )
    return (*drawn[:2], *told) if agreement == "half" else told or drawn


def _fails_explicitly(
    final: Sequence[FinalTuple],
    judgements: Sequence[JudgedSentiment],
    rules: tuple[ModeratorRule, ...],
    *,
    candidate: bool,
) -> bool:
    real = [j for item, j in zip(final, judgements, strict=True) if not item.is_backfilled]
    if not real or real[0].aspect_term == "" or real[0].grounded:
        return False
    return not (candidate and rules != ("Z",))


@st.composite
def any_cards(
    draw: st.DrawFn, uid: str = "u0", condition: str = "C1", *, seed: int = 42, sample_index: int = 0
) -> Scorecard:
    """One sample; one in five failed."""
    if draw(st.integers(0, 4)) == 4:
        return error_card(
            uid,
            condition=condition,
            seed=seed,
            sample_index=sample_index,
            gold_tuples=draw(any_gold),
            usage=draw(_usage),
        )
    return draw(ok_cards(uid, condition, seed=seed, sample_index=sample_index))


@st.composite
def cells(
    draw: st.DrawFn, *, min_size: int = 0, max_size: int = 5, names: Sequence[str] = tuple(CONDITIONS), seed: int = 42
) -> list[Scorecard]:
    """One condition, one seed."""
    condition = draw(st.sampled_from(names))
    n = draw(st.integers(min_size, max_size))
    return [draw(any_cards(f"u{i}", condition, seed=seed, sample_index=i)) for i in range(n)]


SEEDS: Final = (1, 2, 3)


@st.composite
def grids(
    draw: st.DrawFn, *, names: Sequence[str] = tuple(CONDITIONS), max_uids: int = 3
) -> dict[int, list[Scorecard]]:
    """One condition under several seeds: a uid may be missing or failed under a seed, and often repeats itself."""
    condition = draw(st.sampled_from(names))
    seeds = SEEDS[: draw(st.integers(1, len(SEEDS)))]
    by_seed: dict[int, list[Scorecard]] = {seed: [] for seed in seeds}
    for i in range(draw(st.integers(1, max_uids))):
        uid = f"u{i}"
        base = draw(ok_cards(uid, condition, sample_index=i))
        for seed in seeds:
            fate: Literal["same", "label", "fresh", "error", "absent"] = draw(
                st.sampled_from(("same", "same", "same", "label", "fresh", "error", "absent"))
            )
            match fate:
                case "same":
                    card = base
                case "label":
                    card = base.model_copy(update={"label": draw(st.sampled_from(LABELS))})
                case "fresh":
                    card = draw(ok_cards(uid, condition, sample_index=i))
                case "error":
                    card = error_card(uid, condition=condition, sample_index=i, gold_tuples=base.gold_tuples)
                case "absent":
                    continue
            by_seed[seed].append(card.model_copy(update={"seed": seed}))
    return by_seed


def with_final(card: Scorecard, tuples: Sequence[FinalTuple]) -> Scorecard:
    """The same sample with these final tuples."""
    return card.model_copy(
        update={"final_tuples": tuple(tuples), "sentiments_judged": tuple(judged(item) for item in tuples)}
    )


def drop_of(reason: DropReason) -> Drop:
    return Drop(aspect_term="ghost", drop_reason=reason)

"""Scorecards made of pairs, for tests that say what a metric means."""

from collections.abc import Sequence
from typing import Any

from tests.metrics.drawn_cards import ok_card

from episodic_absa.final_tuples import pairs
from episodic_absa.schemas.absa import Drop, FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run import MemoryMeta
from episodic_absa.schemas.run_files.scorecard import Scorecard, ScoredRisk
from episodic_absa.vocabulary import Polarity

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
    fields: dict[str, Any] = {
        "run_id": "toy",
        "uid": "u",
        "condition": "C2",
        "seed": 1,
        "language_code": "en",
        "domain_id": "d",
        "case_type": "c",
        "cfg_hash": "0" * 64,
        "drops": tuple(drops),
        "memory": make_memory(),
        "stage1_structural_risk": bool(risks_s1),
    }
    return ok_card(
        stage1=before,
        stage2=after,
        adopt=pairs(before) != pairs(after),
        gold_tuples=make_gold(gold),
        risks_s1=risks_s1,
        risks_s2=risks_s2,
        **(fields | more),
    )


def failed(card: Scorecard) -> Scorecard:
    """Return the scorecard of the same sample with status error."""
    kept = {name: getattr(card, name) for name in (*list(Scorecard.model_fields)[:14], "gold_tuples", "usage")}
    return Scorecard.model_validate(kept | {"status": "error", "error_type": "timeout"})

"""Which Stage1 opens which gate, for which reasons, in which order."""

from itertools import product
from typing import NamedTuple

import pytest

from episodic_absa.memory import (
    GateSignals,
    gate_signals,
    should_inject_advisory,
    should_inject_advisory_with_reason,
    should_inject_memory_for_stage2_with_reason,
)
from episodic_absa.schemas.absa import (
    AspectItem,
    Drop,
    SentimentItem,
    Span,
    Stage1Ate,
    Stage1Atsa,
    StructuralRisk,
    ValidatorOutput,
)
from episodic_absa.vocabulary import DropReason, Polarity, RiskId


def sentiment(term: str, polarity: Polarity | None, *, backfilled: bool = False) -> SentimentItem:
    return SentimentItem(aspect_term=term, polarity=polarity, is_backfilled=backfilled)


def aspects(*terms: str) -> tuple[AspectItem, ...]:
    return tuple(AspectItem(aspect_term=t, span=Span(start=9 * i, end=9 * i + len(t) + 1)) for i, t in enumerate(terms))


def drops(*reasons: DropReason, term: str = "ghost") -> tuple[Drop, ...]:
    return tuple(Drop(aspect_term=term, drop_reason=reason) for reason in reasons)


class Case(NamedTuple):
    name: str
    debate: tuple[str, ...]
    stage2: tuple[str, ...]
    kept: tuple[AspectItem, ...] = ()
    dropped: tuple[Drop, ...] = ()
    sentiments: tuple[SentimentItem, ...] = ()
    risks: tuple[RiskId, ...] = ()


FOOD = aspects("food")
GOOD = sentiment("food", "positive")
CASES = [
    Case("nothing at all", (), ()),
    Case("one plain sentiment", (), (), FOOD, (), (GOOD,)),
    # conflict
    Case("one aspect, two polarities", ("conflict",), ("conflict",), FOOD, (), (GOOD, sentiment("food", "negative"))),
    Case("polar and neutral differ too", ("conflict",), ("conflict",), FOOD, (), (GOOD, sentiment("food", "neutral"))),
    Case("terms are normalised", ("conflict",), ("conflict",), FOOD, (), (GOOD, sentiment(" Food! ", "negative"))),
    Case("one polarity twice", (), (), FOOD, (), (GOOD, GOOD)),
    Case(
        "opposite polarities on different aspects",
        (),
        (),
        aspects("food", "price"),
        (),
        (GOOD, sentiment("price", "negative")),
    ),
    Case("a backfill is no second polarity", (), (), FOOD, (), (GOOD, sentiment("food", "neutral", backfilled=True))),
    Case("a missing polarity is no second polarity", (), (), FOOD, (), (GOOD, sentiment("food", None))),
    # validator
    Case("one structural risk", ("validator",), ("validator",), FOOD, (), (GOOD,), ("OTHER",)),
    Case("several structural risks", ("validator",), ("validator",), FOOD, (), (GOOD,), ("IRONY", "EVIDENCE_GAP")),
    # alignment and grounding
    Case(
        "one alignment failure beside a rejection",
        (),
        ("alignment",),
        FOOD,
        drops("alignment_failure", "filter_rejection"),
        (GOOD,),
    ),
    Case(
        "one alignment failure is all there was",
        ("explicit_grounding_failure",),
        ("explicit_grounding_failure", "alignment"),
        (),
        drops("alignment_failure"),
    ),
    Case(
        "one alignment failure beside a kept aspect",
        ("explicit_grounding_failure",),
        ("explicit_grounding_failure", "alignment"),
        FOOD,
        drops("alignment_failure"),
        (GOOD,),
    ),
    Case(
        "two alignment failures",
        ("alignment", "explicit_grounding_failure"),
        ("explicit_grounding_failure", "alignment"),
        FOOD,
        drops("alignment_failure", "alignment_failure"),
        (GOOD,),
    ),
    Case(
        "two alignment failures beside a hallucination",
        ("alignment",),
        ("alignment",),
        FOOD,
        drops("alignment_failure", "semantic_hallucination", "alignment_failure"),
        (GOOD,),
    ),
    Case("no drops are no grounding failure", (), (), FOOD, (), (GOOD,)),
    Case("other drops alone", (), (), FOOD, drops("filter_rejection", "semantic_hallucination"), (GOOD,)),
    Case(
        "a dropped empty term is no explicit term", (), ("alignment",), (), drops("alignment_failure", term=""), (GOOD,)
    ),
    # neutral only
    Case("one neutral sentiment", (), ("neutral_only",), FOOD, (), (sentiment("food", "neutral"),)),
    Case("one implicit neutral sentiment", (), ("neutral_only",), (), (), (sentiment("", "neutral"),)),
    Case("neutral beside polar", (), (), FOOD, (), (sentiment("food", "neutral"), sentiment("price", "negative"))),
    Case("a backfill alone", (), (), FOOD, (), (sentiment("food", "neutral", backfilled=True),)),
    Case("a missing polarity alone", (), (), FOOD, (), (sentiment("food", None),)),
    Case(
        "neutral beside a missing polarity and a backfill",
        (),
        ("neutral_only",),
        FOOD,
        (),
        (
            sentiment("food", "neutral"),
            sentiment("price", None),
            sentiment("room", "neutral", backfilled=True),
        ),
    ),
    # all at once
    Case(
        "everything",
        ("conflict", "validator", "alignment", "explicit_grounding_failure"),
        ("validator", "conflict", "explicit_grounding_failure", "alignment"),
        FOOD,
        drops("alignment_failure", "alignment_failure"),
        (GOOD, sentiment("food", "negative")),
        ("NEGATION_SCOPE",),
    ),
    Case(
        "everything about a sole neutral",
        ("validator", "alignment", "explicit_grounding_failure"),
        ("validator", "explicit_grounding_failure", "alignment", "neutral_only"),
        FOOD,
        drops("alignment_failure", "alignment_failure"),
        (sentiment("food", "neutral"),),
        ("NEGATION_SCOPE",),
    ),
]


def signals_of(case: Case) -> GateSignals:
    risks = tuple(StructuralRisk(id=f"r{i}", type=kind) for i, kind in enumerate(case.risks, 1))
    return gate_signals(
        Stage1Ate(aspects=case.kept, drops=case.dropped),
        Stage1Atsa(sentiments=case.sentiments),
        ValidatorOutput(structural_risks=risks),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_gate_gives_the_first_reason_and_all_reasons(case: Case) -> None:
    signals = signals_of(case)
    debate, stage2 = should_inject_advisory_with_reason(signals), should_inject_memory_for_stage2_with_reason(signals)
    assert debate == (bool(case.debate), case.debate[0] if case.debate else None, case.debate)
    assert stage2 == (bool(case.stage2), case.stage2[0] if case.stage2 else None, case.stage2)


def test_the_short_name_of_the_debate_gate_gives_its_decision_alone() -> None:
    for alignment_failure_n in range(4):
        signals = GateSignals(False, 0, alignment_failure_n, False, False)
        assert should_inject_advisory(signals) == should_inject_advisory_with_reason(signals).allowed


def test_both_gates_are_the_or_of_their_reasons_in_their_own_order() -> None:
    flags = [False, True]
    for conflict, risk_n, failure_n, grounding, neutral in product(flags, [0, 1, 3], [0, 1, 2, 3], flags, flags):
        signals = GateSignals(conflict, risk_n, failure_n, grounding, neutral)
        debate = {
            "conflict": conflict,
            "validator": risk_n >= 1,
            "alignment": failure_n >= 2,
            "explicit_grounding_failure": grounding,
        }
        stage2 = {
            "validator": risk_n >= 1,
            "conflict": conflict,
            "explicit_grounding_failure": grounding,
            "alignment": failure_n >= 1,
            "neutral_only": neutral,
        }
        opened = should_inject_advisory_with_reason(signals).reasons
        assert list(opened) == [reason for reason, holds in debate.items() if holds]
        opened_later = should_inject_memory_for_stage2_with_reason(signals).reasons
        assert list(opened_later) == [reason for reason, holds in stage2.items() if holds]


def test_the_reasons_of_rules_v3_come_last_in_both_gates_and_each_opens_them_alone() -> None:
    closed = gate_signals(Stage1Ate(), Stage1Atsa(), ValidatorOutput())
    fields = {"structure": "has_structure", "reader_disagrees": "reader_disagrees", "unsure": "is_unsure"}
    for reason, field in fields.items():
        for gate in (should_inject_advisory_with_reason, should_inject_memory_for_stage2_with_reason):
            assert gate(closed._replace(**{field: True})) == (True, reason, (reason,))
    all_open = GateSignals(True, 1, 2, True, True, True, True, True)
    for gate in (should_inject_advisory_with_reason, should_inject_memory_for_stage2_with_reason):
        assert gate(all_open).reasons[-3:] == tuple(fields)
        assert gate(all_open).reason not in fields

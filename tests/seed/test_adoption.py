"""The adoption ladder, EV, and what became of an override."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.schemas.run_files.adoption import Adoption
from episodic_absa.seed import decide_adoption, override_flags

b: Any = builders

WEIGHTS = (0.4, 0.3, 0.2, 0.1)


def stage1(sentiments: Any = None, risks: Any = ()) -> Any:
    found = [b.sentiment("food", "positive", 0.8), b.sentiment("service", "negative", 0.6)]
    return b.stage1_of([b.aspect("food"), b.aspect("service")], found if sentiments is None else sentiments, risks)


def decide(first: Any, patched: Any, risks: Any = (), weights: Any = WEIGHTS, threshold: float = 0.3) -> Adoption:
    return decide_adoption(first, patched, tuple(risks), ev_weights=weights, ev_threshold=threshold)


def overriding(term: str = "food", polarity: str = "negative", **more: Any) -> Any:
    return b.debate_of(
        {"epm": [b.edit("set_polarity", term, polarity)], "tan": [b.edit("set_polarity", term, polarity)]},
        patch=[b.ruling("set_polarity", term, polarity)],
        **more,
    )


HIGH = b.risk("EVIDENCE_GAP", "high")
LOW = b.risk("EVIDENCE_GAP", "low")


@pytest.mark.parametrize(
    ("before", "after", "reviewed", "reason"),
    [
        ((HIGH,), (LOW,), True, "risk_resolved"),
        ((HIGH,), (), True, "risk_resolved"),
        ((HIGH,), (HIGH,), True, "low_signal"),
        ((LOW,), (HIGH,), True, "low_signal"),
        ((HIGH,), (), False, "low_signal"),
        ((), (), True, "low_signal"),
    ],
)
def test_a_risk_is_resolved_only_by_an_applied_change_and_a_lower_severity(
    before: Any, after: Any, reviewed: bool, reason: str
) -> None:
    first = stage1(risks=before)
    reviews = [b.atsa_verdict("flip_polarity", "food")] if reviewed else [b.atsa_verdict("keep", "food")]
    adoption = decide(first, b.patched(first, [], reviews), after)
    assert adoption.reason == reason
    assert adoption.adopt is (reason == "risk_resolved")
    assert adoption.components.validator_resolved == (1 if adoption.adopt else 0)


def test_an_unsettled_new_conflict_blocks() -> None:
    first = stage1()
    patched = b.patched(first, [], [b.atsa_verdict("add", "service", "positive")], overriding())
    adoption = decide(first, patched)
    assert (adoption.adopt, adoption.reason) == (False, "conflict_blocked")


@pytest.mark.parametrize(("threshold", "adopted"), [(0.0, True), (0.4, True), (0.41, False), (1.0, False)])
def test_an_evidence_value_below_the_threshold_is_refused(threshold: float, adopted: bool) -> None:
    first = stage1()
    adoption = decide(first, b.patched(first, debate=overriding()), threshold=threshold)
    assert adoption.adopt is adopted
    assert adoption.reason == ("debate_action" if adopted else "ev_below_threshold")
    assert adoption.ev_threshold == threshold


def mean(sentiments: Any) -> float:
    values = [one.confidence for one in sentiments if not one.is_backfilled]
    return sum(values) / len(values) if values else 0.0


def ev_oracle(first: Any, patched: Any, risks: Any, weights: Any, *, applied: bool) -> tuple[float, tuple[int, ...]]:
    def weight(found: Any) -> int:
        return sum({"low": 1, "mid": 2, "high": 3}[one.severity] for one in found)

    def explicit(found: Any) -> bool:
        return any(one.aspect_term and not one.is_backfilled for one in found)

    before = first.validator.structural_risks
    resolved = int(bool(before) and applied and weight(risks) < weight(before))
    grounding = int(not explicit(first.atsa.sentiments) and explicit(patched.sentiments))
    debate = int(patched.debate_acted)
    gain = min(weights[3], max(0.0, 0.5 * (mean(patched.sentiments) - mean(first.atsa.sentiments))))
    total = weights[0] * debate + weights[1] * resolved + weights[2] * grounding + gain
    return min(1.0, total), (debate, resolved, grounding)


SENTIMENTS = st.lists(
    st.builds(
        lambda term, polarity, confidence, filled: b.sentiment(term, polarity, confidence, backfilled=filled),
        st.sampled_from(["food", "service", ""]),
        st.sampled_from(["positive", "negative", "neutral"]),
        st.integers(0, 100).map(lambda n: n / 100),
        st.booleans(),
    ),
    max_size=3,
)
RISKS = st.lists(st.sampled_from(["low", "mid", "high"]).map(lambda severity: b.risk("OTHER", severity)), max_size=2)
EV_WEIGHTS = st.just(WEIGHTS) | st.tuples(*[st.integers(0, 10).map(lambda n: n / 10)] * 4)


@settings(max_examples=200, deadline=None)
@given(
    SENTIMENTS,
    SENTIMENTS,
    RISKS,
    RISKS,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    EV_WEIGHTS,
    st.sampled_from([0.0, 0.3, 0.35]),
)
def test_ladder_and_evidence_value_agree_with_the_oracle(
    before: Any,
    after: Any,
    risks1: Any,
    risks2: Any,
    reviewed: bool,
    acted: bool,
    unsettled: bool,
    weights: Any,
    threshold: float,
) -> None:
    first = stage1(before, risks1)
    base = b.patched(first, [b.ate_verdict("add", "price")] if reviewed else [])
    patched = base._replace(sentiments=tuple(after), debate_acted=acted, unsettled_conflict=unsettled)
    adoption = decide(first, patched, risks2, weights, threshold)
    score, (debate, resolved, grounding) = ev_oracle(first, patched, risks2, weights, applied=reviewed)
    if not after:
        expected: tuple[bool, str] = (False, "low_signal")
    elif resolved:
        expected = (True, "risk_resolved")
    elif debate and unsettled:
        expected = (False, "conflict_blocked")
    elif debate:
        expected = (True, "debate_action")
    elif grounding:
        expected = (True, "grounding_improved")
    else:
        expected = (False, "low_signal")
    assert adoption.ev_score == pytest.approx(score, abs=0.000051)
    assert adoption.ev_score == round(adoption.ev_score, 4)
    if expected[0] and adoption.ev_score < threshold:
        expected = (False, "ev_below_threshold")
    assert (adoption.adopt, adoption.reason) == expected
    if after:
        found = adoption.components
        assert (found.debate_support, found.validator_resolved, found.grounding) == (debate, resolved, grounding)


def outcome(after: Any, *, before: Any = (HIGH,), adopted: bool = True, sentiments: Any = None) -> tuple[bool, ...]:
    first = stage1(risks=before)
    patched = b.patched(first, debate=overriding())
    if sentiments is not None:
        patched = patched._replace(sentiments=tuple(sentiments))
    return tuple(override_flags(first, patched, tuple(after), adopted=adopted))


NEW_CONFLICT = [
    b.sentiment("food", "negative", 0.8),
    b.sentiment("service", "negative", 0.6),
    b.sentiment("service", "positive", 0.6),
]


@pytest.mark.parametrize(
    ("case", "after", "more", "flags"),
    [
        ("severity fell", (LOW,), {}, (True, True, False)),
        ("all gone", (), {}, (True, True, False)),
        ("severity same", (HIGH,), {}, (True, False, False)),
        ("severity rose", (HIGH, b.risk("OTHER", "low", (0, 3), "n1")), {}, (True, False, True)),
        ("not adopted", (), {"adopted": False}, (False, False, False)),
        ("new conflict", (), {"sentiments": NEW_CONFLICT}, (True, False, True)),
        (
            "fell, but a new high tag",
            (b.risk("OTHER", "high", (0, 3), "n1"),),
            {"before": (HIGH, b.risk("SPAN_MISMATCH", "high", (4, 8), "r2"))},
            (True, False, False),
        ),
        (
            "fell, and the new tag is low",
            (b.risk("OTHER", "low", (0, 3), "n1"),),
            {"before": (HIGH,)},
            (True, True, False),
        ),
        ("undone by a later drop", (), {"sentiments": [b.sentiment("service", "negative")]}, (False, False, False)),
    ],
)
def test_an_override_succeeds_or_harms_by_risk_alone(case: str, after: Any, more: Any, flags: Any) -> None:
    assert case
    assert outcome(after, **more) == flags

"""The override gate, reason by reason and against an oracle."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.schemas.absa import AspectHint, DebateSummary, ReviewContext, Span
from episodic_absa.schemas.pipeline_settings import OVERRIDE_PROFILES, PipelineSettings
from episodic_absa.schemas.run_files.adoption import OverrideThresholds
from episodic_absa.seed import TermMap
from episodic_absa.seed.patch import OverrideOutcome, apply_override_gate

b: Any = builders

T0 = OVERRIDE_PROFILES["t0"]
FOOD = b.aspect("food")
SERVICE = b.aspect("service")
STRONG = [("positive", 0.8), ("positive", 0.8)]


def gate(
    hints: dict[str, list[tuple[str, float]]],
    sentiments: Any,
    *,
    terms: tuple[str, ...] = ("food", "service"),
    aspects: Any = (FOOD, SERVICE),
    risks: Any = (),
    thresholds: OverrideThresholds = T0,
    spans: tuple[str, ...] = ("great",),
    evidence: dict[str, str] | None = None,
) -> OverrideOutcome:
    context = ReviewContext(
        review_guidance="g",
        summary="s",
        aspect_terms=terms,
        aspect_hints={
            term: tuple(AspectHint.model_validate({"polarity": p, "weight": w, "source": "epm"}) for p, w in found)
            for term, found in hints.items()
        },
        mapping_stats={"direct": 0, "fallback": 0, "none": 0},
        provenance_template="p",
    )
    summary = DebateSummary(sentence_evidence_spans=spans, aspect_evidence=evidence or {})
    return apply_override_gate(
        tuple(sentiments),
        context,
        summary,
        TermMap(terms, b.TEXT),
        text=b.TEXT,
        aspects=tuple(aspects),
        stage1_risks=tuple(risks),
        thresholds=thresholds,
    )


def reasons(outcome: OverrideOutcome) -> dict[str, str]:
    return {one.aspect: one.decision if one.decision == "APPLY" else one.reason for one in outcome.decisions}


NEGATIVE_FOOD = b.sentiment("food", "negative", 0.6)


@pytest.mark.parametrize(
    ("profile", "values"),
    [("t0", (1.6, 0.8, 0.7, True, 0.3)), ("t1", (1.0, 0.5, 0.6, True, 0.3)), ("t2", (0.6, 0.3, 0.55, False, 0.3))],
)
def test_a_profile_has_the_listed_thresholds(profile: Any, values: tuple[Any, ...]) -> None:
    found = PipelineSettings(override_profile=profile).thresholds
    assert (
        found.min_total,
        found.min_margin,
        found.min_target_conf,
        found.l3_conservative,
        found.ev_threshold,
    ) == values
    assert found == OVERRIDE_PROFILES[profile]


@pytest.mark.parametrize(
    ("fixed", "reason"),
    [
        (0, "neutral_only"),
        (1, "no_evidence_span"),
        (2, "evidence_span_not_in_text"),
        (3, "evidence_span_missing_trigger"),
        (4, "low_signal"),
        (5, "action_ambiguity"),
        (6, "l3_conservative"),
        (7, "already_confident"),
        (8, "APPLY"),
    ],
)
def test_reasons_are_tested_in_the_order_of_the_specification(fixed: int, reason: str) -> None:
    """Every condition is violated; the first `fixed` of them are then mended one by one."""
    hints: list[tuple[str, float]] = [("neutral", 5.0)]
    if fixed >= 1:
        hints = [("positive", 1.0), ("negative", 0.9)]  # together above min_total, each below
    if fixed >= 5:
        hints = [("positive", 2.0), ("negative", 1.9)]
    if fixed >= 6:
        hints = [("positive", 2.0)]
    spans = () if fixed < 2 else ("zzz",) if fixed < 3 else ("g",) if fixed < 4 else ("great",)
    risks = [b.risk("IRONY")] if fixed < 7 else []
    sentiment = b.sentiment("food", "positive" if fixed < 8 else "negative")
    outcome = gate({"food": hints}, [sentiment], terms=("food",), spans=spans, risks=risks)
    assert reasons(outcome) == {"food": reason}


@pytest.mark.parametrize(
    ("hints", "thresholds"),
    [
        ([("positive", 0.7), ("positive", 0.1)], {"min_total": 0.8, "min_margin": 0.0}),
        ([("positive", 0.1)] * 10, {"min_total": 1.0, "min_margin": 1.0}),
        ([("positive", 2.1), ("negative", 1.3)], {"min_total": 1.6, "min_margin": 0.8}),
        ([("positive", 1.7), ("negative", 1.4)], {"min_total": 1.6, "min_margin": 0.3}),
    ],
)
def test_sums_are_rounded_to_six_decimals_before_comparison(
    hints: list[tuple[str, float]], thresholds: dict[str, float]
) -> None:
    outcome = gate({"food": hints}, [NEGATIVE_FOOD], terms=("food",), thresholds=T0.model_copy(update=thresholds))
    assert reasons(outcome) == {"food": "APPLY"}


@pytest.mark.parametrize("old", ["negative", "neutral", None])
@pytest.mark.parametrize(("confidence", "expected"), [(0.4, 0.7), (0.7, 0.7), (0.95, 0.95)])
def test_an_override_sets_polarity_distribution_and_confidence(
    old: str | None, confidence: float, expected: float
) -> None:
    outcome = gate({"food": STRONG}, [b.sentiment("food", old, confidence)], terms=("food",))
    (one,) = outcome.sentiments
    assert (one.polarity, one.confidence, one.span) == ("positive", expected, FOOD.span)
    assert one.polarity_distribution["positive"] == pytest.approx(0.8)
    assert sum(one.polarity_distribution.values()) == pytest.approx(1.0)
    assert sorted(value for value in one.polarity_distribution.values() if value) == pytest.approx([0.2, 0.8])


def test_at_most_one_override_is_applied_in_aspect_order() -> None:
    both = {"food": STRONG, "service": STRONG}
    sentiments = [NEGATIVE_FOOD, b.sentiment("service", "negative")]
    outcome = gate(both, sentiments)
    assert reasons(outcome) == {"food": "APPLY", "service": "max_one_override_per_sample"}
    assert b.pairs_of(outcome.sentiments) == [("food", "positive"), ("service", "negative")]
    assert outcome.applied is not None
    assert outcome.applied.aspect == "food"
    turned = gate(both, sentiments, terms=("service", "food"))
    assert reasons(turned) == {"service": "APPLY", "food": "max_one_override_per_sample"}


def test_a_decision_records_its_numbers_and_thresholds() -> None:
    (one,) = gate({"food": [("positive", 2.1), ("negative", 1.3)]}, [NEGATIVE_FOOD], terms=("food",)).decisions
    assert (one.pos, one.neg, one.total, one.margin) == (2.1, 1.3, 3.4, 0.8)
    assert (one.aspect, one.target, one.decision, one.thresholds) == ("food", "positive", "APPLY", T0)


HINTS = st.lists(
    st.tuples(
        st.sampled_from(["positive", "negative", "neutral"]), st.sampled_from([0.5, 0.8, -0.8, 0.9, 1.3, 1.5, 1.6, 2.1])
    ),
    max_size=5,
)
POLARITY = st.sampled_from(["positive", "negative", "neutral", None, "backfill", "absent"])
RISKS = st.lists(
    st.builds(
        lambda kind, scope: b.risk(kind, "mid", scope),
        st.sampled_from(["IRONY", "NEGATION_SCOPE", "CONTRAST_SCOPE", "POLARITY_MISMATCH", "EVIDENCE_GAP", "OTHER"]),
        st.sampled_from([None, (0, 4), (0, 6), (7, 12), (8, 20), (26, 30), (60, 62)]),
    ),
    max_size=1,
)


def oracle(
    term: str, hints: Any, polarity: Any, evidence: Any, risks: Any, limits: OverrideThresholds, *, applied: bool
) -> str:
    if applied:
        return "max_one_override_per_sample"
    if not any(weight > 0 and name != "neutral" for name, weight in hints):
        return "neutral_only"
    if evidence is None:
        return "no_evidence_span"
    if evidence not in b.TEXT:
        return "evidence_span_not_in_text"
    if len(evidence) < 2:
        return "evidence_span_missing_trigger"
    pos, neg = (round(max(0.0, sum(w for name, w in hints if name == p)), 6) for p in ("positive", "negative"))
    if max(pos, neg) < limits.min_total:
        return "low_signal"
    if round(abs(pos - neg), 6) < limits.min_margin:
        return "action_ambiguity"
    where: Span = b.span_of(term)
    for one in risks:
        hit = one.scope is None or (one.scope.start < where.end and where.start < one.scope.end)
        if limits.l3_conservative and one.type not in ("EVIDENCE_GAP", "OTHER") and hit:
            return "l3_conservative"
    if polarity == ("positive" if pos > neg else "negative"):
        return "already_confident"
    return "APPLY"


@settings(max_examples=300, deadline=None)
@given(
    st.tuples(HINTS, HINTS),
    st.tuples(POLARITY, POLARITY),
    st.sampled_from([None, "great", "zzz", "g"]),
    RISKS,
    st.sampled_from(["t0", "t1", "t2"]),
)
def test_the_gate_agrees_with_the_oracle(hints: Any, polarities: Any, evidence: Any, risks: Any, profile: Any) -> None:
    limits = OVERRIDE_PROFILES[profile]
    terms = ("food", "service")
    sentiments = [
        b.sentiment(term, "neutral" if polarity == "backfill" else polarity, backfilled=polarity == "backfill")
        for term, polarity in zip(terms, polarities, strict=True)
        if polarity != "absent"
    ]
    expected: dict[str, str] = {}
    for term, found, polarity in zip(terms, hints, polarities, strict=True):
        applied = "APPLY" in expected.values()
        expected[term] = oracle(term, found, polarity, evidence, risks, limits, applied=applied)
    outcome = gate(
        dict(zip(terms, hints, strict=True)),
        sentiments,
        risks=risks,
        thresholds=limits,
        spans=() if evidence is None else (evidence,),
    )
    assert reasons(outcome) == expected
    changed = set(b.pairs_of(outcome.sentiments)) - set(b.pairs_of(sentiments))
    assert len(changed) == (1 if "APPLY" in expected.values() else 0)

"""Episodes: every derived field of an episode, by table, and the principle it points to."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory.builders import moderated, risks

from episodic_absa.memory import EpisodeBuilder, SignatureBuilder, load_catalogue
from episodic_absa.schemas.absa import (
    AspectItem,
    Proposal,
    ReviewOutcome,
    SentimentItem,
    Span,
    Stage1Ate,
    Stage1Atsa,
    Stage1Result,
    StructuralRisk,
    ValidatorOutput,
    risk_vector,
)
from episodic_absa.schemas.memory_v1_1 import (
    EvaluationV1_1,
    InputSignatureV1_1,
    ProvenanceV1_1,
    RiskVectorV1_1,
    StageSnapshotV1_1,
)
from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import (
    RISK_IDS,
    SEVERITY_WEIGHT,
    AdoptReason,
    Polarity,
    ProposalType,
    RiskId,
    Severity,
)

CATALOGUE = load_catalogue()
TEXT = "The food was fine, the price was high and the room was old."
PROVENANCE = ProvenanceV1_1(source_id="u1", created_from_split="valid", used_in_eval=True, sample_index=4, seed=42)


def judged(draft: EpisodeDraftV1_3) -> StageSnapshotV1_1:
    assert draft.stage_snapshot is not None
    return draft.stage_snapshot


def aspect(term: str, *, text: str = TEXT, start: int | None = None) -> AspectItem:
    at = text.find(term) if start is None else start
    return AspectItem(aspect_term=term, span=Span(start=at, end=at + len(term)))


def sentiment(
    term: str, polarity: Polarity | None, confidence: float = 0.5, *, text: str = TEXT, **more: Any
) -> SentimentItem:
    at = text.find(term) if term else -1
    span = Span(start=at, end=at + len(term)) if at >= 0 else None
    return SentimentItem(aspect_term=term, span=span, polarity=polarity, confidence=confidence, **more)


def stage1_of(
    sentiments: tuple[SentimentItem, ...],
    *,
    aspects: tuple[AspectItem, ...] | None = None,
    structural_risks: tuple[StructuralRisk, ...] = (),
    proposals: tuple[ProposalType, ...] = (),
) -> Stage1Result:
    if aspects is None:
        terms = dict.fromkeys(s.aspect_term for s in sentiments if s.aspect_term)
        aspects = tuple(aspect(t) for t in terms)
    return Stage1Result(
        ate=Stage1Ate(aspects=aspects),
        atsa=Stage1Atsa(sentiments=sentiments),
        validator=ValidatorOutput(
            structural_risks=structural_risks,
            correction_proposals=tuple(Proposal(aspect_term="food", proposal_type=p) for p in proposals),
        ),
    )


def outcome_of(
    stage1: Stage1Result,
    sentiments: tuple[SentimentItem, ...] | None = None,
    *,
    aspects: tuple[AspectItem, ...] | None = None,
    structural_risks: tuple[StructuralRisk, ...] = (),
    **flags: Any,
) -> ReviewOutcome:
    return ReviewOutcome(
        aspects=stage1.ate.aspects if aspects is None else aspects,
        sentiments=stage1.atsa.sentiments if sentiments is None else sentiments,
        structural_risks=structural_risks,
        **flags,
    )


def signature_of(stage1: Stage1Result, text: str = TEXT) -> InputSignatureV1_1:
    return SignatureBuilder().build(text, "en", len(stage1.ate.aspects))


def build(
    stage1: Stage1Result,
    outcome: ReviewOutcome | None = None,
    *,
    adopted: bool = False,
    adopt_reason: AdoptReason | None = None,
    text: str = TEXT,
    signature: InputSignatureV1_1 | None = None,
    provenance: ProvenanceV1_1 = PROVENANCE,
) -> EpisodeDraftV1_3:
    summary = moderated(adopted=adopted, reason=adopt_reason)
    if outcome is None:
        outcome = outcome_of(stage1, structural_risks=stage1.validator.structural_risks)
    return EpisodeBuilder(CATALOGUE).build(
        text, signature or signature_of(stage1, text), stage1, outcome, summary, provenance
    )


GOOD = sentiment("food", "positive", 0.8)
LESS = sentiment("food", "positive", 0.6)
MORE = sentiment("food", "negative", 0.8)
BAD = sentiment("food", "negative", 0.6)
PRICE = sentiment("price", "negative", 0.6)
IMPLICIT = sentiment("", "negative", 0.6)
BACKFILL = sentiment("price", "neutral", 0.5, is_backfilled=True, neutral_reason="missing_atsa_for_aspect")
PLACEHOLDER = sentiment("", "neutral", 0.5, is_backfilled=True, neutral_reason="stage2_placeholder_no_sentiments")
NEG: tuple[RiskId, Severity] = ("NEGATION_SCOPE", "high")


@pytest.mark.parametrize(
    ("sentiments", "given_risks", "expected"),
    [
        ((GOOD,), (), None),
        ((GOOD,), (("NEGATION_SCOPE", "low"),), "L3"),
        ((GOOD,), (("CONTRAST_SCOPE", "mid"),), "L3"),
        ((GOOD,), (("IRONY", "mid"),), "L3"),
        ((GOOD,), (("POLARITY_MISMATCH", "mid"),), "L3"),
        ((GOOD,), (("EVIDENCE_GAP", "high"),), None),
        ((GOOD,), (("SPAN_MISMATCH", "high"),), None),
        ((GOOD,), (("MISSING_SECOND_ASPECT", "high"),), None),
        ((GOOD,), (("OTHER", "high"),), None),
        ((GOOD, BAD), (), "conflict"),
        ((GOOD, BAD), (NEG,), "L3"),
        ((GOOD, BAD, IMPLICIT), (), "conflict"),
        ((GOOD, BAD), (("OTHER", "high"),), "conflict"),
        ((GOOD, PRICE), (), None),
        ((GOOD, sentiment("food", None)), (), None),
        ((IMPLICIT,), (), "implicit"),
        ((GOOD, IMPLICIT), (("OTHER", "high"),), "implicit"),
        ((), (), None),
    ],
)
def test_the_risk_type_of_an_episode(
    sentiments: tuple[SentimentItem, ...], given_risks: tuple[tuple[RiskId, Severity], ...], expected: str | None
) -> None:
    assert build(stage1_of(sentiments, structural_risks=risks(*given_risks))).risk_type == expected


@pytest.mark.parametrize(
    ("sentiments", "kinds", "expected"),
    [
        ((GOOD,), ("NEGATION_SCOPE",), {"negation"}),
        ((GOOD,), ("CONTRAST_SCOPE",), {"contrast"}),
        ((GOOD,), ("MISSING_SECOND_ASPECT",), {"contrast"}),
        ((GOOD,), ("IRONY",), {"irony"}),
        ((GOOD,), ("POLARITY_MISMATCH",), {"aspect_conflict"}),
        ((GOOD, BAD), (), {"aspect_conflict"}),
        ((GOOD,), ("SPAN_MISMATCH",), {"format_error"}),
        ((GOOD,), ("EVIDENCE_GAP",), {"format_error"}),
        ((GOOD, IMPLICIT), (), {"implicit_opinion"}),
        ((GOOD,), ("OTHER",), {"none"}),
        ((GOOD,), (), {"none"}),
        ((GOOD, PRICE), (), {"none"}),
        ((GOOD,), ("CONTRAST_SCOPE", "MISSING_SECOND_ASPECT"), {"contrast"}),
        (
            (GOOD, BAD, IMPLICIT),
            RISK_IDS,
            {"negation", "contrast", "irony", "aspect_conflict", "format_error", "implicit_opinion"},
        ),
    ],
)
def test_the_error_categories_of_an_episode(
    sentiments: tuple[SentimentItem, ...], kinds: tuple[RiskId, ...], expected: set[str]
) -> None:
    draft = build(stage1_of(sentiments, structural_risks=risks(*((kind, "mid") for kind in kinds))))
    assert set(draft.error_category) == expected
    assert len(draft.error_category) == len(expected)


FLIPPED = sentiment("food", "negative", 0.9)
LOWER = sentiment("food", "positive", 0.6)
HIGHER = sentiment("food", "positive", 0.9)
WIDER = SentimentItem(aspect_term="food", span=Span(start=0, end=8), polarity="positive", confidence=0.8)


@pytest.mark.parametrize(
    ("before", "after", "adopted", "expected"),
    [
        ((GOOD,), (GOOD,), False, "abstain"),
        ((GOOD,), (GOOD,), True, "abstain"),
        ((), (), False, "abstain"),
        ((GOOD,), (FLIPPED,), True, "polarity_flip"),
        ((GOOD,), (GOOD, PRICE), True, "polarity_flip"),
        ((GOOD,), (GOOD, IMPLICIT), True, "polarity_flip"),
        ((), (GOOD,), True, "polarity_flip"),
        ((GOOD, BACKFILL), (GOOD, PRICE), True, "polarity_flip"),
        ((GOOD, PRICE), (FLIPPED,), True, "polarity_flip"),
        ((sentiment("food", None),), (GOOD,), True, "polarity_flip"),
        ((GOOD,), (sentiment("food", None),), True, "defer"),
        ((GOOD, BAD), (GOOD, BAD), True, "abstain"),
        ((GOOD,), (PLACEHOLDER,), True, "neutral_fallback"),
        ((GOOD,), (LOWER,), True, "confidence_reduce"),
        ((GOOD, BACKFILL), (LOWER, BACKFILL), True, "confidence_reduce"),
        ((GOOD,), (HIGHER,), True, "defer"),
        ((GOOD, PRICE), (GOOD,), True, "defer"),
        ((GOOD,), (FLIPPED,), False, "defer"),
        ((GOOD,), (LOWER,), False, "defer"),
        ((GOOD, PRICE), (GOOD,), False, "defer"),
        ((GOOD,), (GOOD, PRICE), False, "defer"),
        ((GOOD,), (PLACEHOLDER,), False, "defer"),
    ],
)
def test_the_action_an_episode_records(
    before: tuple[SentimentItem, ...], after: tuple[SentimentItem, ...], adopted: bool, expected: str
) -> None:
    stage1 = stage1_of(before)
    draft = build(stage1, outcome_of(stage1, after), adopted=adopted)
    assert draft.action_taken == expected
    assert f"action={expected};" in draft.case_summary.rationale_summary


@pytest.mark.parametrize("adopted", [True, False])
def test_a_moved_span_alone_is_a_deferred_change(adopted: bool) -> None:
    stage1 = stage1_of((GOOD,))
    moved = AspectItem(aspect_term="food", span=Span(start=0, end=8))
    assert build(stage1, outcome_of(stage1, (WIDER,), aspects=(moved,)), adopted=adopted).action_taken == "defer"


@pytest.mark.parametrize(
    ("before", "after", "adopted", "expected"),
    [
        ((GOOD,), (GOOD,), True, None),
        ((GOOD, PRICE), (GOOD,), True, None),
        ((GOOD,), (GOOD, BAD), True, None),
        ((GOOD, BAD), (GOOD,), True, True),
        ((GOOD, BAD), (GOOD,), False, False),
        ((GOOD, BAD), (GOOD, BAD), True, False),
        ((GOOD, BAD), (GOOD, BAD, PRICE), True, False),
    ],
)
def test_a_conflict_is_resolved_only_by_the_true_final_result(
    before: tuple[SentimentItem, ...], after: tuple[SentimentItem, ...], adopted: bool, expected: bool | None
) -> None:
    stage1 = stage1_of(before)
    assert build(stage1, outcome_of(stage1, after), adopted=adopted).outcome_delta.conflict_resolved is expected


@pytest.mark.parametrize(
    ("before", "after", "applied", "success", "harm", "expected"),
    [
        (2, 2, False, False, False, "neutral"),
        (9, 9, False, False, False, "neutral"),
        (0, 0, False, False, False, "neutral"),
        (2, 3, False, False, False, "harm"),
        (2, 1, False, False, False, "success"),
        (2, 1, True, True, False, "success"),
        (2, 2, True, False, False, "neutral"),
        (2, 2, True, False, True, "harm"),
        (2, 1, True, False, True, "harm"),
        (2, 3, True, False, True, "harm"),
        (0, 1, True, False, False, "harm"),
    ],
)
def test_the_type_of_an_episode(
    before: int, after: int, applied: bool, success: bool, harm: bool, expected: str
) -> None:
    evaluation = EvaluationV1_1(
        risk_before=RiskVectorV1_1(severity_sum=before, tags=()),
        risk_after=RiskVectorV1_1(severity_sum=after, tags=()),
        override_applied=applied,
        override_success=success,
        override_harm=harm,
    )
    assert evaluation.episode_type == expected


@pytest.mark.parametrize("kind", RISK_IDS)
def test_no_risk_alone_makes_an_episode_harm(kind: RiskId) -> None:
    stage1 = stage1_of((GOOD,), structural_risks=risks((kind, "high")))
    for adopted in (True, False):
        draft = build(stage1, outcome_of(stage1, structural_risks=risks((kind, "high"))), adopted=adopted)
        assert draft.outcome.value == "neutral"


@pytest.mark.parametrize(
    ("given_risks", "total", "tags"),
    [
        ((), 0, ()),
        ((("OTHER", "low"),), 1, ("OTHER",)),
        ((("OTHER", "mid"),), 2, ("OTHER",)),
        ((("OTHER", "high"),), 3, ("OTHER",)),
        ((("OTHER", "high"), ("IRONY", "low"), ("IRONY", "mid")), 6, ("IRONY", "OTHER")),
        (
            (("NEGATION_SCOPE", "low"), ("CONTRAST_SCOPE", "low"), ("EVIDENCE_GAP", "low")),
            3,
            ("CONTRAST_SCOPE", "EVIDENCE_GAP", "NEGATION_SCOPE"),
        ),
    ],
)
def test_a_risk_vector_sums_weights_and_sorts_its_tags(
    given_risks: tuple[tuple[RiskId, Severity], ...], total: int, tags: tuple[RiskId, ...]
) -> None:
    assert risk_vector(risks(*given_risks)) == RiskVectorV1_1(severity_sum=total, tags=tags)


@pytest.mark.parametrize(
    ("second", "delta"),
    [((), -3), ((("IRONY", "low"),), -2), ((NEG,), 0), ((NEG, ("OTHER", "mid")), 2)],
)
def test_the_risk_after_is_that_of_the_review_if_adopted_and_that_of_stage1_if_not(
    second: tuple[tuple[RiskId, Severity], ...], delta: int
) -> None:
    stage1 = stage1_of((GOOD,), structural_risks=risks(NEG))
    outcome = outcome_of(stage1, (FLIPPED,), structural_risks=risks(*second))
    taken = build(stage1, outcome, adopted=True)
    assert taken.evaluation.risk_before == risk_vector(risks(NEG))
    assert taken.evaluation.risk_after == risk_vector(risks(*second))
    assert taken.outcome_delta.delta_risk == delta
    assert taken.outcome.value == ("success" if delta < 0 else "harm" if delta > 0 else "neutral")
    left = build(stage1, outcome, adopted=False)
    assert left.evaluation.risk_before == left.evaluation.risk_after == risk_vector(risks(NEG))
    assert left.outcome_delta.delta_risk == 0
    assert left.outcome.value == "neutral"


@pytest.mark.parametrize("adopted", [True, False])
@pytest.mark.parametrize("flags", [(True, True, False), (True, False, True), (True, False, False), (False,) * 3])
def test_the_flags_of_an_override_are_taken_over_if_it_was_adopted(flags: tuple[bool, ...], adopted: bool) -> None:
    stage1 = stage1_of((GOOD,), structural_risks=risks(NEG))
    names = ("override_applied", "override_success", "override_harm")
    given: dict[str, Any] = dict(zip(names, flags, strict=True))
    draft = build(stage1, outcome_of(stage1, (FLIPPED,), structural_risks=risks(NEG), **given), adopted=adopted)
    expected = flags if adopted else (False,) * 3
    assert tuple(getattr(draft.evaluation, name) for name in names) == expected
    assert draft.outcome.value == ("harm" if expected[2] else "success" if expected[1] else "neutral")


@pytest.mark.parametrize(
    ("text", "given_risks", "expected"),
    [
        ("The food was fine", (), "risks=none; structure=none; max_severity=none"),
        ("The food was not fine", (NEG,), "risks=NEGATION_SCOPE; structure=negation; max_severity=high"),
        (
            "The food was not fine but cheap",
            (("NEGATION_SCOPE", "low"), ("CONTRAST_SCOPE", "mid")),
            "risks=CONTRAST_SCOPE,NEGATION_SCOPE; structure=contrast,negation; max_severity=mid",
        ),
        (
            "Oh great, the food was not fine but cheap",
            (("OTHER", "low"),),
            "risks=OTHER; structure=contrast,irony,negation; max_severity=low",
        ),
    ],
)
def test_the_symptom_to_the_letter(text: str, given_risks: tuple[tuple[RiskId, Severity], ...], expected: str) -> None:
    stage1 = stage1_of((sentiment("food", "positive", text=text),), structural_risks=risks(*given_risks))
    assert build(stage1, text=text).case_summary.symptom == expected


@pytest.mark.parametrize(
    ("proposals", "adopted", "adopt_reason", "expected"),
    [
        ((), False, "low_signal", "proposals=none; action=abstain; adopt=low_signal"),
        ((), True, "risk_resolved", "proposals=none; action=abstain; adopt=risk_resolved"),
        (
            ("FLIP_POLARITY",),
            False,
            "ev_below_threshold",
            "proposals=FLIP_POLARITY; action=abstain; adopt=ev_below_threshold",
        ),
        (
            ("REVISE_SPAN", "CHECK_SPAN", "DROP_ASPECT"),
            False,
            "conflict_blocked",
            "proposals=CHECK_SPAN,DROP_ASPECT,REVISE_SPAN; action=abstain; adopt=conflict_blocked",
        ),
    ],
)
def test_the_rationale_summary_to_the_letter(
    proposals: tuple[ProposalType, ...], adopted: bool, adopt_reason: AdoptReason, expected: str
) -> None:
    draft = build(stage1_of((GOOD,), proposals=proposals), adopted=adopted, adopt_reason=adopt_reason)
    assert draft.case_summary.rationale_summary == expected


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_correction_is_the_english_catalogue_text_of_its_principle(language: str) -> None:
    text = "The food was not fine" if language == "en" else "food 맛이 안 좋아요"
    stage1 = stage1_of((sentiment("food", "positive", text=text),), structural_risks=risks(NEG))
    signature = SignatureBuilder().build(text, "en" if language == "en" else "ko", 1)
    correction = build(stage1, text=text, signature=signature).correction
    principle = CATALOGUE.get(correction.principle_id)
    assert principle is not None
    assert correction.corrective_principle == principle.text_en
    assert correction.anti_pattern == principle.anti_pattern_en
    assert correction.applicable_conditions == (f"language={language}", "structure=negation", "risk=NEGATION_SCOPE")


@pytest.mark.parametrize("adopted", [True, False])
def test_the_snapshots_show_stage1_and_the_true_final_result(adopted: bool) -> None:
    stage1 = stage1_of((GOOD, PRICE))
    patched = (sentiment("food", "negative", 0.9), PRICE, sentiment("room", "negative", 0.6))
    terms = ("food", "price", "room")
    draft = build(stage1, outcome_of(stage1, patched, aspects=tuple(aspect(t) for t in terms)), adopted=adopted)
    before, final = judged(draft).stage1, judged(draft).final
    assert before.aspects_norm == ("food", "price")
    assert before.polarities == {"food": "positive", "price": "negative"}
    assert before.confidence == pytest.approx(0.7)
    if not adopted:
        assert final == before
        return
    assert final.aspects_norm == terms
    assert final.polarities == {"food": "negative", "price": "negative", "room": "negative"}
    assert final.confidence == pytest.approx(0.7)


def test_terms_of_a_snapshot_are_normalised_and_in_text_order() -> None:
    text = "ROOM and Food were fine"
    items = tuple(sentiment(t, "positive", text=text) for t in ("Food", "ROOM"))
    aspects = tuple(aspect(t, text=text) for t in ("Food", "ROOM"))
    snapshot = judged(build(stage1_of(items, aspects=aspects), text=text)).stage1
    assert snapshot.aspects_norm == ("room", "food")
    assert set(snapshot.polarities) == {"room", "food"}


@pytest.mark.parametrize(
    ("sentiments", "polarities", "confidence"),
    [
        ((GOOD, BACKFILL), {"food": "positive"}, 0.8),
        ((GOOD, sentiment("price", None, 0.8)), {"food": "positive"}, 0.8),
        ((GOOD, BAD), {"food": "positive"}, 0.7),
        ((LESS, MORE), {"food": "negative"}, 0.7),
        ((GOOD, IMPLICIT), {"food": "positive", "": "negative"}, 0.7),
        ((), {}, 0),
        ((BACKFILL,), {}, 0),
    ],
)
def test_a_snapshot_shows_what_was_predicted_and_the_representative_of_a_contested_aspect(
    sentiments: tuple[SentimentItem, ...], polarities: dict[str, Polarity], confidence: float
) -> None:
    snapshot = judged(build(stage1_of(sentiments))).stage1
    assert snapshot.polarities == polarities
    assert snapshot.confidence == pytest.approx(confidence)
    assert set(polarities) <= set(snapshot.aspects_norm)


@pytest.mark.parametrize(
    ("sentiments", "expected"),
    [
        ((GOOD, PRICE), "food"),
        ((PRICE, GOOD), "food"),
        ((PRICE,), "price"),
        ((GOOD, IMPLICIT), "food"),
        ((IMPLICIT,), "implicit"),
        ((), "implicit"),
    ],
)
def test_the_target_of_a_case_is_the_first_stage1_aspect(sentiments: tuple[SentimentItem, ...], expected: str) -> None:
    assert build(stage1_of(sentiments)).case_summary.target_aspect_type == expected


@pytest.mark.parametrize(
    ("term", "stored"),
    [
        ("x" * 20, "x" * 20),
        ("x" * 21, "long_term"),
        ("a b c d", "a b c d"),
        ("a b c d e", "long_term"),
        ("맛" * 20, "맛" * 20),
        ("맛" * 21, "long_term"),
    ],
)
def test_a_long_term_is_stored_under_one_name_everywhere(term: str, stored: str) -> None:
    text = f"{term} was fine, and so was all the rest of it"
    stage1 = stage1_of((sentiment(term, "positive", text=text),), aspects=(aspect(term, text=text),))
    draft = build(stage1, text=text)
    for snapshot in (judged(draft).stage1, judged(draft).final):
        assert snapshot.aspects_norm == (stored,)
        assert snapshot.polarities == {stored: "positive"}
    assert draft.case_summary.target_aspect_type == stored
    assert (term in canonical_json(draft)) is (stored == term)


def test_opposite_judgements_of_two_long_terms_are_no_conflict() -> None:
    first, second = "a b c d e", "v w x y z"
    text = f"{first} and {second}"
    items = (sentiment(first, "positive", text=text), sentiment(second, "negative", text=text))
    stage1 = stage1_of(items, aspects=tuple(aspect(t, text=text) for t in (first, second)))
    draft = build(stage1, text=text)
    assert draft.risk_type is None
    assert draft.error_category == ("none",)
    assert draft.outcome_delta.conflict_resolved is None
    assert set(judged(draft).final.polarities) == {"long_term"}


def test_a_conflict_is_seen_through_spelling() -> None:
    items = (sentiment("food", "positive"), SentimentItem(aspect_term="Food", polarity="negative"))
    draft = build(stage1_of(items, aspects=(aspect("food"),)))
    assert (draft.risk_type, draft.outcome_delta.conflict_resolved) == ("conflict", False)


def test_a_judged_term_that_is_no_aspect_belongs_to_the_snapshot_and_a_placeholder_does_not() -> None:
    stage1 = stage1_of((GOOD, PRICE), aspects=(aspect("food"),))
    snapshots = judged(build(stage1, outcome_of(stage1, (PLACEHOLDER,)), adopted=True))
    assert snapshots.stage1.polarities == {"food": "positive", "price": "negative"}
    assert snapshots.stage1.aspects_norm == ("food", "price")
    assert (snapshots.final.polarities, snapshots.final.confidence) == ({}, 0)


@pytest.mark.parametrize("term", ["떡볶이", "종이", "휴가", "평가", "아이"])
def test_a_korean_noun_that_looks_like_a_particle_form_stays_whole(term: str) -> None:
    text = f"{term}가 정말 마음에 들어요"
    stage1 = stage1_of((sentiment(term, "positive", text=text),), aspects=(aspect(term, text=text),))
    draft = build(stage1, text=text, signature=SignatureBuilder().build(text, "ko", 1))
    assert judged(draft).stage1.aspects_norm == (term,)


def test_signature_and_provenance_are_kept() -> None:
    stage1 = stage1_of((GOOD,))
    draft = build(stage1)
    assert (draft.provenance, draft.input_signature) == (PROVENANCE, signature_of(stage1))
    assert (draft.provenance.version, draft.provenance.has_gold) == ("1.1", False)


# The principle of an episode


Risks = tuple[tuple[RiskId, Severity], ...]
Sentiments = tuple[SentimentItem, ...]
CASES_OF_PRINCIPLES: list[tuple[Sentiments, Risks, Sentiments, Risks, bool, tuple[str, str, str]]] = [
    ((GOOD,), (), (GOOD,), (), False, ("none", "abstain", "neutral")),
    ((GOOD, BAD), (), (GOOD, BAD), (), False, ("conflict", "abstain", "neutral")),
    ((IMPLICIT,), (), (IMPLICIT,), (), False, ("implicit", "abstain", "neutral")),
    ((GOOD,), (NEG,), (FLIPPED,), (), True, ("NEGATION_SCOPE", "polarity_flip", "success")),
    (
        (GOOD,),
        (("CONTRAST_SCOPE", "low"),),
        (FLIPPED,),
        (("CONTRAST_SCOPE", "high"),),
        True,
        ("CONTRAST_SCOPE", "polarity_flip", "harm"),
    ),
    ((GOOD, BAD), (("OTHER", "high"),), (GOOD,), (("OTHER", "high"),), False, ("conflict", "defer", "neutral")),
    (
        (GOOD, IMPLICIT),
        (("EVIDENCE_GAP", "mid"),),
        (LOWER, IMPLICIT),
        (("EVIDENCE_GAP", "mid"),),
        True,
        ("EVIDENCE_GAP", "confidence_reduce", "neutral"),
    ),
]


@pytest.mark.parametrize(("first", "before", "patched", "after", "adopted", "key"), CASES_OF_PRINCIPLES)
def test_an_episode_points_to_the_principle_of_its_risk_action_and_outcome(
    first: Sentiments, before: Risks, patched: Sentiments, after: Risks, adopted: bool, key: tuple[str, str, str]
) -> None:
    stage1 = stage1_of(first, structural_risks=risks(*before))
    draft = build(stage1, outcome_of(stage1, patched, structural_risks=risks(*after)), adopted=adopted)
    assert (draft.action_taken, draft.outcome.value) == key[1:]
    assert draft.correction.principle_id == CATALOGUE.lookup(*key).principle_id  # type: ignore[arg-type]


# Closed vocabulary


FILLER = st.lists(st.sampled_from(["today", "we", "went", "early", "some", "came", "later", "again"]), max_size=12)
NOTE = st.text(max_size=60)
POLARITY: st.SearchStrategy[Polarity] = st.sampled_from(["positive", "negative", "neutral"])
RISK_LIST = st.lists(st.tuples(st.sampled_from(RISK_IDS), st.sampled_from(sorted(SEVERITY_WEIGHT))), max_size=3)


@given(
    fillers=st.tuples(FILLER, FILLER, FILLER, FILLER),
    notes=st.tuples(NOTE, NOTE),
    polarities=st.tuples(POLARITY, POLARITY, POLARITY),
    before=RISK_LIST,
    after=RISK_LIST,
    adopted=st.booleans(),
)
def test_two_texts_of_one_signature_give_byte_identical_episodes_apart_from_provenance(
    fillers: tuple[list[str], list[str], list[str], list[str]],
    notes: tuple[str, str],
    polarities: tuple[Polarity, Polarity, Polarity],
    before: list[tuple[RiskId, Severity]],
    after: list[tuple[RiskId, Severity]],
    adopted: bool,
) -> None:
    signature = InputSignatureV1_1(
        language="en", detected_structure=("none",), has_negation=False, num_aspects=2, length_bucket="medium"
    )
    drafts: list[EpisodeDraftV1_3] = []
    for uid, head, middle, note in (("u1", fillers[0], fillers[1], notes[0]), ("u2", fillers[2], fillers[3], notes[1])):
        text = " ".join([*head, "food", *middle, "price", "then"])
        aspects = tuple(
            AspectItem(aspect_term=t, span=Span(start=text.find(t), end=text.find(t) + len(t)), rationale=note)
            for t in ("food", "price")
        )
        first = tuple(
            sentiment(t, p, text=text, evidence=note) for t, p in zip(("food", "price"), polarities, strict=False)
        )
        stage1 = Stage1Result(
            ate=Stage1Ate(aspects=aspects),
            atsa=Stage1Atsa(sentiments=first),
            validator=ValidatorOutput(
                structural_risks=tuple(r.model_copy(update={"description": note}) for r in risks(*before)),
                correction_proposals=(Proposal(aspect_term="food", proposal_type="CHECK_SPAN", rationale=note),),
            ),
        )
        patched = (sentiment("food", polarities[2], text=text, evidence=note), first[1])
        outcome = outcome_of(stage1, patched, structural_risks=risks(*after))
        provenance = PROVENANCE.model_copy(update={"source_id": uid, "sample_index": len(drafts)})
        drafts.append(build(stage1, outcome, adopted=adopted, text=text, signature=signature, provenance=provenance))
    one, two = (canonical_json(d.model_dump(mode="json", exclude={"provenance"})) for d in drafts)
    assert one == two

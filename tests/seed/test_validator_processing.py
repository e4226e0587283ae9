"""How the answers of Validator and Validator2 are read."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_absa.schemas.absa import Span, StructuralRisk, Validator2Output, ValidatorOutput
from episodic_absa.schemas.seed_answers import (
    AnsweredProposal,
    AnsweredRisk,
    AnsweredSpan,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.seed import process_validator, process_validator2

PLAIN_EN = "The food was great and the service was slow."
NEGATED_EN = "The food was not great and the service was slow."
CONTRAST_EN = "The food was great but the service was slow."
PLAIN_KO = "음식이 맛있고 직원이 친절해요."
NEGATED_KO = "음식이 안 맛있고 직원이 친절해요."
CONTRAST_KO = "음식은 맛있지만 직원이 느려요."


def answered(risk_type: str, severity: str = "mid", scope: Any = None, number: str | None = None) -> AnsweredRisk:
    where = None if scope is None else AnsweredSpan(start=scope[0], end=scope[1])
    return AnsweredRisk(id=number, type=risk_type, severity=severity, scope=where)


def read(
    text: str,
    language: Any,
    risks: tuple[AnsweredRisk, ...] = (),
    proposals: tuple[Any, ...] = (),
    aspect_n: int = 2,
    **more: Any,
) -> ValidatorOutput:
    answer = ValidatorAnswer(
        structural_risks=risks,
        correction_proposals=tuple(AnsweredProposal(aspect_term="food", proposal_type=kind) for kind in proposals),
        consistency_score=0.7,
        **more,
    )
    return process_validator(answer, text, language, aspect_n=aspect_n)


def types(output: ValidatorOutput) -> list[str]:
    return [one.type for one in output.structural_risks]


def kinds(output: ValidatorOutput) -> list[str]:
    return [one.proposal_type for one in output.correction_proposals]


@pytest.mark.parametrize(
    ("word", "risk_type"),
    [
        ("NEGATION", "NEGATION_SCOPE"),
        ("NEGATION_SCOPE", "NEGATION_SCOPE"),
        ("CONTRAST", "CONTRAST_SCOPE"),
        ("CONTRAST_SCOPE", "CONTRAST_SCOPE"),
        ("IRONY", "IRONY"),
        ("POLARITY_MISMATCH", "POLARITY_MISMATCH"),
        ("EVIDENCE_GAP", "EVIDENCE_GAP"),
        ("SPAN_MISMATCH", "SPAN_MISMATCH"),
        ("MISSING_SECOND_ASPECT", "MISSING_SECOND_ASPECT"),
        ("OTHER", "OTHER"),
        ("SARCASM", "OTHER"),
        ("", "OTHER"),
    ],
)
def test_a_risk_word_is_read_with_its_aliases(word: str, risk_type: str) -> None:
    assert types(read(NEGATED_EN, "en", (answered(word),))) == [risk_type]


@pytest.mark.parametrize(
    ("text", "language", "kept"),
    [
        (PLAIN_EN, "en", False),
        (NEGATED_EN, "en", True),
        ("The food wasn't great.", "en", True),
        ("Nothing beats this button.", "en", False),
        (PLAIN_KO, "ko", False),
        (NEGATED_KO, "ko", True),
        ("안경 안내가 좋아요.", "ko", False),
        (PLAIN_EN, "other", True),
        (PLAIN_KO, "other", True),
    ],
)
def test_a_negation_risk_needs_a_negation_in_korean_and_english(text: str, language: Any, kept: bool) -> None:
    output = read(text, language, (answered("NEGATION"), answered("OTHER")))
    assert types(output) == (["NEGATION_SCOPE", "OTHER"] if kept else ["OTHER"])


@pytest.mark.parametrize(
    ("text", "language", "standing", "kept"),
    [
        (PLAIN_EN, "en", (), False),
        (PLAIN_KO, "ko", (), False),
        (PLAIN_EN, "en", ("EVIDENCE_GAP",), False),
        (PLAIN_EN, "en", ("SPAN_MISMATCH", "OTHER", "MISSING_SECOND_ASPECT"), False),
        (PLAIN_EN, "en", ("NEGATION_SCOPE",), False),
        (PLAIN_EN, "en", ("CONTRAST_SCOPE",), True),
        (PLAIN_EN, "en", ("CONTRAST",), True),
        (PLAIN_EN, "en", ("IRONY",), True),
        (PLAIN_KO, "ko", ("POLARITY_MISMATCH",), True),
        (NEGATED_EN, "en", (), True),
        (NEGATED_KO, "ko", (), True),
        (PLAIN_EN, "other", (), True),
    ],
)
def test_a_flip_proposal_needs_a_negation_or_another_reason_to_turn_round(
    text: str, language: Any, standing: tuple[str, ...], kept: bool
) -> None:
    output = read(
        text,
        language,
        tuple(answered(word) for word in standing),
        ("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN"),
    )
    others = ["DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN"]
    assert kinds(output) == (["FLIP_POLARITY", *others] if kept else others)


@pytest.mark.parametrize(
    ("text", "language", "aspect_n", "standing"),
    [
        (CONTRAST_EN, "en", 2, ()),
        (CONTRAST_EN, "en", 3, ()),
        (PLAIN_EN, "en", 1, ()),
        (PLAIN_KO, "ko", 0, ()),
        (CONTRAST_EN, "other", 1, ()),
        (CONTRAST_EN, "en", 1, ("MISSING_SECOND_ASPECT",)),
        (CONTRAST_KO, "ko", 0, ("MISSING_SECOND_ASPECT",)),
    ],
)
def test_no_second_aspect_is_missed_otherwise(
    text: str, language: Any, aspect_n: int, standing: tuple[str, ...]
) -> None:
    output = read(text, language, tuple(answered(word) for word in standing), aspect_n=aspect_n)
    assert types(output) == list(standing)


@pytest.mark.parametrize("scope", [(5, 3), (-4, 2), (0, 9999), (7, 7), (9000, 9001)])
def test_a_scope_outside_the_text_never_becomes_an_invalid_span(scope: tuple[int, int]) -> None:
    (one,) = read(PLAIN_EN, "en", (answered("OTHER", scope=scope),)).structural_risks
    assert one.scope is None or one.scope.end <= len(PLAIN_EN)


R1 = StructuralRisk(id="r1", type="IRONY", severity="mid", scope=Span(start=0, end=8))
R2 = StructuralRisk(id="r2", type="EVIDENCE_GAP", severity="low", scope=None)


def read2(
    text: str = PLAIN_EN,
    language: Any = "en",
    *,
    risks: tuple[AnsweredRisk, ...] = (),
    resolved: tuple[str, ...] = (),
    remaining: tuple[str, ...] = (),
    stage1: tuple[StructuralRisk, ...] = (R1, R2),
    aspect_n: int = 2,
    proposals: tuple[Any, ...] = (),
) -> Validator2Output:
    answer = Validator2Answer(
        structural_risks=risks,
        correction_proposals=tuple(AnsweredProposal(aspect_term="food", proposal_type=kind) for kind in proposals),
        consistency_score=0.7,
        resolved_risk_ids=resolved,
        remaining_risk_ids=remaining,
        final_consistency_score=0.65,
    )
    return process_validator2(answer, text, language, stage1_risks=stage1, patched_aspect_n=aspect_n)


@pytest.mark.parametrize(
    ("resolved", "remaining", "stay"),
    [
        ((), (), ["r1", "r2"]),
        (("r1",), (), ["r2"]),
        (("r1", "r2"), (), []),
        (("r1",), ("r2",), ["r2"]),
        (("r1",), ("r1",), ["r1", "r2"]),
        (("r9", "r1"), ("r8",), ["r2"]),
        (("n1",), (), ["r1", "r2"]),
    ],
)
def test_a_stage1_risk_remains_unless_it_is_only_in_the_resolved_list(
    resolved: tuple[str, ...], remaining: tuple[str, ...], stay: list[str]
) -> None:
    output = read2(resolved=resolved, remaining=remaining)
    assert [one.id for one in output.structural_risks] == stay
    assert sorted(output.remaining_risk_ids) == stay
    assert sorted(output.resolved_risk_ids) == sorted({"r1", "r2"} - set(stay))
    assert output.final_consistency_score == 0.65


MISSING = StructuralRisk(id="r1", type="MISSING_SECOND_ASPECT", severity="high", scope=Span(start=0, end=44))


@pytest.mark.parametrize(
    ("language", "aspect_n", "resolved", "ids"),
    [
        ("en", 1, (), ["r1"]),
        ("en", 2, (), ["r1"]),
        ("en", 2, ("r1",), []),
        ("en", 1, ("r1",), ["n1"]),
        ("other", 1, ("r1",), []),
    ],
)
def test_a_missing_second_aspect_is_appended_only_where_none_remains(
    language: Any, aspect_n: int, resolved: tuple[str, ...], ids: list[str]
) -> None:
    output = read2(CONTRAST_EN, language, stage1=(MISSING,), resolved=resolved, aspect_n=aspect_n)
    assert [one.id for one in output.structural_risks] == ids
    assert all(one.type == "MISSING_SECOND_ASPECT" and one.severity == "high" for one in output.structural_risks)


RISK_WORDS = st.sampled_from(["IRONY", "OTHER", "NEGATION", "CONTRAST", "EVIDENCE_GAP", "bogus"])
SCOPES = st.none() | st.sampled_from([(0, 8), (3, 9)])
ANSWERED = st.builds(
    answered, RISK_WORDS, st.sampled_from(["low", "high", "odd"]), SCOPES, st.sampled_from([None, "r1", "r2", "r7"])
)
IDS = st.lists(st.sampled_from(["r1", "r2", "r3", "n1"]), max_size=3).map(tuple)


@settings(max_examples=150, deadline=None)
@given(st.lists(ANSWERED, max_size=4).map(tuple), IDS, IDS)
def test_validator2_ids_are_unique_and_every_stage1_risk_stands_or_is_resolved(
    risks: tuple[AnsweredRisk, ...], resolved: tuple[str, ...], remaining: tuple[str, ...]
) -> None:
    output = read2(risks=risks, resolved=resolved, remaining=remaining)
    ids = [one.id for one in output.structural_risks]
    shapes = [(one.type, one.scope) for one in output.structural_risks]
    assert len(set(ids)) == len(ids)
    assert len(set(shapes)) == len(shapes)
    assert set(output.remaining_risk_ids) | set(output.resolved_risk_ids) == {"r1", "r2"}
    assert not set(output.remaining_risk_ids) & set(output.resolved_risk_ids)
    assert [one for one in ids if one.startswith("r")] == sorted(output.remaining_risk_ids)

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

Asked = tuple[str, str]


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
    ("word", "severity"),
    [("low", "low"), ("mid", "mid"), ("high", "high"), ("medium", "mid"), ("catastrophic", "mid"), ("", "mid")],
)
def test_an_unknown_severity_is_mid(word: str, severity: str) -> None:
    (one,) = read(PLAIN_EN, "en", (answered("OTHER", word),)).structural_risks
    assert one.severity == severity


def test_the_system_numbers_the_risks_whatever_ids_the_model_gave() -> None:
    output = read(PLAIN_EN, "en", (answered("IRONY", number="x9"), answered("OTHER"), answered("EVIDENCE_GAP")))
    assert [one.id for one in output.structural_risks] == ["r1", "r2", "r3"]


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


@pytest.mark.parametrize(("text", "language"), [(CONTRAST_EN, "en"), (CONTRAST_KO, "ko")])
@pytest.mark.parametrize("aspect_n", [0, 1])
def test_a_contrast_with_one_aspect_misses_a_second_one(text: str, language: Any, aspect_n: int) -> None:
    output = read(text, language, (answered("OTHER"),), aspect_n=aspect_n)
    assert types(output) == ["OTHER", "MISSING_SECOND_ASPECT"]
    added = output.structural_risks[-1]
    assert (added.severity, added.scope, added.id) == ("high", Span(start=0, end=len(text)), "r2")


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


def test_for_another_language_nothing_is_removed_or_appended() -> None:
    output = read(CONTRAST_EN, "other", (answered("NEGATION"), answered("IRONY")), ("FLIP_POLARITY",), aspect_n=0)
    assert types(output) == ["NEGATION_SCOPE", "IRONY"]
    assert kinds(output) == ["FLIP_POLARITY"]


@pytest.mark.parametrize("scope", [(5, 3), (-4, 2), (0, 9999), (7, 7), (9000, 9001)])
def test_a_scope_outside_the_text_never_becomes_an_invalid_span(scope: tuple[int, int]) -> None:
    (one,) = read(PLAIN_EN, "en", (answered("OTHER", scope=scope),)).structural_risks
    assert one.scope is None or one.scope.end <= len(PLAIN_EN)


@pytest.mark.parametrize(
    ("word", "label"), [("mixed", "mixed"), ("Positive", "positive"), (None, None), ("whatever", None)]
)
def test_the_suggested_label_is_read_as_a_sentence_label(word: str | None, label: str | None) -> None:
    assert read(PLAIN_EN, "en", suggested_label=word, confidence=0.8).suggested_label == label


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


def seen(output: Validator2Output) -> list[tuple[str, str, str]]:
    return [(one.id, one.type, one.severity) for one in output.structural_risks]


BOTH = [("r1", "IRONY", "mid"), ("r2", "EVIDENCE_GAP", "low")]


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


def test_a_remaining_risk_keeps_its_severity_unless_restated() -> None:
    assert seen(read2(remaining=("r1", "r2"))) == BOTH
    restated = read2(risks=(answered("IRONY", "high", (0, 8), "r1"),), remaining=("r1", "r2"))
    assert seen(restated) == [("r1", "IRONY", "high"), ("r2", "EVIDENCE_GAP", "low")]


def test_a_severity_may_be_restated_by_type_and_scope_without_an_id() -> None:
    output = read2(risks=(answered("IRONY", "low", (0, 8)),), remaining=("r1", "r2"))
    assert seen(output) == [("r1", "IRONY", "low"), ("r2", "EVIDENCE_GAP", "low")]


def test_a_repeat_of_a_resolved_risk_is_discarded() -> None:
    by_id = read2(risks=(answered("IRONY", "high", (0, 8), "r1"),), resolved=("r1",), remaining=("r2",))
    by_shape = read2(risks=(answered("IRONY", "high", (0, 8)),), resolved=("r1",), remaining=("r2",))
    assert seen(by_id) == seen(by_shape) == [("r2", "EVIDENCE_GAP", "low")]


def test_new_risks_follow_the_remaining_ones_with_ids_of_their_own() -> None:
    output = read2(
        risks=(answered("SPAN_MISMATCH", "high", (4, 8)), answered("OTHER", "low")), resolved=("r1",), remaining=("r2",)
    )
    assert seen(output) == [("r2", "EVIDENCE_GAP", "low"), ("n1", "SPAN_MISMATCH", "high"), ("n2", "OTHER", "low")]


def test_the_same_type_in_another_scope_is_a_new_risk() -> None:
    output = read2(risks=(answered("IRONY", "low", (9, 12)),), resolved=("r1",), remaining=("r2",))
    assert seen(output) == [("r2", "EVIDENCE_GAP", "low"), ("n1", "IRONY", "low")]


def test_there_is_one_risk_per_type_and_scope() -> None:
    twice = (answered("OTHER", "low", (0, 3)), answered("OTHER", "high", (0, 3)), answered("OTHER", "low", (4, 8)))
    output = read2(risks=twice, resolved=("r1", "r2"))
    shapes = [(one.type, one.scope) for one in output.structural_risks]
    assert shapes == [("OTHER", Span(start=0, end=3)), ("OTHER", Span(start=4, end=8))]


def test_aliases_and_severities_are_read_as_in_the_first_validator() -> None:
    output = read2(NEGATED_EN, risks=(answered("NEGATION", "medium"), answered("SARCASM", "x")), stage1=())
    assert seen(output) == [("n1", "NEGATION_SCOPE", "mid"), ("n2", "OTHER", "mid")]


@pytest.mark.parametrize(
    ("text", "language", "kept"), [(PLAIN_EN, "en", 0), (PLAIN_KO, "ko", 0), (PLAIN_EN, "other", 1)]
)
def test_validator2_too_needs_a_negation_for_a_negation_risk(text: str, language: Any, kept: int) -> None:
    output = read2(text, language, risks=(answered("NEGATION"),), stage1=())
    assert len(output.structural_risks) == kept


@pytest.mark.parametrize("language", ["en", "other"])
def test_validator2_keeps_its_proposals(language: Any) -> None:
    every = ("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN")
    assert kinds(read2(language=language, proposals=every)) == list(every)


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


def test_a_new_missing_second_aspect_of_the_model_is_not_doubled() -> None:
    output = read2(CONTRAST_EN, risks=(answered("MISSING_SECOND_ASPECT", "low", (0, 3)),), stage1=(), aspect_n=1)
    assert seen(output) == [("n1", "MISSING_SECOND_ASPECT", "low")]


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

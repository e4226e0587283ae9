"""Which structures the validator calls a risk, and which it leaves alone."""

import pytest
from tests.backends.embedded.role_chain import first_look, with_validator

from episodic_absa.schemas.absa import AspectItem, SentimentItem, Span, Stage1Result
from episodic_absa.vocabulary import Language


def risks(stage1: Stage1Result) -> dict[str, str]:
    return {risk.type: risk.severity for risk in stage1.validator.structural_risks}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("음식이 맛있어요", "ko"),
        ("서비스는 친절했지만 음식은 별로였어", "ko"),
        ("음식이 안 좋아요", "ko"),
        ("전망이 좋지 않았어요", "ko"),
        ("방음이 안 돼서 잠을 못 잤어요", "ko"),
        ("The food was delicious.", "en"),
        ("The coffee is not bad.", "en"),
        ("The battery lasts long, but the screen is too dark.", "en"),
        ("Never coming back.", "en"),
    ],
)
def test_a_plain_sentence_has_no_risk(text: str, language: Language) -> None:
    assert risks(first_look(text, language)) == {}


@pytest.mark.parametrize(
    ("text", "language", "risk", "severity"),
    [
        ("터치감이 좋다고는 할 수 없어요", "ko", "NEGATION_SCOPE", "mid"),
        ("안 좋은 점이 없어요", "ko", "NEGATION_SCOPE", "high"),
        ("I don't think the curry is good.", "en", "NEGATION_SCOPE", "mid"),
        ("The design is not only elegant but also practical.", "en", "NEGATION_SCOPE", "high"),
        ("퍽이나 친절한 직원이네요", "ko", "IRONY", "high"),
        ("Oh great, the wifi is fast again.", "en", "IRONY", "high"),
        ("The food was great, while the service was excellent.", "en", "CONTRAST_SCOPE", "low"),
        ("음식은 맛있지만 화장실에서 아쉬웠어요", "ko", "MISSING_SECOND_ASPECT", "high"),
    ],
)
def test_a_structure_that_may_mislead_is_a_risk(text: str, language: Language, risk: str, severity: str) -> None:
    assert risks(first_look(text, language)).get(risk) == severity


def test_words_from_across_the_marker_are_a_contrast_risk() -> None:
    found = risks(first_look("The staff wore blue, but the food was bad.", "en", ["staff", "food"]))
    assert found["CONTRAST_SCOPE"] == "high"


def test_a_flip_is_proposed_only_with_a_plain_reason() -> None:
    plain = first_look("안 좋은 점이 없어요", "ko").validator.correction_proposals
    doubtful = first_look("I don't think the curry is good.", "en").validator.correction_proposals
    assert [one.proposal_type for one in plain] == ["FLIP_POLARITY"]
    assert doubtful == ()


@pytest.mark.parametrize(
    ("term", "polarity", "evidence", "risk", "proposal"),
    [
        ("food", "positive", "bad", "POLARITY_MISMATCH", "FLIP_POLARITY"),
        ("food", "negative", "The", "EVIDENCE_GAP", None),
        ("food", "negative", "", "", None),
        ("The food", "negative", "bad", "SPAN_MISMATCH", "REVISE_SPAN"),
    ],
)
def test_tuples_of_others_are_checked_too(
    term: str, polarity: str, evidence: str, risk: str, proposal: str | None
) -> None:
    text = "The food was bad."
    span = Span(start=text.index(term), end=text.index(term) + len(term))
    sentiment = SentimentItem.model_validate(
        {"aspect_term": term, "span": span, "polarity": polarity, "evidence": evidence}
    )
    stage1 = with_validator(text, "en", (AspectItem(aspect_term=term, span=span),), (sentiment,))
    assert set(risks(stage1)) == ({risk} if risk else set())
    assert [one.proposal_type for one in stage1.validator.correction_proposals] == ([proposal] if proposal else [])

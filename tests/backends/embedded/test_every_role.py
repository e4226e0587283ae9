"""What every reply must be, whatever the sentence: parseable, grounded in the text, the same each time."""

import asyncio
import json

import pytest
from tests.backends.embedded.role_chain import Review, Row, ask, memory_of, reply_text, run_review, run_stage1, table

from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Request
from episodic_absa.backends.embedded import ENGINE_NAME, EmbeddedReplier
from episodic_absa.schemas.role_inputs import AteInputs, AtsaInputs, ValidatorInputs
from episodic_absa.schemas.seed_answers import AteAnswer, AtsaAnswer, ValidatorAnswer
from episodic_absa.vocabulary import Language

ROWS = [*table("sentence_table.yaml"), *table("second_table.yaml"), *table("held_out_table.yaml")]
ALL_RISKS = (
    "NEGATION_SCOPE",
    "CONTRAST_SCOPE",
    "IRONY",
    "POLARITY_MISMATCH",
    "EVIDENCE_GAP",
    "SPAN_MISMATCH",
    "MISSING_SECOND_ASPECT",
)
ODD_TEXTS = [
    ".",
    "?!?!",
    " ",
    "\n\n",
    "ㅋㅋㅋㅋ",
    "ㅠㅠ",
    "😀😀👍",
    "맛있어요😀\n서비스는 별로👎",
    "\x00",
    "good\x00food is bad",
    "음식이\x00맛있어요",
    "the",
    "not",
    "안",
    "but",
    "지만",
    "not not not good but but",
    "“The food” was ‘great’—really!",
    "İstanbul is GREAT but İ is bad",
    "＊＊최고＊＊",
    "a" * 300,
    "\ud800 good food",
    "12345 67,8",
    "oh great /s",
    "e\u0301clair is delicious",
]


def assert_grounded(text: str, language: Language, review: Review) -> None:
    stage1 = run_stage1(text, language)
    for aspect in stage1.ate.aspects:
        assert aspect.span is not None
        assert text[aspect.span.start : aspect.span.end] == aspect.aspect_term != ""
    for one in stage1.atsa.sentiments:
        assert one.evidence in text
        assert one.polarity is not None
        assert one.aspect_term in text
    for risk in stage1.validator.structural_risks:
        assert risk.scope is not None
        assert risk.scope.end <= len(text)
    terms = {aspect.aspect_term for aspect in stage1.ate.aspects} | {one.aspect_term for one in stage1.atsa.sentiments}
    for turn in review.turns:
        for edit in turn.proposed_edits:
            assert edit.target.aspect_ref in terms
            assert edit.evidence is None or edit.evidence in text
    assert all(span in text for span in review.judge.sentence_evidence_spans)
    assert all(span in text for span in review.judge.aspect_evidence.values())
    assert bool(review.judge.sentence_evidence_spans) == bool(text.strip())
    judged = [one.aspect_term for one in review.judge.final_tuples]
    assert len(judged) == len(set(judged))
    assert len(review.ate_reviews.reviews) >= len(stage1.ate.aspects)
    assert len(review.atsa_reviews.reviews) >= len(stage1.atsa.sentiments)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_all_ten_replies_parse_and_are_grounded(row: Row) -> None:
    stage1 = run_stage1(row.text, row.language)
    for memory in (None, memory_of(*ALL_RISKS, principle="P-CFL-01"), memory_of("IRONY", warnings=["Hold."])):
        assert_grounded(row.text, row.language, run_review(row.text, row.language, stage1, memory))


@pytest.mark.parametrize("language", ["ko", "en", "other"])
@pytest.mark.parametrize("text", ODD_TEXTS, ids=[f"odd{number}" for number in range(len(ODD_TEXTS))])
def test_odd_texts_are_answered_too(text: str, language: Language) -> None:
    stage1 = run_stage1(text, language)
    assert_grounded(text, language, run_review(text, language, stage1, memory_of(*ALL_RISKS)))


@pytest.mark.parametrize(
    "text", ["음식이 맛있어요", "The food is great but slow.", "Das Essen war gut, not bad", "好吃"]
)
def test_of_another_language_nothing_is_claimed(text: str) -> None:
    stage1 = run_stage1(text, "other")
    assert not stage1.ate.aspects
    assert not stage1.atsa.sentiments
    assert not stage1.validator.structural_risks


def test_replies_are_the_same_each_time_and_for_every_seed() -> None:
    for row in ROWS[::7]:
        inputs = AtsaInputs(text=row.text, language=row.language, aspects=None)
        replies = {
            asyncio.run(
                EmbeddedReplier().reply(Request(Ask("atsa", inputs, Prompt("atsa", "", ""), AtsaAnswer, seed=seed)))
            ).text
            for seed in (0, 1, 1)
        }
        assert len(replies) == 1


def test_the_engine_says_what_it_is_and_costs_nothing() -> None:
    backend = RepairingBackend(EmbeddedReplier())
    inputs = AteInputs(text="The food was great.", language="en")
    answer = asyncio.run(backend.answer(Ask("ate", inputs, Prompt("ate", "", ""), AteAnswer)))
    assert (backend.name, backend.honours_seed, answer.model) == (ENGINE_NAME, False, "embedded:rules-1")
    assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.usage.cost_usd, answer.attempts) == (0, 0, 0.0, 1)
    asyncio.run(backend.close())


def test_a_reply_is_one_json_object() -> None:
    text = reply_text("ate", AteInputs(text="Great pizza", language="en"), AteAnswer)
    assert json.loads(text)["aspects"][0]["aspect_term"] == "pizza"


def test_independent_agents_get_along_with_the_text_alone() -> None:
    text = "서비스는 친절했지만 음식은 별로였어"
    judged = ask("atsa", AtsaInputs(text=text, language="ko", aspects=None), AtsaAnswer)
    assert {(one.aspect_term, one.polarity) for one in judged.sentiments} == {
        ("서비스", "positive"),
        ("음식", "negative"),
    }
    seen = ask("validator", ValidatorInputs(text=text, language="ko", aspects=None, sentiments=None), ValidatorAnswer)
    assert seen.suggested_label == "mixed"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("음식은 맛있지만 서비스가 별로였어요. 배송이 빨라서 좋아요. " * 550, "ko"),
        ("The food was great but the service was slow. I loved the pasta. " * 310, "en"),
        (
            " ".join(
                f"The gadget{chr(97 + n % 26)}{chr(97 + n // 26 % 26)} was great, but not good." for n in range(450)
            ),
            "en",
        ),
        ("not good but " * 1500, "en"),
        ("가" * 20000, "ko"),
        ("good " * 4000, "en"),
        ("," * 20000, "en"),
    ],
    ids=["ko", "en", "many", "cues", "one-word", "opinions", "commas"],
)
def test_twenty_thousand_characters_are_read_in_reasonable_time(text: str, language: Language) -> None:
    # No clock here: quadratic work on these would outlast any patience. `make bench` measures.
    stage1 = run_stage1(text[:20000], language)
    run_review(text[:20000], language, stage1, memory_of(*ALL_RISKS))

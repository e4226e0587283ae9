"""What advice changes: each risk opens one second look, warnings close it again, and no advice changes nothing."""

import pytest
from tests.backends.embedded.role_chain import (
    Review,
    Row,
    first_look,
    memory_of,
    run_review,
    run_stage1,
    table,
    with_validator,
)

from episodic_absa.backends.embedded.roles.second_looks import NO_LOOKS, second_looks
from episodic_absa.schemas.absa import AspectItem, SentimentItem, Span, Stage1Result
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import Language

ROWS = [*table("sentence_table.yaml"), *table("second_table.yaml"), *table("held_out_table.yaml")]
EMPTY_BUNDLES: list[MemorySlot | None] = [None, {}, {"retrieved": [], "warnings": []}]


def reviewed(text: str, language: Language, memory: MemorySlot | None, terms: list[str] | None = None) -> Review:
    return run_review(text, language, first_look(text, language, terms), memory)


@pytest.mark.parametrize(
    ("text", "language", "before", "after"),
    [
        ("터치감이 좋다고는 할 수 없어요", "ko", ("터치감", "positive"), ("터치감", "negative")),
        ("맛이 있는지 모르겠지만 양이 많다고 하기는 어려워요", "ko", ("양", "positive"), ("양", "negative")),
        ("I don't think the curry is good.", "en", ("curry", "positive"), ("curry", "negative")),
    ],
)
def test_advice_about_negation_makes_them_read_its_whole_scope(
    text: str, language: Language, before: tuple[str, str], after: tuple[str, str]
) -> None:
    plain = reviewed(text, language, None)
    advised = reviewed(text, language, memory_of("NEGATION_SCOPE"))
    assert before in plain.pairs
    assert not plain.polarity_edits
    assert after in advised.pairs
    assert {agent for agent, term, _ in advised.polarity_edits if term == after[0]} == {"epm", "cj"}
    assert [(patch.op, patch.value) for patch in advised.judge.final_patch] == [("set_polarity", after[1])]


def test_the_risk_is_resolved_only_where_advice_led_to_the_change() -> None:
    text = "I don't think the curry is good."
    assert reviewed(text, "en", None).validator.remaining_risk_ids == ("r1",)
    assert reviewed(text, "en", memory_of("NEGATION_SCOPE")).validator.resolved_risk_ids == ("r1",)


def test_advice_about_contrast_makes_them_take_back_what_was_borrowed_across_the_marker() -> None:
    text, terms = "The staff wore blue, but the food was bad.", ["staff", "food"]
    assert ("staff", "negative") in reviewed(text, "en", None, terms).pairs
    advised = reviewed(text, "en", memory_of("CONTRAST_SCOPE"), terms)
    assert advised.pairs == {("staff", "neutral"), ("food", "negative")}
    assert ("cj", "staff", "neutral") in advised.polarity_edits


@pytest.mark.parametrize(
    ("text", "language", "term"),
    [("퍽이나 친절한 직원이네요", "ko", "직원"), ("Oh great, the wifi is fast again.", "en", "wifi")],
)
def test_advice_about_irony_makes_them_trust_the_cue(text: str, language: Language, term: str) -> None:
    assert (term, "positive") in reviewed(text, language, None).pairs
    assert (term, "negative") in reviewed(text, language, memory_of("IRONY")).pairs


def test_irony_beside_a_blamed_event_needs_no_advice() -> None:
    text = "퍽이나 빠른 배송이네요, 화면은 깨져서 왔어요"
    assert ("cj", "배송", "negative") in reviewed(text, "ko", None).polarity_edits


def test_advice_about_irony_can_do_harm() -> None:
    # The praise is meant; the writer only quotes the phrase. Advice is not always right, and this is where it shows.
    text = "Oh great was my first thought, and the view was stunning."
    assert ("view", "positive") in reviewed(text, "en", None).pairs
    assert ("view", "negative") in reviewed(text, "en", memory_of("IRONY")).pairs


def test_advice_about_evidence_makes_them_give_up_what_no_words_support() -> None:
    text, terms = "The lamp stood there and the food was bad.", ["lamp", "food"]
    plain = reviewed(text, "en", None, terms)
    advised = reviewed(text, "en", memory_of("EVIDENCE_GAP"), terms)
    assert ("lamp", "negative") in plain.pairs
    assert "lamp" not in {term for term, _ in advised.pairs}
    assert [patch.op for patch in advised.judge.final_patch] == ["drop_tuple"]


def test_advice_about_polarity_makes_them_judge_from_the_words_of_the_sentence() -> None:
    text = "The lamp stood there and the food was bad."
    stage1 = _stage1_with(text, "lamp", "neutral")
    assert ("lamp", "neutral") in run_review(text, "en", stage1).pairs
    assert ("lamp", "negative") in run_review(text, "en", stage1, memory_of("POLARITY_MISMATCH")).pairs


def test_advice_about_a_second_aspect_makes_them_search_across_the_marker() -> None:
    text = "음식은 맛있지만 화장실에서 아쉬웠어요"
    assert reviewed(text, "ko", None).pairs == {("음식", "positive")}
    advised = reviewed(text, "ko", memory_of("MISSING_SECOND_ASPECT"))
    assert advised.pairs == {("음식", "positive"), ("화장실", "negative")}
    assert advised.validator.resolved_risk_ids == ("r1",)


def test_advice_about_spans_makes_tan_trim_the_term() -> None:
    text = "The food was bad."
    stage1 = _stage1_with(text, "The food", "negative")
    plain = {edit.op for turn in run_review(text, "en", stage1).turns for edit in turn.proposed_edits}
    advised = run_review(text, "en", stage1, memory_of("SPAN_MISMATCH"))
    trimmed = [edit for turn in advised.turns for edit in turn.proposed_edits if edit.op == "set_aspect_ref"]
    assert plain == {"confirm_tuple"}
    assert [edit.value for edit in trimmed] == ["food"]


def test_advice_about_conflicts_makes_them_prefer_the_concluding_clause() -> None:
    text = "The soup was terrible, but overall the soup was nice."
    plain = reviewed(text, "en", None)
    advised = reviewed(text, "en", memory_of(principle="P-CFL-01"))
    assert plain.pairs == {("soup", "negative")} or plain.pairs == {("soup", "negative"), ("soup", "positive")}
    assert advised.pairs == {("soup", "positive")}


def test_advice_about_unnamed_opinions_makes_them_hold_still() -> None:
    text = "좋다고는 할 수 없어요"
    both = memory_of("NEGATION_SCOPE", principle="P-IMP-01")
    assert reviewed(text, "ko", memory_of("NEGATION_SCOPE")).polarity_edits
    assert not reviewed(text, "ko", both).polarity_edits


def test_warnings_make_them_demand_stronger_words() -> None:
    text = "I don't think the curry is good."
    warned = memory_of("NEGATION_SCOPE", warnings=["Do not change without a quotation.", "Hold still."])
    assert ("curry", "negative") in reviewed(text, "en", memory_of("NEGATION_SCOPE", warnings=["Hold still."])).pairs
    assert ("curry", "positive") in reviewed(text, "en", warned).pairs
    strong = "I don't think the curry is absolutely perfect."
    assert ("curry", "negative") in reviewed(strong, "en", warned).pairs


def test_advice_that_once_raised_the_risk_opens_no_look() -> None:
    looks = second_looks(memory_of("IRONY", change="higher"))
    assert not looks.looks
    assert looks.caution == 1


@pytest.mark.parametrize("memory", EMPTY_BUNDLES, ids=["none", "nothing", "empty"])
def test_without_advice_there_is_no_look(memory: MemorySlot | None) -> None:
    assert second_looks(memory) == NO_LOOKS


@pytest.mark.parametrize("row", ROWS[::4], ids=lambda row: row.id)
def test_an_empty_bundle_changes_nothing(row: Row) -> None:
    stage1 = run_stage1(row.text, row.language)
    assert len({repr(run_review(row.text, row.language, stage1, memory)) for memory in EMPTY_BUNDLES}) == 1


@pytest.mark.parametrize(
    "memory",
    [
        {"retrieved": "x", "warnings": 3},
        {"retrieved": [1, None, {}], "warnings": []},
        {"retrieved": [{"evidence": {"risk_tags": None, "principle_id": 4}}]},
        {"retrieved": [{"evidence": {"risk_tags": ["SOMETHING"], "principle_id": "P-XXX-01"}}]},
    ],
)
def test_a_bundle_it_cannot_read_is_no_advice(memory: MemorySlot) -> None:
    assert second_looks(memory) == NO_LOOKS


def _stage1_with(text: str, term: str, polarity: str) -> Stage1Result:
    start = text.index(term)
    span = Span(start=start, end=start + len(term))
    sentiment = SentimentItem.model_validate(
        {"aspect_term": term, "span": span, "polarity": polarity, "evidence": "bad", "confidence": 0.6}
    )
    return with_validator(text, "en", (AspectItem(aspect_term=term, span=span),), (sentiment,))


@pytest.mark.parametrize("change", ["lower", "higher"])
@pytest.mark.parametrize("message", ["", "risk change: higher", "risk change: lower", "위험이 커졌다", "[riskier]"])
def test_the_wording_of_a_message_changes_no_answer(change: str, message: str) -> None:
    text = "I don't think the curry is good."
    memory = memory_of("NEGATION_SCOPE", change=change)
    reworded = {**memory, "retrieved": [{**advisory, "message": message} for advisory in memory["retrieved"]]}
    assert second_looks(reworded) == second_looks(memory)
    assert reviewed(text, "en", reworded) == reviewed(text, "en", memory)


def test_advice_from_a_case_that_ended_badly_only_adds_caution() -> None:
    looks = second_looks(memory_of("NEGATION_SCOPE", change="higher"))
    assert (looks.looks, looks.caution) == (frozenset(), 1)

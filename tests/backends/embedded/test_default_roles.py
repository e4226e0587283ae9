"""Short answers of the engine say what its v1 answers say; whoever asks for a v1 model gets the v1 answer."""

from typing import Any, NamedTuple

import pytest
from tests.backends.embedded.role_chain import (
    ENGINE,
    ask,
    first_look,
    memory_of,
    reply_text,
    review_context,
    run_review,
    run_stage1,
)

from episodic_absa.backends.embedded.roles.default_roles import DEFAULT_ROLES
from episodic_absa.backends.embedded.roles.stage2_atsa import words_quoted_in
from episodic_absa.backends.embedded.roles.tuple_review import judged_sentiments
from episodic_absa.language import norm
from episodic_absa.pipeline.roles import ROLE_SPECS
from episodic_absa.schemas.absa import DebateTurn, Persona, Stage1Result
from episodic_absa.schemas.answers import (
    DROP,
    KEEP,
    DecisionsAnswer,
    JointAnswer,
    JudgementsAnswer,
    LenientModel,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.role_inputs import (
    AteInputs,
    AtsaInputs,
    JudgeInputs,
    MemorySlot,
    RefereeInputs,
    ReviewInputs,
    SpeakerInputs,
    Validator2Inputs,
    ValidatorInputs,
)
from episodic_absa.schemas.seed_answers import (
    AteAnswer,
    AteReviewAnswer,
    AtsaAnswer,
    AtsaReviewAnswer,
    JudgeAnswer,
    TurnAnswer,
    Validator2Answer,
    ValidatorAnswer,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import POLARITIES, RISK_IDS, SPEAKERS, Language, Role, Speaker

ADVICE = memory_of(
    "NEGATION_SCOPE", "CONTRAST_SCOPE", "IRONY", "EVIDENCE_GAP", "MISSING_SECOND_ASPECT", principle="P-CFL-01"
)
SENTENCES: list[tuple[str, Language]] = [
    ("The room was clean but the staff was rude.", "en"),
    ("I don't think the curry is good.", "en"),
    ("Not only was the pasta cold, the waiter forgot us too.", "en"),
    ("Oh great, the charger broke after a week. Just what I needed.", "en"),
    ("The pasta was delicious, but later the pasta was terrible.", "en"),
    ("Will buy again.", "en"),
    ("My wife and I went there on a Saturday in June.", "en"),
    ("Our server forgot the appetizers twice.", "en"),
    ("음식은 맛있지만 서비스가 별로였어요.", "ko"),
    ("터치감이 좋다고는 할 수 없어요", "ko"),
    ("퍽이나 빠른 배송이네요, 화면은 깨져서 왔어요", "ko"),
    ("방이 깨끗하지 않은 것은 아니에요", "ko"),
    ("가격도 좋고 품질도 좋아요. 다만 포장은 별로예요.", "ko"),
    ("또 사고 싶어요", "ko"),
    ("지난주 토요일에 친구와 다녀왔어요", "ko"),
    ("", "en"),
    ("Das Essen war gut.", "other"),
]
every_sentence = pytest.mark.parametrize(
    ("text", "language"), SENTENCES, ids=[f"s{number}" for number in range(len(SENTENCES))]
)
with_and_without_advice = pytest.mark.parametrize("memory", [None, ADVICE], ids=["plain", "advice"])


class Case(NamedTuple):
    """The typed inputs of every role for one sentence."""

    stage1: Stage1Result
    turns: tuple[DebateTurn, ...]
    inputs: dict[Role, AteInputs]


def case_of(text: str, language: Language, memory: MemorySlot | None, *, by_rules: bool = False) -> Case:
    stage1 = first_look(text, language) if by_rules else run_stage1(text, language)
    review = run_review(text, language, stage1, memory)
    seen: dict[str, Any] = {"text": text, "language": language}
    later = {**seen, "stage1": stage1, "memory": memory}
    reviewed = {**later, "review_context": review_context(stage1, review.turns, review.judge)}
    inputs: dict[Role, AteInputs] = {
        "ate": AteInputs(**seen),
        "atsa": AtsaInputs(**seen, aspects=stage1.ate.aspects),
        "validator": ValidatorInputs(**seen, aspects=stage1.ate.aspects, sentiments=stage1.atsa.sentiments),
        **{speaker: speaker_inputs(later, speaker) for speaker in SPEAKERS},
        "judge": JudgeInputs(**later, turns=review.turns),
        "stage2_ate": ReviewInputs(**reviewed),
        "stage2_atsa": ReviewInputs(**reviewed),
        "stage2_validator": Validator2Inputs(
            **reviewed,
            ate_reviews=(),
            atsa_reviews=(),
            patched_aspects=review.patched_aspects,
            patched_sentiments=review.patched,
        ),
        "joint": AteInputs(**seen),
        "referee": RefereeInputs(**seen, list_a=(), list_b=()),
    }
    return Case(stage1, review.turns, inputs)


def speaker_inputs(later: dict[str, Any], speaker: Speaker) -> SpeakerInputs:
    return SpeakerInputs(**later, speaker=speaker, persona=Persona(name=speaker, role=speaker, goal=speaker))


@every_sentence
def test_stage1_in_short_form_is_stage1(text: str, language: Language) -> None:
    inputs = case_of(text, language, None).inputs
    aspects = ask("ate", inputs["ate"], AteAnswer).aspects
    assert ask("ate", inputs["ate"], TermsAnswer).terms == tuple(aspect.aspect_term for aspect in aspects)
    first = ask("atsa", AtsaInputs(text=text, language=language, aspects=None), AtsaAnswer).sentiments
    joint = ask("joint", inputs["joint"], JointAnswer).pairs
    assert [(pair.term, pair.polarity, pair.quote) for pair in joint] == [
        (sentiment.aspect_term, sentiment.polarity, sentiment.evidence) for sentiment in first
    ]
    judged = ask("atsa", inputs["atsa"], AtsaAnswer).sentiments
    judgements = ask("atsa", inputs["atsa"], JudgementsAnswer).judgements
    assert [(judgement.target, judgement.polarity, judgement.quote) for judgement in judgements] == [
        (sentiment.aspect_term, sentiment.polarity, sentiment.evidence) for sentiment in judged
    ]
    risks = ask("validator", inputs["validator"], ValidatorAnswer)
    short = ask("validator", inputs["validator"], RisksAnswer)
    assert short.label == risks.suggested_label
    assert {(risk.type, risk.quote) for risk in short.risks} == {
        (risk.type, text[risk.scope.start : risk.scope.end] if risk.scope else "") for risk in risks.structural_risks
    }


@with_and_without_advice
@every_sentence
def test_speakers_in_short_form_say_the_same(text: str, language: Language, memory: MemorySlot | None) -> None:
    # The rules' first look leaves the speakers more to change than Stage1 does.
    for by_rules in (False, True):
        case = case_of(text, language, memory, by_rules=by_rules)
        edits = {speaker: ask(speaker, case.inputs[speaker], TurnAnswer).proposed_edits for speaker in SPEAKERS}
        judged = {
            (judgement.target, judgement.polarity)
            for judgement in ask("epm", case.inputs["epm"], JudgementsAnswer).judgements
        }
        assert judged == {
            (edit.target.aspect_ref, edit.value if edit.op == "set_polarity" else edit.target.polarity)
            for edit in edits["epm"]
            if edit.op != "drop_tuple"
        }
        wrong = {(pair.target, pair.should_be) for pair in ask("cj", case.inputs["cj"], WrongPairsAnswer).wrong}
        assert wrong == {
            (edit.target.aspect_ref, edit.value if edit.op == "set_polarity" else DROP)
            for edit in edits["cj"]
            if edit.op != "confirm_tuple"
        }
        targets = {norm(named.target) for named in ask("tan", case.inputs["tan"], TargetsAnswer).targets}
        confirmed = {norm(edit.target.aspect_ref) for edit in edits["tan"] if edit.op == "confirm_tuple"} - {""}
        dropped = {norm(edit.target.aspect_ref) for edit in edits["tan"] if edit.op == "drop_tuple"} - confirmed
        assert confirmed <= targets
        assert not dropped & targets


@with_and_without_advice
@every_sentence
def test_the_judge_in_short_form_says_the_same(text: str, language: Language, memory: MemorySlot | None) -> None:
    case = case_of(text, language, memory, by_rules=True)
    judge = ask("judge", case.inputs["judge"], JudgeAnswer)
    decisions = ask("judge", case.inputs["judge"], DecisionsAnswer)
    inputs = case.inputs["judge"]
    assert isinstance(inputs, JudgeInputs)
    has_pairs = bool(judged_sentiments(inputs.stage1))
    # Without pairs the short judge takes a side only if the text is sure.
    assert decisions.label in ((judge.sentence_polarity,) if has_pairs else (judge.sentence_polarity, "neutral"))
    assert {(item.target, item.decision) for item in decisions.decisions if item.decision != KEEP} == {
        (patch.target.aspect_ref, patch.value if patch.op == "set_polarity" else DROP) for patch in judge.final_patch
    }
    decided = {norm(item.target) for item in decisions.decisions}
    assert decided == {
        norm(edit.target.aspect_ref)
        for turn in case.turns
        for edit in turn.proposed_edits
        if edit.op != "confirm_tuple"
    } | {norm(patch.target.aspect_ref) for patch in judge.final_patch}


@with_and_without_advice
@every_sentence
def test_stage2_in_short_form_says_the_same(text: str, language: Language, memory: MemorySlot | None) -> None:
    case = case_of(text, language, memory, by_rules=True)
    reviews = ask("stage2_ate", case.inputs["stage2_ate"], AteReviewAnswer).reviews
    verdicts = ask("stage2_ate", case.inputs["stage2_ate"], TargetVerdictsAnswer)
    assert [(item.target, item.verdict) for item in verdicts.verdicts] == [
        (review.aspect_term, DROP if review.action == "drop" else KEEP) for review in reviews if review.action != "add"
    ]
    assert [item.target for item in verdicts.add] == [
        review.aspect_term for review in reviews if review.action == "add"
    ]
    pair_reviews = ask("stage2_atsa", case.inputs["stage2_atsa"], AtsaReviewAnswer).reviews
    pair_verdicts = ask("stage2_atsa", case.inputs["stage2_atsa"], PairVerdictsAnswer).verdicts
    flips = {
        (review.aspect_term, review.revised_polarity)
        for sentiment, review in zip(case.stage1.atsa.sentiments, pair_reviews, strict=False)
        if review.action == "flip_polarity" and review.revised_polarity != sentiment.polarity
    }
    assert {(item.target, item.verdict) for item in pair_verdicts if item.verdict != KEEP} == flips
    second = ask("stage2_validator", case.inputs["stage2_validator"], Validator2Answer)
    risks = ask("stage2_validator", case.inputs["stage2_validator"], RisksAnswer)
    before = case.stage1.validator.structural_risks
    assert risks.label == second.suggested_label
    assert {risk.type for risk in risks.risks} == {
        *(risk.type for risk in before if risk.id in second.remaining_risk_ids),
        *(risk.type for risk in second.structural_risks),
    }


@with_and_without_advice
@every_sentence
def test_short_answers_quote_the_text_and_keep_to_the_vocabulary(
    text: str, language: Language, memory: MemorySlot | None
) -> None:
    case = case_of(text, language, memory)
    for role, (model, _) in DEFAULT_ROLES.items():
        answer = ask(role, case.inputs[role], model)
        for item in (item for _, items in answer if isinstance(items, tuple) for item in items):
            if not isinstance(item, LenientModel):
                continue
            fields = item.model_dump()
            assert fields.get("quote", "") in text
            assert fields.get("target", fields.get("term", "")) in text
            assert fields.get("polarity", "neutral") in POLARITIES
            assert fields.get("should_be", DROP) in (*POLARITIES, DROP)
            assert fields.get("decision", KEEP) in (KEEP, *POLARITIES, DROP)
            assert fields.get("verdict", KEEP) in (KEEP, *POLARITIES, DROP)
            assert fields.get("type", "OTHER") in RISK_IDS


@every_sentence
def test_a_v1_model_gets_the_v1_answer(text: str, language: Language) -> None:
    case = case_of(text, language, None)
    for role, spec in ROLE_SPECS.items():
        asked = reply_text(role, case.inputs[role], spec.answer)
        assert asked == canonical_json(ENGINE.answer(role, case.inputs[role]))
        assert asked == canonical_json(ENGINE.answer(role, case.inputs[role], spec.answer))


def test_a_flip_of_stage2_quotes_its_words() -> None:
    text = "I don't think the curry is good."
    case = case_of(text, "en", memory_of("NEGATION_SCOPE"), by_rules=True)
    verdicts = ask("stage2_atsa", case.inputs["stage2_atsa"], PairVerdictsAnswer).verdicts
    assert [(item.target, item.verdict) for item in verdicts] == [("curry", "negative")]
    assert verdicts[0].quote
    assert verdicts[0].quote in text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("the words 'good'; quoted: 'isn't good'", "isn't good"),
        ("the words 'good'; quoted: 'a very long qu...'", "a very long qu"),
        ("the debate quotes words for it and nothing in the text opposes it", ""),
    ],
)
def test_the_quoted_words_are_read_from_a_reason(reason: str, words: str) -> None:
    assert words_quoted_in(reason) == words


@pytest.mark.parametrize(
    ("text", "language", "label"),
    [
        ("It arrived on Tuesday.", "en", "neutral"),
        ("g", "en", "neutral"),
        ("어제 왔어요", "ko", "neutral"),
    ],
)
def test_a_text_that_says_nothing_of_opinion_is_neutral(text: str, language: Language, label: str) -> None:
    case = case_of(text, language, None, by_rules=True)
    assert ask("judge", case.inputs["judge"], DecisionsAnswer).label == label

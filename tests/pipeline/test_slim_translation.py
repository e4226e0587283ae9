"""Slim answers become edits, patches and verdicts of Stage1's pairs."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.pipeline.named_terms import overlapping_term
from episodic_absa.pipeline.shown_values import shown_targets
from episodic_absa.pipeline.translation import (
    ate_of_pairs,
    ate_of_terms,
    ate_verdicts_of,
    atsa_of_judgements,
    atsa_of_pairs,
    atsa_verdicts_of,
    edits_of_judgements,
    edits_of_targets,
    edits_of_wrong_pairs,
    judge_of_decisions,
    validator2_of_risks,
    validator_of_risks,
)
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JointAnswer,
    JudgementsAnswer,
    PairVerdictsAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.seed.review_context import TermMap

b: Any = builders
TEXT = b.TEXT
SENTIMENTS = (
    b.sentiment("food", "positive"),
    b.sentiment("service", "negative"),
    b.sentiment("price", "neutral", backfilled=True),
)
TERMS = TermMap(["food", "service", "price"], TEXT)


def edits(answered: Any) -> list[tuple[str, str, str | None, str | None]]:
    return [(edit.op, edit.target.aspect_ref, edit.value, edit.evidence) for edit in answered]


def judged(*items: tuple[str, str, str]) -> Any:
    judgements = [{"target": target, "quote": quote, "polarity": polarity} for target, quote, polarity in items]
    return JudgementsAnswer.model_validate({"judgements": judgements})


def test_a_joint_answer_becomes_targets_and_judgements() -> None:
    answer = JointAnswer.model_validate(
        {
            "pairs": [
                {"quote": "great", "term": "food", "polarity": "positive"},
                {"quote": "never said", "term": "service", "polarity": "negative"},
                {"quote": "fair", "term": "", "polarity": "positive"},
            ]
        }
    )
    assert [aspect.aspect_term for aspect in ate_of_pairs(answer.pairs).aspects] == ["food", "service"]
    sentiments = atsa_of_pairs(answer.pairs, TEXT).sentiments
    assert [(item.aspect_term, item.polarity, item.evidence) for item in sentiments] == [
        ("food", "positive", "great"),
        ("service", "negative", ""),
        ("", "positive", "fair"),
    ]
    assert [aspect.aspect_term for aspect in ate_of_terms(["food", " "]).aspects] == ["food"]
    assert atsa_of_judgements(judged(("food", "great", "positive")), TEXT).sentiments[0].evidence == "great"


def test_epm_confirms_what_it_finds_too_and_sets_what_it_does_not() -> None:
    answer = judged(("food", "great", "positive"), ("service", "slow", "POSITIVE"), ("zebra", "x", "negative"))
    assert edits(edits_of_judgements(answer.judgements, SENTIMENTS, TERMS)) == [
        ("confirm_tuple", "food", None, "great"),
        ("set_polarity", "service", "positive", "slow"),
    ]


@pytest.mark.parametrize("item", [("price", "fair", "positive"), ("food", "great", "no idea")])
def test_epm_says_nothing_about_a_backfill_or_without_a_polarity(item: Any) -> None:
    assert edits_of_judgements(judged(item).judgements, SENTIMENTS, TERMS) == ()


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (
            ["food"],
            [("confirm_tuple", "food", None, "q"), ("drop_tuple", "service", None, None)],
        ),
        (
            ["the food", "slow service"],
            [("confirm_tuple", "food", None, "q"), ("confirm_tuple", "service", None, "q")],
        ),
        (
            ["Food", "service", "zebra"],
            [("confirm_tuple", "food", None, "q"), ("confirm_tuple", "service", None, "q")],
        ),
        ([], [("drop_tuple", "food", None, None), ("drop_tuple", "service", None, None)]),
    ],
)
def test_tan_confirms_the_terms_that_it_names_and_drops_the_others(named: list[str], expected: Any) -> None:
    answer = TargetsAnswer.model_validate({"targets": [{"quote": "q", "target": name} for name in named]})
    assert edits(edits_of_targets(answer, SENTIMENTS, TERMS, TEXT)) == expected


def test_tan_names_a_target_that_stage1_lacks() -> None:
    terms = TermMap(["food", "service"], TEXT)
    answer = TargetsAnswer.model_validate({"targets": [{"quote": "fair", "target": "price"}]})
    *_, new = edits_of_targets(answer, SENTIMENTS[:2], terms, TEXT)
    assert edits([new]) == [("confirm_tuple", "price", None, "fair")]


def test_cj_asks_for_what_a_wrong_pair_should_be() -> None:
    wrong = [("food", "Drop"), ("service", "positive"), ("service", "negative"), ("service", "unclear"), ("z", "drop")]
    answer = WrongPairsAnswer.model_validate(
        {"wrong": [{"target": target, "quote": "q", "should_be": should_be} for target, should_be in wrong]}
    )
    assert edits(edits_of_wrong_pairs(answer, SENTIMENTS, TERMS)) == [
        ("drop_tuple", "food", None, "q"),
        ("set_polarity", "service", "positive", "q"),
    ]


@pytest.mark.parametrize(
    ("decision", "op", "value"),
    [
        ("keep", "confirm_tuple", None),
        ("negative", "confirm_tuple", None),
        ("positive", "set_polarity", "positive"),
        ("drop", "drop_tuple", None),
    ],
)
def test_each_decision_of_the_judge_becomes_one_ruling(decision: str, op: str, value: str | None) -> None:
    answer = DecisionsAnswer.model_validate(
        {"decisions": [{"target": "service", "quote": "slow", "decision": decision}], "label": "mixed"}
    )
    judge = judge_of_decisions(answer, SENTIMENTS, TERMS, TEXT)
    assert [(patch.op, patch.target.aspect_ref, patch.value) for patch in judge.final_patch] == [(op, "service", value)]
    # The quote of a decision speaks for its pair; only words given for the label speak for the label.
    assert (judge.aspect_evidence, judge.sentence_evidence_spans) == ({"service": "slow"}, ())
    assert judge.sentence_polarity == "mixed"


def test_a_judges_word_that_no_table_knows_rules_nothing_and_a_foreign_quote_is_left_out() -> None:
    answer = DecisionsAnswer.model_validate(
        {
            "decisions": [
                {"target": "service", "quote": "not said", "decision": "perhaps"},
                {"target": "zebra", "quote": "slow", "decision": "drop"},
            ]
        }
    )
    judge = judge_of_decisions(answer, SENTIMENTS, TERMS, TEXT)
    assert (judge.final_patch, judge.aspect_evidence, judge.sentence_polarity) == ((), {}, None)


def test_stage2_verdicts_keep_drop_flip_and_add() -> None:
    targets = TargetVerdictsAnswer.model_validate(
        {
            "verdicts": [{"target": "food", "verdict": "keep"}, {"target": "service", "verdict": "DROP"}],
            "add": [
                {"quote": "fair", "target": "room", "polarity": "positive"},
                {"quote": "great", "target": "food", "polarity": "negative"},
            ],
        }
    )
    assert [(verdict.aspect_term, verdict.action) for verdict in ate_verdicts_of(targets, TERMS).reviews] == [
        ("food", "keep"),
        ("service", "drop"),
    ]
    pairs = PairVerdictsAnswer.model_validate(
        {
            "verdicts": [
                {"target": "food", "quote": "great", "verdict": "keep"},
                {"target": "service", "quote": "slow", "verdict": "positive"},
                {"target": "service", "quote": "", "verdict": "negative"},
            ]
        }
    )
    verdicts = atsa_verdicts_of(pairs, targets.add, SENTIMENTS, TERMS).reviews
    assert [(verdict.aspect_term, verdict.action, verdict.revised_polarity) for verdict in verdicts] == [
        ("food", "keep", None),
        ("service", "flip_polarity", "positive"),
        ("service", "keep", None),
        ("room", "add", "positive"),
    ]
    assert [verdict.reason for verdict in verdicts][:2] == ['"great"', '"slow"']


def test_the_quote_of_a_risk_gives_its_scope() -> None:
    answer = RisksAnswer.model_validate(
        {
            "risks": [{"quote": "slow", "type": "NEGATION_SCOPE"}, {"quote": "never said", "type": "EVIDENCE_GAP"}],
            "label": "negative",
        }
    )
    for read in (validator_of_risks(answer, TEXT), validator2_of_risks(answer, TEXT)):
        first, second = read.structural_risks
        assert first.scope is not None
        assert TEXT[first.scope.start : first.scope.end] == "slow"
        assert second.scope is None
        assert read.suggested_label == "negative"


def test_tan_drops_nothing_if_a_part_of_its_answer_is_lost() -> None:
    answer = TargetsAnswer.model_validate({"targets": [{"quote": "q", "target": "food"}], "is_partial": True})
    assert edits(edits_of_targets(answer, SENTIMENTS, TERMS, TEXT)) == [("confirm_tuple", "food", None, "q")]


@pytest.mark.parametrize(
    ("term", "name", "is_same"),
    [
        ("ice", "price", False),
        ("ice", "ice cream", True),
        ("burger", "cheese burgers", True),
        ("dishes", "main dish", False),
        ("음식", "음식점", True),
        ("AS", "AS센터", True),
        ("soup", "the soup: positive", True),
    ],
)
def test_tans_targets_are_matched_by_whole_words_in_latin_script(term: str, name: str, *, is_same: bool) -> None:
    assert overlapping_term(name, TermMap([term], f"{term} {name}")) == (term if is_same else None)


@pytest.mark.parametrize("name", ["food", "food: positive", "Food: 긍정", "the food", "The food: positive", '"food"'])
def test_a_target_is_understood_as_a_pair_and_with_an_article(name: str) -> None:
    wrong = WrongPairsAnswer.model_validate({"wrong": [{"target": name, "should_be": "negative"}]})
    decided = DecisionsAnswer.model_validate({"decisions": [{"target": name, "decision": "delete"}]})
    verdicts = TargetVerdictsAnswer.model_validate({"verdicts": [{"target": name, "verdict": "keep"}]})
    assert edits(edits_of_wrong_pairs(wrong, SENTIMENTS, TERMS)) == [("set_polarity", "food", "negative", None)]
    assert [patch.op for patch in judge_of_decisions(decided, SENTIMENTS, TERMS, TEXT).final_patch] == ["drop_tuple"]
    assert [review.aspect_term for review in ate_verdicts_of(verdicts, TERMS).reviews] == ["food"]


@pytest.mark.parametrize(
    ("word", "of_target", "of_pair"),
    [
        ("keep", "keep", "keep"),
        ("OK", "keep", "keep"),
        ("유지", "keep", "keep"),
        ("remove", "drop", "drop"),
        ("삭제", "drop", "drop"),
        ("wrong", "drop", "flip_polarity"),
        ("flip", None, "flip_polarity"),
        ("reverse", None, "flip_polarity"),
        ("banana", None, None),
        ("maybe", None, None),
    ],
)
def test_each_word_of_a_verdict_means_one_action_or_none(word: str, of_target: str | None, of_pair: str | None) -> None:
    on_targets = TargetVerdictsAnswer.model_validate({"verdicts": [{"target": "food", "verdict": word}]})
    on_pairs = PairVerdictsAnswer.model_validate({"verdicts": [{"target": "food", "verdict": word}]})
    target_actions = [review.action for review in ate_verdicts_of(on_targets, TERMS).reviews]
    reviews = atsa_verdicts_of(on_pairs, (), SENTIMENTS, TERMS).reviews
    assert target_actions == ([of_target] if of_target else [])
    assert [(review.action, review.revised_polarity) for review in reviews] == ([(of_pair, None)] if of_pair else [])


def test_of_a_term_with_two_polarities_epm_confirms_the_one_it_finds() -> None:
    both = (b.sentiment("food", "positive"), b.sentiment("food", "negative"))
    found = edits_of_judgements(judged(("food", "slow", "negative")).judgements, both, TERMS)
    assert [(edit.op, edit.target.polarity) for edit in found] == [("confirm_tuple", "negative")]
    assert shown_targets(both) == ["food"]
    wrong = WrongPairsAnswer.model_validate({"wrong": [{"target": "food: negative", "should_be": "drop"}]})
    assert [edit.target.polarity for edit in edits_of_wrong_pairs(wrong, both, TERMS)] == ["negative"]

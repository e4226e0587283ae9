"""Answers become claims about Stage1's pairs."""

from typing import Any

import pytest
from tests.pipeline import builders as b

from episodic_absa.pipeline.debate import recorded_summary, recorded_turn
from episodic_absa.pipeline.decision import claims_of_cj, claims_of_epm, claims_of_tan, ruling_of
from episodic_absa.pipeline.stage1 import FirstAnalysis, TermMap, overlapping_term
from episodic_absa.pipeline.stage2 import verdicts_of
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JudgementsAnswer,
    PairVerdictsAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    WrongPairsAnswer,
)

TEXT = b.TEXT
SENTIMENTS = (b.sentiment("food", "positive"), b.sentiment("service", "negative"))
FIRST = b.first_of(b.stage1_of([b.aspect("food"), b.aspect("service")], SENTIMENTS))
BOTH = b.first_of(b.stage1_of([b.aspect("food")], [b.sentiment("food", "positive"), b.sentiment("food", "negative")]))


def judged(*items: tuple[str, str, str]) -> JudgementsAnswer:
    judgements = [{"target": target, "quote": quote, "polarity": polarity} for target, quote, polarity in items]
    return JudgementsAnswer.model_validate({"judgements": judgements})


def wrong(*items: tuple[str, str]) -> WrongPairsAnswer:
    pairs = [{"target": target, "quote": "q", "should_be": should_be} for target, should_be in items]
    return WrongPairsAnswer.model_validate({"wrong": pairs})


def decided(*items: tuple[str, str, str], **more: Any) -> DecisionsAnswer:
    decisions = [{"target": target, "quote": quote, "decision": decision} for target, quote, decision in items]
    return DecisionsAnswer.model_validate({"decisions": decisions, **more})


def named(*targets: str, **more: Any) -> TargetsAnswer:
    return TargetsAnswer.model_validate({"targets": [{"quote": "q", "target": target} for target in targets], **more})


def edits(who: Any, claims: Any, first: FirstAnalysis = FIRST) -> list[tuple[str, str, str | None, str | None]]:
    """Return claims as records hold them: operation, term, new polarity, quote."""
    turn = recorded_turn(who, tuple(claims), first.terms.aspect_terms)
    return [(edit.op, edit.target.aspect_ref, edit.value, edit.evidence) for edit in turn.proposed_edits]


def test_epm_confirms_what_it_finds_too_and_sets_what_it_does_not() -> None:
    answer = judged(("food", "great", "positive"), ("service", "slow", "POSITIVE"), ("zebra", "x", "negative"))
    assert edits("epm", claims_of_epm(answer, FIRST)) == [
        ("confirm_tuple", "food", None, "great"),
        ("set_polarity", "service", "positive", "slow"),
    ]


def test_epm_says_nothing_without_a_polarity() -> None:
    assert list(claims_of_epm(judged(("food", "great", "no idea")), FIRST)) == []


KEPT, DROPPED = ("confirm_tuple", "food", None, "q"), ("drop_tuple", "service", None, None)
ALSO_KEPT, ADDED = ("confirm_tuple", "service", None, "q"), ("confirm_tuple", "price", None, "q")


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["food"], [KEPT, DROPPED]),
        (["the food", "slow service"], [KEPT, ALSO_KEPT]),
        (["Food", "service", "zebra"], [KEPT, ALSO_KEPT]),
        ([], [("drop_tuple", "food", None, None), DROPPED]),
        (
            ["food", "service", "price"],
            [KEPT, ALSO_KEPT, ADDED],
        ),
    ],
)
def test_tan_confirms_the_terms_that_it_names_and_denies_the_others(targets: list[str], expected: Any) -> None:
    assert edits("tan", claims_of_tan(named(*targets), FIRST)) == expected


def test_tan_denies_nothing_if_a_part_of_its_answer_is_lost() -> None:
    assert edits("tan", claims_of_tan(named("food", is_partial=True), FIRST)) == [KEPT]


def test_cj_asks_for_what_a_wrong_pair_should_be() -> None:
    answer = wrong(("food", "Drop"), ("service", "positive"), ("service", "negative"), ("service", "eh"), ("z", "drop"))
    assert edits("cj", claims_of_cj(answer, FIRST)) == [
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
def test_each_decision_of_the_judge_becomes_one_claim(decision: str, op: str, value: str | None) -> None:
    answer = decided(("service", "slow", decision), label="mixed")
    ruling = ruling_of(answer, FIRST)
    assert [claim.quote for claim in ruling.claims] == ["slow"]
    record = recorded_summary(answer, ruling, TEXT)
    assert [(edit.op, edit.target.aspect_ref, edit.value) for edit in record.final_patch] == [(op, "service", value)]
    # The quote of a decision speaks for its pair; only words given for the label speak for the label.
    assert (record.aspect_evidence, record.sentence_evidence_spans) == ({"service": "slow"}, ())
    assert record.sentence_polarity == "mixed"


def test_a_judges_word_that_no_table_knows_rules_nothing_and_a_foreign_quote_is_left_out() -> None:
    answer = decided(("service", "not said", "perhaps"), ("zebra", "slow", "drop"))
    assert ruling_of(answer, FIRST) == ((), {})


def test_every_claim_of_the_judge_about_a_term_cites_its_first_quote_of_the_text() -> None:
    ruling = ruling_of(decided(("food: positive", "", "keep"), ("food: negative", "great", "drop")), BOTH)
    assert [claim.quote for claim in ruling.claims] == ["great", "great"]


def test_stage2_verdicts_keep_drop_flip_and_add() -> None:
    targets = TargetVerdictsAnswer.model_validate(
        {
            "verdicts": [{"target": "food", "verdict": "keep"}, {"target": "service", "verdict": "DROP"}],
            "add": [
                {"quote": "fair", "target": "room", "polarity": "positve"},
                {"quote": "great", "target": "food", "polarity": "negative"},
            ],
        }
    )
    pairs = PairVerdictsAnswer.model_validate(
        {
            "verdicts": [
                {"target": "food", "quote": "great", "verdict": "keep"},
                {"target": "service", "quote": "slow", "verdict": "positive"},
                {"target": "service", "quote": "", "verdict": "negative"},
            ]
        }
    )
    verdicts = verdicts_of(targets, pairs, FIRST)
    assert [(one.change_id, one.aspect_term, one.action) for one in verdicts.ate] == [
        ("chg_001", "food", "keep"),
        ("chg_002", "service", "drop"),
    ]
    assert [(one.change_id, one.aspect_term, one.action, one.revised_polarity) for one in verdicts.atsa] == [
        ("chg_003", "food", "keep", None),
        ("chg_004", "service", "flip_polarity", "positive"),
        ("chg_005", "service", "keep", None),
        ("chg_006", "room", "add", "positive"),
    ]
    assert [verdict.reason for verdict in verdicts.atsa][:2] == ['"great"', '"slow"']
    assert verdicts.polarity_counts == (2, 1, 0)


def test_more_verdicts_than_ids_are_cut() -> None:
    verdicts = [{"target": f"food {number}", "verdict": "keep"} for number in range(600)]
    answer = TargetVerdictsAnswer.model_validate({"verdicts": verdicts})
    pairs = PairVerdictsAnswer.model_validate({"verdicts": verdicts})
    found = verdicts_of(answer, pairs, FIRST)
    assert (len(found.ate), found.atsa[-1].change_id) == (400, "chg_800")


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


@pytest.mark.parametrize(
    "name", ["food", "food: positive", "Food: 긍정", "the food", "The food: positive", '"food"', "meal"]
)
def test_a_target_is_understood_as_a_pair_with_an_article_and_by_a_synonym(name: str) -> None:
    verdicts = TargetVerdictsAnswer.model_validate({"verdicts": [{"target": name, "verdict": "keep"}]})
    none = PairVerdictsAnswer(verdicts=())
    assert edits("cj", claims_of_cj(wrong((name, "negative")), FIRST)) == [("set_polarity", "food", "negative", "q")]
    assert [claim.is_target for claim in ruling_of(decided((name, "", "delete")), FIRST).claims] == [False]
    assert [verdict.aspect_term for verdict in verdicts_of(verdicts, none, FIRST).ate] == ["food"]


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
    verdicts = verdicts_of(on_targets, on_pairs, FIRST)
    assert [verdict.action for verdict in verdicts.ate] == ([of_target] if of_target else [])
    of_pairs = [(verdict.action, verdict.revised_polarity) for verdict in verdicts.atsa]
    assert of_pairs == ([(of_pair, None)] if of_pair else [])


def test_of_a_term_with_two_polarities_each_claim_means_one_pair() -> None:
    (found,) = claims_of_epm(judged(("food", "slow", "negative")), BOTH)
    assert (found.polarity, found.of_polarity, found.asks_for_change) == ("negative", "negative", False)
    (dropped,) = claims_of_cj(wrong(("food: negative", "drop")), BOTH)
    assert (dropped.of_polarity, dropped.asks_for_change) == ("negative", True)
    assert BOTH.shown_targets == ["food"]

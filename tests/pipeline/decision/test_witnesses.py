"""Who is for, against or silent about a change, and which quotes count."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.pipeline.decision.changes import ProposedChange
from episodic_absa.pipeline.decision.claims import Stage1Pairs, read_claims
from episodic_absa.pipeline.decision.clauses import clauses, lies_at_home, words_in_text
from episodic_absa.pipeline.decision.witnesses import WITNESSES, ReaderThresholds, hear
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.change_record import Witness

b: Any = builders
TEXT = b.TEXT
THRESHOLDS = ReaderThresholds(drop_for_below=0.3, drop_against_from=0.5, add_for_from=0.5, add_against_below=0.1)
STAGE1 = b.stage1_of(
    [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
)
FLIP = ProposedChange("chg_001", "flip", "food", "positive", "negative")
DROP = ProposedChange("chg_001", "drop", "food", "positive")
ADD = ProposedChange("chg_001", "add", "price", None, "positive", b.span_of("price"))
SPAN = ProposedChange("chg_001", "span", "food", to_span=b.span_of("The food"), to_term="The food")


def heard(
    change: ProposedChange, debate: Any = None, ate: Any = (), atsa: Any = (), view: Any = None, stage1: Any = STAGE1
) -> dict[str, Witness]:
    pairs = Stage1Pairs(stage1, TEXT)
    claims = read_claims(pairs, debate, ate, atsa)
    place = change.to_span if change.kind == "add" else pairs.span(change.aspect_term)
    witnesses = hear(change, claims, view, THRESHOLDS, text=TEXT, language="en", place=place)
    assert tuple(witness.who for witness in witnesses) == WITNESSES
    return {witness.who: witness for witness in witnesses}


EDITS: dict[str, Any] = {
    "sets the new polarity": b.edit("set_polarity", "food", "negative"),
    "sets the old polarity": b.edit("set_polarity", "food", "positive"),
    "sets a third polarity": b.edit("set_polarity", "food", "neutral"),
    "sets no polarity": b.edit("set_polarity", "food"),
    "confirms": b.edit("confirm_tuple", "food"),
    "drops": b.edit("drop_tuple", "food"),
    "speaks of another": b.edit("set_polarity", "service", "negative"),
    "names price": b.edit("confirm_tuple", "price"),
    "names positive price": b.edit("confirm_tuple", "price", polarity="positive"),
    "sets price negative": b.edit("set_polarity", "price", "negative"),
    "drops price": b.edit("drop_tuple", "price"),
}


@pytest.mark.parametrize(
    ("change", "who", "what", "stance"),
    [
        (FLIP, "epm", "sets the new polarity", "for"),
        (FLIP, "epm", "sets the old polarity", "against"),
        (FLIP, "epm", "confirms", "against"),
        (FLIP, "epm", "sets a third polarity", "silent"),
        (FLIP, "epm", "sets no polarity", "silent"),
        (FLIP, "epm", "speaks of another", "silent"),
        (FLIP, "tan", "confirms", "silent"),
        (FLIP, "tan", "drops", "silent"),
        (FLIP, "cj", "sets the new polarity", "for"),
        (FLIP, "cj", "confirms", "silent"),
        (FLIP, "judge", "sets the new polarity", "for"),
        (FLIP, "judge", "confirms", "against"),
        (FLIP, "judge", "drops", "silent"),
        (FLIP, "judge", "speaks of another", "silent"),
        (DROP, "epm", "confirms", "silent"),
        (DROP, "epm", "sets the new polarity", "silent"),
        (DROP, "tan", "drops", "for"),
        (DROP, "tan", "confirms", "against"),
        (DROP, "tan", "names price", "silent"),
        (DROP, "cj", "drops", "for"),
        (DROP, "cj", "confirms", "silent"),
        (DROP, "cj", "sets the new polarity", "silent"),
        (DROP, "judge", "drops", "for"),
        (DROP, "judge", "confirms", "against"),
        (DROP, "judge", "sets the new polarity", "against"),
        (ADD, "tan", "names price", "for"),
        (ADD, "tan", "confirms", "silent"),
        (ADD, "tan", "drops price", "against"),
        (ADD, "epm", "names positive price", "for"),
        (ADD, "judge", "names positive price", "for"),
        (ADD, "judge", "names price", "silent"),
        (ADD, "judge", "sets price negative", "against"),
    ],
)
def test_each_voice_of_the_debate_takes_its_stance(change: Any, who: str, what: str, stance: str) -> None:
    edit = EDITS[what]
    if who == "judge":
        debate = b.debate_of(patch=[b.ruling(edit.op, edit.target.aspect_ref, edit.value, edit.target.polarity)])
    else:
        debate = b.debate_of({who: [edit]})
    witnesses = heard(change, debate)
    assert witnesses.pop(who).stance == stance
    assert {witness.stance for witness in witnesses.values()} == {"silent"}


@pytest.mark.parametrize(
    ("change", "ate", "atsa", "stance"),
    [
        (FLIP, "keep", None, "silent"),
        (FLIP, None, ("keep", "food", None), "against"),
        (FLIP, None, ("flip_polarity", "food", "negative"), "for"),
        (FLIP, None, ("flip_polarity", "food", None), "silent"),
        (FLIP, None, ("add", "food", "negative"), "silent"),
        (DROP, "drop", None, "for"),
        (DROP, "keep", None, "against"),
        # Stage2's verdict on the target decides a drop; its verdict on the pair takes the target for granted.
        (DROP, "drop", ("keep", "food", None), "for"),
        (DROP, None, ("keep", "food", None), "silent"),
        (DROP, None, ("drop", "food", None), "for"),
        (ADD, None, ("add", "price", "positive"), "for"),
        (ADD, None, ("add", "price", "negative"), "against"),
        (SPAN, "keep", None, "against"),
        (SPAN, None, None, "silent"),
    ],
)
def test_stage2_is_for_its_verdict_and_against_where_it_keeps(change: Any, ate: Any, atsa: Any, stance: str) -> None:
    witnesses = heard(
        change, ate=[b.ate_verdict(ate, "food")] if ate else (), atsa=[b.atsa_verdict(*atsa)] if atsa else ()
    )
    assert witnesses["review"].stance == stance


@pytest.mark.parametrize(
    ("change", "proposal", "stance"),
    [
        (DROP, b.proposal("DROP_ASPECT", "food"), "for"),
        (DROP, b.proposal("DROP_ASPECT", "service"), "silent"),
        (FLIP, b.proposal("FLIP_POLARITY", "food"), "silent"),
        (FLIP._replace(to_polarity=None), b.proposal("FLIP_POLARITY", "food"), "for"),
        (SPAN, b.proposal("REVISE_SPAN", "food", (0, 8)), "for"),
        (SPAN, b.proposal("REVISE_SPAN", "food", (1, 8)), "silent"),
    ],
)
def test_the_validator_is_for_its_proposals_and_else_silent(change: Any, proposal: Any, stance: str) -> None:
    first = b.stage1_of(STAGE1.ate.aspects, STAGE1.atsa.sentiments, proposals=[proposal])
    assert heard(change, stage1=first)["validator"].stance == stance


@pytest.mark.parametrize(
    ("change", "view", "stance", "p"),
    [
        (FLIP, ReaderView(0.0, "negative", 0.8), "for", 0.8),
        (FLIP, ReaderView(0.0, "positive", 0.7), "against", 0.7),
        (FLIP, ReaderView(0.9, "neutral", 0.9), "silent", None),
        (DROP, ReaderView(0.1, "positive", 0.9), "for", 0.9),
        (DROP, ReaderView(0.3, "positive", 0.9), "silent", None),
        (DROP, ReaderView(0.5, "positive", 0.9), "against", 0.5),
        (ADD, ReaderView(0.5, "positive", 0.8), "for", 0.4),
        (ADD, ReaderView(0.5, "negative", 0.8), "silent", None),
        (ADD, ReaderView(0.2, "positive", 0.8), "silent", None),
        (ADD, ReaderView(0.05, "positive", 0.8), "against", 0.95),
        (SPAN, ReaderView(0.6, "negative", 0.8), "for", 0.6),
        (SPAN, ReaderView(0.05, "negative", 0.8), "against", 0.95),
        (FLIP, None, "silent", None),
        (DROP, None, "silent", None),
        (ADD, None, "silent", None),
    ],
)
def test_the_reader_takes_its_stance_by_thresholds(change: Any, view: Any, stance: str, p: float | None) -> None:
    reader = heard(change, view=view)["reader"]
    assert (reader.stance, reader.quote) == (stance, "")
    assert reader.p == (None if p is None else pytest.approx(p))


def test_a_later_statement_of_a_witness_revises_its_earlier_one() -> None:
    debate = b.debate_of({"epm": [b.edit("set_polarity", "food", "negative"), b.edit("confirm_tuple", "food")]})
    assert heard(FLIP, debate)["epm"].stance == "against"


@pytest.mark.parametrize(
    ("evidence", "quote", "at_home"),
    [
        ("was great", "was great", True),
        ("WAS GREAT", "was great", True),
        ('"was great"', "was great", True),
        ("was slow", "was slow", False),
        ("great, the service", "great, the service", False),
        ("was bad", "", False),
        ("", "", False),
        (None, "", False),
    ],
)
def test_a_quote_counts_only_in_the_text_and_is_at_home_only_in_its_clause(
    evidence: Any, quote: str, at_home: bool
) -> None:
    edit = b.edit("set_polarity", "food", "negative").model_copy(update={"evidence": evidence})
    epm = heard(FLIP, b.debate_of({"epm": [edit]}))["epm"]
    assert (epm.quote, epm.at_home) == (quote, at_home)


def test_the_judge_quotes_its_evidence_for_the_aspect_and_stage2_its_reason() -> None:
    debate = b.debate_of(patch=[b.ruling("drop_tuple", "food")], evidence={"Food": "was great", "service": "slow"})
    verdict = b.ate_verdict("drop", "food").model_copy(update={"reason": "great"})
    witnesses = heard(DROP, debate, [verdict])
    assert [witnesses[who].quote for who in ("judge", "review", "epm")] == ["was great", "great", ""]


@pytest.mark.parametrize(
    ("text", "language", "parts"),
    [
        ("The food was great, the service was slow.", "en", ["The food was great,", "the service was slow."]),
        ("Food, service and price were good.", "en", ["Food, service and price were good."]),
        ("A great, cheap meal was served.", "en", ["A great, cheap meal was served."]),
        ("Good food but slow service", "en", ["Good food", "but slow service"]),
        ("It cost 3.5 euros. Fine!", "en", ["It cost 3.5 euros.", "Fine!"]),
        ("음식은 맛있지만 서비스는 느려요", "ko", ["음식은 맛있지만", "서비스는 느려요"]),
        ("음식은 맛있어요. 하지만 비싸요", "ko", ["음식은 맛있어요.", "하지만 비싸요"]),
        ("음식은 맛있고, 서비스는 느려요", "ko", ["음식은 맛있고,", "서비스는 느려요"]),
        ("음식, 서비스, 가격 다 좋아요", "ko", ["음식, 서비스, 가격 다 좋아요"]),
        ("La comida es buena, pero cara. Adios", "other", ["La comida es buena, pero cara.", "Adios"]),
        ("", "en", []),
    ],
)
def test_clauses_end_at_sentences_contrasts_and_commas_between_predicates(
    text: str, language: Any, parts: list[str]
) -> None:
    found = clauses(text, language)
    assert [part for start, end in found if (part := text[start:end].strip())] == parts
    assert "".join(text[start:end] for start, end in found) == text


def test_an_implicit_opinion_has_no_clause_of_its_own() -> None:
    assert words_in_text("great", TEXT) == "great"
    assert not lies_at_home("great", None, TEXT, "en")

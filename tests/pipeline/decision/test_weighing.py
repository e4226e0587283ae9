"""The laws of the decision: they hold for any witnesses and any weights that a file may state."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.language import norm
from episodic_absa.pipeline.decision import Candidate, WeightSet, load_decision_weights, probability, weigh
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.run_files.candidate_record import AGENTS, WITNESSES, CandidateRecord, Witness
from episodic_absa.vocabulary import POLARITIES

b: Any = builders
CONSERVATIVE = load_decision_weights().named("conservative")
TERMS = {"food": (4, 8), "service": (24, 31), "food was": (4, 12), "price": None}
"""Where each term stands; two stand at one place, one nowhere."""


def voices(words: str) -> tuple[Witness, ...]:
    """Read "judge+ epm- reader+.9" as witnesses."""
    said = []
    for word in words.split():
        who = word.rstrip("0123456789.").rstrip("+-")
        stance, p = word[len(who)], word[len(who) + 1 :]
        said.append(
            Witness.model_validate(
                {"who": who, "stance": "for" if stance == "+" else "against", "p": float(p) if p else None}
            )
        )
    return tuple(said)


def candidate(term: str, polarity: Any, words: str) -> Candidate:
    place = TERMS.get(term)
    return Candidate(term, polarity, Span(start=place[0], end=place[1]) if place else None, voices(words))


def decided(*candidates: Candidate, weights: WeightSet = CONSERVATIVE) -> dict[tuple[str, str], CandidateRecord]:
    return {(record.aspect_term, record.polarity): record for record in weigh(candidates, weights)}


@st.composite
def weight_sets(draw: Any) -> WeightSet:
    raises, lowers = st.floats(0, 3), st.floats(-3, 0)
    named = CONSERVATIVE.weights.model_dump()
    values = {
        name: draw(lowers if name.endswith("against") else raises if name != "stage1_other" else st.floats(-3, 3))
        for name in named
    }
    values["stage1_for"] += 3 * values["speaker_for"] + values["judge_for"] + values["review_for"]
    tau = draw(st.floats(0.05, 0.5))
    values["start"] = draw(st.floats(0, 1))  # so that what nobody doubts reaches every such tau
    return WeightSet.model_validate(CONSERVATIVE.model_dump() | {"tau": tau, "weights": values})


@st.composite
def witnesses(draw: Any) -> tuple[Witness, ...]:
    said = []
    for who in WITNESSES[:-1]:
        stance = draw(st.sampled_from(["for", "against", None]))
        if stance:
            p = round(draw(st.floats(0, 1)), 3) if who == "reader" else None
            said.append(Witness(who=who, stance=stance, p=p))
    return tuple(said)


@st.composite
def gathered(draw: Any) -> list[Candidate]:
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(list(TERMS)), st.sampled_from(POLARITIES)), unique=True, max_size=6)
    )
    return [candidate(term, polarity, "")._replace(witnesses=draw(witnesses())) for term, polarity in pairs]


@settings(max_examples=200, deadline=None)
@given(witnesses(), st.sampled_from(("stage1", *AGENTS)), weight_sets())
def test_one_more_witness_for_a_candidate_never_lowers_its_probability(said: Any, who: Any, weights: WeightSet) -> None:
    others = tuple(witness for witness in said if witness.who != who)
    alone, denied, named = (
        probability((*others, *more), weights)
        for more in ((), (Witness(who=who, stance="against"),), (Witness(who=who, stance="for"),))
    )
    assert alone <= named
    # Stage1 with another polarity is for the target and against the polarity.
    assert denied <= alone or who == "stage1"


@settings(max_examples=200, deadline=None)
@given(witnesses(), st.floats(0, 1), st.floats(0, 1), weight_sets())
def test_a_surer_reader_never_lowers_a_probability(said: Any, p: float, q: float, weights: WeightSet) -> None:
    others = tuple(witness for witness in said if witness.who != "reader")
    less, more = (
        probability((*others, Witness(who="reader", stance="for", p=value)), weights) for value in sorted((p, q))
    )
    assert less <= more


@settings(max_examples=300, deadline=None)
@given(gathered(), weight_sets())
def test_a_result_holds_no_conflict_no_foreign_term_and_what_nobody_doubts(
    candidates: list[Candidate], weights: WeightSet
) -> None:
    records = weigh(candidates, weights)
    taken = [record for record in records if record.is_in]
    terms = [norm(record.aspect_term) for record in taken]
    assert len(set(terms)) == len(terms)
    assert all(record.span is not None for record in taken if not record.is_of_stage1)
    for record in records:
        agents_for = record.who("for") & frozenset(AGENTS)
        if not record.is_of_stage1 and len(agents_for) == 1 and "reader" not in record.who("for"):
            assert not record.is_in or len(record.who("for")) > 1
        if record.is_in:
            assert record.p >= weights.tau or record.reason == "undoubted"
        elif record.p >= weights.tau:
            assert record.reason != "unlikely"
    assert weigh(candidates, weights) == records


@settings(max_examples=200, deadline=None)
@given(gathered(), weight_sets())
def test_without_reader_and_proposal_the_result_is_stage1s(candidates: list[Candidate], weights: WeightSet) -> None:
    of_stage1: dict[str, Candidate] = {}
    for held in candidates:
        of_stage1.setdefault(held.aspect_term, held._replace(witnesses=voices("stage1+")))
    assert all(record.is_in for record in weigh(list(of_stage1.values()), weights))


@settings(max_examples=200, deadline=None)
@given(witnesses(), weight_sets())
def test_an_addition_of_one_agent_never_enters_while_the_reader_is_against(said: Any, weights: WeightSet) -> None:
    others = tuple(witness for witness in said if witness.stance == "against" and witness.who != "reader")
    assume("stage1" not in {witness.who for witness in others})
    for agent in AGENTS:
        voiced = (*others, *voices(f"{agent}+ reader-.02"))
        (record,) = weigh([candidate("food", "positive", "")._replace(witnesses=voiced)], weights)
        assert not record.is_in


@pytest.mark.parametrize(
    ("words", "is_in", "reason"),
    [
        ("stage1+", True, "likely"),
        ("stage1+ reader-.05", True, "likely"),
        ("stage1+ judge-", True, "likely"),
        ("stage1+ tan- judge- epm+ reader+.9", True, "likely"),
        ("stage1+ tan- judge-", False, "unlikely"),
        ("stage1+ judge- reader-.05", False, "unlikely"),
        ("stage1+ judge- reader-.3 epm+ review+", True, "likely"),
        ("reader+.95", True, "likely"),
        ("reader+.7", False, "unlikely"),
        ("tan+", False, "one_agent"),
        ("tan+ reader+.75", True, "likely"),
        ("tan+ review+", True, "likely"),
        ("tan+ review+ reader-.02", False, "unlikely"),
    ],
)
def test_the_conservative_weights_do_what_they_promise(words: str, is_in: bool, reason: str) -> None:
    (record,) = weigh([candidate("food", "positive", words)], CONSERVATIVE)
    assert (record.is_in, record.reason) == (is_in, reason)


@pytest.mark.parametrize(
    ("of_stage1", "rival", "final"),
    [
        ("stage1+ judge- epm-", "stage1- judge+ epm+", "positive"),
        ("stage1+ epm- cj-", "stage1- epm+ cj+", "positive"),
        ("stage1+ judge-", "stage1- judge+", "negative"),
        ("stage1+ reader-.01", "stage1- reader+.99", "negative"),
        ("stage1+ judge- reader-.05", "stage1- judge+ reader+.9", "positive"),
        ("stage1+ judge- epm- reader+.95", "stage1- judge+ epm+ reader-.02", "negative"),
    ],
)
def test_two_agents_or_one_with_the_reader_turn_a_pair_round(of_stage1: str, rival: str, final: str) -> None:
    records = decided(candidate("food", "negative", of_stage1), candidate("food", "positive", rival))
    assert [polarity for (_, polarity), record in records.items() if record.is_in] == [final]


def test_of_two_terms_at_one_place_the_likelier_is_in_unless_both_are_stage1s() -> None:
    records = decided(candidate("food", "positive", "stage1+"), candidate("food was", "positive", "reader+.95"))
    assert [record.reason for record in records.values()] == ["likely", "overlaps"]
    held = decided(candidate("food", "positive", "stage1+"), candidate("food was", "positive", "stage1+"))
    assert all(record.is_in for record in held.values())


def test_what_is_the_readers_own_has_the_readers_probability() -> None:
    own = load_decision_weights().named("reader")
    for p in (0.0, 0.234, 0.5, 0.941, 1.0):
        said = (Witness(who="stage1", stance="for", p=p),)
        assert probability(said, own) == pytest.approx(p, abs=0.0006)
    assert decided(candidate("food", "positive", "stage1+.05"), weights=own)[("food", "positive")].reason == "undoubted"

"""Every change is decided alone, and whatever no adopted change names stays Stage1's object."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.language import norm
from episodic_absa.pipeline.decision import (
    WITNESSES,
    AdoptionRules,
    Claim,
    apply_changes,
    decide_again,
    decide_changes,
    load_adoption_rules,
    settle,
)
from episodic_absa.pipeline.stage1 import is_pair
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.change_record import ChangeRecord

b: Any = builders
RULES = load_adoption_rules()
GREEDY = AdoptionRules.model_validate(
    {
        "form": "weights",
        "reader": RULES.reader,
        "weights": {kind: {"threshold": -100.0} for kind in ("flip", "drop", "add")},
    }
)
STAGE1 = b.stage1_of(
    [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
)


def decided(*claims: Claim, reader: Any = None) -> Any:
    return decide_changes(b.first_of(STAGE1), claims, reader, RULES)


def record(
    kind: Any, term: str, old: Any = None, new: Any = None, *, score: float = 1.0, number: int = 1, **more: Any
) -> ChangeRecord:
    span = b.span_of(term) if kind == "add" else None
    fields: dict[str, Any] = {
        "change_id": f"chg_{number:03d}",
        "kind": kind,
        "aspect_term": term,
        "from_polarity": old,
        "to_polarity": new,
        "to_span": span,
        "witnesses": (),
        "score": score,
        "adopted": True,
        "reason": "adopted",
    }
    return ChangeRecord.model_validate(fields | more)


def test_a_record_holds_kind_from_to_witnesses_score_adopted_and_reason() -> None:
    epm = Claim("epm", "food", polarity="negative", of_polarity="positive", quote="was great")
    (change,) = decided(
        epm,
        epm._replace(who="judge", quote=""),
        reader=builders.TableReader({"food": ReaderView(0.9, "negative", 0.7)}),
    )
    written = change.model_dump(mode="json")
    assert ChangeRecord.model_validate(written) == change
    assert (written.pop("outcome"), written.pop("outcome_by")) == (None, None)
    assert [witness["who"] for witness in written.pop("witnesses")] == list(WITNESSES)
    assert written == {
        "change_id": "chg_001",
        "kind": "flip",
        "aspect_term": "food",
        "from_polarity": "positive",
        "to_polarity": "negative",
        "to_span": None,
        "to_term": None,
        "is_polarity_of_reader": False,
        "score": 3.0,
        "adopted": True,
        "reason": "adopted",
    }
    stances = {witness.who: (witness.stance, witness.quote, witness.at_home, witness.p) for witness in change.witnesses}
    assert stances["epm"] == ("for", "was great", True, None)
    assert stances["judge"] == ("for", "", False, None)
    assert stances["reader"] == ("for", "", False, 0.7)
    assert stances["cj"] == ("silent", "", False, None)


def test_a_flip_without_a_polarity_changes_nothing_and_is_logged() -> None:
    (change,) = decided(*(Claim(who, "food", flips_without_polarity=True) for who in ("epm", "cj", "judge", "review")))
    assert (change.kind, change.adopted, change.reason) == ("flip", False, "no_polarity")
    assert apply_changes(STAGE1, [change]) == (STAGE1.ate.aspects, STAGE1.atsa.sentiments)


def test_every_change_is_decided_alone() -> None:
    claims = (
        Claim("tan", "food", is_target=False),
        Claim("tan", "price", is_target=True),
        Claim("tan", "garden", is_target=True),
        Claim("cj", "service", polarity="positive", of_polarity="negative"),
    )
    reader = builders.TableReader({"food": ReaderView(0.1, "positive", 0.9), "price": ReaderView(0.8, "positive", 0.9)})
    records = decided(*claims, reader=reader)
    assert [(change.kind, change.aspect_term, change.reason) for change in records] == [
        ("drop", "food", "adopted"),
        ("flip", "service", "one_witness"),
        ("add", "price", "adopted"),
        ("add", "garden", "not_in_text"),
    ]
    aspects, sentiments = apply_changes(STAGE1, records)
    assert b.pairs_of(sentiments) == [("service", "negative"), ("price", "positive")]
    assert sentiments[0] is STAGE1.atsa.sentiments[1]
    assert aspects[0] is STAGE1.ate.aspects[1]
    assert (aspects[1].aspect_term, aspects[1].span, sentiments[1].span) == ("price", *(b.span_of("price"),) * 2)


def test_a_flip_keeps_the_place_and_confidence_and_takes_the_quote_at_home() -> None:
    witnesses = (
        {"who": "epm", "stance": "for", "quote": "was slow"},
        {"who": "judge", "stance": "for", "quote": "was great", "at_home": True},
    )
    _, (food, service) = apply_changes(STAGE1, [record("flip", "food", "positive", "negative", witnesses=witnesses)])
    held = STAGE1.atsa.sentiments[0]
    assert (food.polarity, food.evidence) == ("negative", "was great")
    assert (food.span, food.confidence) == (held.span, held.confidence)
    assert service is STAGE1.atsa.sentiments[1]


def test_an_added_pair_replaces_the_backfill_and_keeps_the_aspect() -> None:
    first = b.stage1_of([b.aspect("price")], [b.sentiment("price", "neutral", backfilled=True)])
    aspects, (price,) = apply_changes(first, [record("add", "price", None, "positive")])
    assert aspects[0] is first.ate.aspects[0]
    assert (price.polarity, price.is_backfilled) == ("positive", False)


@pytest.mark.parametrize("empty", [record("flip", "food", "positive"), record("add", "price")])
def test_a_record_without_polarity_or_words_changes_nothing(empty: ChangeRecord) -> None:
    assert apply_changes(STAGE1, [empty]) == (STAGE1.ate.aspects, STAGE1.atsa.sentiments)


def test_an_aspect_stays_while_one_of_its_pairs_stays() -> None:
    first = b.stage1_of([b.aspect("food")], [b.sentiment("food", "positive"), b.sentiment("food", "negative")])
    aspects, sentiments = apply_changes(first, [record("drop", "food", "positive")])
    assert aspects == first.ate.aspects
    assert sentiments == (first.atsa.sentiments[1],)


@pytest.mark.parametrize(
    ("held", "records", "reasons"),
    [
        ("food+", [("add", "food", None, "negative")], ["creates_conflict"]),
        # A drop and an added opposite would be a flip without a flip's proof.
        ("food+", [("drop", "food", "positive"), ("add", "food", None, "negative")], ["adopted", "creates_conflict"]),
        ("food+", [("flip", "food", "positive", "negative"), ("drop", "food", "positive")], ["adopted", "outweighed"]),
        ("", [("add", "food", None, "negative"), ("add", "food", None, "positive")], ["adopted", "outweighed"]),
        ("food+ food-", [("flip", "food", "positive", "neutral")], ["creates_conflict"]),
        ("food+ food-", [("flip", "food", "positive", "negative")], ["adopted"]),
        ("food+ food-", [("drop", "food", "positive")], ["adopted"]),
    ],
)
def test_a_change_that_creates_a_conflict_is_refused(held: str, records: Any, reasons: list[str]) -> None:
    signs = {"+": "positive", "-": "negative"}
    sentiments = [b.sentiment(word[:-1], signs[word[-1]]) for word in held.split()]
    first = b.stage1_of([b.aspect(item.aspect_term) for item in sentiments], sentiments)
    adopted = []
    for number, (kind, term, *polarities) in enumerate(records, start=1):
        adopted.append(record(kind, term, *polarities, number=number))
    assert [change.reason for change in settle(first, adopted)] == reasons


def test_of_two_changes_of_one_pair_the_stronger_one_stays() -> None:
    weak = record("flip", "food", "positive", "negative", score=1.0, number=1)
    strong = record("drop", "food", "positive", score=2.0, number=2)
    assert [change.adopted for change in settle(STAGE1, [weak, strong])] == [False, True]


# Few terms, so that random witnesses often speak about the same pair.
TERMS = ("food", "price", "")
POLARITIES = ("positive", "negative", "neutral")
PLACE = st.sampled_from(TERMS)
POLARITY = st.sampled_from(POLARITIES)
CLAIM = st.builds(
    Claim,
    who=st.sampled_from(("epm", "tan", "cj", "judge", "review")),
    term=PLACE,
    is_target=st.none() | st.booleans(),
    polarity=st.none() | POLARITY,
    of_polarity=st.none() | POLARITY,
    flips_without_polarity=st.booleans(),
)
VIEW = st.none() | st.builds(ReaderView, st.floats(0, 1), POLARITY, st.floats(0.34, 1))
SENTIMENT = st.builds(
    lambda term, polarity, is_backfilled: b.sentiment(
        term, "neutral" if is_backfilled else polarity, backfilled=is_backfilled
    ),
    PLACE,
    POLARITY,
    st.booleans(),
)


@st.composite
def first_results(draw: st.DrawFn) -> Any:
    sentiments = draw(st.lists(SENTIMENT, max_size=5))
    terms = dict.fromkeys(item.aspect_term for item in sentiments if item.aspect_term)
    return b.stage1_of([b.aspect(term) for term in terms], sentiments)


@st.composite
def many_claims(draw: st.DrawFn) -> list[Claim]:
    """Draw claims of which several witnesses often make the same."""
    shared = draw(st.lists(CLAIM, min_size=1, max_size=3))
    seconds = [claim._replace(who=who) for claim in shared for who in ("epm", "tan", "judge", "review")]
    return draw(st.lists(st.sampled_from(seconds) | CLAIM, max_size=12))


def conflicts(sentiments: Any) -> frozenset[str]:
    return conflicting_aspects(extract_tuples(sentiments))


def check_untouched(stage1: Any, records: Any) -> None:
    adopted = [change for change in records if change.adopted]
    aspects, sentiments = apply_changes(stage1, records)
    edited = {(norm(change.aspect_term), change.from_polarity) for change in adopted if change.kind != "add"}
    untouched = [
        item
        for item in stage1.atsa.sentiments
        if is_pair(item) and (norm(item.aspect_term), item.polarity) not in edited
    ]
    expected = [id(item) for item in untouched]
    held = {id(item) for item in stage1.atsa.sentiments}
    assert [id(item) for item in sentiments if is_pair(item) and id(item) in held] == expected
    if not adopted:
        assert aspects is stage1.ate.aspects
        assert sentiments is stage1.atsa.sentiments


@settings(max_examples=300, deadline=None)
@given(
    stage1=first_results(),
    claims=many_claims(),
    views=st.fixed_dictionaries({term: VIEW for term in TERMS if term}),
    rules=st.sampled_from((RULES, GREEDY)),
)
def test_for_random_witnesses_every_other_pair_is_stage1s_object_and_no_conflict_is_created(
    stage1: Any, claims: Any, views: Any, rules: Any
) -> None:
    reader = builders.TableReader({term: view for term, view in views.items() if view is not None})
    records = decide_changes(b.first_of(stage1), claims, reader, rules)
    check_untouched(stage1, records)
    _, sentiments = apply_changes(stage1, records)
    assert conflicts(sentiments) <= conflicts(stage1.atsa.sentiments)
    assert all(sum(w.stance == "for" for w in change.witnesses) >= 2 for change in records if change.adopted)
    assert len({change.change_id for change in records}) == len(records)
    assert decide_again(stage1, records, rules) == records


@settings(max_examples=100, deadline=None)
@given(stage1=first_results(), claims=many_claims(), who=st.sampled_from(("epm", "tan", "cj", "judge", "review")))
def test_one_witness_never_changes_anything(stage1: Any, claims: Any, who: Any) -> None:
    alone = [claim._replace(who=who) for claim in claims]
    records = decide_changes(b.first_of(stage1), alone, None, GREEDY)
    aspects, sentiments = apply_changes(stage1, records)
    assert aspects is stage1.ate.aspects
    assert sentiments is stage1.atsa.sentiments


RECORD = st.tuples(st.sampled_from(("flip", "drop", "add")), PLACE, st.none() | POLARITY, POLARITY, st.floats(-3, 3))


@settings(max_examples=200, deadline=None)
@given(stage1=first_results(), drawn=st.lists(RECORD, max_size=8))
def test_no_random_set_of_records_creates_a_conflict(stage1: Any, drawn: Any) -> None:
    records = []
    for number, (kind, term, old, new, score) in enumerate(drawn, start=1):
        records.append(record(kind, term, old, new, score=score, number=number))
    settled = settle(stage1, records)
    _, sentiments = apply_changes(stage1, settled)
    assert conflicts(sentiments) <= conflicts(stage1.atsa.sentiments)
    check_untouched(stage1, settled)

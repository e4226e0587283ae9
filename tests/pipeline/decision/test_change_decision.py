"""Every change is decided alone, and whatever no adopted change names stays Stage1's object."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline import builders

from episodic_absa.final_tuples import conflicting_aspects, extract_tuples
from episodic_absa.language import norm
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_decision import decide_again, decide_changes, settle
from episodic_absa.pipeline.decision.change_rules import AdoptionRules, load_adoption_rules
from episodic_absa.pipeline.decision.claims import is_pair
from episodic_absa.pipeline.decision.witnesses import WITNESSES
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.schemas.run_files.change_record import ChangeRecord

b: Any = builders
TEXT = b.TEXT
RULES = load_adoption_rules()
GREEDY = AdoptionRules.model_validate(
    {
        "form": "weights",
        "reader": RULES.reader,
        "weights": {kind: {"threshold": -100.0} for kind in ("flip", "drop", "add", "span")},
    }
)
STAGE1 = b.stage1_of(
    [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
)


class TableReader:
    """Views of terms from a table; None for every other term."""

    def __init__(self, **views: ReaderView) -> None:
        self.views = views

    def view(self, text: str, language: str, term: str) -> ReaderView | None:
        assert text
        assert language in ("en", "ko", "other")
        return self.views.get(term)

    def view_of_change(self, text: str, language: str, term: str, *_: Any) -> ReaderView | None:
        return self.view(text, language, term)

    def reads(self, language: str) -> bool:
        return language in ("en", "ko")

    def pairs(self, text: str, language: str) -> tuple[ReaderPair, ...]:
        starts = {term: text.find(term) for term in self.views if language in ("en", "ko")}
        return tuple(
            ReaderPair(term, start, start + len(term), self.views[term]) for term, start in starts.items() if start >= 0
        )


def decided(debate: Any = None, ate: Any = (), atsa: Any = (), reader: Any = None, stage1: Any = STAGE1) -> Any:
    return decide_changes(TEXT, "en", stage1, debate, ate, atsa, reader, RULES)


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
    edit = b.edit("set_polarity", "food", "negative").model_copy(update={"evidence": "was great"})
    debate = b.debate_of({"epm": [edit]}, patch=[b.ruling("set_polarity", "food", "negative")])
    (change,) = decided(debate, reader=TableReader(food=ReaderView(0.9, "negative", 0.7)))
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
    first = b.stage1_of(STAGE1.ate.aspects, STAGE1.atsa.sentiments, proposals=[b.proposal("FLIP_POLARITY", "food")])
    edits = [b.edit("set_polarity", "food")]
    debate = b.debate_of({"epm": edits, "cj": edits}, patch=[b.ruling("set_polarity", "food")])
    (change,) = decided(debate, atsa=[b.atsa_verdict("flip_polarity", "food")], stage1=first)
    assert (change.kind, change.adopted, change.reason) == ("flip", False, "no_polarity")
    assert apply_changes(first, [change]) == (first.ate.aspects, first.atsa.sentiments)


def test_every_change_is_decided_alone() -> None:
    debate = b.debate_of(
        {
            "tan": [b.edit("drop_tuple", "food"), b.edit("confirm_tuple", "price"), b.edit("confirm_tuple", "garden")],
            "cj": [b.edit("set_polarity", "service", "positive")],
        }
    )
    reader = TableReader(food=ReaderView(0.1, "positive", 0.9), price=ReaderView(0.8, "positive", 0.9))
    records = decided(debate, reader=reader)
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


def test_without_a_reader_the_reader_is_silent() -> None:
    debate = b.debate_of({"tan": [b.edit("drop_tuple", "food")]}, patch=[b.ruling("drop_tuple", "food")])
    (change,) = decided(debate)
    assert change.adopted
    assert change.witnesses[WITNESSES.index("reader")].stance == "silent"


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


def test_a_change_of_span_renames_aspect_and_pair() -> None:
    moved = record("span", "food", to_span=b.span_of("The food"), to_term="The food")
    aspects, sentiments = apply_changes(STAGE1, [moved])
    assert (aspects[0].aspect_term, sentiments[0].aspect_term) == ("The food", "The food")
    assert aspects[0].span == sentiments[0].span == b.span_of("The food")
    assert (aspects[1], sentiments[1]) == (STAGE1.ate.aspects[1], STAGE1.atsa.sentiments[1])


def test_an_added_pair_replaces_the_backfill_and_keeps_the_aspect() -> None:
    first = b.stage1_of([b.aspect("price")], [b.sentiment("price", "neutral", backfilled=True)])
    aspects, (price,) = apply_changes(first, [record("add", "price", None, "positive")])
    assert aspects[0] is first.ate.aspects[0]
    assert (price.polarity, price.is_backfilled) == ("positive", False)


@pytest.mark.parametrize(
    "empty", [record("flip", "food", "positive"), record("add", "price"), record("span", "food", score=0.0)]
)
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
        ("food+ service-", [("span", "food", None, None, "service")], ["creates_conflict"]),
        ("food+ service+", [("span", "food", None, None, "service")], ["adopted"]),
    ],
)
def test_a_change_that_creates_a_conflict_is_refused(held: str, records: Any, reasons: list[str]) -> None:
    signs = {"+": "positive", "-": "negative"}
    sentiments = [b.sentiment(word[:-1], signs[word[-1]]) for word in held.split()]
    first = b.stage1_of([b.aspect(item.aspect_term) for item in sentiments], sentiments)
    adopted = []
    for number, (kind, term, *rest) in enumerate(records, start=1):
        old, new, to_term = (*rest, None, None, None)[:3]
        more = {"to_term": to_term, "to_span": b.span_of(to_term)} if to_term else {}
        adopted.append(record(kind, term, old, new, number=number, **more))
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
OP = st.sampled_from(("set_polarity", "drop_tuple", "confirm_tuple"))
EDIT = st.builds(b.edit, OP, PLACE, st.none() | POLARITY, st.none() | POLARITY)
SPANS = st.none() | st.sampled_from(((0, 8), (4, 8), (24, 31), (49, 54), (900, 901)))
ATE = st.builds(b.ate_verdict, st.sampled_from(("keep", "revise_span", "drop", "add")), PLACE, SPANS)
ATSA = st.builds(b.atsa_verdict, st.sampled_from(("keep", "flip_polarity", "drop", "add")), PLACE, st.none() | POLARITY)
PROPOSAL = st.builds(
    b.proposal, st.sampled_from(("FLIP_POLARITY", "DROP_ASPECT", "REVISE_SPAN", "CHECK_SPAN")), PLACE, SPANS
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
    return b.stage1_of([b.aspect(term) for term in terms], sentiments, (), draw(st.lists(PROPOSAL, max_size=2)))


@st.composite
def debates(draw: st.DrawFn) -> Any:
    """Draw a debate in which speakers and judge often say the same."""
    shared = draw(st.lists(EDIT, min_size=1, max_size=3))
    chosen = st.lists(st.sampled_from(shared) | EDIT, max_size=4)
    turns = {who: draw(chosen) for who in ("epm", "tan", "cj")}
    return b.debate_of(turns, patch=[as_ruling(edit) for edit in draw(chosen)])


def as_ruling(edit: Any) -> Any:
    return b.ruling(edit.op, edit.target.aspect_ref, edit.value, edit.target.polarity)


def conflicts(sentiments: Any) -> frozenset[str]:
    return conflicting_aspects(extract_tuples(sentiments))


def check_untouched(stage1: Any, records: Any) -> None:
    adopted = [change for change in records if change.adopted]
    aspects, sentiments = apply_changes(stage1, records)
    edited = {(norm(change.aspect_term), change.from_polarity) for change in adopted if change.kind != "add"}
    moved = {norm(change.aspect_term) for change in adopted if change.kind == "span"}
    untouched = [
        item
        for item in stage1.atsa.sentiments
        if is_pair(item) and (norm(item.aspect_term), item.polarity) not in edited
    ]
    expected = [id(item) for item in untouched if norm(item.aspect_term) not in moved]
    held = {id(item) for item in stage1.atsa.sentiments}
    assert [id(item) for item in sentiments if is_pair(item) and id(item) in held] == expected
    if not adopted:
        assert aspects is stage1.ate.aspects
        assert sentiments is stage1.atsa.sentiments


@settings(max_examples=300, deadline=None)
@given(
    stage1=first_results(),
    debate=debates(),
    ate=st.lists(ATE, max_size=4),
    atsa=st.lists(ATSA, max_size=4),
    views=st.fixed_dictionaries({term: VIEW for term in TERMS if term}),
    rules=st.sampled_from((RULES, GREEDY)),
)
def test_for_random_witnesses_every_other_pair_is_stage1s_object_and_no_conflict_is_created(
    stage1: Any, debate: Any, ate: Any, atsa: Any, views: Any, rules: Any
) -> None:
    reader = TableReader(**{term: view for term, view in views.items() if view is not None})
    records = decide_changes(TEXT, "en", stage1, debate, ate, atsa, reader, rules)
    check_untouched(stage1, records)
    _, sentiments = apply_changes(stage1, records)
    assert conflicts(sentiments) <= conflicts(stage1.atsa.sentiments)
    assert all(sum(w.stance == "for" for w in change.witnesses) >= 2 for change in records if change.adopted)
    assert len({change.change_id for change in records}) == len(records)
    assert decide_again(stage1, records, rules) == records


@settings(max_examples=100, deadline=None)
@given(stage1=first_results(), edits=st.lists(EDIT, max_size=5), who=st.sampled_from(("epm", "tan", "cj", "judge")))
def test_one_witness_never_changes_anything(stage1: Any, edits: Any, who: str) -> None:
    first = b.stage1_of(stage1.ate.aspects, stage1.atsa.sentiments)
    debate = b.debate_of(patch=[as_ruling(edit) for edit in edits]) if who == "judge" else b.debate_of({who: edits})
    records = decide_changes(TEXT, "en", first, debate, [], [], None, GREEDY)
    aspects, sentiments = apply_changes(first, records)
    assert aspects is first.ate.aspects
    assert sentiments is first.atsa.sentiments


RECORD = st.tuples(
    st.sampled_from(("flip", "drop", "add", "span")), PLACE, st.none() | POLARITY, POLARITY, PLACE, st.floats(-3, 3)
)


@settings(max_examples=200, deadline=None)
@given(stage1=first_results(), drawn=st.lists(RECORD, max_size=8))
def test_no_random_set_of_records_creates_a_conflict(stage1: Any, drawn: Any) -> None:
    records = []
    for number, (kind, term, old, new, place, score) in enumerate(drawn, start=1):
        to_term = place or "food"
        more = {"to_term": to_term, "to_span": b.span_of(to_term)} if kind == "span" else {}
        records.append(record(kind, term, old, new, score=score, number=number, **more))
    settled = settle(stage1, records)
    _, sentiments = apply_changes(stage1, settled)
    assert conflicts(sentiments) <= conflicts(stage1.atsa.sentiments)
    check_untouched(stage1, settled)

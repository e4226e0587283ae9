"""Who is for, against or silent about a change, and which quotes count."""

from typing import Any

import pytest
from tests.pipeline import builders

from episodic_absa.pipeline.decision import (
    WITNESSES,
    Claim,
    ProposedChange,
    ReaderThresholds,
    clauses,
    hear,
    lies_at_home,
    words_in_text,
)
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.change_record import Witness

b: Any = builders
TEXT = b.TEXT
THRESHOLDS = ReaderThresholds(drop_for_below=0.3, drop_against_from=0.5, add_for_from=0.5, add_against_below=0.1)
FIRST = b.first_of(
    b.stage1_of(
        [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
    )
)
FLIP = ProposedChange("chg_001", "flip", "food", "positive", "negative")
DROP = ProposedChange("chg_001", "drop", "food", "positive")
ADD = ProposedChange("chg_001", "add", "price", None, "positive", b.span_of("price"))
FLIP_TO_NONE = FLIP._replace(to_polarity=None)


def heard(change: ProposedChange, *claims: Claim, view: Any = None) -> dict[str, Witness]:
    place = change.to_span if change.kind == "add" else FIRST.span(change.aspect_term)
    witnesses = hear(change, claims, view, THRESHOLDS, text=TEXT, language="en", place=place)
    assert tuple(witness.who for witness in witnesses) == WITNESSES
    return {witness.who: witness for witness in witnesses}


CLAIMS: dict[str, dict[str, Any]] = {
    "sets the new polarity": {"term": "food", "polarity": "negative", "of_polarity": "positive"},
    "sets a third polarity": {"term": "food", "polarity": "neutral", "of_polarity": "positive"},
    "asks for a flip": {"term": "food", "flips_without_polarity": True},
    "finds the old polarity": {"term": "food", "polarity": "positive", "of_polarity": "positive"},
    "keeps": {"term": "food", "is_target": True, "polarity": "positive", "of_polarity": "positive"},
    "rules the new polarity": {"term": "food", "is_target": True, "polarity": "negative", "of_polarity": "positive"},
    "names": {"term": "food", "is_target": True},
    "denies": {"term": "food", "is_target": False},
    "speaks of another": {"term": "service", "polarity": "negative"},
    "names price": {"term": "price", "is_target": True},
    "adds price": {"term": "price", "is_target": True, "polarity": "positive"},
    "adds price as negative": {"term": "price", "is_target": True, "polarity": "negative"},
    "denies price": {"term": "price", "is_target": False},
}


@pytest.mark.parametrize(
    ("change", "who", "what", "stance"),
    [
        (FLIP, "epm", "sets the new polarity", "for"),
        (FLIP, "epm", "finds the old polarity", "against"),
        (FLIP, "epm", "sets a third polarity", "silent"),
        (FLIP, "epm", "speaks of another", "silent"),
        (FLIP, "tan", "names", "silent"),
        (FLIP, "tan", "denies", "silent"),
        (FLIP, "judge", "rules the new polarity", "for"),
        (FLIP, "judge", "keeps", "against"),
        (FLIP, "review", "asks for a flip", "silent"),
        (FLIP_TO_NONE, "review", "asks for a flip", "for"),
        (FLIP, "review", "names", "silent"),
        (DROP, "epm", "finds the old polarity", "silent"),
        (DROP, "epm", "sets the new polarity", "silent"),
        (DROP, "tan", "denies", "for"),
        (DROP, "tan", "names", "against"),
        (DROP, "tan", "names price", "silent"),
        (DROP, "cj", "sets the new polarity", "silent"),
        (DROP, "judge", "keeps", "against"),
        (DROP, "judge", "rules the new polarity", "against"),
        (DROP, "review", "denies", "for"),
        (ADD, "tan", "names price", "for"),
        (ADD, "tan", "names", "silent"),
        (ADD, "tan", "denies price", "against"),
        (ADD, "review", "adds price", "for"),
        (ADD, "review", "adds price as negative", "against"),
    ],
)
def test_each_voice_takes_its_stance(change: Any, who: Any, what: str, stance: str) -> None:
    witnesses = heard(change, Claim(who, **CLAIMS[what]))
    assert witnesses.pop(who).stance == stance
    assert {witness.stance for witness in witnesses.values()} == {"silent"}


def test_stage2s_verdict_on_a_pair_takes_the_target_for_granted() -> None:
    kept = Claim("review", "food", polarity="positive", of_polarity="positive")
    assert heard(DROP, Claim("review", "food", is_target=False), kept)["review"].stance == "for"


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
    claims = (Claim("epm", **CLAIMS[what]) for what in ("sets the new polarity", "finds the old polarity"))
    assert heard(FLIP, *claims)["epm"].stance == "against"


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
    ],
)
def test_a_quote_counts_only_in_the_text_and_is_at_home_only_in_its_clause(
    evidence: Any, quote: str, at_home: bool
) -> None:
    epm = heard(FLIP, Claim("epm", "food", polarity="negative", quote=evidence))["epm"]
    assert (epm.quote, epm.at_home) == (quote, at_home)


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

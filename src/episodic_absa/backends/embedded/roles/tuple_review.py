"""Shared by the roles after Stage1: reading a tuple again, and building an edit."""

from collections.abc import Iterable
from typing import Final

from episodic_absa.backends.embedded.judgement.aspect_judgement import (
    Judgement,
    find_term,
    judge_implicit,
    judge_term,
    opinions_about,
)
from episodic_absa.backends.embedded.judgement.two_readers import is_mere_guess, weights_lead
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.backends.embedded.roles.risk_checks import evidence_place, is_said_of, opinions_within
from episodic_absa.backends.embedded.roles.second_looks import NO_LOOKS, Look, SecondLooks
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.schemas.absa import EditTarget, ProposedEdit, SentimentItem, Stage1Result
from episodic_absa.vocabulary import EditOp, Polarity

_TIED: Final = 0.0
"""Only where the weights do not prefer a polarity at all do the rules decide."""
_OPEN: Final = 0.75
"""Up to this lead a second look is believed over the weights."""


def judged_sentiments(stage1: Stage1Result) -> tuple[SentimentItem, ...]:
    """Return the sentiments that hold a judgement."""
    return tuple(sentiment for sentiment in stage1.atsa.sentiments if sentiment.polarity is not None)


def narrowed(looks: SecondLooks, wanted: Iterable[Look]) -> SecondLooks:
    """Keep the looks that are an agent's business; all agents keep the rest."""
    return looks._replace(looks=looks.looks & frozenset(wanted))


def proposed_change(reading: WeighedReading, sentiment: SentimentItem, looks: SecondLooks) -> Judgement | None:
    """Read a tuple again; return the new judgement if it differs and its words are strong enough."""
    if not sentiment.aspect_term and looks.has("implicit"):
        return None
    again = reread(reading, sentiment, looks)
    if again is None or again.polarity == sentiment.polarity or is_mere_guess(reading, sentiment):
        return None
    # The weights have not seen what advice uncovers; without advice they already include the rules' marks.
    before = reread(reading, sentiment, NO_LOOKS) if looks.looks else again
    is_new = not again.has_own_words or (before is not None and before.polarity != again.polarity)
    if weights_lead(reading, sentiment, again.polarity) > (_OPEN if is_new else _TIED):
        return None
    if again.has_own_words:
        return again if abs(again.score) >= looks.strength else None
    # Only advice to keep the clauses apart, or to judge from the words, moves a tuple that nothing is said of.
    takes_back = looks.has("contrast") and is_borrowed_across(reading, sentiment)
    takes_up = looks.has("polarity") and again.polarity != "neutral"
    return again if (takes_back or takes_up) and looks.caution == 0 else None


def reread(reading: Reading, sentiment: SentimentItem, looks: SecondLooks) -> Judgement | None:
    """Judge the target of a tuple under these looks; its own polarity if the text says both."""
    if not sentiment.aspect_term:
        return judge_implicit(reading, looks)
    judgements = judge_term(reading, sentiment.aspect_term, looks)
    return next((judgement for judgement in judgements if judgement.polarity == sentiment.polarity), judgements[0])


def is_borrowed_across(reading: Reading, sentiment: SentimentItem) -> bool:
    """Whether a tuple takes its evidence from the other side of a contrast."""
    term, evidence = find_term(reading, sentiment.aspect_term), evidence_place(reading, sentiment)
    if term is None or evidence is None or not reading.clauses or opinions_about(reading, sentiment.aspect_term):
        return False
    sides = [reading.clauses[reading.clause_at(place[0])].side for place in (term, evidence)]
    return sides[0] != sides[1]


def has_quotation(reading: Reading, sentiment: SentimentItem) -> bool:
    """Whether the evidence stands in the text and holds an opinion said of this target."""
    place = evidence_place(reading, sentiment)
    if place is None or not opinions_within(reading, *place):
        return False
    return not sentiment.aspect_term or is_said_of(reading, sentiment.aspect_term, place)


def conflicting(sentiments: Iterable[SentimentItem]) -> dict[str, list[SentimentItem]]:
    """Return the terms with two polarities."""
    by_term: dict[str, list[SentimentItem]] = {}
    for sentiment in sentiments:
        if not sentiment.is_backfilled:
            by_term.setdefault(norm(sentiment.aspect_term), []).append(sentiment)
    return {term: found for term, found in by_term.items() if len({sentiment.polarity for sentiment in found}) > 1}


def edit(
    op: EditOp,
    sentiment: SentimentItem,
    *,
    value: str | None = None,
    evidence: str | None = None,
    confidence: float | None = None,
) -> ProposedEdit:
    """Build an edit of a Stage1 tuple."""
    return ProposedEdit(
        op=op, target=target_of(sentiment), value=value, evidence=evidence or None, confidence=confidence
    )


def set_polarity(reading: Reading, sentiment: SentimentItem, judgement: Judgement) -> ProposedEdit:
    """Build the edit that gives a tuple another polarity, with the words that say so."""
    return edit(
        "set_polarity",
        sentiment,
        value=judgement.polarity,
        evidence=reading.quote(judgement.start, judgement.end),
        confidence=judgement.confidence,
    )


def target_of(sentiment: SentimentItem, polarity: Polarity | None = None) -> EditTarget:
    """Name a Stage1 tuple."""
    return EditTarget(
        aspect_ref=sentiment.aspect_term, aspect_term=sentiment.aspect_term, polarity=polarity or sentiment.polarity
    )

"""Hears every witness about a change: for, against or silent, with the quote that the text holds."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.language import norm, norm_key
from episodic_absa.pipeline.decision.changes import ProposedChange
from episodic_absa.pipeline.decision.claims import Claim
from episodic_absa.pipeline.decision.quotes import lies_at_home, words_in_text
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.frozen_model import FrozenModel, Score
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.change_record import Stance, Witness, WitnessName
from episodic_absa.vocabulary import Language

WITNESSES: Final[tuple[WitnessName, ...]] = get_args(WitnessName)
_SpokenStance = Literal["for", "against"]


class ReaderThresholds(FrozenModel):
    """From which probabilities the reader takes a stance. Between two thresholds it is silent."""

    drop_for_below: Score
    """A target less likely than this is no target."""
    drop_against_from: Score
    """A target at least this likely is one."""
    add_for_from: Score
    """The reader names a term that is at least this likely a target."""
    add_against_below: Score
    """A term less likely than this must not be added."""


class _Statement(NamedTuple):
    stance: _SpokenStance
    quote: str


def hear(
    change: ProposedChange,
    claims: Sequence[Claim],
    view: ReaderView | None,
    thresholds: ReaderThresholds,
    *,
    text: str,
    language: Language,
    place: Span | None,
) -> tuple[Witness, ...]:
    """Return one witness per name, silent ones included, in a fixed order.

    Args:
        change: the change in question.
        claims: what all sources said about the sample.
        view: the reader's view of the term; None: the reader is silent.
        thresholds: from which probabilities the reader takes a stance.
        text: the NFC text.
        language: decides where clauses end.
        place: where the aspect stands; None for an implicit opinion, whose quotes are never at home.
    """
    witnesses = []
    for who in WITNESSES:
        if who == "reader":
            witnesses.append(reader_witness(change, view, thresholds))
            continue
        statement = _last_statement(change, (claim for claim in claims if claim.who == who), text)
        if statement is None:
            witnesses.append(Witness(who=who, stance="silent"))
            continue
        quote = words_in_text(statement.quote, text)
        at_home = lies_at_home(quote, place, text, language)
        witnesses.append(Witness(who=who, stance=statement.stance, quote=quote, at_home=at_home))
    return tuple(witnesses)


def reader_witness(change: ProposedChange, view: ReaderView | None, thresholds: ReaderThresholds) -> Witness:
    """Return the reader's stance with its probability; the reader quotes nothing."""
    stance: Stance = "silent"
    p: float | None = None
    if view is None:
        return Witness(who="reader", stance=stance)
    match change.kind:
        case "flip":
            if view.polarity in (change.to_polarity, change.from_polarity):
                stance = "for" if view.polarity == change.to_polarity else "against"
                p = view.p_polarity
        case "drop":
            if view.p_target < thresholds.drop_for_below:
                stance, p = "for", 1.0 - view.p_target
            elif view.p_target >= thresholds.drop_against_from:
                stance, p = "against", view.p_target
        case "add":
            if view.p_target < thresholds.add_against_below:
                stance, p = "against", 1.0 - view.p_target
            elif view.p_target >= thresholds.add_for_from and view.polarity == change.to_polarity:
                stance, p = "for", view.p_target * view.p_polarity
    return Witness(who="reader", stance=stance, p=None if p is None else round(min(1.0, max(0.0, p)), 6))


def _last_statement(change: ProposedChange, claims: Iterable[Claim], text: str) -> _Statement | None:
    """Return what a witness said last about the change: a later round revises an earlier one."""
    last = None
    for claim in claims:
        if not _is_about(claim, change, text):
            continue
        stance = _stance(claim, change)
        if stance is not None:
            last = _Statement(stance, claim.quote)
    return last


def _is_about(claim: Claim, change: ProposedChange, text: str) -> bool:
    if change.kind == "add":
        return norm_key(claim.term, text) == norm_key(change.aspect_term, text)
    if norm(claim.term) != norm(change.aspect_term):
        return False
    return claim.of_polarity in (None, change.from_polarity)


def _stance(claim: Claim, change: ProposedChange) -> _SpokenStance | None:
    match change.kind:
        case "flip":
            return _flip_stance(claim, change)
        case "drop":
            return None if claim.is_target is None else "against" if claim.is_target else "for"
        case "add":
            return _add_stance(claim, change)
        case _:
            return None


def _flip_stance(claim: Claim, change: ProposedChange) -> _SpokenStance | None:
    if change.to_polarity is None:
        return "for" if claim.flips_without_polarity else None
    if claim.polarity is None or (claim.who == "review" and claim.is_target):
        return None
    if claim.polarity == change.to_polarity:
        return "for"
    return "against" if claim.polarity == change.from_polarity else None


def _add_stance(claim: Claim, change: ProposedChange) -> _SpokenStance | None:
    if claim.is_target is False:
        return "against"
    if claim.polarity is None:
        return "for" if claim.is_target else None
    return "for" if claim.polarity == change.to_polarity else "against"

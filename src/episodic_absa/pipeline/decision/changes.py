"""Collects the changes that anyone asks for: each edit of a Stage1 pair and each added pair, once."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from episodic_absa.language import norm_key
from episodic_absa.pipeline.decision.claims import Claim
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis, first_place
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import POLARITIES, ChangeKind, Language, Polarity

MOST_CHANGES: Final = 999
"""A change id has three digits; an answer that asks for more changes is cut in text order."""
_KIND_ORDER: Final[tuple[ChangeKind, ...]] = ("flip", "drop", "add")


class Reader(Protocol):
    """Reads a text for one term without having seen any answer of a model."""

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return what the reader makes of a term; None if it cannot read the language or the term."""
        ...

    def reads(self, language: Language) -> bool:
        """Return whether the reader knows a language."""
        ...

    def pairs(self, text: str, language: Language) -> tuple[ReaderPair, ...]:
        """Return the pairs that the reader finds by itself."""
        ...

    def view_of_change(
        self, text: str, language: Language, term: str, from_polarity: Polarity | None, to_polarity: Polarity | None
    ) -> ReaderView | None:
        """Return the view that witnesses a change; None if the reader has no view independent of its proposer."""
        ...


class ProposedChange(NamedTuple):
    """One change that somebody asks for."""

    change_id: str
    kind: ChangeKind
    aspect_term: str
    """The Stage1 term, or the term to add in the words of the text."""
    from_polarity: Polarity | None = None
    to_polarity: Polarity | None = None
    """None for a drop, and for a flip or an added pair for which nobody gives a polarity."""
    to_span: Span | None = None
    """Where an added term stands; None if the text does not hold it."""
    is_polarity_of_reader: bool = False
    """Whether the reader alone gives an added pair its polarity; no prompt shows such a pair."""


def changes_of(
    claims: Iterable[Claim], first: FirstAnalysis, *, reader: Reader | None = None
) -> tuple[ProposedChange, ...]:
    """Return every distinct change that at least one claim asks for, numbered in text order.

    Args:
        claims: what debate and Stage2 ask for.
        first: the pairs of Stage1 and their text.
        reader: gives an added term its polarity where no claim does; None: such a term stays without.
    """
    edits: dict[ProposedChange, None] = {}
    added: dict[str, list[Claim]] = {}
    for claim in claims:
        held = first.polarities(claim.term)
        edits.update(dict.fromkeys(_edits(claim, held)))
        if _asks_to_add(claim, held):
            added.setdefault(norm_key(claim.term, first.text), []).append(claim)
    for asking in added.values():
        edits.update(dict.fromkeys(_added_pairs(asking, first, reader)))
    ordered = sorted(edits, key=lambda change: _text_order(change, first))[:MOST_CHANGES]
    return tuple(change._replace(change_id=f"chg_{number:03d}") for number, change in enumerate(ordered, start=1))


def _edits(claim: Claim, held: Sequence[Polarity]) -> Iterator[ProposedChange]:
    """Yield the edits of Stage1 pairs that a claim asks for."""
    for polarity in held:
        if claim.of_polarity not in (None, polarity):
            continue
        if claim.is_target is False:
            yield ProposedChange("", "drop", claim.term, polarity)
        elif claim.flips_without_polarity or (_is_flip(claim) and claim.polarity != polarity):
            yield ProposedChange("", "flip", claim.term, polarity, claim.polarity)


def _is_flip(claim: Claim) -> bool:
    # Stage2 adds a pair to a held term: that is an added pair, and its conflict with Stage1 refuses it.
    return claim.polarity is not None and not (claim.who == "review" and claim.is_target)


def _asks_to_add(claim: Claim, held: Sequence[Polarity]) -> bool:
    if claim.is_target is False:
        return False
    if held:
        return claim.who == "review" and claim.is_target is True and claim.polarity not in (None, *held)
    return bool(claim.is_target) or claim.polarity is not None


def _added_pairs(asking: Sequence[Claim], first: FirstAnalysis, reader: Reader | None) -> Iterator[ProposedChange]:
    """Yield the added pairs of one term: one per polarity that somebody gives, else one with the reader's."""
    span = first_place(asking[0].term, first.text)
    term = first.text[span.start : span.end] if span else asking[0].term
    given = dict.fromkeys(claim.polarity for claim in asking if claim.polarity is not None)
    if given:
        for polarity in given:
            yield ProposedChange("", "add", term, to_polarity=polarity, to_span=span)
        return
    view = reader.view(first.text, first.language, term) if reader and span else None
    if view is None:
        yield ProposedChange("", "add", term, to_span=span)
    else:
        yield ProposedChange("", "add", term, to_polarity=view.polarity, to_span=span, is_polarity_of_reader=True)


def _text_order(change: ProposedChange, first: FirstAnalysis) -> tuple[bool, int, str, int, int, int]:
    place = change.to_span if change.kind == "add" else first.span(change.aspect_term)
    return (
        place is None,  # implicit opinions and terms that the text does not hold come last
        place.start if place else 0,
        change.aspect_term,
        _KIND_ORDER.index(change.kind),
        _rank(change.from_polarity),
        _rank(change.to_polarity),
    )


def _rank(polarity: Polarity | None) -> int:
    return -1 if polarity is None else POLARITIES.index(polarity)

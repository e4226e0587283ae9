"""Gathers the candidates of a review: every pair that Stage1, an agent of the model or the reader names."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from episodic_absa.language import norm, norm_key
from episodic_absa.pipeline.decision.claims import Claim
from episodic_absa.pipeline.decision.quotes import words_in_text
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis, first_place
from episodic_absa.reader.readings import Reading
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.schemas.run_files.candidate_record import AGENTS, Stance, Witness
from episodic_absa.vocabulary import POLARITIES, Language, Polarity

MOST_CANDIDATES: Final = 999
"""An answer that names more pairs is cut in text order: a change id has three digits."""
DIGITS: Final = 3


class Candidate(NamedTuple):
    """A pair that somebody names, and what each witness says about it."""

    aspect_term: str
    polarity: Polarity
    span: Span | None
    witnesses: tuple[Witness, ...] = ()
    is_polarity_of_reader: bool = False
    """Whether the reader alone gives the pair its polarity."""


class ReaderVoice:
    """What the reader says about pairs of one text; nothing if there is no reader of its language.

    Args:
        reader: None leaves the reader out.
        text: the NFC text.
        language: the effective language.
    """

    def __init__(self, reader: TextReader | None, text: str, language: Language) -> None:
        self._reader = reader if reader is not None and reader.reads(language) else None
        self._text, self._language = text, language
        self.reading = Reading(language) if self._reader is None else self._reader.read(text, language)
        self._named = {(norm_key(pair.term, text), pair.polarity): pair.p for pair in self.reading.pairs}

    def polarity(self, term: str) -> Polarity | None:
        """Return the likeliest polarity of a term."""
        view = self._view(term)
        return None if view is None else view.polarity

    def about(self, term: str, polarity: Polarity) -> tuple[Stance, float] | None:
        """Return whether the reader names a pair, with its probability; None if the reader cannot say."""
        if not term:
            named = self.reading.opinion == polarity
            return ("for", self.reading.label_p) if named else None
        named_p = self._named.get((norm_key(term, self._text), polarity))
        if named_p is not None:
            return "for", named_p
        view = self._view(term)
        return None if view is None else ("against", round(view.p_of(polarity), DIGITS))

    def _view(self, term: str) -> ReaderView | None:
        return self._reader.view(self._text, self._language, term) if self._reader and term else None


def gather(
    first: FirstAnalysis, claims: Sequence[Claim], voice: ReaderVoice, *, is_readers_own: bool = False
) -> tuple[Candidate, ...]:
    """Return the candidates in text order, each with its witnesses.

    Args:
        first: the pairs of Stage1.
        claims: of the debate and of Stage2.
        voice: what the reader says.
        is_readers_own: whether the answers are the reader's own. Stage1 and reader are one source then, which counts
            once: Stage1 speaks with the reader's probability, and whoever merely repeats it is no witness.
    """
    named = list(_of_stage1(first))
    if not is_readers_own:
        named += [*_of_claims(claims, first, voice), *_of_reader(first, voice)]
    distinct = {(norm(candidate.aspect_term), candidate.polarity): candidate for candidate in reversed(named)}
    ordered = sorted(distinct.values(), key=_text_order)[:MOST_CANDIDATES]
    if is_readers_own:
        return tuple(candidate._replace(witnesses=_one_source(candidate, first, voice)) for candidate in ordered)
    return tuple(candidate._replace(witnesses=tuple(_heard(candidate, first, claims, voice))) for candidate in ordered)


def _of_stage1(first: FirstAnalysis) -> Iterator[Candidate]:
    for item in first.pairs:
        if item.polarity is not None:
            place = (item.span or first.span(item.aspect_term)) if item.aspect_term else None
            yield Candidate(item.aspect_term, item.polarity, place)


def _of_claims(claims: Sequence[Claim], first: FirstAnalysis, voice: ReaderVoice) -> Iterator[Candidate]:
    """Yield the pairs that agents of the model name; without any polarity a new term has the reader's."""
    unjudged: dict[str, Claim] = {}
    judged: set[str] = set()
    for claim in claims:
        held, key = first.polarities(claim.term), norm_key(claim.term, first.text)
        if claim.is_target is False:
            continue
        if claim.polarity is not None:
            judged.add(key)
            if claim.polarity not in held:
                yield _named_in_text(claim.term, claim.polarity, first)
        elif claim.is_target and not held:
            unjudged.setdefault(key, claim)
    for key, claim in unjudged.items():
        polarity = None if key in judged else voice.polarity(claim.term)
        if polarity is not None:
            yield _named_in_text(claim.term, polarity, first)._replace(is_polarity_of_reader=True)


def _of_reader(first: FirstAnalysis, voice: ReaderVoice) -> Iterator[Candidate]:
    for pair in voice.reading.pairs:
        if first.polarities(pair.term):
            yield _named_in_text(pair.term, pair.polarity, first)._replace(is_polarity_of_reader=True)
        else:
            span = Span(start=pair.start, end=pair.end)
            yield Candidate(pair.term, pair.polarity, span, is_polarity_of_reader=True)


def _named_in_text(term: str, polarity: Polarity, first: FirstAnalysis) -> Candidate:
    """Return a pair in the words of Stage1, else in those of the text."""
    if first.polarities(term):
        return Candidate(term, polarity, first.span(term))
    span = first_place(term, first.text)
    return Candidate(first.text[span.start : span.end] if span else term, polarity, span)


def _text_order(candidate: Candidate) -> tuple[bool, int, str, int]:
    span = candidate.span
    return span is None, span.start if span else 0, candidate.aspect_term, POLARITIES.index(candidate.polarity)


def _heard(
    candidate: Candidate, first: FirstAnalysis, claims: Sequence[Claim], voice: ReaderVoice
) -> Iterator[Witness]:
    """Yield a witness for everyone who speaks about a candidate: Stage1, the agents in their order, the reader."""
    term, polarity = candidate.aspect_term, candidate.polarity
    held = first.polarities(term)
    if held:
        yield Witness(
            who="stage1", stance="for" if polarity in held else "against", quote=_evidence(first, term, polarity)
        )
    of_term = [claim for claim in claims if _is_about(claim, term, first)]
    for who in AGENTS:
        said = _last((claim for claim in of_term if claim.who == who), polarity, held)
        if said is not None:
            claim, stance = said
            yield Witness(who=who, stance=stance, quote=words_in_text(claim.quote, first.text))
    spoken = voice.about(term, polarity)
    if spoken is not None:
        yield Witness(who="reader", stance=spoken[0], p=spoken[1])


def _one_source(candidate: Candidate, first: FirstAnalysis, voice: ReaderVoice) -> tuple[Witness, ...]:
    spoken = voice.about(candidate.aspect_term, candidate.polarity)
    quote = _evidence(first, candidate.aspect_term, candidate.polarity)
    return (Witness(who="stage1", stance="for", quote=quote, p=None if spoken is None else spoken[1]),)


def _evidence(first: FirstAnalysis, term: str, polarity: Polarity) -> str:
    of_term = [item for item in first.pairs if norm(item.aspect_term) == norm(term)]
    quotes = [item.evidence for item in sorted(of_term, key=lambda item: item.polarity != polarity)]
    return next(filter(None, quotes), "")


def _is_about(claim: Claim, term: str, first: FirstAnalysis) -> bool:
    if first.polarities(term):
        return norm(claim.term) == norm(term)
    return norm_key(claim.term, first.text) == norm_key(term, first.text)


def _last(claims: Iterable[Claim], polarity: Polarity, held: Sequence[Polarity]) -> tuple[Claim, Stance] | None:
    """Return the last claim that takes a stance, None if a later one names another polarity: it takes that back."""
    last = None
    for claim in claims:
        stance = _stance(claim, polarity, held)
        if stance is not None:
            last = claim, stance
        elif claim.polarity is not None and polarity not in held:
            last = None
    return last


def _stance(claim: Claim, polarity: Polarity, held: Sequence[Polarity]) -> Stance | None:
    """Return what a claim about a term says about one polarity of it; `held` are those that Stage1 gives the term."""
    if polarity in held and claim.of_polarity not in (None, polarity):
        return None  # about another pair of the term
    if claim.is_target is False:
        return "against"
    if claim.flips_without_polarity:
        return "against" if polarity in held else None
    if claim.polarity is None:
        return "for" if claim.is_target and (polarity in held or not held) else None
    if claim.polarity == polarity:
        return "for"
    # Another polarity doubts Stage1's own pair, unless Stage2 adds it; with any other pair it merely competes.
    is_addition = claim.who == "review" and claim.is_target
    return "against" if polarity in held and not is_addition else None

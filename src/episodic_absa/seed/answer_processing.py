"""Turns ATE's answer into aspects and ATSA's into sentiments."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from episodic_absa.language import (
    PolarityCounts,
    find_contrasts,
    guess_second_aspect,
    nearest_occurrence,
    norm,
    norm_key,
    occurs,
    read_polarity,
    strip_particle,
)
from episodic_absa.schemas.absa import AspectItem, Drop, SentimentItem, Span, Stage1Ate, Stage1Atsa
from episodic_absa.schemas.seed_answers import AnsweredAspect, AnsweredSentiment, AnsweredSpan, AteAnswer, AtsaAnswer
from episodic_absa.vocabulary import DropReason, Language, Polarity

ALLOWED_SHORT_TERMS: Final = frozenset({"뷰", "AS", "as", "ui", "UI", "앱", "app"})
_NO_TARGETS: Final = frozenset({"ㅋㅋ", "ㅎㅎ", "ㅠㅠ", "아", "야", "언제", "하지만", "그러나"})
_GUESS_CONFIDENCE: Final = 0.5


class _Candidate(NamedTuple):
    item: AspectItem
    had_span: bool
    """Whether ATE gave a span, right or wrong."""
    given_span_fits: bool


def process_ate(
    answer: AteAnswer, text: str, language: Language, *, span_repair: bool, allowlist: frozenset[str] = frozenset()
) -> Stage1Ate:
    """Return the aspects that name a target in the text, and each dropped term with its reason.

    Args:
        answer: ATE's answer.
        text: the text of the sample (NFC); spans refer to it.
        language: the effective language; particles are stripped in Korean only.
        span_repair: whether a wrong or missing span moves to the nearest occurrence of its term.
        allowlist: short terms that count as targets beside the built-in ones.
    """
    candidates = _first_mentions(
        _candidate(aspect, text, language, span_repair=span_repair)
        for aspect in answer.aspects
        if aspect.aspect_term.strip()
    )
    repaired = sum(
        candidate.had_span and not candidate.given_span_fits and candidate.item.span is not None
        for candidate in candidates
    )
    if len(candidates) < 2 and (guess := _second_aspect(text, language, candidates)):
        candidates.append(guess)
    aspects: list[AspectItem] = []
    drops: list[Drop] = []
    for candidate in candidates:
        reason = _drop_reason(candidate, text, span_repair=span_repair, allowlist=allowlist)
        if reason is None:
            aspects.append(candidate.item)
        else:
            drops.append(Drop(aspect_term=candidate.item.aspect_term, drop_reason=reason))
    return Stage1Ate(aspects=tuple(aspects), drops=tuple(drops), span_repaired=repaired if span_repair else 0)


def _first_mentions(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Keep the first of several candidates with one term and one span, in the order of the answer."""
    first: dict[tuple[str, Span | None], _Candidate] = {}
    for candidate in candidates:
        first.setdefault((norm(candidate.item.aspect_term), candidate.item.span), candidate)
    return list(first.values())


def valid_span(span: AnsweredSpan | None, text: str) -> Span | None:
    """Return the span if it lies in the text, else None."""
    if span is None or not 0 <= span.start < span.end <= len(text):
        return None
    return Span(start=span.start, end=span.end)


def is_valid_target(term: str, allowlist: Iterable[str] = ()) -> bool:
    """Return whether a term can be a target: two characters or more and no stop word, or in an allowlist."""
    # A term of punctuation alone has an empty normal form, which means an implicit opinion elsewhere.
    if not norm(term):
        return False
    return term in ALLOWED_SHORT_TERMS or term in allowlist or (len(term) >= 2 and term not in _NO_TARGETS)


def _candidate(aspect: AnsweredAspect, text: str, language: Language, *, span_repair: bool) -> _Candidate:
    term = aspect.aspect_term.strip()
    given = aspect.span
    if language == "ko":
        bare = strip_particle(term, text)
        if given is not None and len(bare) < len(term):
            given = AnsweredSpan(start=given.start, end=given.end - (len(term) - len(bare)))
        term = bare
    span = valid_span(given, text)
    quoted = text[span.start : span.end] if span else None
    fits = quoted is not None and (quoted.lower() == term.lower() if span_repair else quoted == term)
    if span_repair:
        if fits and quoted is not None:
            term = quoted
        else:
            place = nearest_occurrence(term, text, given.start if given else 0)
            span = Span(start=place[0], end=place[1]) if place else None
            term = text[place[0] : place[1]] if place else term
    elif given is None and (place := nearest_occurrence(term, text, 0)):
        term = text[place[0] : place[1]]
    item = AspectItem(aspect_term=term, span=span, confidence=aspect.confidence, rationale=aspect.rationale)
    return _Candidate(item, had_span=given is not None, given_span_fits=fits)


def _second_aspect(text: str, language: Language, candidates: list[_Candidate]) -> _Candidate | None:
    if language == "other" or not find_contrasts(text, language):
        return None
    place = guess_second_aspect(text, language)
    if place is None:
        return None
    term = text[place[0] : place[1]]
    if any(norm(candidate.item.aspect_term) == norm(term) for candidate in candidates):
        return None
    item = AspectItem(
        aspect_term=term,
        span=Span(start=place[0], end=place[1]),
        confidence=_GUESS_CONFIDENCE,
        rationale="second target of a contrast",
        origin="second_aspect_guess",
    )
    return _Candidate(item, had_span=True, given_span_fits=True)


def _drop_reason(
    candidate: _Candidate, text: str, *, span_repair: bool, allowlist: frozenset[str]
) -> DropReason | None:
    term = candidate.item.aspect_term
    in_text = occurs(term, text)
    if candidate.had_span and not (in_text if span_repair else candidate.given_span_fits):
        return "alignment_failure"
    if not is_valid_target(term, allowlist):
        return "filter_rejection"
    return None if in_text else "semantic_hallucination"


_BACKFILL_CONFIDENCE: Final = 0.5


class ProcessedAtsa(NamedTuple):
    """The sentiments, and the terms that were removed."""

    atsa: Stage1Atsa
    unmatched_terms: tuple[str, ...]
    """Terms that neither match an aspect nor occur in the text."""
    polarity_counts: PolarityCounts


def process_atsa(answer: AtsaAnswer, aspects: Sequence[AspectItem], text: str) -> ProcessedAtsa:
    """Return the sentiments with the terms of kept aspects.

    A term that matches no aspect is kept if it occurs in the text. An empty term is an implicit opinion and stays.
    An aspect without a sentiment gets a neutral backfill.
    """
    sentiments: list[SentimentItem] = []
    unmatched: list[str] = []
    counts = PolarityCounts()
    for answered in answer.sentiments:
        term, span = _place(answered.aspect_term.strip(), aspects, text)
        if term is None:
            unmatched.append(answered.aspect_term)
            continue
        reading = read_polarity(answered.polarity)
        counts = counts.after(reading)
        sentiments.append(
            SentimentItem(
                aspect_term=term,
                span=span,
                polarity=reading.polarity,
                evidence=answered.evidence,
                confidence=answered.confidence,
                polarity_distribution=_distribution(answered),
            )
        )
    judged = {norm_key(item.aspect_term, text) for item in sentiments}
    sentiments += [backfill(aspect) for aspect in aspects if norm_key(aspect.aspect_term, text) not in judged]
    return ProcessedAtsa(Stage1Atsa(sentiments=tuple(sentiments)), tuple(unmatched), counts)


def backfill(aspect: AspectItem) -> SentimentItem:
    """Return the neutral sentiment of an aspect without one; it is flagged and counts as no prediction."""
    return SentimentItem(
        aspect_term=aspect.aspect_term,
        span=aspect.span,
        polarity="neutral",
        confidence=_BACKFILL_CONFIDENCE,
        is_backfilled=True,
        neutral_reason="missing_atsa_for_aspect",
    )


def match_aspect(term: str, aspects: Iterable[AspectItem], text: str | None = None) -> AspectItem | None:
    """Return the aspect a term means: the same key, else one inside the other (longest aspect, then earliest).

    `text` is the text in which Korean particles are recognised; without it they belong to the terms.
    """
    key = norm_key(term, text)
    if not key:
        return None
    keyed = [(norm_key(aspect.aspect_term, text), aspect) for aspect in aspects]
    for aspect_key, aspect in keyed:
        if aspect_key == key:
            return aspect
    related = [(other, aspect) for other, aspect in keyed if other and (other in key or key in other)]
    return max(related, key=lambda pair: len(pair[0]))[1] if related else None


def _place(term: str, aspects: Sequence[AspectItem], text: str) -> tuple[str | None, Span | None]:
    if not term:
        return "", None
    aspect = match_aspect(term, aspects, text)
    if aspect is not None:
        return aspect.aspect_term, aspect.span
    place = nearest_occurrence(term, text, 0)
    if place is None:
        return None, None
    return text[place[0] : place[1]], Span(start=place[0], end=place[1])


def _distribution(answered: AnsweredSentiment) -> dict[Polarity, float]:
    read = ((read_polarity(word).polarity, share) for word, share in answered.polarity_distribution.items())
    return {polarity: share for polarity, share in read if polarity is not None}

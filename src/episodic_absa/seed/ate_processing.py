"""Turns ATE's answer into aspects: particles, spans, repeated mentions, the second target of a contrast, the filter.

The pipeline, the gates and the scorecard share this filter.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from episodic_absa.language import (
    find_contrasts,
    guess_second_aspect,
    nearest_occurrence,
    norm,
    occurs,
    strip_particle,
)
from episodic_absa.schemas.absa import AspectItem, Drop, Span, Stage1Ate
from episodic_absa.schemas.seed_answers import AnsweredAspect, AnsweredSpan, AteAnswer
from episodic_absa.vocabulary import DropReason, Language

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

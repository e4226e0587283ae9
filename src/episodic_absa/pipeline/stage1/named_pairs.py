"""Turns what a model names into targets and pairs of the text: particles, places, the filter, polarity words."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from episodic_absa.language import (
    NOTHING_READ,
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
from episodic_absa.schemas.absa import AspectItem, Drop, SentimentItem, Span, Stage1Ate
from episodic_absa.schemas.answers import Pair
from episodic_absa.vocabulary import DropReason, Language

_SHORT_TERMS: Final = frozenset({"뷰", "AS", "as", "ui", "UI", "앱", "app"})
_NO_TARGETS: Final = frozenset({"ㅋㅋ", "ㅎㅎ", "ㅠㅠ", "아", "야", "언제", "하지만", "그러나"})


class NamedPairs(NamedTuple):
    """The pairs of the text, and what could not be read."""

    sentiments: tuple[SentimentItem, ...]
    unmatched_terms: tuple[str, ...]
    """Terms that neither match a target nor occur in the text."""
    polarity_counts: PolarityCounts


def targets_of(
    terms: Iterable[str], text: str, language: Language, *, with_spans: bool, allowlist: frozenset[str] = frozenset()
) -> Stage1Ate:
    """Return the targets that the text holds, and each dropped term with its reason.

    Args:
        terms: as a model names them.
        text: the NFC text; spans refer to it.
        language: the effective language; particles are stripped in Korean only.
        with_spans: whether a target gets the place of its term.
        allowlist: short terms that count as targets beside the built-in ones.
    """
    first: dict[tuple[str, Span | None], AspectItem] = {}
    for term in terms:
        if norm(term):
            item = _placed(term.strip(), text, language, with_span=with_spans)
            first.setdefault((norm(item.aspect_term), item.span), item)
    named = list(first.values())
    if len(named) < 2 and (guess := _second_target(text, language, named)):
        named.append(guess)
    aspects: list[AspectItem] = []
    drops: list[Drop] = []
    for item in named:
        reason = _drop_reason(item.aspect_term, text, allowlist)
        if reason is None:
            aspects.append(item)
        else:
            drops.append(Drop(aspect_term=item.aspect_term, drop_reason=reason))
    return Stage1Ate(aspects=tuple(aspects), drops=tuple(drops))


def pairs_of(named: Iterable[Pair], targets: Sequence[AspectItem], text: str) -> NamedPairs:
    """Return the pairs with the terms of the targets.

    A term that matches no target is kept if it occurs in the text. An empty term is an implicit opinion and stays. A
    target that nobody judges gets no pair: it is no part of the result.
    """
    sentiments: list[SentimentItem] = []
    unmatched: list[str] = []
    counts = NOTHING_READ
    for pair in named:
        term, span = _place(pair.term.strip(), targets, text)
        if term is None:
            unmatched.append(pair.term)
            continue
        reading = read_polarity(pair.polarity)
        counts = counts.after(reading)
        evidence = pair.quote if pair.quote in text else ""
        sentiments.append(SentimentItem(aspect_term=term, span=span, polarity=reading.polarity, evidence=evidence))
    return NamedPairs(tuple(sentiments), tuple(unmatched), counts)


def _placed(term: str, text: str, language: Language, *, with_span: bool) -> AspectItem:
    if language == "ko":
        term = strip_particle(term, text)
    place = nearest_occurrence(term, text, 0)
    if place is None:
        return AspectItem(aspect_term=term)
    span = Span(start=place[0], end=place[1]) if with_span else None
    return AspectItem(aspect_term=text[place[0] : place[1]], span=span)


def _second_target(text: str, language: Language, named: Sequence[AspectItem]) -> AspectItem | None:
    if language == "other" or not find_contrasts(text, language):
        return None
    place = guess_second_aspect(text, language)
    if place is None:
        return None
    term = text[place[0] : place[1]]
    if any(norm(item.aspect_term) == norm(term) for item in named):
        return None
    return AspectItem(
        aspect_term=term,
        span=Span(start=place[0], end=place[1]),
        rationale="second target of a contrast",
        origin="second_aspect_guess",
    )


def _drop_reason(term: str, text: str, allowlist: frozenset[str]) -> DropReason | None:
    # A term of punctuation alone has an empty normal form, which means an implicit opinion elsewhere.
    if not norm(term):
        return "filter_rejection"
    is_long = len(term) >= 2 and term not in _NO_TARGETS
    if not (is_long or term in _SHORT_TERMS or term in allowlist):
        return "filter_rejection"
    return None if occurs(term, text) else "semantic_hallucination"


def _place(term: str, targets: Sequence[AspectItem], text: str) -> tuple[str | None, Span | None]:
    if not term:
        return "", None
    target = _meant_target(term, targets, text)
    if target is not None:
        return target.aspect_term, target.span
    place = nearest_occurrence(term, text, 0)
    if place is None:
        return None, None
    return text[place[0] : place[1]], Span(start=place[0], end=place[1])


def _meant_target(term: str, targets: Iterable[AspectItem], text: str) -> AspectItem | None:
    """Return the target a term means: the same key, else one inside the other (longest target, then earliest)."""
    key = norm_key(term, text)
    if not key:
        return None
    keyed = [(norm_key(target.aspect_term, text), target) for target in targets]
    for target_key, target in keyed:
        if target_key == key:
            return target
    related = [(other, target) for other, target in keyed if other and (other in key or key in other)]
    return max(related, key=lambda pair: len(pair[0]))[1] if related else None

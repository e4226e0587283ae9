"""Weighs a text by the trained weights. The agents compare the result with what the rules read."""

from typing import Final, NamedTuple

from episodic_absa.reader.korean.aspect_judgement import find_term, judge_term
from episodic_absa.reader.korean.linear_model import LinearModel
from episodic_absa.reader.korean.polarity_features import (
    domain_features,
    in_domain,
    opinion_features,
    place_of,
    target_features,
    text_features,
)
from episodic_absa.reader.korean.reading import Reading
from episodic_absa.reader.korean.tagger_features import adapted, tagger_features
from episodic_absa.reader.korean.weighed_reading import WeighedReading
from episodic_absa.vocabulary import POLARITIES, Polarity

KNOWN_DOMAIN: Final = 0.8
"""From this probability on a text counts as one of a trained domain."""
OTHER_DOMAIN: Final = "other"
"""The class of texts outside the trained domains."""
EVERYDAY: Final = "everyday"
"""The class of short reviews of anything, as people write them outside the corpora."""
NO_OPINION: Final = "none"
"""The class of texts that judge nothing."""
EDGE: Final = 0.5
_HARDLY: Final = 0.03
"""A share of the everyday weights, or of the others, that is too small to matter."""
_MOSTLY: Final = 0.5
_DIGITS: Final = 5


class WeighedSpan(NamedTuple):
    """A stretch that may name a target."""

    start: int
    end: int
    probability: float


class Weighed(NamedTuple):
    """A text as the weights read it."""

    domain: str | None
    """None: outside the trained domains."""
    shares: tuple[tuple[float, float], ...]
    """Per word: the probabilities that it begins a target and that it continues one."""

    familiar: frozenset[str]
    """The words of the text that speak for its domain."""

    certainty: float = 0.0
    """How likely the text is of its domain."""

    everyday: float = 0.0
    """How likely the text is an everyday review of anything: so much do the everyday weights count."""

    @property
    def is_everyday(self) -> bool:
        """Whether the text counts as one that the everyday weights know."""
        return self.everyday >= _MOSTLY

    def knows(self, form: str) -> bool:
        """Whether the tagger has met a word in texts of this domain."""
        return form in self.familiar

    def inside(self, at: int) -> float:
        """Return how likely a word belongs to a target."""
        return self.shares[at][0] + self.shares[at][1]


class Weights3(NamedTuple):
    """The probabilities of the three polarities."""

    positive: float
    negative: float
    neutral: float

    @property
    def best(self) -> Polarity:
        """The likeliest polarity; among equals the first of the vocabulary."""
        return max(POLARITIES, key=lambda polarity: getattr(self, polarity))

    @property
    def margin(self) -> float:
        """By how much the likeliest leads."""
        first, second, _ = sorted(self, reverse=True)
        return round(first - second, _DIGITS)


def weigh(reading: WeighedReading) -> Weighed:
    """Return the weighed words of a text; none for a language without weights."""
    return reading.once(_weigh)


def weighed_polarity(reading: WeighedReading, term: str, place: tuple[int, int] | None = None) -> Weights3 | None:
    """Return the polarity weights of a term, at its place if that is known; None if the text lacks the term."""
    found = place or find_term(reading, term)
    return None if found is None else reading.once(_polarity, term, found)


def weighed_text(reading: WeighedReading) -> Weights3 | None:
    """Return the polarity weights of the whole text; None without words."""
    return reading.once(_text)


def without_opinion(reading: WeighedReading) -> float:
    """Return how likely a text judges nothing. The corpora are reviews throughout: a text of their domains judges."""
    if not reading.words or weigh(reading).domain is not None:
        return 0.0
    return reading.once(_without_opinion)


def spans_above(reading: Reading, weighed: Weighed, threshold: float) -> list[WeighedSpan]:
    """Return runs of words that are likely enough to name a target, from left to right."""
    spans: list[WeighedSpan] = []
    first = -1
    for at in range(len(weighed.shares) + 1):
        is_inside = at < len(weighed.shares) and weighed.inside(at) >= threshold
        begins = is_inside and (first < 0 or weighed.shares[at][0] > weighed.shares[at][1])
        if first >= 0 and (begins or not is_inside):
            spans.append(_span(reading, weighed, first, at))
            first = -1
        if begins:
            first = at
    return spans


def likelihood(reading: Reading, weighed: Weighed, start: int, end: int) -> float:
    """Return how likely the words of a stretch name a target: the mean over them."""
    place = place_of(reading, start, end)
    if place.first == place.end:
        return 0.0
    return round(sum(weighed.inside(at) for at in range(*place)) / (place.end - place.first), _DIGITS)


def _span(reading: Reading, weighed: Weighed, first: int, end: int) -> WeighedSpan:
    # Words at the edges that are far less likely than the heart of the span do not belong to it.
    least = EDGE * max(weighed.inside(at) for at in range(first, end))
    while weighed.inside(first) < least:
        first += 1
    while weighed.inside(end - 1) < least:
        end -= 1
    share = sum(weighed.inside(at) for at in range(first, end)) / (end - first)
    return WeighedSpan(reading.words[first].start, reading.words[end - 1].end, round(share, _DIGITS))


def _weigh(reading: WeighedReading) -> Weighed:
    if not reading.words:
        return Weighed(None, (), frozenset())
    weights = reading.weights
    likely = weights.domain.probabilities(domain_features(reading))
    best = max(sorted(likely), key=lambda name: likely[name])
    domain = best if likely[best] >= KNOWN_DOMAIN and best not in (OTHER_DOMAIN, EVERYDAY) else None
    everyday = _settled(likely.get(EVERYDAY, 0.0))
    features = tagger_features(reading)
    if not _is_encodable(reading.text):
        # A lone surrogate has no bytes that the tagger could read.
        features = [[attribute.encode(errors="replace").decode() for attribute in word] for word in features]
    nothing = [(0.0, 0.0)] * len(features)
    of_domain = weights.tagger.marginals(adapted(features, domain)) if everyday < 1.0 else nothing
    of_everyday = weights.everyday_tagger.marginals(features) if everyday > 0.0 else nothing
    shares = tuple(
        (_mixed(trained[0], plain[0], everyday), _mixed(trained[1], plain[1], everyday))
        for trained, plain in zip(of_domain, of_everyday, strict=True)
    )
    certainty = likely[best] if domain else 0.0
    familiar = _familiar_words(weights.domain, reading, domain)
    return Weighed(domain, shares, familiar, certainty, everyday)


def _settled(everyday: float) -> float:
    """Leave no trace of the weights that hardly count: they need not be asked."""
    return 0.0 if everyday < _HARDLY else 1.0 if everyday > 1.0 - _HARDLY else everyday


def _mixed(trained: float, plain: float, everyday: float) -> float:
    """Return the probability by both kinds of weights, in the proportion of the two kinds of texts."""
    return round((1.0 - everyday) * trained + everyday * plain, _DIGITS)


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _familiar_words(model: LinearModel, reading: Reading, domain: str | None) -> frozenset[str]:
    """Return the words that speak for the domain rather than against it."""
    if domain is None:
        return frozenset()
    column = model.classes.index(domain)
    rows = ((word.form, model.weights.get(word.form)) for word in reading.words)
    return frozenset(form for form, row in rows if row is not None and row[column] >= 0)


def _polarity(reading: WeighedReading, term: str, found: tuple[int, int]) -> Weights3 | None:
    place = place_of(reading, *found)
    if place.first == place.end:
        return None
    features = target_features(reading, place, judge_term(reading, term))
    weighed = weigh(reading)
    of_domain = reading.weights.polarity.probabilities(in_domain(features, weighed.domain))
    of_everyday = reading.weights.everyday_polarity.probabilities(features) if weighed.everyday else of_domain
    return Weights3(*(_mixed(of_domain[name], of_everyday[name], weighed.everyday) for name in POLARITIES))


def _without_opinion(reading: WeighedReading) -> float:
    return round(reading.weights.opinion.probabilities(opinion_features(reading))[NO_OPINION], _DIGITS)


def _text(reading: WeighedReading) -> Weights3 | None:
    if not reading.words:
        return None
    features = in_domain(text_features(reading), weigh(reading).domain)
    return Weights3(**reading.weights.text.probabilities(features))

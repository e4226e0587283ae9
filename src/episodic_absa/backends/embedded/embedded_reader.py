"""The embedded reader: what the engine itself makes of a term. A witness of rules v3, which no prompt ever shows."""

import re
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.embedded_engine import EmbeddedEngine
from episodic_absa.backends.embedded.judgement.aspect_judgement import (
    Judgement,
    find_term,
    judge_term,
    opinions_about,
)
from episodic_absa.backends.embedded.judgement.first_judgement import judge_first
from episodic_absa.backends.embedded.judgement.target_union import NAMED, NamedTarget, named_targets, support
from episodic_absa.backends.embedded.model.weighing import likelihood, weigh, weighed_polarity
from episodic_absa.backends.embedded.reader_calibration import ReaderCalibration, Score, shipped_calibration
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.backends.embedded.roles.second_looks import SecondLooks
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm, norm_key
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import Language, Polarity

LANGUAGES: Final[tuple[Language, ...]] = ("ko", "en")
# The rules have three answers to whether a term is a target: an opinion is tied to it, it could be one, neither.
_SAID: Final = 1.0
_NAMEABLE: Final = 0.5
_UNSAID: Final = 0.0
_HALF: Final = 0.5
_WHOLE: Final = 0.75
"""How much of its words a term must take up: "steak" stands for "steaks", "art" does not stand for "party"."""
_STRUCTURE_LOOKS: Final = SecondLooks(frozenset({"negation", "contrast", "irony", "conflict"}))


class TermPlace(NamedTuple):
    """Where a term stands, and the target that the reader names there by itself."""

    term: str
    """As the text has it, without a particle where the reader names the bare noun."""
    start: int
    end: int
    named: NamedTarget | None = None

    @property
    def place(self) -> tuple[int, int]:
        """The characters of the term."""
        return self.start, self.end


class RawView(NamedTuple):
    """A view before calibration: scores, and the table that each belongs to."""

    target: float
    target_kind: Score
    polarity: Polarity
    confidence: float
    polarity_kind: Score


class EmbeddedReader:
    """Says of a term how likely it is a target and which polarity it has; threads may share one reader.

    Example:
        >>> reader = EmbeddedReader(EmbeddedEngine())
        >>> reader.view("The room was clean but the staff was rude.", "en", "staff").polarity
        'negative'
    """

    def __init__(self, engine: EmbeddedEngine, calibration: ReaderCalibration | None = None) -> None:
        self._engine = engine
        self._calibration = calibration or shipped_calibration()

    @property
    def fingerprint(self) -> str:
        """The engine's: rules, word lists, weights and calibration tables."""
        return self._engine.fingerprint

    def reads(self, language: Language) -> bool:
        """Whether there is a reader of this language."""
        return language in LANGUAGES

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return the view of a term; None if the text does not hold it or nothing reads the language."""
        located = self._locate(text, language, term)
        if located is None:
            return None
        reading, place = located
        return self._calibrated(language, max(joined_views(reading, place), key=lambda raw: raw.confidence))

    def pairs(self, text: str, language: Language) -> tuple[ReaderPair, ...]:
        """Return the explicit pairs that the reader finds by itself, from left to right."""
        if not self.reads(language):
            return ()
        reading = self._engine.read(text, language)
        return tuple(
            ReaderPair(place.term, place.start, place.end, self._calibrated(language, raw))
            for place in map(place_of_named, named_targets(reading))
            for raw in joined_views(reading, place)
        )

    def view_of_change(
        self,
        text: str,
        language: Language,
        term: str,
        from_polarity: Polarity | None,  # noqa: ARG002 - asked for by readers that answer for one half
        to_polarity: Polarity | None,  # noqa: ARG002
    ) -> ReaderView | None:
        """Return the view that witnesses a change somebody else proposed."""
        return self.view(text, language, term)

    def other_half(
        self, text: str, language: Language, term: str, from_polarity: Polarity | None, to_polarity: Polarity | None
    ) -> ReaderView | None:
        """Return the view of the half, rules or weights, that did not propose a change; None if both or neither did.

        On the embedded backend a whole view would only repeat the proposal.

        Args:
            from_polarity: the polarity of the Stage1 pair; None for an added pair.
            to_polarity: the proposed polarity; None for a drop.
        """
        located = self._locate(text, language, term)
        if located is None or from_polarity == to_polarity:
            return None
        reading, place = located
        rules, weights = rules_view(reading, place), weights_view(reading, place)
        by_rules = _proposes(rules, from_polarity, to_polarity)
        by_weights = weights is not None and _proposes(weights, from_polarity, to_polarity)
        if not by_rules and not by_weights:
            # Advice makes the rules look again at negation, contrast and irony; the weights never look twice.
            looked_again = rules_view(reading, place, _STRUCTURE_LOOKS)
            by_rules = _proposes(looked_again, from_polarity, to_polarity)
        if by_rules == by_weights or weights is None:
            return None
        return self._calibrated(language, weights if by_rules else rules)

    def _locate(self, text: str, language: Language, term: str) -> tuple[WeighedReading, TermPlace] | None:
        if not self.reads(language) or not norm(term):
            return None
        reading = self._engine.read(text, language)
        place = place_of_term(reading, term)
        return None if place is None else (reading, place)

    def _calibrated(self, language: Language, raw: RawView) -> ReaderView:
        probability = self._calibration.probability
        return ReaderView(
            p_target=probability(language, raw.target_kind, raw.target),
            polarity=raw.polarity,
            p_polarity=probability(language, raw.polarity_kind, raw.confidence),
        )


def place_of_term(reading: WeighedReading, term: str) -> TermPlace | None:
    """Return where a term stands: where the reader names it, with or without a particle, else its first place."""
    key = norm(term)
    by_key = {norm(named.target.term): named for named in named_targets(reading)}
    named = by_key.get(key)
    if named is not None:
        return place_of_named(named)
    start_end = _first_place(reading, term)
    if start_end is None:
        return None
    # The analyser is asked last: it reads the whole text once more.
    bare = by_key.get(norm_key(term, reading.text)) if reading.language == "ko" else None
    return TermPlace(term, *start_end) if bare is None else place_of_named(bare)


def joined_views(reading: WeighedReading, place: TermPlace) -> tuple[RawView, ...]:
    """Return what rules and weights together say of a term: one view, or two if the text says both."""
    judgements = judge_first(reading, place.term, place.place)
    target, kind = _target_score(reading, place)
    return tuple(
        RawView(
            target,
            kind,
            judgement.polarity,
            judgement.confidence if len(judgements) == 1 else _share(reading, place, judgement),
            "polarity",
        )
        for judgement in judgements
    )


def rules_view(reading: WeighedReading, place: TermPlace, looks: SecondLooks | None = None) -> RawView:
    """Return what the rules alone say of a term."""
    judgements = judge_term(reading, place.term) if looks is None else judge_term(reading, place.term, looks)
    surest = max(judgements, key=lambda judgement: judgement.confidence)
    return RawView(_rules_target(reading, place), "rules_target", surest.polarity, surest.confidence, "rules_polarity")


def weights_view(reading: WeighedReading, place: TermPlace) -> RawView | None:
    """Return what the weights alone say of a term; None if it holds no word."""
    weighed = weighed_polarity(reading, place.term, place.place)
    if weighed is None:
        return None
    target = likelihood(reading, weigh(reading), *place.place) if _is_whole(reading, place) else 0.0
    return RawView(target, "weights_target", weighed.best, max(weighed), "weights_polarity")


def _target_score(reading: WeighedReading, place: TermPlace) -> tuple[float, Score]:
    supported = support(reading, weigh(reading), *place.place)
    if place.named is not None:
        is_at_home = weigh(reading).domain is not None
        return max(place.named.likelihood, supported), "named_target" if is_at_home else "named_elsewhere"
    if not _is_whole(reading, place):
        return 0.0, "other_target"
    is_beside = any(
        named.target.start < place.end and place.start < named.target.end for named in named_targets(reading)
    )
    return supported, "overlapping_target" if is_beside else "other_target"


def _is_whole(reading: Reading, place: TermPlace) -> bool:
    """Whether a term takes up the words it touches, but for an ending: a piece of a word is no target."""
    touched = [word for word in reading.words if word.start < place.end and place.start < word.end]
    total = sum(word.end - word.start for word in touched)
    inside = sum(min(word.end, place.end) - max(word.start, place.start) for word in touched)
    return total > 0 and inside / total >= _WHOLE


def _share(reading: WeighedReading, place: TermPlace, judgement: Judgement) -> float:
    """Return the weights' probability of one of two judgements, which cannot both be likely."""
    weighed = weighed_polarity(reading, place.term, place.place)
    return judgement.confidence / 2 if weighed is None else min(_HALF, float(getattr(weighed, judgement.polarity)))


def _rules_target(reading: Reading, place: TermPlace) -> float:
    if not _is_whole(reading, place):
        return _UNSAID
    if opinions_about(reading, place.term):
        return _SAID
    is_nameable = any(
        target.is_nameable and target.start <= place.start and place.end <= target.end for target in reading.targets
    )
    return _NAMEABLE if is_nameable else _UNSAID


def _proposes(view: RawView, from_polarity: Polarity | None, to_polarity: Polarity | None) -> bool:
    """Whether a half, asked alone, would make this change."""
    sees_target = view.target >= (_SAID if view.target_kind == "rules_target" else NAMED)
    if to_polarity is None:
        return not sees_target
    return view.polarity == to_polarity and (sees_target or from_polarity is not None)


def place_of_named(named: NamedTarget) -> TermPlace:
    """Return the place of a target that the reader names by itself."""
    return TermPlace(named.target.term, named.target.start, named.target.end, named)


def _first_place(reading: Reading, term: str) -> tuple[int, int] | None:
    """Return the first place of a term; in English one between word edges, if there is one."""
    if reading.language == "en" and norm(term) not in reading.by_term:
        whole = re.search(rf"(?<!\w){re.escape(term)}(?!\w)", reading.text, re.IGNORECASE)
        if whole is not None:
            return whole.span()
    return find_term(reading, term)

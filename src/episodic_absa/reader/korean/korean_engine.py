"""Korean as rules, taggers and linear weights over morphemes read it: judged terms, their probabilities, the label."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from episodic_absa.language import norm, norm_key
from episodic_absa.reader.calibration import MonotoneMap
from episodic_absa.reader.korean.aspect_judgement import Judgement, find_term
from episodic_absa.reader.korean.first_judgement import judge_first, judge_unnamed
from episodic_absa.reader.korean.korean_reader import read_korean
from episodic_absa.reader.korean.reading import Reading
from episodic_absa.reader.korean.sentence_label import sentence_label
from episodic_absa.reader.korean.target_union import NamedTarget, named_targets, support
from episodic_absa.reader.korean.trained_weights import load_weights
from episodic_absa.reader.korean.weighed_reading import WeighedReading
from episodic_absa.reader.korean.weighing import weigh, weighed_polarity, without_opinion
from episodic_absa.reader.neural_reader import KEPT_TEXTS
from episodic_absa.reader.reading import DIGITS, TextLabel
from episodic_absa.reader.readings import Reading as TextReading
from episodic_absa.reader.readings import ReadPair
from episodic_absa.reader.weights_folder import WeightsFolder
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import Polarity

Score: TypeAlias = Literal["named_target", "named_elsewhere", "overlapping_target", "other_target", "polarity"]
"""What a table is for: a target that the engine names by itself in a text of a trained domain, or in any other text; a
term that overlaps such a target; any other term; the polarity of a term."""
_TABLES: Final = "ko/calibration.json"
NO_TOPIC: Final = "other"
"""The engine knows no topics."""
_HALF: Final = 0.5
_WHOLE: Final = 0.75
"""How much of its words a term must take up: a piece of a word is no target."""


_FILLERS: Final = frozenset(
    {
        *(
            "없음",
            "없습니다",
            "없어요",
            "해당없음",
            "해당사항없음",
            "특별히없음",
            "특이사항없음",
            "딱히없음",
            "의견없음",
            "무",
        ),
        *("모름", "모르겠음", "모르겠어요", "몰라요", "패스", "생략", "ㄴㄴ", "ㅇㅇ", "ㅇ", "ㅁㄴㅇㄹ"),
        *("na", "none", "no", "x", "test", "테스트", "asdf", "qwer"),
    }
)
"""What people type into a box that must not stay empty, without spaces and signs."""


class TermPlace(NamedTuple):
    """Where a term stands, and the target that the engine names there by itself."""

    term: str
    """As the text has it, without a particle where the engine names the bare noun."""
    start: int
    end: int
    named: NamedTarget | None = None

    @property
    def place(self) -> tuple[int, int]:
        """The characters of the term."""
        return self.start, self.end


class RawView(NamedTuple):
    """A view before calibration: scores, and the table that the target's belongs to."""

    target: float
    target_kind: Score
    polarity: Polarity
    confidence: float


class KoreanEngine:
    """Reads Korean; threads may share one engine.

    Example:
        >>> from episodic_absa.reader.weights_folder import WeightsFolder
        >>> reading = KoreanEngine(WeightsFolder()).reading("방은 깨끗한데 직원이 불친절해요")
        >>> [(pair.term, pair.polarity) for pair in reading.pairs]
        [('방', 'positive'), ('직원', 'negative')]
    """

    def __init__(self, folder: WeightsFolder) -> None:
        weights = load_weights(folder)
        tables = json.loads(folder.content(_TABLES))
        self._maps: dict[Score, MonotoneMap] = {
            kind: MonotoneMap(tuple(table["scores"]), tuple(table["probabilities"])) for kind, table in tables.items()
        }
        # A pipeline asks about one text many times, for one term after another.
        self._weighed = lru_cache(maxsize=KEPT_TEXTS)(lambda text: WeighedReading.of(read_korean(text), weights))
        self._judged = lru_cache(maxsize=KEPT_TEXTS)(self._judge)

    def readings(self, texts: Sequence[str]) -> list[TextReading]:
        """Return what is read in each text."""
        return [self.reading(text) for text in texts]

    def reading(self, text: str) -> TextReading:
        """Return the named pairs and the label of a text."""
        pairs, label, label_p = self._judged(text)
        named = (
            ReadPair(pair.term, pair.start, pair.end, view.polarity, round(view.p_of(view.polarity), DIGITS), NO_TOPIC)
            for pair in pairs
            for view in (pair.view,)
        )
        return TextReading("ko", tuple(named), (), label, round(label_p, DIGITS))

    def pairs(self, text: str) -> tuple[ReaderPair, ...]:
        """Return the named pairs from left to right, each with its view."""
        return self._judged(text)[0]

    def _judge(self, text: str) -> tuple[tuple[ReaderPair, ...], TextLabel, float]:
        if is_filler(text):
            return (), "none", 1.0
        reading = self._weighed(text)
        pairs: list[ReaderPair] = []
        judged: list[Judgement] = []
        for place in map(place_of_named, named_targets(reading)):
            judgements = judge_first(reading, place.term, place.place)
            judged += judgements
            views = map(self._calibrated, joined_views(reading, place, judgements))
            pairs += [ReaderPair(place.term, place.start, place.end, view) for view in views]
        return tuple(pairs), *_label(reading, judged)

    def view(self, text: str, term: str) -> ReaderView | None:
        """Return the view of a term; None if the text does not hold it."""
        reading = self._weighed(text)
        place = place_of_term(reading, term)
        if place is None:
            return None
        judgements = judge_first(reading, place.term, place.place)
        return self._calibrated(max(joined_views(reading, place, judgements), key=lambda raw: raw.confidence))

    def _calibrated(self, raw: RawView) -> ReaderView:
        return ReaderView(
            p_target=self._maps[raw.target_kind](raw.target),
            polarity=raw.polarity,
            p_polarity=self._maps["polarity"](raw.confidence),
        )


def is_filler(text: str) -> bool:
    """Return whether a text only fills a box that must not stay empty.

    Example:
        >>> is_filler("없음."), is_filler("N/A"), is_filler("12"), is_filler("없어서 못 먹어요")
        (True, True, True, False)
    """
    bare = "".join(letter for letter in text.lower() if letter.isalnum())
    return bare in _FILLERS or bare.isdigit()


def _label(reading: WeighedReading, judgements: Sequence[Judgement]) -> tuple[TextLabel, float]:
    """Return the label of a text. One that names nothing has that of what is said without a target, or `none`."""
    if judgements:
        return sentence_label(reading, judgements)
    unnamed = judge_unnamed(reading, names_targets=False)
    if unnamed is None:
        return "none", max(_HALF, without_opinion(reading))
    return unnamed.polarity, unnamed.confidence


def place_of_term(reading: WeighedReading, term: str) -> TermPlace | None:
    """Return where a term stands: where the reader names it, with or without a particle, else its first place."""
    key = norm(term)
    by_key = {norm(named.target.term): named for named in named_targets(reading)}
    named = by_key.get(key)
    if named is not None:
        return place_of_named(named)
    start_end = find_term(reading, term)
    if start_end is None:
        return None
    # The analyser is asked last: it reads the whole text once more.
    bare = by_key.get(norm_key(term, reading.text))
    return TermPlace(term, *start_end) if bare is None else place_of_named(bare)


def joined_views(reading: WeighedReading, place: TermPlace, judgements: Sequence[Judgement]) -> tuple[RawView, ...]:
    """Return what rules and weights together say of a term: one view, or two if the text says both."""
    target, kind = _target_score(reading, place)
    return tuple(
        RawView(
            target,
            kind,
            judgement.polarity,
            judgement.confidence if len(judgements) == 1 else _share(reading, place, judgement),
        )
        for judgement in judgements
    )


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


def place_of_named(named: NamedTarget) -> TermPlace:
    """Return the place of a target that the reader names by itself."""
    return TermPlace(named.target.term, named.target.start, named.target.end, named)

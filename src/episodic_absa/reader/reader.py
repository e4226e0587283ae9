"""The reader of both languages: judged terms with probabilities, the label of a text, vectors of terms.

What it makes of a text depends on that text alone: no number of threads and no other text changes it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from threading import Lock
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from episodic_absa.errors import InputError
from episodic_absa.language import effective_language, nearest_occurrence, norm, norm_key
from episodic_absa.reader.calibration import Calibration, load_calibration
from episodic_absa.reader.korean.korean_engine import EngineReading, KoreanEngine
from episodic_absa.reader.network import Network
from episodic_absa.reader.reading import (
    DIGITS,
    LABELS,
    Array,
    Encoded,
    Output,
    Pair,
    TextLabel,
    Window,
    encode,
    framed,
    framed_classes,
    joined,
    pairs_of,
    tag_id,
    windows,
)
from episodic_absa.reader.term_vectors import TermVectors
from episodic_absa.reader.weights_folder import WeightsFolder
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import POLARITIES, Language, Polarity

ReaderLanguage = Literal["ko", "en"]
LANGUAGES: Final[tuple[ReaderLanguage, ...]] = get_args(ReaderLanguage)
NO_TOPIC: Final = "other"
"""The topic of every Korean pair: the Korean engine knows none."""
PartT = TypeVar("PartT")
_KEPT: Final = 512
_TOGETHER: Final = 256
"""Texts of a file whose windows are run side by side."""
_LEAST_MASS: Final = 1e-6


class ReadPair(NamedTuple):
    """A judged term of a text."""

    term: str
    """As the text has it."""
    start: int
    end: int
    polarity: Polarity
    p: float
    """How likely the pair is right, by the calibration of its language; rounded to three digits."""
    topic: str
    """What the term is about: one of fifteen plain topics, `other` among them."""


class Reading(NamedTuple):
    """What is read in a text.

    Example:
        >>> from episodic_absa import read
        >>> reading = read("The shop opens at nine.")
        >>> reading.label, reading.pairs
        ('none', ())
    """

    language: Language
    pairs: tuple[ReadPair, ...] = ()
    """From left to right."""
    candidates: tuple[ReadPair, ...] = ()
    """Terms that are possible and not likely enough to be named."""
    label: TextLabel | None = None
    """`none`: the text judges nothing. None: there is no reader of its language, or nothing to read."""
    label_p: float = 0.0

    @property
    def opinion(self) -> Polarity | None:
        """The polarity of an opinion without a target: that of a text in which no term is named."""
        return None if self.pairs else next((polarity for polarity in POLARITIES if polarity == self.label), None)


class _Text(NamedTuple):
    """A text as it was read."""

    tokens: Encoded
    output: Output | None
    """What the network says of every token; None where no network reads the language."""
    reading: Reading


_UNREAD: Final = _Text(Encoded([], [], [], []), None, Reading("other"))


class Reader:
    """Reads Korean and English; threads may share one reader.

    Example:
        >>> from episodic_absa.reader.reader import default_reader
        >>> [(pair.term, pair.polarity) for pair in default_reader().read("The room was clean, the staff rude.").pairs]
        [('room', 'positive'), ('staff', 'negative')]
    """

    def __init__(self, folder: WeightsFolder | None = None, *, threads: int | None = None) -> None:
        self._folder = folder or WeightsFolder()
        self._threads = threads
        self._lock = Lock()
        self._networks: dict[str, Network] = {}
        self._engines: dict[str, KoreanEngine] = {}
        self._calibrations: dict[str, Calibration] = {}
        self._vectors: dict[str, TermVectors] = {}
        # A pipeline asks about one text many times, for one term after another.
        self._kept = lru_cache(maxsize=_KEPT)(self._text)

    @property
    def fingerprint(self) -> str:
        """The sha256 over weights and tables."""
        return self._folder.fingerprint

    def reads(self, language: Language) -> bool:
        """Return whether there is a reader of a language."""
        return language in LANGUAGES

    def read(self, text: str, language: Language | None = None) -> Reading:
        """Return the judged terms of a text and its label; a language of None is detected.

        Raises:
            InputError: the text is no string.
        """
        return self._kept(_checked(text), language or effective_language(None, text)).reading

    def read_many(self, texts: Iterable[str], language: Language | None = None) -> Iterator[Reading]:
        """Yield what `read` returns for each text, several texts at a time."""
        remaining = iter(texts)
        while group := list(islice(remaining, _TOGETHER)):
            asked = [(_checked(text), language or effective_language(None, text)) for text in group]
            yield from (read.reading for read in self._texts(asked))

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return how likely a term of a text is a target, and its polarity, whether or not the reader names it.

        None if the text does not hold the term or nothing reads the language.
        """
        if not self.reads(language) or not norm(term):
            return None
        if language == "ko":
            return self._korean().view(text, term)
        read = self._kept(text, language)
        place = _place(read.reading, text, term)
        if place is None:
            return None
        return self._view(read, *place)

    def pairs(self, text: str, language: Language) -> tuple[ReaderPair, ...]:
        """Return the pairs that the reader names, from left to right, each with its view."""
        if not self.reads(language):
            return ()
        if language == "ko":
            return self._korean().read(text).pairs
        read = self._kept(text, language)
        views = ((pair, self._view(read, pair.start, pair.end)) for pair in read.reading.pairs)
        return tuple(ReaderPair(*pair[:3], view) for pair, view in views if view is not None)

    def term_vector(self, term: str, language: Language | None = None) -> Array:
        """Return the unit vector of a term without context, or zeros if nothing in it is known.

        Vectors of two languages say nothing about each other. A language of None is told by the letters.
        """
        chosen = language or _language_of(term)
        if chosen not in LANGUAGES:
            raise InputError(f"no term vectors for the language {chosen!r}; use ko or en", argument="language")
        return self._loaded(self._vectors, chosen, lambda: TermVectors(self._folder, chosen)).vector(term)

    def similarity(self, term: str, other: str, language: Language | None = None) -> float:
        """Return the cosine of two terms' vectors."""
        chosen = language or _language_of(term + other)
        return round(float(self.term_vector(term, chosen) @ self.term_vector(other, chosen)), DIGITS)

    def _text(self, text: str, language: Language) -> _Text:
        return self._texts([(text, language)])[0]

    def _texts(self, asked: Sequence[tuple[str, Language]]) -> list[_Text]:
        read: dict[int, _Text] = {}
        for language in LANGUAGES:
            places = [at for at, (_, of_text) in enumerate(asked) if of_text == language]
            if places:
                texts = [asked[at][0] for at in places]
                answers = self._read_korean(texts) if language == "ko" else self._read_language(texts, language)
                read.update(zip(places, answers, strict=True))
        return [read.get(at, _UNREAD) for at in range(len(asked))]

    def _read_language(self, texts: Sequence[str], language: ReaderLanguage) -> list[_Text]:
        network = self._loaded(self._networks, language, lambda: Network(self._folder, language))
        calibration = self._calibration(language)
        tag = tag_id(calibration.tag)
        encoded = [encode(network.tokenizer, text) for text in texts]
        parts = [windows(len(tokens.ids)) for tokens in encoded]
        asked = [
            Window(framed(tokens.ids[start:end], tag), framed_classes(tokens.classes[start:end]))
            for tokens, of_text in zip(encoded, parts, strict=True)
            for start, end in of_text
        ]
        outputs = iter(network.outputs(asked, threads=self._threads))
        answers = []
        for text, tokens, of_text in zip(texts, encoded, parts, strict=True):
            output = joined([next(outputs) for _ in of_text], of_text)
            answers.append(_Text(tokens, output, _reading(text, language, tokens, output, calibration)))
        return answers

    def _read_korean(self, texts: Sequence[str]) -> list[_Text]:
        return [_Text(*_UNREAD[:2], _korean_reading(self._korean().read(text))) for text in texts]

    def _korean(self) -> KoreanEngine:
        return self._loaded(self._engines, "ko", lambda: KoreanEngine(self._folder))

    def _calibration(self, language: str) -> Calibration:
        return self._loaded(self._calibrations, language, lambda: load_calibration(self._folder, language))

    def _loaded(self, loaded: dict[str, PartT], language: str, load: Callable[[], PartT]) -> PartT:
        """Return a part of a language; whoever asks first loads it, and others wait."""
        if language not in loaded:
            with self._lock:
                if language not in loaded:
                    loaded[language] = load()
        return loaded[language]

    def _view(self, read: _Text, start: int, end: int) -> ReaderView | None:
        tokens = read.tokens
        if read.output is None:
            return None
        inside = [
            at
            for at, (left, right) in enumerate(zip(tokens.starts, tokens.ends, strict=True))
            if left < end and start < right
        ]
        if not inside:
            return None
        marks = read.output.marks[inside].mean(0)
        masses = [float(marks[1 + 2 * at] + marks[2 + 2 * at]) for at in range(len(POLARITIES))]
        listed = [*read.reading.pairs, *read.reading.candidates]
        own = next((pair for pair in listed if (pair.start, pair.end) == (start, end)), None)
        polarity = own.polarity if own else POLARITIES[masses.index(max(masses))]
        mass = masses[POLARITIES.index(polarity)]
        p_polarity = max(mass / max(sum(masses), _LEAST_MASS), 1 / len(POLARITIES))
        p = own.p if own else self._calibration(read.reading.language).map_of(len(tokens.ids))(mass)
        return ReaderView(round(min(1.0, p / p_polarity), DIGITS), polarity, round(p_polarity, DIGITS))


@cache
def default_reader() -> Reader:
    """Return the reader with the shipped weights: one for the process, which loads a language when it is asked."""
    return Reader()


def read(text: str, language: Language | None = None) -> Reading:
    """Return the judged terms of a text with their probabilities, and the label of the whole text.

    English is read by a small neural network, Korean by rules and weights over morphemes; no agent, memory or server is
    asked. The first text of a language loads what reads it.

    Args:
        text: a review in Korean or English; anything else gives an empty reading.
        language: `ko` or `en`; None detects the language.

    Raises:
        InputError: the text is no string.

    Example:
        >>> from episodic_absa import read
        >>> reading = read("The room was clean, but the staff was rude.")
        >>> [(pair.term, pair.polarity) for pair in reading.pairs], reading.label
        ([('room', 'positive'), ('staff', 'negative')], 'mixed')
    """
    return default_reader().read(text, language)


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"the text must be a string, got {type(text).__name__}", argument="text")
    return text


def _reading(text: str, language: ReaderLanguage, tokens: Encoded, output: Output, calibration: Calibration) -> Reading:
    if not tokens.ids:
        return Reading(language, label="none", label_p=1.0)
    probability = calibration.map_of(len(tokens.ids))
    best: dict[str, Pair] = {}
    for pair in pairs_of(text, tokens, output):
        key = norm(text[pair.start : pair.end])
        # Of a term that is judged at several places the likeliest judgement stands.
        if key and (key not in best or pair.p > best[key].p):
            best[key] = pair
    ordered = [
        (
            pair.p >= calibration.threshold,
            ReadPair(text[pair.start : pair.end], pair.start, pair.end, pair.polarity, probability(pair.p), pair.topic),
        )
        for pair in sorted(best.values())
    ]
    likeliest = int(output.label.argmax())
    return Reading(
        language,
        tuple(pair for is_named, pair in ordered if is_named),
        tuple(pair for is_named, pair in ordered if not is_named),
        LABELS[likeliest],
        round(float(output.label[likeliest]), DIGITS),
    )


def _korean_reading(read: EngineReading) -> Reading:
    pairs = (
        ReadPair(pair.term, pair.start, pair.end, view.polarity, round(view.p_of(view.polarity), DIGITS), NO_TOPIC)
        for pair in read.pairs
        for view in (pair.view,)
    )
    return Reading("ko", tuple(pairs), (), read.label, round(read.label_p, DIGITS))


def _language_of(term: str) -> ReaderLanguage:
    return "ko" if effective_language(None, term) == "ko" else "en"


def _place(reading: Reading, text: str, term: str) -> tuple[int, int] | None:
    """Return where a term stands: where the reader names it, else where it is a word, else its first place."""
    listed = {norm(pair.term): (pair.start, pair.end) for pair in (*reading.candidates, *reading.pairs)}
    place = listed.get(norm(term)) or listed.get(norm_key(term, text))
    if place is not None:
        return place
    end = r"(?!\w)" if reading.language == "en" else ""
    whole = re.search(rf"(?<!\w){re.escape(term.strip())}{end}", text, re.IGNORECASE)
    return whole.span() if whole else nearest_occurrence(term, text, 0)

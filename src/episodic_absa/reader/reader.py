"""The reader of both languages: judged terms with probabilities, the label of a text, vectors of terms.

What it makes of a text depends on that text alone: no number of threads and no other text changes it.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from threading import Lock
from typing import Final, Literal, TypeVar, get_args

from episodic_absa.errors import InputError
from episodic_absa.language import effective_language, norm
from episodic_absa.reader.korean.korean_engine import KoreanEngine
from episodic_absa.reader.neural_reader import NeuralReader
from episodic_absa.reader.reading import DIGITS, Array
from episodic_absa.reader.readings import LanguageReader, Reading
from episodic_absa.reader.term_vectors import TermVectors
from episodic_absa.reader.weights_folder import WeightsFolder
from episodic_absa.schemas.reader_view import ReaderPair, ReaderView
from episodic_absa.vocabulary import Language

ReaderLanguage = Literal["ko", "en"]
LANGUAGES: Final[tuple[ReaderLanguage, ...]] = get_args(ReaderLanguage)
PartT = TypeVar("PartT")
_TOGETHER: Final = 256
"""Texts of a file whose windows are run side by side."""


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
        self._readers: dict[str, LanguageReader] = {}
        self._vectors: dict[str, TermVectors] = {}

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
        chosen = _language_of(text, language)
        return self._reader(chosen).reading(text) if self.reads(chosen) else Reading("other")

    def read_many(self, texts: Iterable[str], language: Language | None = None) -> Iterator[Reading]:
        """Yield what `read` returns for each text, several texts at a time."""
        remaining = iter(texts)
        while group := list(islice(remaining, _TOGETHER)):
            chosen = [_language_of(text, language) for text in group]
            readings = {
                of_texts: iter(
                    self._reader(of_texts).readings(
                        [text for text, of_text in zip(group, chosen, strict=True) if of_text == of_texts]
                    )
                )
                for of_texts in LANGUAGES
                if of_texts in chosen
            }
            yield from (next(readings[of_text]) if of_text in readings else Reading("other") for of_text in chosen)

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return how likely a term of a text is a target, and its polarity, whether or not the reader names it.

        None if the text does not hold the term or nothing reads the language.
        """
        return self._reader(language).view(text, term) if self.reads(language) and norm(term) else None

    def pairs(self, text: str, language: Language) -> tuple[ReaderPair, ...]:
        """Return the pairs that the reader names, from left to right, each with its view."""
        return self._reader(language).pairs(text) if self.reads(language) else ()

    def term_vector(self, term: str, language: Language | None = None) -> Array:
        """Return the unit vector of a term without context, or zeros if nothing in it is known.

        Vectors of two languages say nothing about each other. A language of None is told by the letters.
        """
        chosen = language or _letters_language(term)
        if chosen not in LANGUAGES:
            raise InputError(f"no term vectors for the language {chosen!r}; use ko or en", argument="language")
        return self._loaded(self._vectors, chosen, lambda: TermVectors(self._folder, chosen)).vector(term)

    def similarity(self, term: str, other: str, language: Language | None = None) -> float:
        """Return the cosine of two terms' vectors."""
        chosen = language or _letters_language(term + other)
        return round(float(self.term_vector(term, chosen) @ self.term_vector(other, chosen)), DIGITS)

    def _reader(self, language: Language) -> LanguageReader:
        return self._loaded(self._readers, language, lambda: self._load_reader(language))

    def _load_reader(self, language: Language) -> LanguageReader:
        if language == "ko":
            return KoreanEngine(self._folder)
        return NeuralReader(self._folder, language, threads=self._threads)

    def _loaded(self, loaded: dict[str, PartT], language: str, load: Callable[[], PartT]) -> PartT:
        """Return a part of a language; whoever asks first loads it, and others wait."""
        if language not in loaded:
            with self._lock:
                if language not in loaded:
                    loaded[language] = load()
        return loaded[language]


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


def _language_of(text: object, language: Language | None) -> Language:
    if not isinstance(text, str):
        raise InputError(f"the text must be a string, got {type(text).__name__}", argument="text")
    return language or effective_language(None, text)


def _letters_language(term: str) -> ReaderLanguage:
    return "ko" if effective_language(None, term) == "ko" else "en"

"""Reads a text by the rules of its language."""

from episodic_absa.backends.embedded.english.english_reader import read_english
from episodic_absa.backends.embedded.korean.korean_reader import read_korean
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.vocabulary import Language


def read_text(text: str, language: Language) -> Reading:
    """Return the reading of a text; a language without rules gets an empty one."""
    match language:
        case "ko":
            return read_korean(text)
        case "en":
            return read_english(text)
        case _:
            return Reading(text, language)

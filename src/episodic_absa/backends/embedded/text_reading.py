"""One cached reading per text, whatever the language: every role of a sample reads the same one."""

from functools import lru_cache

from episodic_absa.backends.embedded.english.english_reader import read_english
from episodic_absa.backends.embedded.korean.korean_reader import read_korean
from episodic_absa.backends.embedded.reading import Reading
from episodic_absa.vocabulary import Language


@lru_cache(maxsize=512)
def read_text(text: str, language: Language) -> Reading:
    """Read a text. Of a language without rules nothing is claimed."""
    match language:
        case "ko":
            return read_korean(text)
        case "en":
            return read_english(text)
        case _:
            return Reading(text, language)

"""Decides which language's rules apply to a text.

Hangul makes a text Korean. A text in another script is of no known language even if it holds a Latin name, and so is
one in Latin letters whose common words are those of another language than English. In doubt it is English: a short
text, a name or a typing error says nothing against it.
"""

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.vocabulary import Language

# Syllables and every jamo block, without the invisible fillers.
_HANGUL: Final = re.compile(
    "[\uac00-\ud7a3\u1100-\u115e\u1161-\u11ff\u3131-\u3163\u3165-\u318e\ua960-\ua97c\ud7b0-\ud7fb\uffa1-\uffdc]"
)
_LATIN: Final = re.compile(
    "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]"
)
_SUBTAG: Final = re.compile("[-_]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_COMMON_WORDS: Final = Path(__file__).with_name("common_words.yaml")
_LEAST: Final = 2
"""How many common words of another language must stand in a text before it is taken for that language."""
_LEAST_MARKED: Final = 3
_LONGEST_READ: Final = 2000
"""Characters that are looked at: enough to tell a language."""


def effective_language(language_code: str | None, text: str) -> Language:
    """Return the language whose rules apply: by the code, or by the text if the code is missing or "unknown"."""
    code = _SUBTAG.split((language_code or "").strip().lower(), maxsplit=1)[0]
    match code:
        case "ko" | "en" | "other":
            return code
        case "" | "unknown":
            return _detect(text)
        case _:
            return "other"


def _detect(text: str) -> Language:
    if _HANGUL.search(text):
        return "ko"
    latin_n = len(_LATIN.findall(text))
    letters_n = sum(map(str.isalpha, text))
    if latin_n == 0 or 2 * latin_n < letters_n or _reads_foreign(text):
        return "other"
    return "en"


def _reads_foreign(text: str) -> bool:
    """Whether the common words of a text in Latin letters are those of another language than English."""
    words = [word.lower() for word in _WORD.findall(unicodedata.normalize("NFC", text[:_LONGEST_READ]))]
    listed = common_words()
    english = listed["en"]
    for language, own in listed.items():
        own_n = sum(word in own and word not in english for word in words)
        if language != "en" and own_n >= _LEAST:
            english_n = sum(word in english and word not in own for word in words)
            if own_n > 2 * english_n:
                return True
    # A language without a list: many words with marks on their letters, and none that is English.
    marked_n = sum(not word.isascii() for word in words)
    return marked_n >= _LEAST_MARKED and 3 * marked_n >= len(words) and not any(word in english for word in words)


@cache
def common_words() -> dict[str, frozenset[str]]:
    """Return the common words of English and of other languages in Latin letters, by language code."""
    listed: dict[str, str] = read_yaml_file(_COMMON_WORDS)
    return {language: frozenset(words.split()) for language, words in listed.items()}

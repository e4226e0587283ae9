"""Decides which language's rules apply to a text."""

import re
from typing import Final

from episodic_absa.vocabulary import Language

# Syllables and every jamo block, without the invisible fillers.
_HANGUL: Final = re.compile(
    "[\uac00-\ud7a3\u1100-\u115e\u1161-\u11ff\u3131-\u3163\u3165-\u318e\ua960-\ua97c\ud7b0-\ud7fb\uffa1-\uffdc]"
)
_LATIN: Final = re.compile(
    "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]"
)
_SUBTAG: Final = re.compile("[-_]")


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
    return "en" if _LATIN.search(text) else "other"

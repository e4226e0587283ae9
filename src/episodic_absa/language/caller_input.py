"""Checks what a caller gives: a review, a name, a language code. No message quotes the review."""

import math
import re
from typing import Final

from episodic_absa.errors import InputError

# Without "kr" (Kanuri): whoever writes it about a review means Korean.
_CODES: Final = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
_ISO_639_1: Final = frozenset(_CODES.split())
_OWN_WORDS: Final = frozenset({"unknown", "other"})
_MEANT: Final = {
    **dict.fromkeys(("kr", "kor", "korean", "한국어"), "ko"),
    **dict.fromkeys(("eng", "english", "us", "gb", "영어"), "en"),
    "jp": "ja",
    "cn": "zh",
}
_SUBTAG: Final = re.compile("[-_]")
_LONGEST_QUOTED: Final = 12
_ACCEPTED: Final = "'ko', 'en', another ISO 639-1 code such as 'ja', 'other', or None to detect the language"


def checked_review(text: object) -> str:
    """Return a review that can be analysed.

    Raises:
        InputError: it is missing, not a string, without a readable character, or holds half of a surrogate pair.

    Example:
        >>> checked_review("Great.")
        'Great.'
    """
    if not isinstance(text, str):
        raise InputError(_other_type(text), argument="text")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise InputError("the review is empty; give some text to analyse", argument="text")
    _refuse_half_character(text, "the review", "text")
    return text


def checked_name(name: object, argument: str) -> str:
    """Return the value of an argument that names a review or its domain.

    Raises:
        InputError: it is not a string, or holds half of a surrogate pair.

    Example:
        >>> checked_name("r1", "uid")
        'r1'
    """
    if not isinstance(name, str):
        raise InputError(f"{argument} must be a string, got {type(name).__name__}", argument=argument)
    _refuse_half_character(name, argument, argument)
    return name


def _refuse_half_character(text: str, what: str, argument: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} holds half of a surrogate pair at character {error.start + 1}, which no encoding can write; "
            "repair it with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')",
            argument=argument,
        ) from None


def _other_type(value: object) -> str:
    kind = type(value).__name__
    if isinstance(value, bytes | bytearray | memoryview):
        return f"the review is {kind}, not a string; decode it first, for example with review.decode('utf-8')"
    # pandas writes NaN, NaT or NA for an empty cell.
    if value is None or kind in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        shown = "None" if value is None else "a missing value (NaN)"
        return f"the review is {shown}, not a string; leave rows without text out, for example with dropna()"
    return f"the review must be a string, got {kind}; give text, one review per call"


def checked_language_code(code: object) -> str | None:
    """Return a caller's language code, also with a region (`en-US`); None if the language is to be detected.

    Raises:
        InputError: the code is not a string or not a code.

    Example:
        >>> checked_language_code("ko-KR")
        'ko-KR'
    """
    if code is None:
        return None
    if not isinstance(code, str):
        raise InputError(
            f"language_code must be a string, got {type(code).__name__}; use {_ACCEPTED}", argument="language_code"
        )
    word = code.strip().lower()
    if _SUBTAG.split(word, maxsplit=1)[0] in _ISO_639_1 or word in _OWN_WORDS:
        return code
    # Somebody may have passed the review itself: only something as short as a code is quoted.
    named = f"language_code {code!r}" if len(code) <= _LONGEST_QUOTED and code.isprintable() else "language_code"
    meant = f"did you mean {_MEANT[word]!r}? Use" if word in _MEANT else "use"
    raise InputError(f"{named} is no known code; {meant} {_ACCEPTED}", argument="language_code")

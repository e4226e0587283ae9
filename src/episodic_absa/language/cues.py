r"""Finds negation, contrast and irony cues of the lexicon with regular expressions.

No analyser is used, so that the result is the same on every machine. Offsets refer to the NFC form of the text;
words are runs of `\w` without lone jamo.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.language.lexicon import forms, load_lexicon
from episodic_absa.vocabulary import Language, Structure

CueKind = Literal["negation", "contrast", "irony"]

_KINDS: Final[tuple[CueKind, ...]] = ("negation", "contrast", "irony")
# Laughter and tears (ㅋㅋ, ㅠㅠ) are written onto a word without being part of it: 좋은데ㅠㅠ ends in -은데.
_LETTER: Final = r"[^\Wㄱ-ㅎㅏ-ㅣ]"
_WORD_START: Final = f"(?<!{_LETTER})"
_WORD_END: Final = f"(?!{_LETTER})"
# Possessive, here and below: matched white space is never given back, so that the time stays linear.
_SPACE: Final = r"\s*+"
_GAP: Final = r"(?:\s++(?:,\s*+)?+|,\s*+)"
# Phones write the typographic apostrophe.
_APOSTROPHE: Final = "['\u2019]"
_FINALS: Final = "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"


class Cue(NamedTuple):
    """One cue: its lexicon form and its place in the NFC text."""

    kind: CueKind
    form: str
    start: int
    end: int


class _Rule(NamedTuple):
    form: str
    pattern: re.Pattern[str]


def find_negations(text: str, language: Language) -> tuple[Cue, ...]:
    """Return the negating words and endings in order of position."""
    return _find("negation", text, language)


def find_contrasts(text: str, language: Language) -> tuple[Cue, ...]:
    """Return the contrast markers in order of position."""
    return _find("contrast", text, language)


def find_ironies(text: str, language: Language) -> tuple[Cue, ...]:
    """Return the irony cues in order of position."""
    return _find("irony", text, language)


def detect_structures(text: str, language: Language) -> tuple[Structure, ...]:
    """Return the structures present, in the order negation, contrast, irony; ("none",) if there are none."""
    return tuple(kind for kind in _KINDS if _find(kind, text, language)) or ("none",)


def first_contrast_marker(text: str, language: Language) -> str | None:
    """Return the lexicon form of the first contrast marker by position."""
    cues = find_contrasts(text, language)
    return cues[0].form if cues else None


def _find(kind: CueKind, text: str, language: Language) -> tuple[Cue, ...]:
    text = unicodedata.normalize("NFC", text)
    hits = [
        (match.start(), rank, match.end(), rule.form)
        for rank, rule in enumerate(_rules(kind, language))
        for match in rule.pattern.finditer(text)
    ]
    cues: list[Cue] = []
    # Of overlapping cues the first one stays, and of several forms at one place the one listed first.
    for start, _, end, form in sorted(hits):
        if not cues or start >= cues[-1].end:
            cues.append(Cue(kind, form, start, end))
    return tuple(cues)


@cache
def _rules(kind: CueKind, language: Language) -> tuple[_Rule, ...]:
    """Return the compiled patterns of one kind in lexicon order; none for a language without rules."""
    match language, kind:
        case "ko", "negation":
            sources = _korean_negation(load_lexicon()["ko"]["negation"])
        case "ko", "contrast":
            sources = _korean_contrast()
        case "ko", "irony":
            sources = _korean_irony(load_lexicon()["ko"]["irony"])
        case "en", "negation":
            sources = _english_negation()
        case "en", "contrast":
            sources = _whole_words(forms("en", "contrast", "words"))
        case "en", "irony":
            sources = _english_irony()
        case _:
            return ()
    return tuple(_Rule(form, re.compile(source, re.IGNORECASE)) for form, source in sources)


def _korean_contrast() -> Iterator[tuple[str, str]]:
    tails = _any_of(forms("ko", "contrast", "word_tails"))
    for word in forms("ko", "contrast", "words"):
        yield word, f"{_WORD_START}{re.escape(word)}{tails}?{_WORD_END}"
    not_a_noun = "".join(f"(?<!{re.escape(noun)})" for noun in forms("ko", "contrast", "never_ending_in"))
    adjective = "".join(f"|(?<={re.escape(word)})" for word in forms("ko", "contrast", "although_ending_in"))
    for ending in forms("ko", "contrast", "endings"):
        yield ending, f"{_ending_pattern(ending)}{_WORD_END}(?:{not_a_noun}{adjective})"


def _korean_negation(negation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for adverb in negation["adverbs"]:
        others = f"(?!{_any_of(adverb['never'])})" if adverb["never"] else ""
        form = re.escape(adverb["form"])
        yield adverb["form"], f"{_WORD_START}{others}{form}(?:{_WORD_END}|{_any_of(adverb['stems'])})"
    compared = "".join(f"(?<!{re.escape(word)})" for word in negation["connective_never_after"])
    connectives = compared + _any_of(negation["connectives"])
    for auxiliary in negation["auxiliaries"]:
        yield auxiliary["form"], f"{connectives}{_SPACE}{_any_of(auxiliary['stems'])}"
    absence = negation["absence"]
    affirmed = "".join(rf"(?<!{re.escape(noun)})(?<!{re.escape(noun)}\s)" for noun in absence["never_after"])
    yield absence["form"], f"{affirmed}{re.escape(absence['stem'])}"
    yield from _word_starts(negation["word_starts"])


def _korean_irony(irony: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _word_starts(irony["word_starts"])
    yield from _whole_words(irony["words"])
    for phrase in irony["phrases"]:
        yield phrase["form"], _WORD_START + _SPACE.join(_any_of(part) for part in phrase["parts"])


def _word_starts(starts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for start in starts:
        yield start, f"{_WORD_START}{re.escape(start)}"


def _whole_words(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        yield word, f"{_WORD_START}{re.escape(word)}{_WORD_END}"


def _english_negation() -> Iterator[tuple[str, str]]:
    yield from _whole_words(forms("en", "negation", "words"))
    for clitic in forms("en", "negation", "clitics"):
        spelling = clitic.replace("'", _APOSTROPHE)
        yield clitic, f"(?<=[a-z]){spelling}{_WORD_END}"


def _english_irony() -> Iterator[tuple[str, str]]:
    for phrase in forms("en", "irony", "phrases"):
        yield phrase, _WORD_START + _GAP.join(map(re.escape, phrase.split())) + _WORD_END
    for token in forms("en", "irony", "final_tokens"):
        yield token, rf"(?<!\S){re.escape(token)}(?=\s*+\Z)"


def _ending_pattern(ending: str) -> str:
    """Return the pattern of an ending such as -은데; -ㄴ데 matches any syllable with that final."""
    letters = ending.removeprefix("-")
    if letters[0] not in _FINALS:
        return re.escape(letters)
    # Hangul syllables come in blocks of 28, one per final; the first of a block has none.
    closed = range(ord("가") + _FINALS.index(letters[0]) + 1, ord("힣") + 1, 28)
    return f"[{''.join(map(chr, closed))}]{re.escape(letters[1:])}"


def _any_of(spellings: Iterable[str]) -> str:
    # The longest form first, so that a cue covers its whole spelling.
    return f"(?:{'|'.join(map(re.escape, sorted(spellings, key=len, reverse=True)))})"

"""Tokens of an English text with word classes guessed from closed lists, common words and word shapes."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from episodic_absa.backends.embedded.opinion_lexicon import (
    OpinionLexicon,
    english_compounds,
    english_lexicon,
    english_words,
)

Tag = Literal["D", "P", "I", "C", "X", "V", "A", "R", "N", "S", "#"]
"""Determiner, pronoun, preposition, conjunction, auxiliary, verb, adjective, adverb, noun, sign, number."""
_TOKEN: Final = re.compile(
    # Hurried writers leave the apostrophe out (didnt, ive): a contraction is two words all the same.
    r"(?i:\b(?:did|do|does|was|is|are|were|had|has|have|would|could|should|ca|wo)(?=nt\b)|\bi(?=(?:ve|m)\b))|"
    # Tokenised corpora write "don ' t": the space inside a contraction is no boundary.
    r"n ?['’] ?t\b|['’] ?(?:s|re|m|ll|ve|d)\b|[^\W\d_]+(?:-[^\W\d_]+)*?(?=n ?['’] ?t\b)|"
    r"[^\W\d_]+(?:-[^\W\d_]+)*|\d+(?:[.,:]\d+)*|\S"
)
_ADJECTIVE: Final = re.compile(r".(?:ous|ful|ive|able|ible|less|ish|est)$")
_ADJECTIVES_IN_LY: Final = frozenset({"friendly", "unfriendly", "user-friendly", "lovely", "lively", "ugly", "costly"})
_PAST: Final = frozenset({"shrank", "tore", "broke", "froze", "stank", "sank", "fell", "burst", "split"})
_CONTRACTED: Final = {"nt": "n't", "ve": "'ve", "m": "'m"}
_NEGATIONS: Final = frozenset({"n't", "not"})
_FORMS_OF_BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being", "am", "'re", "'m", "ai"})
_BEFORE_NOUNS: Final = frozenset({"'s", "has", "have", "had", "having", "'ve", "'d", ""})
"""Auxiliaries that a noun may follow at once: has wifi, my husband's steak."""
_PREFERS_NOUN_AFTER: Final = frozenset({"D", "A", "N"})


class EnglishToken(NamedTuple):
    """A word with its class and its place."""

    word: str
    tag: Tag
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EnglishTokens:
    """A text with its tokens; positions outside it are empty."""

    text: str
    items: list[EnglishToken]
    forms: list[str]
    lexicon: OpinionLexicon
    compounds: frozenset[int] = frozenset()
    """Tokens inside a listed compound: they name something, whatever they would say alone."""

    def form(self, at: int) -> str:
        """Return the word at a position."""
        return self.forms[at] if 0 <= at < len(self.forms) else ""

    def tag(self, at: int) -> str:
        """Return the word class at a position."""
        return self.items[at].tag if 0 <= at < len(self.items) else ""


def tagged(text: str) -> list[EnglishToken]:
    """Cut a text into tokens and guess their word classes from left to right."""
    tokens: list[EnglishToken] = []
    before: Tag = "S"
    last = ""
    helper = ""
    for match in _TOKEN.finditer(text):
        word = match.group().lower().replace("’", "'").replace(" ", "")
        if word in _CONTRACTED and tokens and tokens[-1].end == match.start():
            word = _CONTRACTED[word]
        tag = "V" if _must_be_verb(word, last) else _tag(word, before, helper)
        tokens.append(EnglishToken(word, tag, match.start(), match.end()))
        before, last = tag, word
        if word not in _NEGATIONS:
            helper = word if tag == "X" else ""
    return tokens


def _must_be_verb(word: str, last: str) -> bool:
    """Whether a word is a verb because of the word before it: to clean, the soup that came."""
    if last == "to":
        return word in english_words().verbs
    return last in ("that", "which", "who") and word in verb_forms() and word not in english_words().verb_nouns


def compound_places(forms: list[str]) -> list[range]:
    """Return where listed compounds stand."""
    names = english_compounds()
    found: list[range] = []
    end = 0
    for at, form in enumerate(forms):
        if at < end or form not in names:
            continue
        lengths = [
            len(parts) + 1
            for parts in names[form]
            if at + len(parts) < len(forms) and all(forms[at + 1 + n] in part for n, part in enumerate(parts))
        ]
        if lengths:
            end = at + max(lengths)
            found.append(range(at, end))
    return found


def _tag(word: str, before: Tag, helper: str) -> Tag:
    """Guess the class of a word from the class before it and, right behind an auxiliary, from that."""
    known = _closed_class(word)
    if known is not None:
        return known
    words = english_words()
    if word in words.links and before == "N":
        return "V"
    if word in words.verb_nouns or word.removesuffix("s") in words.verb_nouns:
        return "N" if before in ("D", "A", "N", "S", "I") else "V"
    if word in words.nouns:
        return "N"
    if word in words.adjectives:
        return "A"
    if _is_opinion_adjective(word):
        # "the strap tore": an opinion word right behind a noun is its verb, if it can be one.
        may_be_verb = before in ("N", "P") or (before == "S" and (word.endswith("s") or word in _PAST))
        return "V" if may_be_verb and word in verb_forms() else "A"
    if word in verb_forms():
        return "N" if before == "D" and not word.endswith("ed") else "V"
    return _by_shape(word, before, helper)


@lru_cache(maxsize=4096)
def _closed_class(word: str) -> Tag | None:
    words = english_words()
    if not word[0].isalpha() and word not in words.auxiliaries:
        return "#" if word[0].isdigit() else "S"
    table: tuple[tuple[frozenset[str], Tag], ...] = (
        (words.auxiliaries, "X"),
        (words.determiners, "D"),
        (words.pronouns, "P"),
        (words.conjunctions, "C"),
        (words.prepositions, "I"),
    )
    for members, tag in table:
        if word in members:
            return tag
    # Both lists hold "long" and "pretty"; the opinion reading comes first.
    return "R" if word in words.adverbs and word not in words.adjectives else None


def _by_shape(word: str, before: Tag, helper: str) -> Tag:
    if word.endswith("ly"):
        return "R"
    if word.endswith("ing") and len(word) > 4:
        return "N" if before in _PREFERS_NOUN_AFTER else "V"
    if word.endswith("ed") and len(word) > 4:
        return "V"
    if before == "X" and helper in _FORMS_OF_BE:
        # "was muddy": what follows a form of be without an article is said of the subject.
        return "A"
    if before == "X" and helper not in _BEFORE_NOUNS:
        return "V"
    return "A" if _ADJECTIVE.search(word) and len(word) > 5 else "N"


@lru_cache(maxsize=4096)
def _is_opinion_adjective(word: str) -> bool:
    lexicon = english_lexicon()
    if word in english_words().not_targets or (word.endswith("ly") and word not in _ADJECTIVES_IN_LY):
        return False
    return (word in lexicon.words or word in lexicon.by_target) and word not in lexicon.object_verbs


@cache
def verb_forms() -> frozenset[str]:
    """Return the inflected forms of the listed verbs."""
    forms: set[str] = set()
    for verb in english_words().verbs | english_lexicon().object_verbs.keys():
        stem = verb.removesuffix("e")
        forms |= {
            verb,
            f"{verb}s",
            f"{verb}es",
            f"{stem}ed",
            f"{stem}ing",
            f"{verb}{verb[-1]}ed",
            f"{verb}{verb[-1]}ing",
        }
        if verb.endswith("y"):
            forms |= {f"{verb[:-1]}ies", f"{verb[:-1]}ied"}
    return frozenset(forms)


def gap(tokens: EnglishTokens, at: int) -> str:
    """Return what stands between a token and the next."""
    end = tokens.items[at].end
    return tokens.text[end : tokens.items[at + 1].start] if at + 1 < len(tokens.items) else ""

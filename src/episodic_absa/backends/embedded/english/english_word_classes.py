"""Second guesses at word classes, by the whole clause: gerunds as subjects, verbs taken for nouns, listed compounds."""

from typing import Final

from episodic_absa.backends.embedded.english.english_tokens import (
    EnglishToken,
    EnglishTokens,
    compound_places,
    tagged,
    verb_forms,
)
from episodic_absa.backends.embedded.opinion_lexicon import english_lexicon, english_words

_BORDERS: Final = frozenset(".!?;,")
_PREDICATES: Final = ("X", "V")
_FORMS_OF_BE: Final = frozenset({"is", "are", "was", "were", "isn", "'s", "'re"})
_AFTER_VERB: Final = ("D", "P", "R", "#", "A")


def read_tokens(text: str) -> EnglishTokens:
    """Return the tokens of a text with their word classes."""
    items = tagged(text)
    forms = [item.word for item in items]
    compounds = compound_places(forms)
    for place in compounds:
        for at in place:
            items[at] = items[at]._replace(tag="N")
    inside = frozenset(at for place in compounds for at in place)
    _mend_gerunds(items, inside)
    _mend_joined_nouns(items)
    first = 0
    for at in range(len(items) + 1):
        if at == len(items) or items[at].tag == "C" or (items[at].word in _BORDERS and at not in inside):
            _mend_missing_verb(items, first, at, inside)
            first = at + 1
    return EnglishTokens(text, items, forms, english_lexicon(), inside)


def _tag(items: list[EnglishToken], at: int) -> str:
    return items[at].tag if 0 <= at < len(items) else ""


def _mend_gerunds(items: list[EnglishToken], inside: frozenset[int]) -> None:
    """Boarding was slow, washing machine is loud: a participle that opens a clause and has its verb behind it."""
    for at, item in enumerate(items):
        if (
            item.tag != "V"
            or at in inside
            or not item.word.endswith("ing")
            or _tag(items, at - 1) not in ("", "S", "C")
        ):
            continue
        end = at + 1
        while _tag(items, end) == "N":
            end += 1
        if _tag(items, end) in _PREDICATES and items[end].word not in ("n't", "not"):
            items[at] = item._replace(tag="N")


def _mend_joined_nouns(items: list[EnglishToken]) -> None:
    """Burgers and shakes are good: a word that joins a noun and stands before a form of be is no verb."""
    for at in range(2, len(items) - 1):
        is_joined = items[at - 1].word in ("and", "or", "&", ",") and items[at - 2].tag == "N"
        if items[at].tag == "V" and is_joined and items[at + 1].word in _FORMS_OF_BE:
            items[at] = items[at]._replace(tag="N")


def _mend_missing_verb(items: list[EnglishToken], first: int, end: int, inside: frozenset[int]) -> None:
    """The cream sinks in quickly: where a clause has no verb, a noun behind its subject may be it."""
    if any(items[at].tag in _PREDICATES for at in range(first, end)):
        return
    for at in range(first + 1, end):
        item = items[at]
        if item.tag == "N" and _tag(items, at - 1) == "N" and at not in inside and _may_be_verb(items, at, end):
            items[at] = item._replace(tag="V")
            return


def _may_be_verb(items: list[EnglishToken], at: int, end: int) -> bool:
    word, subject = items[at].word, items[at - 1].word
    is_plural = subject.endswith("s") and not subject.endswith("ss")
    is_known = word in verb_forms()
    after = _tag(items, at + 1) if at + 1 < end else ""
    if is_known and (is_plural != word.endswith("s")) and word not in english_words().verb_nouns:
        if word.endswith("s") and word.removesuffix("s") in english_words().verb_nouns:
            return after in _AFTER_VERB or (after == "I" and _tag(items, at + 2) == "R")
        return after in (*_AFTER_VERB, "I", "") and (is_plural or word.endswith(("s", "ed")))
    looks_like_verb = word.endswith("s") and not word.endswith(("ss", "us", "is")) and not is_plural
    return looks_like_verb and word.removesuffix("s") not in english_words().nouns and after in ("D", "P", "R")

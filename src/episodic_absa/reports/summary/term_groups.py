"""Groups near-equal aspect terms by rules of spelling. No rule compares how similar two words look.

1. Case, white space and outer punctuation do not count, nor do a hyphen instead of a space and a leading article.
2. A Korean term is compared without spaces and without a trailing particle, if the analyser finds one in its review.
3. An English plural joins its singular, and a Korean term with 들, 분 or 님 the term without, if that term occurs too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from episodic_absa.language import norm, norm_key

_ARTICLE: Final = re.compile(r"^(?:the|an?) (?=\S)")
_HYPHEN: Final = re.compile(r"(?<=\w)[-\u2010\u2011](?=\w)")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_LATIN_WORD: Final = re.compile(r"[a-z]{4,30}")
_NO_PLURALS: Final = frozenset({"news", "goods", "means", "customs"})
"""Words whose form without s is another word."""
_SUFFIXES: Final = ("분들", "님들", "들", "분", "님")
_SHORTEST: Final = 2
"""A noun of one syllable before such a suffix is part of another word: 손님, 성분."""
_LONGEST_KEY: Final = 200


class TermGroup(NamedTuple):
    """A group of terms: its name, and every spelling with its count."""

    name: str
    spellings: tuple[tuple[str, int], ...]


def term_key(term: str, text: str) -> str:
    """Return what near-equal terms share, before plurals are joined; "" if the term names nothing.

    Example:
        >>> from episodic_absa.reports.summary.term_groups import term_key
        >>> term_key("The Check-in", "The Check-in took an hour.")
        'check in'
        >>> term_key("서비스가", "서비스가 좋아요.")
        '서비스'
    """
    key = norm(term) if len(term) > _LONGEST_KEY else norm_key(term, text)
    key = _ARTICLE.sub("", _HYPHEN.sub(" ", key))
    return key.replace(" ", "") if _HANGUL.search(key) else key


def joined_keys(keys: Iterable[str]) -> Mapping[str, str]:
    """Return the key of the group for every key: plurals get the key of their singular if it is one of the keys.

    Example:
        >>> from episodic_absa.reports.summary.term_groups import joined_keys
        >>> joined_keys(["room", "rooms", "stairs", "직원", "직원들"])
        {'room': 'room', 'rooms': 'room', 'stairs': 'stairs', '직원': '직원', '직원들': '직원'}
    """
    known = dict.fromkeys(keys)
    return {key: next((form for form in _singulars(key) if form in known), key) for key in known}


def may_join(first: str, second: str) -> bool:
    """Return whether two keys can get the same key of a group, depending on which other keys there are.

    Example:
        >>> from episodic_absa.reports.summary.term_groups import may_join
        >>> may_join("room", "rooms"), may_join("room", "roof")
        (True, False)
    """
    return not {first, *_singulars(first)}.isdisjoint({second, *_singulars(second)})


def group_of(spellings: Counter[str]) -> TermGroup:
    """Return the group of these spellings; the commonest names it, then the shortest, then the first in order.

    Spellings that differ only in case are counted together, under the commonest of them.
    """
    ordered = sorted(spellings.items(), key=_rank)
    by_letters: dict[str, tuple[str, int]] = {}
    for spelling, count in ordered:
        first, count_before = by_letters.get(spelling.casefold(), (spelling, 0))
        by_letters[spelling.casefold()] = first, count_before + count
    merged = sorted(by_letters.values(), key=_rank)
    return TermGroup(merged[0][0], tuple(merged))


def _rank(spelling: tuple[str, int]) -> tuple[int, int, str]:
    return -spelling[1], len(spelling[0]), spelling[0]


def _singulars(key: str) -> list[str]:
    """Return the plainer forms of the same thing, the shortest first: the singular, the noun without 들, 분 or 님."""
    plain = [key.removesuffix(suffix) for suffix in _SUFFIXES if key.endswith(suffix)]
    if plain:
        return [form for form in plain if len(form) >= _SHORTEST]
    before, space, word = key.rpartition(" ")
    if not _LATIN_WORD.fullmatch(word) or word in _NO_PLURALS:
        return []
    forms: list[str] = []
    if word.endswith("ies"):
        forms.append(f"{word[:-3]}y")
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        forms.append(word[:-2])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.append(word[:-1])
    return [before + space + form for form in forms]

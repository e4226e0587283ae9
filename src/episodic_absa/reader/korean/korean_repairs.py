"""Mends nouns that the analyser misreads.

Listed ones (세정력) and sequences that no grammar allows are joined; a particle that hides in an unknown noun is split
off.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

from episodic_absa.language import Morpheme
from episodic_absa.reader.korean.korean_tokens import NOUNS
from episodic_absa.reader.korean.opinion_lexicon import korean_lexicon

_ALSO: Final = "도"
_SHORTEST: Final = 2
"""A noun of two syllables may end in 도 by itself (속도)."""
_CODAS: Final = frozenset({"ᆯ", "ᆷ"})
"""A final consonant that the analyser splits off an unknown noun (앰프 + ㄹ, 퍼 + ㅁ)."""


def repaired(text: str, items: Iterable[Morpheme]) -> tuple[Morpheme, ...]:
    """Return the morphemes with broken nouns joined."""
    items = tuple(items)
    by_first = _joined_by_first()
    found: list[Morpheme] = []
    at = 0
    while at < len(items):
        end = _end_of_listed(text, items, at, by_first)
        end = at + 1 if end is None else end
        if end == at + 1:
            end = _end_of_coda(items, at)
        if end == at + 1:
            found += _without_hidden_particle(items, at)
        else:
            start, stop = items[at].start, max(item.end for item in items[at:end])
            found.append(Morpheme(text[start:stop], "NNG", start, stop))
        at = end
    return tuple(found)


@cache
def _joined_by_first() -> dict[str, tuple[str, ...]]:
    """Return the listed nouns by their first syllable, the longest first."""
    lexicon = korean_lexicon()
    by_first: dict[str, list[str]] = {}
    for noun in lexicon.joined_nouns | lexicon.unwanted:
        if len(noun) > 1 or noun in lexicon.joined_nouns:
            by_first.setdefault(noun[0], []).append(noun)
    return {first: tuple(sorted(nouns, key=lambda noun: (-len(noun), noun))) for first, nouns in by_first.items()}


def _end_of_listed(text: str, items: tuple[Morpheme, ...], at: int, by_first: dict[str, tuple[str, ...]]) -> int | None:
    """Return where a listed noun ends that begins here, at the start of a word or right behind a noun."""
    start = items[at].start
    nouns = by_first.get(text[start : start + 1])
    if nouns is None or (at > 0 and items[at - 1].end > start):
        return None
    if at > 0 and items[at - 1].end == start and items[at - 1].tag not in NOUNS:
        return None
    for noun in nouns:
        stop = start + len(noun)
        if not text.startswith(noun, start):
            continue
        end = at
        while end < len(items) and items[end].start < stop:
            end += 1
        if max(item.end for item in items[at:end]) != stop or not _may_follow_noun(items, end, stop):
            return None
        return end
    return None


def _may_follow_noun(items: tuple[Morpheme, ...], at: int, stop: int) -> bool:
    if at >= len(items) or items[at].start > stop:
        return True
    return items[at].tag.startswith(("J", "N", "VCP", "S", "X"))


def _without_hidden_particle(items: tuple[Morpheme, ...], at: int) -> tuple[Morpheme, ...]:
    """Split 도 off an unknown noun that stands behind another noun with 도: 아이라이너도 섀도우도."""
    item = items[at]
    is_beside_another = at > 0 and items[at - 1].form == _ALSO and items[at - 1].tag == "JX"
    has_particle = at + 1 < len(items) and items[at + 1].start == item.end and items[at + 1].tag.startswith("J")
    may_hide_one = item.tag in ("NNG", "NNP") and len(item.form) > _SHORTEST and item.form.endswith(_ALSO)
    if not is_beside_another or has_particle or not may_hide_one:
        return (item,)
    middle = item.end - 1
    return (Morpheme(item.form[:-1], item.tag, item.start, middle), Morpheme(_ALSO, "JX", middle, item.end))


def _end_of_coda(items: tuple[Morpheme, ...], at: int) -> int:
    """Return where a noun ends whose last consonant was taken for a particle or an ending."""
    if items[at].tag not in ("NNG", "NNP"):
        return at + 1
    following = items[at + 1 : at + 3]
    if following and following[0].form in _CODAS and following[0].tag in ("JKO", "ETN"):
        return at + 2 if following[0].start < items[at].end else at + 1
    if len(following) == 2 and following[1].tag == "Z_CODA" and following[0].tag.startswith("J"):
        return at + 3
    return at + 1

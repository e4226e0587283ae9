"""Finds the Stage1 term and pair that a model means by the name of a target, also if it writes "soup: positive"."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from episodic_absa.language import norm, norm_key, read_polarity, synonyms_of
from episodic_absa.vocabulary import Polarity

_NON_WORD = re.compile(r"\W+")
_PAIR = re.compile(r"(?P<name>.*\S)\s*:\s*(?P<polarity>[^:]*)", re.DOTALL)
_ARTICLE = re.compile(r"(?:the|a|an|this|that|these|those|my|our|your|their|its)\s+(?=\S)")
_KOREAN_POLARITIES: Final[dict[str, Polarity]] = {"긍정": "positive", "부정": "negative", "중립": "neutral"}
_LATIN: Final = "a-z0-9à-öø-ɏ"
_LATIN_WORDS = re.compile(rf"[{_LATIN}\s\W_]*[{_LATIN}][{_LATIN}\s\W_]*")


class TermMap:
    """Maps a name that a model uses to the Stage1 term it means."""

    def __init__(self, aspect_terms: Sequence[str], text: str) -> None:
        self.aspect_terms = tuple(aspect_terms)
        self._text = text
        self._by_key: dict[str, str] = {}
        for term in aspect_terms:
            if term:
                self._by_key.setdefault(self._key(term), term)
        for term in aspect_terms:
            for synonym in synonyms_of(term):
                self._by_key.setdefault(self._key(synonym), term)

    def find(self, name: str | None) -> str | None:
        """Return the Stage1 term a name means, "" for the implicit opinion, None if there is none."""
        if name is None:
            return None
        if not norm(name):  # quotes around nothing are an empty name, too
            return "" if "" in self.aspect_terms else None
        return self._by_key.get(self._key(name))

    def _key(self, name: str) -> str:
        return _NON_WORD.sub("", norm_key(name, self._text))


class NamedTerm(NamedTuple):
    """A name without the polarity behind it."""

    name: str
    polarity: Polarity | None = None


def split_name(name: str) -> NamedTerm:
    """Return the target and the polarity of "soup: positive"; any other name as it is."""
    pair = _PAIR.fullmatch(name.strip())
    if pair is None:
        return NamedTerm(name)
    word = norm(pair["polarity"])
    polarity = _KOREAN_POLARITIES.get(word) or read_polarity(word).polarity
    return NamedTerm(name) if polarity is None else NamedTerm(pair["name"], polarity)


def meant_term(name: str, terms: TermMap) -> str | None:
    """Return the Stage1 term that a name means, "" for the implicit opinion, None if there is none."""
    term = terms.find(name)
    plain = split_name(name).name
    if term is None and plain != name:
        term = terms.find(plain)
    if term is None:
        bare = _ARTICLE.sub("", norm(plain), count=1)
        term = terms.find(bare) if bare != norm(plain) else None
    if term is None:
        term = next((held for held in terms.aspect_terms if _ARTICLE.sub("", norm(held), count=1) == norm(plain)), None)
    return term


def meant_polarity(name: str, held: Sequence[Polarity]) -> Polarity | None:
    """Return the polarity of the Stage1 pair that is meant: the named one if the term has it, else the term's first."""
    named = split_name(name).polarity
    return named if named in held else next(iter(held), None)


def overlapping_term(name: str, terms: TermMap) -> str | None:
    """Return the Stage1 term that a name means: the same, or one within the other (the longest)."""
    same = meant_term(name, terms)
    if same is not None:
        return same or None
    key = norm(split_name(name).name)
    inside = [
        term
        for term in terms.aspect_terms
        if term and key and (_is_within(norm(term), key) or _is_within(key, norm(term)))
    ]
    return max(inside, key=len, default=None)


def _is_within(part: str, whole: str) -> bool:
    """Return whether a name holds another one, in Latin script as whole words: "ice" is not in "price"."""
    if not _LATIN_WORDS.fullmatch(part):
        return part in whole
    return re.search(rf"(?<![{_LATIN}]){re.escape(part)}(?:e?s)?(?![{_LATIN}])", whole) is not None

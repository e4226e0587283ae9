"""Finds opinion words and idioms in English; what they are said of is decided later."""

from functools import lru_cache
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.english.english_tokens import EnglishTokens
from episodic_absa.backends.embedded.opinion_lexicon import (
    Idiom,
    english_lexicon,
    english_words,
    vader_scores,
)

_MIN_VADER: Final = 1.2
_REVERSED: Final = -0.8
_ABSENCE: Final = -1.5
_NEVER_MISSED: Final = frozenset(
    {
        "noise", "smell", "smells", "queue", "queues", "wait", "waiting", "delay", "delays", "mess", "crowd",
        "crowds", "lag", "ads", "adverts", "stain", "stains", "aftertaste", "residue", "bug", "bugs", "leak",
        "leaks", "scratches", "scratch", "fees", "surprises", "problem", "problems", "issue", "issues", "trouble",
        "complaint", "complaints", "mosquitoes", "stress", "pain", "worries", "rush", "pressure", "gimmicks",
        "nonsense", "glitches", "traffic",
    }
)  # fmt: skip
"""Nobody minds their absence."""
_NO_MORE_THAN_WORDS: Final = frozenset(
    {"doubt", "idea", "way", "matter", "one", "longer", "more", "need", "reason", "time", "exception", "joke", "less"}
)
_STAND_INS: Final = ("one", "ones")
_DEFEATED_BY: Final = frozenset({"too", "unable", "impossible", "failed", "fails", "refused", "refuses", "forgot"})


class EnglishHit(NamedTuple):
    """An opinion by token positions, before it is scored."""

    first: int
    last: int
    form: str
    score: float
    idiom: Idiom | None = None
    is_object_verb: bool = False
    is_coloured: bool = False
    is_absence: bool = False
    """It says that something is not there."""


def find_hits(tokens: EnglishTokens) -> list[EnglishHit]:
    """Return opinion words and idioms from left to right, none inside another."""
    hits: list[EnglishHit] = []
    at = 0
    while at < len(tokens.items):
        hit = _hit_at(tokens, at)
        if hit is None:
            at += 1
            continue
        if not (hit.idiom is not None and hit.idiom.skip) and not _is_beside_the_point(tokens, hit):
            hits.append(hit)
        at = hit.last + 1
    return hits


def _hit_at(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    if at in tokens.compounds:
        return None
    found = tokens.lexicon.longest_idiom(tokens.forms, at)
    if found is not None and _holds(tokens, *found):
        idiom, end = found
        if idiom.reverses:
            return _reversed(tokens, at, end)
        end += idiom.comparative
        if idiom.comparative and tokens.form(end - 1) in ("more", "less") and tokens.tag(end) == "A":
            end += 1
        return EnglishHit(at, end - 1 - idiom.keep_last, " ".join(tokens.forms[at:end]), idiom.score, idiom)
    return _object_verb(tokens, at) or _coloured(tokens, at) or _absence(tokens, at) or _plain_word(tokens, at)


def _object_verb(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    word = tokens.forms[at]
    verb = tokens.lexicon.object_verbs.get(word)
    if verb is not None and (tokens.tag(at) == "V" or word not in tokens.lexicon.words) and tokens.tag(at) != "I":
        return EnglishHit(at, at, word, verb, is_object_verb=True)
    if (
        word in ("like", "likes", "liked")
        and tokens.tag(at - 1) in ("P", "X", "R", "N")
        and tokens.form(at - 1) in ("i", "we", "n't", "not", "really", "also", "they", "you", "did")
    ):
        return EnglishHit(at, at, word, 2.0, is_object_verb=True)
    return None


def _coloured(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    word = tokens.forms[at]
    for form in (word, *_compared_adjectives(word)):
        colour = tokens.lexicon.by_target.get(form)
        if colour is not None:
            return EnglishHit(at, at, form, colour.other, is_coloured=True)
    return None


def _plain_word(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    word = tokens.forms[at]
    if word == "fit" and tokens.tag(at) == "N":
        return None
    # "easy to clean": what follows "to" is done, not judged.
    if tokens.form(at - 1) == "to" and word in english_words().verbs and word in english_words().adjectives:
        return None
    score = word_score(word)
    if score is not None and not (word == "pretty" and tokens.tag(at + 1) in ("A", "R")):
        return EnglishHit(at, at, word, score)
    # Too much of anything displeases.
    if tokens.form(at - 1) == "too" and tokens.tag(at) == "A":
        return EnglishHit(at, at, word, -1.0)
    return None


def _reversed(tokens: EnglishTokens, at: int, end: int) -> EnglishHit | None:
    """Return the opinion behind "anything but" or "far from", turned round."""
    while tokens.tag(end) in ("D", "R") and end - at < 5 and tokens.forms[end] not in tokens.lexicon.words:
        end += 1
    inner = _hit_at(tokens, end) if end < len(tokens.items) else None
    return None if inner is None else EnglishHit(at, inner.last, inner.form, inner.score * _REVERSED)


def _absence(tokens: EnglishTokens, at: int) -> EnglishHit | None:
    """Return what "no hot water" or "without a light" says: something is missing, or happily so."""
    if tokens.forms[at] != "no":
        return None
    end = at + 1
    while tokens.tag(end) in ("A", "R") and end - at < 3:
        end += 1
    while tokens.tag(end) == "N" and tokens.tag(end + 1) == "N":
        end += 1
    noun = tokens.form(end)
    if tokens.tag(end) != "N" or noun in _NO_MORE_THAN_WORDS or tokens.form(at + 1) in _NO_MORE_THAN_WORDS:
        return None
    if noun in _NEVER_MISSED:
        return EnglishHit(at, end, f"no {noun}", -_ABSENCE)
    if word_score(noun) is not None or noun in english_words().not_targets:
        return None
    return EnglishHit(at, at, "no", _ABSENCE, is_absence=True)


def _is_beside_the_point(tokens: EnglishTokens, hit: EnglishHit) -> bool:
    """Whether a word describes what is compared with, or what could not be done: too stiff to draw a clean line."""
    if hit.idiom is not None:
        return False
    for at in range(hit.first - 1, max(-1, hit.first - 5), -1):
        if tokens.forms[at] == "than" and (tokens.tag(hit.last + 1) == "N" or tokens.form(hit.last + 1) in _STAND_INS):
            return True
        if tokens.tag(at) in ("X", "V", "S", "C"):
            break
    if hit.score <= 0:
        return False
    if hit.form in ("favourite", "favorite") and tokens.form(hit.first - 1) in ("my", "our", "his", "her"):
        # Ruined my favourite jacket: that it is dear is no praise of it here.
        return tokens.tag(hit.first - 2) in ("V", "A")
    to = next((at for at in range(hit.first - 1, max(-1, hit.first - 5), -1) if tokens.forms[at] == "to"), None)
    if to is None or tokens.tag(to + 1) != "V":
        return False
    return any(tokens.forms[at] in _DEFEATED_BY for at in range(max(0, to - 4), to))


def _holds(tokens: EnglishTokens, idiom: Idiom, end: int) -> bool:
    if not idiom.comparative:
        return True
    word = tokens.form(end)
    return word in ("better", "more", "less") or (word.endswith("er") and tokens.tag(end) == "A")


@lru_cache(maxsize=8192)
def word_score(word: str) -> float | None:
    """Return the strength of a word by our list, else by VADER, else by the adjective it compares."""
    lexicon = english_lexicon()
    score = lexicon.words.get(word)
    if score is not None:
        return score
    words = english_words()
    if word in lexicon.not_opinions or word in words.nouns or not word[0].isalpha():
        return None
    found = vader_scores().get(word)
    if found is None or abs(found) < _MIN_VADER:
        return _compared_score(word)
    # VADER runs to 4; our strengths run to 3.
    return max(-3.0, min(3.0, found * 0.9))


def _compared_score(word: str) -> float | None:
    """Return the score of the adjective inside a comparative or superlative (brighter, brightest)."""
    listed = english_lexicon().words
    return next((listed[base] for base in _compared_adjectives(word) if base in listed), None)


@lru_cache(maxsize=4096)
def _compared_adjectives(word: str) -> tuple[str, ...]:
    """Return what a comparative or superlative may compare."""
    for ending in ("er", "est"):
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            stem = word.removesuffix(ending)
            doubled = stem[:-1] if stem[-1] == stem[-2] else stem
            return stem, f"{stem}e", f"{stem[:-1]}y" if stem.endswith("i") else stem, doubled
    return ()

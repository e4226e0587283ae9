"""Finds opinion words and idioms in Korean by their morphemes; what they are said of is decided later."""

from typing import Final, NamedTuple

from episodic_absa.reader.korean.korean_tokens import NOUNS, KoreanTokens
from episodic_absa.reader.korean.opinion_lexicon import Idiom

_OPINION_TAGS: Final = frozenset(
    {"NNG", "NNP", "XR", "VA", "VV", "MAG", "IC", "SL", "VX", "XSN", "MM", "XPN", "W_EMOJI"}
)
_SUFFIX_TAGS: Final = ("XSA", "XSV", "XSN", "VCP", "VV", "VA", "VX")
_MAX_MORPHEMES: Final = 3
_WITHOUT_VARIANTS: Final = dict.fromkeys([0xFE0F, *range(0x1F3FB, 0x1F400)])
"""An emoji judges in any colour of skin."""
_EXISTENCE_STEMS: Final = frozenset(
    {
        "없",
        "있",
        "나",
        "나오",
        "걸리",
        "생기",
        "들리",
        "보이",
        "발생",
        "일",
        "일어나",
        "올라오",
        "남",
        "끼",
        "느껴지",
        "뜨",
    }
)


class KoreanHit(NamedTuple):
    """An opinion by token positions, before it is scored."""

    first: int
    last: int
    form: str
    score: float
    idiom: Idiom | None = None
    is_coloured: bool = False
    """Its score depends on the target."""


def find_hits(tokens: KoreanTokens) -> list[KoreanHit]:
    """Return opinion words and idioms from left to right, none inside another."""
    hits: list[KoreanHit] = []
    at = 0
    while at < len(tokens.items):
        hit = _hit_at(tokens, at)
        if hit is None:
            at += 1
        else:
            if hit.idiom is None or not hit.idiom.skip:
                hits.append(hit)
            at = hit.last + 1
    return hits


def _hit_at(tokens: KoreanTokens, at: int) -> KoreanHit | None:
    found = tokens.lexicon.longest_idiom(tokens.forms, at)
    if found is not None:
        idiom, end = found
        return KoreanHit(at, end - 1, idiom.seq, idiom.score, idiom)
    if tokens.tag(at) not in _OPINION_TAGS:
        return None
    for last in range(_last_of_word(tokens, at), at - 1, -1):
        hit = _word_hit(tokens, at, last, "".join(tokens.forms[at : last + 1]).translate(_WITHOUT_VARIANTS))
        if hit is not None:
            return hit
    return _existence_hit(tokens, at)


def _word_hit(tokens: KoreanTokens, at: int, last: int, form: str) -> KoreanHit | None:
    lexicon = tokens.lexicon
    only = lexicon.only_as.get(form)
    if only is not None and tokens.tag(at) != only.split("-")[0]:
        return None
    colour = lexicon.by_target.get(form)
    if colour is not None:
        return KoreanHit(at, last, form, colour.other, is_coloured=True)
    score = lexicon.words.get(form)
    if score is None or (form in lexicon.unwanted and _heads_on(tokens, last)):
        return None
    # A verb made of a noun swallows its suffix, so that 추천 + 하 is one opinion.
    if at == last and tokens.tag(at) in NOUNS and tokens.tag(at + 1) in ("XSA", "XSV") and _goes_on(tokens, at):
        last += 1
    return KoreanHit(at, last, form, score)


def _heads_on(tokens: KoreanTokens, last: int) -> bool:
    """Whether an unwanted thing only describes the noun behind it (곰팡이 냄새)."""
    return tokens.tag(last + 1) in ("NNG", "NNP") and tokens.form(last + 1) in tokens.lexicon.unwanted


def _existence_hit(tokens: KoreanTokens, at: int) -> KoreanHit | None:
    """없- and 있- judge by what is absent or present."""
    if tokens.forms[at] == "없이" and tokens.form(at - 1) in tokens.lexicon.unwanted:
        return KoreanHit(at, at, "없이", 1.5)
    if tokens.tag(at) not in ("VA", "VV") or tokens.forms[at] not in _EXISTENCE_STEMS:
        return None
    before = at - 1
    while tokens.tag(before).startswith("J") or tokens.tag(before) == "MAG":
        before -= 1
    is_unwanted = tokens.form(before) in tokens.lexicon.unwanted
    is_noun = tokens.tag(before) in ("NNG", "NNP")
    if tokens.forms[at] == "없" and is_noun:
        if not is_unwanted and tokens.form(before) in tokens.lexicon.not_targets:
            return None
        return KoreanHit(at, at, "없", 1.5 if is_unwanted else -1.5)
    if tokens.forms[at] != "없" and is_unwanted:
        return KoreanHit(at, at, tokens.forms[at], -1.5)
    return None


def _last_of_word(tokens: KoreanTokens, first: int) -> int:
    """Return how far an opinion word that begins here may reach."""
    last = first
    while last - first + 1 < _MAX_MORPHEMES and _goes_on(tokens, last):
        last += 1
    return last


def _goes_on(tokens: KoreanTokens, at: int) -> bool:
    """Whether the next morpheme is written onto this one and may belong to the same word."""
    following = at + 1
    if following >= len(tokens.items) or tokens.items[at].end < tokens.items[following].start:
        return False
    return tokens.tags[following] in NOUNS or tokens.tags[following].startswith(_SUFFIX_TAGS)

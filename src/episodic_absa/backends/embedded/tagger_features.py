"""Features of the aspect tagger, word by word. Training and the engine both read words through this module."""

from collections.abc import Sequence
from typing import Final

from episodic_absa.backends.embedded.reading import Reading, Word
from episodic_absa.backends.embedded.word_marks import WordMarks, mark_words

_EDGE: Final = "|"
_OF_DOMAIN: Final = (
    *("b", "w=", "r=", "n=", "t=", "w-1w=", "ww+1=", "o=", "l=", "s3=", "d=", "p="),
    *("tt=", "t-1=", "t+1=", "rt=", "e=", "pe=", "r-1=", "r1="),
)
"""What a domain's own annotation decides: which words, and how much the rules' marks are worth."""
_BUCKETS: Final = (0, 1, 2, 3, 4, 4, 6, 6, 6, 9)


def tagger_features(reading: Reading) -> list[list[str]]:
    """Return the attributes of every word of a reading."""
    marks = mark_words(reading)
    lexical = [_lexical(reading, at) for at in range(len(reading.words))]
    return [_features(reading, marks, lexical, at) for at in range(len(reading.words))]


def adapted(features: list[list[str]], domain: str | None) -> list[list[str]]:
    """Add the domain's own copies of its attributes; none for an unknown domain."""
    if domain is None:
        return features
    return [[*found, *(f"{domain}|{one}" for one in found if one.startswith(_OF_DOMAIN))] for found in features]


def _lexical(reading: Reading, at: int) -> tuple[str, str]:
    """Return the comparable form of a word, and its class."""
    word = reading.words[at]
    if reading.language == "en":
        form = "0" if word.form[0].isdigit() else word.form
        return form, word.tag
    tag = word.tag.split("-")[0]
    return ("0" if tag == "SN" else word.form), tag


def _features(reading: Reading, marks: Sequence[WordMarks], lexical: Sequence[tuple[str, str]], at: int) -> list[str]:
    form, tag = lexical[at]
    before, before_tag = lexical[at - 1] if at else (_EDGE, _EDGE)
    after, after_tag = lexical[at + 1] if at + 1 < len(lexical) else (_EDGE, _EDGE)
    before2, before2_tag = lexical[at - 2] if at > 1 else (_EDGE, _EDGE)
    after2, after2_tag = lexical[at + 2] if at + 2 < len(lexical) else (_EDGE, _EDGE)
    mark = marks[at]
    found = [
        "b",
        f"w={form}",
        f"t={tag}",
        f"w-1={before}",
        f"w+1={after}",
        f"t-1={before_tag}",
        f"t+1={after_tag}",
        f"w-2={before2}",
        f"w+2={after2}",
        f"tt={before_tag},{tag},{after_tag}",
        f"t-2={before2_tag},{before_tag}",
        f"t+2={after_tag},{after2_tag}",
        f"w-1w={before},{form}",
        f"ww+1={form},{after}",
        f"r={mark.target}",
        f"rt={mark.target},{tag}",
        f"o={mark.opinion}",
        f"l={mark.lexicon}",
        f"n={int(mark.is_listed)}",
        f"nt={int(mark.is_listed)},{tag},{after_tag}",
        f"d={_BUCKETS[mark.to_opinion]},{_BUCKETS[mark.from_opinion]}",
        f"dn={_BUCKETS[mark.to_opinion]},{_BUCKETS[mark.from_opinion]},{int(mark.is_listed)},{tag}",
    ]
    for offset in (-2, -1, 1, 2):
        place = at + offset
        if 0 <= place < len(marks):
            other = marks[place]
            found.append(f"r{offset}={other.target[:1]},{other.opinion},{other.lexicon},{int(other.is_listed)}")
    word = reading.words[at]
    found += _english_shape(reading, word) if reading.language == "en" else _korean_shape(reading, at)
    return found


def _english_shape(reading: Reading, word: Word) -> list[str]:
    written = reading.text[word.start : word.end]
    shape = "A" if written.isupper() and len(written) > 1 else "a"
    if shape == "a" and written[:1].isupper():
        shape = "S" if word.start == 0 else "C"
    return [f"s3={word.form[-3:]}", f"s2={word.form[-2:]}", f"sh={shape}"]


def _korean_shape(reading: Reading, at: int) -> list[str]:
    """Where the morpheme stands in its eojeol, and what the eojeol ends in."""
    words = reading.words
    opens = at == 0 or words[at - 1].end < words[at].start
    last = at
    while last + 1 < len(words) and words[last].end >= words[last + 1].start:
        last += 1
    closes = last == at
    particle = words[last].form if words[last].tag.startswith(("J", "E")) else words[last].tag
    return [
        f"e={int(opens)}{int(closes)}",
        f"p={particle}",
        f"pe={particle},{words[at].tag}",
        f"c={words[at].form[-1:]}",
        f"c0={words[at].form[:1]}",
    ]

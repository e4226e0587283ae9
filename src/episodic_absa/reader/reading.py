"""Turns a text into what the network reads, and what it answers about tokens into pairs. Knows no framework.

Training reads with this module too (training/reader), so that a reader is used as it was trained.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from episodic_absa.vocabulary import POLARITIES, Polarity

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAD, UNKNOWN, START, END, MASK = range(5)
SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TAGS: Final = ("no_tag", "everyday", "restaurant", "coursera", "food", "hotel", "phone", "sight", "film")
"""The token after the first says which corpus' custom a text follows; `no_tag`: none is known."""
RESERVED: Final = (*SPECIAL, *(f"[{tag}]" for tag in TAGS))
WINDOW: Final = 254
"""Tokens of a text that are read at once, beside first token, tag and last token."""
OVERLAP: Final = 32
MARKS: Final = ("O", *(f"{letter}-{polarity}" for polarity in POLARITIES for letter in "BI"))
TextLabel = Literal["positive", "negative", "neutral", "mixed", "none"]
"""What a whole text amounts to; `none`: it judges nothing."""
LABELS: Final[tuple[TextLabel, ...]] = get_args(TextLabel)
TOPICS: Final = (
    *("food", "service", "price", "place", "room", "staff", "design", "quality"),
    *("performance", "battery", "screen", "sound", "delivery", "ease_of_use", "other"),
)
SURE, POSSIBLE = 0.5, 0.2
"""Terms are looked for twice: where a term is likelier than none, then, beside those, where one is possible."""
DIGITS: Final = 3
_OUTER: Final = " \t\n.,;:!?\"'`()[]{}“”‘’…~-"
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SPECIAL_BEFORE: Final = 2
"""Tokens that stand before the text's own: first token and tag."""
Array: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"


class Encoded(NamedTuple):
    """The tokens of a text, without special ones; offsets count code points."""

    ids: list[int]
    starts: list[int]
    ends: list[int]


def tag_id(tag: str) -> int:
    """Return the id of a corpus tag."""
    return len(SPECIAL) + TAGS.index(tag)


def framed(ids: Sequence[int], tag: int) -> list[int]:
    """Return the ids with first token, tag and last token: what the network reads."""
    return [START, tag, *ids, END]


def encode(tokenizer: "Tokenizer", text: str) -> Encoded:
    """Return the tokens of a text."""
    # A replacement of the same length: tokenisers refuse half of a surrogate pair.
    encoding = tokenizer.encode(LONE_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
    return Encoded(encoding.ids, [start for start, _ in encoding.offsets], [end for _, end in encoding.offsets])


def windows(length: int) -> list[tuple[int, int]]:
    """Return the parts that a text of so many tokens is read in; neighbours overlap.

    Example:
        >>> windows(300)
        [(0, 254), (222, 300)]
    """
    starts = range(0, max(1, length - OVERLAP), WINDOW - OVERLAP)
    return [(start, min(start + WINDOW, length)) for start in starts]


class Output(NamedTuple):
    """The network's probabilities for one window, special tokens included."""

    marks: Array
    topics: Array
    label: Array


class Pair(NamedTuple):
    """A judged term, and how sure the network is of it."""

    start: int
    end: int
    polarity: Polarity
    p: float
    topic: str


Window: TypeAlias = list[int]
"""The ids that the network reads at once."""
Answers: TypeAlias = Callable[[Sequence[Window]], Sequence[Output]]
"""The network: one output for each window, which depends on that window alone."""


def outputs_of(
    texts: Sequence[str], tokenizer: "Tokenizer", answers: Answers, tag: int
) -> Iterator[tuple[Encoded, Output]]:
    """Yield the places of each text and what the network says of them."""
    encoded = [encode(tokenizer, text) for text in texts]
    parts = [windows(len(tokens.ids)) for tokens in encoded]
    asked = [
        framed(tokens.ids[start:end], tag)
        for tokens, of_text in zip(encoded, parts, strict=True)
        for start, end in of_text
    ]
    outputs = iter(answers(asked))
    for tokens, of_text in zip(encoded, parts, strict=True):
        yield tokens, joined([next(outputs) for _ in of_text], of_text)


def joined(outputs: Sequence[Output], parts: Sequence[tuple[int, int]]) -> Output:
    """Return one output for a text, without special tokens: of two windows the one whose border is farther answers."""
    marks, topics = [], []
    for at, (output, (start, end)) in enumerate(zip(outputs, parts, strict=True)):
        first = start if at == 0 else (start + parts[at - 1][1]) // 2
        last = end if at + 1 == len(parts) else (parts[at + 1][0] + end) // 2
        own = slice(_SPECIAL_BEFORE + first - start, _SPECIAL_BEFORE + last - start)
        marks.append(output.marks[own])
        topics.append(output.topics[own])
    lengths = np.array([end - start for start, end in parts], dtype=np.float32) + 1
    label = np.average([output.label for output in outputs], axis=0, weights=lengths)
    return Output(np.concatenate(marks), np.concatenate(topics), label)


def pairs_of(text: str, tokens: Encoded, output: Output) -> list[Pair]:
    """Return the terms of a text from left to right; p is the mean share of the polarity over a term's tokens."""
    taken = np.zeros(len(tokens.starts), dtype=bool)
    found: list[Pair] = []
    for least in (SURE, POSSIBLE):
        for first, end in _places(output.marks, goes_on_a_word(text, tokens), taken, least):
            taken[first:end] = True
            masses = [output.marks[first:end, 1 + 2 * at : 3 + 2 * at].sum(1).mean() for at in range(len(POLARITIES))]
            best = int(np.argmax(masses))
            start_end = whole_words(text, tokens.starts[first], tokens.ends[end - 1])
            topic = TOPICS[int(output.topics[first:end].mean(0).argmax())]
            p = round(float(masses[best]), DIGITS)
            is_free = all(start_end[1] <= pair.start or pair.end <= start_end[0] for pair in found)
            if start_end[0] < start_end[1] and p >= POSSIBLE and is_free:
                found.append(Pair(*start_end, POLARITIES[best], p, topic))
    return sorted(found)


def goes_on_a_word(text: str, tokens: Encoded) -> list[bool]:
    """Return for each token whether it goes on a word: no term begins there behind a term."""
    return [False] + [
        end == start and start < len(text) and text[end - 1].isalnum() and text[start].isalnum()
        for end, start in zip(tokens.ends, tokens.starts[1:], strict=False)
    ]


def _places(marks: Array, is_joined: Sequence[bool], taken: Any, least: float) -> Iterable[tuple[int, int]]:
    inside, begins, goes_on = 1 - marks[:, 0], marks[:, 1::2].sum(1), marks[:, 2::2].sum(1)
    is_term = (inside >= least) & ~taken
    first = 0
    while first < len(is_term):
        end = first + 1
        if is_term[first]:
            while end < len(is_term) and is_term[end] and (is_joined[end] or begins[end] <= goes_on[end]):
                end += 1
            yield first, end
        first = end


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span widened to whole words and without outer punctuation. In Hangul particles stay outside."""
    while 0 < start < len(text) and _holds_together(text[start - 1], text[start]):
        start -= 1
    while 0 < end < len(text) and _holds_together(text[end - 1], text[end]):
        end += 1
    while start < end and text[start] in _OUTER:
        start += 1
    while start < end and text[end - 1] in _OUTER:
        end -= 1
    return start, end


def _holds_together(before: str, after: str) -> bool:
    return all(letter.isalnum() and not "\u1100" <= letter <= "\ud7af" for letter in (before, after))

"""Files of readings, and what the package knows of how a text is read: a reader is trained as it is used."""

import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

# A machine that trains need not have installed the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from episodic_absa.reader.reading import (
    DIGITS,
    END,
    LABELS,
    MARKS,
    MASK,
    PAD,
    RESERVED,
    SPECIAL,
    START,
    SURE,
    TAGS,
    TOPICS,
    UNKNOWN,
    WINDOW,
    Answers,
    Encoded,
    Output,
    Pair,
    TextLabel,
    Window,
    encode,
    framed,
    joined,
    outputs_of,
    pairs_of,
    tag_id,
    whole_words,
    windows,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "DIGITS",
    "END",
    "LABELS",
    "MARKS",
    "MASK",
    "PAD",
    "RESERVED",
    "SPECIAL",
    "START",
    "SURE",
    "TAGS",
    "TOPICS",
    "UNKNOWN",
    "WINDOW",
    "Answers",
    "Encoded",
    "Output",
    "Pair",
    "Read",
    "Window",
    "encode",
    "framed",
    "joined",
    "letters_of",
    "pairs_of",
    "per_letter",
    "read_from",
    "read_lines",
    "read_texts",
    "tag_id",
    "whole_words",
    "windows",
    "write_lines",
]


class Read(NamedTuple):
    """What is read in a text."""

    pairs: tuple[Pair, ...]
    label: TextLabel
    label_p: float


def read_texts(texts: Sequence[str], tokenizer: "Tokenizer", answers: Answers, tag: int) -> list[Read]:
    """Return what is read in each text, long ones in overlapping windows."""
    outputs = outputs_of(texts, tokenizer, answers, tag)
    return [read_from(text, *per_letter(text, *output)) for text, output in zip(texts, outputs, strict=True)]


def read_from(text: str, places: Encoded, output: Output) -> Read:
    """Return what probabilities at places of a text say."""
    best = int(output.label.argmax())
    return Read(tuple(pairs_of(text, places, output)), LABELS[best], round(float(output.label[best]), DIGITS))


def letters_of(text: str, tokens: Encoded, slots: int) -> list[tuple[int, int, int, int]]:
    """Return token, slot, start and end of every letter that a token holds; the last slot takes what is left.

    Example:
        >>> letters_of("a bc", Encoded([7, 8], [0, 1], [1, 4]), 5)
        [(0, 0, 0, 1), (1, 0, 2, 3), (1, 1, 3, 4)]
    """
    found = []
    for token, (start, end) in enumerate(zip(tokens.starts, tokens.ends, strict=True)):
        letters = [at for at in range(start, end) if not text[at].isspace()]
        for slot, at in enumerate(letters[:slots]):
            found.append((token, slot, at, end if slot + 1 == slots else at + 1))
    return found


def per_letter(text: str, tokens: Encoded, output: Output) -> tuple[Encoded, Output]:
    """Return places and probabilities of letters, where the network marks those; of tokens as they are, elsewhere."""
    if output.marks.ndim == 2:
        return tokens, output
    letters = letters_of(text, tokens, output.marks.shape[1])
    of_token, slots = [letter[0] for letter in letters], [letter[1] for letter in letters]
    places = Encoded(tokens.ids, [letter[2] for letter in letters], [letter[3] for letter in letters])
    return places, Output(output.marks[of_token, slots], output.topics[of_token], output.label)


def write_lines(lines: Iterable[dict[str, Any]], path: Path) -> None:
    """Write JSON lines, compressed; the same content gives the same bytes."""
    content = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode(), mtime=0))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines that `write_lines` wrote."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]

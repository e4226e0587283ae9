"""Files of readings, and what the package knows of how a text is read: a reader is trained as it is used."""

import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# A machine that trains need not have installed the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from episodic_absa.reader.reading import (
    CLASS_LETTERS,
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
    Read,
    Window,
    encode,
    framed,
    framed_classes,
    joined,
    pairs_of,
    read_texts,
    tag_id,
    whole_words,
    windows,
)

__all__ = [
    "CLASS_LETTERS",
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
    "framed_classes",
    "joined",
    "pairs_of",
    "read_lines",
    "read_texts",
    "tag_id",
    "whole_words",
    "windows",
    "write_lines",
]


def write_lines(lines: Iterable[dict[str, Any]], path: Path) -> None:
    """Write JSON lines, compressed; the same content gives the same bytes."""
    content = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode(), mtime=0))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines that `write_lines` wrote."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]

"""Where the reviews of `analyze` come from: arguments, a file, standard input. One per line in the latter two."""

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from episodic_absa.errors import ConfigError

STANDARD_INPUT: Final = "-"


def read_reviews(texts: Sequence[str], file: Path | None) -> list[str]:
    """Return all reviews in the order they were given, or say what is missing.

    Args:
        texts: one review each; `-` stands for the lines of standard input.
        file: a file with one review per line, or `-`.
    """
    if not texts and file is None:
        raise ConfigError(
            "there is nothing to analyse; give a review, --file PATH, or - to read standard input", key="text"
        )
    reviews: list[str] = []
    for place, text in enumerate(texts, start=1):
        if text == STANDARD_INPUT:
            reviews += _lines_of(_standard_input(), "standard input")
        elif not text.strip():
            which = "the review" if len(texts) == 1 else f"review {place}"
            raise ConfigError(f"{which} is empty; give some text to analyse", key="text")
        else:
            reviews.append(as_unicode(text, "the review"))
    if file is not None:
        from_input = str(file) == STANDARD_INPUT
        content, name = (_standard_input(), "standard input") if from_input else (_content_of(file), str(file))
        reviews += _lines_of(content, name)
    return reviews


def as_unicode(argument: str, what: str) -> str:
    """Refuse what the shell passed on as stray bytes: no model and no file could take it."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(f"{what} is not valid UTF-8; check the encoding of the terminal", key=what) from error
    return argument


def _standard_input() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin is not None else b""


def _content_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read the reviews {file}: {error.strerror}; give a text file with one review per line",
            path=file,
            key="file",
        ) from error


def _lines_of(content: bytes, name: str) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: not UTF-8; save the reviews as UTF-8", key="file") from error
    found = list(_filled_lines(text))
    if not found:
        raise ConfigError(f"{name} holds no review; one per line is expected", key="file")
    return found


def _filled_lines(text: str) -> Iterator[str]:
    # Not str.splitlines: it would also cut a review at a form feed or a Unicode line separator.
    for line in io.StringIO(text, newline=None):
        if line.strip():
            yield line.rstrip("\n")

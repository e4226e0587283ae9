"""Reads the reviews of `analyze`: from arguments, or one per line from a file or standard input."""

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from episodic_absa.analyzer import make_sample
from episodic_absa.errors import ConfigError
from episodic_absa.schemas.absa import Sample
from episodic_absa.vocabulary import Language

STANDARD_INPUT: Final = "-"


def read_samples(
    texts: Sequence[str], file: Path | None, *, language: Language | None = None, uid: str | None = None
) -> list[Sample]:
    """Return a sample per review; see `read_reviews` for the sources and errors.

    Args:
        texts: the arguments.
        file: the value of `--file`.
        language: the language of every review, None to detect it.
        uid: the id of the only review.
    """
    reviews = read_reviews(texts, file)
    if uid is not None and len(reviews) > 1:
        message = f"--uid names one review, and there are {len(reviews)}; give one review or leave --uid out"
        raise ConfigError(message, key="uid")
    uid = uid and as_unicode(uid, "--uid")
    return [make_sample(review, language_code=language, uid=uid) for review in reviews]


def read_reviews(texts: Sequence[str], file: Path | None) -> list[str]:
    """Return all reviews in the order given.

    Args:
        texts: one review each; `-` stands for the lines of standard input.
        file: a file with one review per line, or `-`.

    Raises:
        ConfigError: there is no review, a review is empty, or the text is not UTF-8.
    """
    if not texts and file is None:
        raise ConfigError(
            "there is nothing to analyse; give a review, --file PATH, or - to read standard input", key="text"
        )
    reviews: list[str] = []
    for number, text in enumerate(texts, start=1):
        if text == STANDARD_INPUT:
            reviews += _lines_of(_standard_input(), "standard input")
        elif not text.strip():
            which = "the review" if len(texts) == 1 else f"review {number}"
            raise ConfigError(f"{which} is empty; give some text to analyse", key="text")
        else:
            reviews.append(as_unicode(text, "the review"))
    if file is not None:
        from_input = str(file) == STANDARD_INPUT
        content, name = (_standard_input(), "standard input") if from_input else (_content_of(file), str(file))
        reviews += _lines_of(content, name)
    return reviews


def as_unicode(argument: str, name: str) -> str:
    """Return the argument if it is valid Unicode; a shell may pass on bytes that are not.

    Raises:
        ConfigError: the argument is not valid UTF-8.
    """
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(f"{name} is not valid UTF-8; check the encoding of the terminal", key=name) from error
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
    reviews = list(_filled_lines(text))
    if not reviews:
        raise ConfigError(f"{name} holds no review; one per line is expected", key="file")
    return reviews


def _filled_lines(text: str) -> Iterator[str]:
    # Not str.splitlines: it would also cut a review at a form feed or a Unicode line separator.
    for line in io.StringIO(text, newline=None):
        if line.strip():
            yield line.rstrip("\n")

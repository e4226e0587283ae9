"""Reads the reviews of `analyze`: from arguments, one per line from a file or standard input, or from a table."""

import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from episodic_absa.cli.analyze.file_arguments import STANDARD_INPUT, named_file
from episodic_absa.datasets.tables import TABLE_ENDINGS, open_review_table
from episodic_absa.datasets.tables.review_table import ReviewRow
from episodic_absa.errors import ConfigError

TEXT_COLUMN: Final = "text"
MOST_PAGES: Final = 20
"""More reviews than this are counted instead of printed one by one."""


@dataclass(frozen=True)
class Reviews:
    """What `analyze` was given: the rows of a table, or texts."""

    rows: Iterable[ReviewRow]
    """They can be read several times."""
    rows_n: int
    columns: tuple[str, ...] = (TEXT_COLUMN,)
    text_column: str = TEXT_COLUMN
    path: Path | None = None
    """The file of a table, None for texts."""
    source: Path | None = None
    """The file that was read, a table or not; None for arguments."""
    files: tuple[Path, ...] = ()
    """The tables of a folder or a pattern."""
    note: str = ""
    """One line about what was read."""


def read_input(
    texts: Sequence[str], file: Path | None, *, text_column: str | None = None, uid: str | None = None
) -> Reviews:
    """Return the reviews that the arguments name. A single argument that is a file is read as `--file` is.

    Args:
        texts: the arguments.
        file: the value of `--file`: a table if its ending says so, otherwise one review per line.
        text_column: the value of `--text-column`.
        uid: the value of `--uid`.

    Raises:
        ConfigError: there is no review, a review is empty, an option does not fit, or the text is not UTF-8.
        DatasetError: a table cannot be read.
    """
    if (named := named_file(texts, has_file=file is not None)) is not None:
        texts, file = (), named
    if file is not None and is_table(file):
        if texts:
            raise ConfigError(f"{file} is a table; give it alone", key="text")
        if uid is not None:
            raise ConfigError("--uid names one review; a table has many, leave --uid out", key="uid")
        table = open_review_table(file, text_column=text_column)
        return Reviews(table, table.rows_n, table.columns, table.text_column, file, file, note=table.described())
    if text_column is not None:
        raise ConfigError(f"--text-column is for tables ({', '.join(TABLE_ENDINGS)}); leave it out", key="text_column")
    reviews = read_reviews(texts, file)
    if uid is not None and len(reviews) > 1:
        message = f"--uid names one review, and there are {len(reviews)}; give one review or leave --uid out"
        raise ConfigError(message, key="uid")
    return Reviews([ReviewRow(review, {TEXT_COLUMN: review}) for review in reviews], len(reviews), source=file)


def is_table(path: Path) -> bool:
    """Return whether the ending of a file is that of a table."""
    return path.suffix.lower() in TABLE_ENDINGS


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
    if b"\0" in content:
        raise ConfigError(f"{name} is no text file; give plain text with one review per line", key="file")
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

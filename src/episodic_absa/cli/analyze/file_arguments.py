"""Tells arguments of `analyze` that name a file from reviews. What names a file is never analysed as a review."""

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from episodic_absa.datasets.tables import TABLE_ENDINGS
from episodic_absa.errors import ConfigError

STANDARD_INPUT: Final = "-"
READ_ENDINGS: Final = (*TABLE_ENDINGS, ".txt")
_OTHER_ENDINGS: Final = frozenset(
    {
        *(".doc", ".docx", ".pdf", ".rtf", ".odt", ".hwp", ".hwpx", ".ppt", ".pptx", ".md", ".html", ".htm", ".xml"),
        *(".xls", ".xlsm", ".xlsb", ".ods", ".numbers", ".feather", ".ndjson", ".tab", ".dat", ".db", ".sqlite"),
        *(".zip", ".gz", ".bz2", ".xz", ".7z", ".yaml", ".yml", ".log"),
    }
)
_ENDING: Final = re.compile(r"\.[a-z0-9]{2,8}")
_LONGEST_NAME: Final = 4096


def named_file(texts: Sequence[str], *, has_file: bool) -> Path | None:
    """Return the file that the only argument names, None if all arguments are reviews.

    Args:
        texts: the arguments.
        has_file: whether `--file` names a file already.

    Raises:
        ConfigError: an argument names a directory, a file that cannot be read, or a file beside something else.
    """
    named = [Path(text) for text in texts if names_file(text)]
    if not named:
        return None
    path = named[0]
    if path.is_dir():
        raise ConfigError(f"{path} is a directory; give one file of reviews in it", key="text")
    if len(texts) > 1 or has_file:
        raise ConfigError(f"{path} is a file; give it alone", key="text")
    ending = path.suffix.lower()
    if ending in TABLE_ENDINGS or (ending == ".txt" and path.is_file()):
        return path
    raise ConfigError(_not_read(path), key="text")


def names_file(text: str) -> bool:
    """Return whether an argument names a file or a directory, or looks as if it did.

    Example:
        >>> [names_file(text) for text in ("reviews.csv", "review.cvs", "data/reviews", "Great food.", "10/10")]
        [True, True, True, False, False]
    """
    if not text.strip() or text == STANDARD_INPUT or len(text) > _LONGEST_NAME or {"\n", "\0"} & set(text):
        return False
    # Unlike Path.exists, it bears a review that is too long for a name.
    if os.path.exists(text):  # noqa: PTH110
        return True
    if any(map(str.isspace, text)):
        return False
    # A rating such as 10/10 holds no letter.
    return has_file_ending(text) or ("/" in text and any(map(str.isalpha, text)))


def has_file_ending(text: str) -> bool:
    """Return whether a text ends as a file does, also if the ending has a typing error."""
    ending = os.path.splitext(text)[1].lower()  # noqa: PTH122 - a review is no path
    if not _ENDING.fullmatch(ending):
        return False
    return ending in _OTHER_ENDINGS or any(_is_near(ending, known) for known in READ_ENDINGS)


def _is_near(ending: str, known: str) -> bool:
    """Return whether at most one letter is wrong, missing, too many, or exchanged with the next."""
    if abs(len(ending) - len(known)) == 1:
        longer, shorter = sorted((ending, known), key=len, reverse=True)
        return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))
    if len(ending) != len(known):
        return False
    wrong = [at for at, letters in enumerate(zip(ending, known, strict=True)) if letters[0] != letters[1]]
    is_exchange = sorted(ending) == sorted(known) and all(after - at == 1 for at, after in pairwise(wrong))
    return len(wrong) <= 1 or (len(wrong) == 2 and is_exchange)


def _not_read(path: Path) -> str:
    endings = ", ".join(READ_ENDINGS)
    if path.exists():
        return (
            f"{path} is a file whose ending is none of {endings}; save it as one of these, "
            "or say --file PATH if it is plain text with one review per line"
        )
    return (
        f"there is no file {path}; check the name (the endings {endings} are read). "
        "If it is a review, give it through standard input: analyze -"
    )

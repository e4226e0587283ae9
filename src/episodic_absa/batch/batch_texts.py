"""Checks the reviews that a caller gives as a batch. No message quotes one."""

from collections.abc import AsyncIterable, Iterable, Mapping

from episodic_absa.errors import InputError
from episodic_absa.schemas.absa import Sample


def require_texts(texts: object) -> None:
    """Refuse what is no series of reviews: its letters or keys would be analysed one by one.

    Raises:
        InputError: `texts` is one review, a mapping, a table, or nothing that can be iterated.

    Example:
        >>> from episodic_absa import InputError
        >>> try:
        ...     require_texts("good food")
        ... except InputError as error:
        ...     print(error)
        texts must be several reviews, got one str; write [text], or use analyze
    """
    kind = type(texts).__name__
    if isinstance(texts, str | bytes | bytearray | Sample):
        message = f"texts must be several reviews, got one {kind}; write [text], or use analyze"
    elif isinstance(texts, Mapping):
        message = f"texts must be several reviews, got a {kind}; give its values, for example list(texts.values())"
    elif kind == "DataFrame":
        message = "texts must be several reviews, got a DataFrame; give one column, for example frame['review']"
    elif not isinstance(texts, Iterable | AsyncIterable):
        message = f"texts must be several reviews, got {kind}; give a list or an iterator of strings"
    else:
        return
    raise InputError(message, argument="texts")

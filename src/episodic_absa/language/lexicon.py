"""Reads lexicon.yaml, which ships with the package. The modules beside it match its forms against texts."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Final

from episodic_absa.serialization.yaml_file import parse_yaml

_PATH: Final = Path(__file__).with_name("lexicon.yaml")


@cache
def load_lexicon() -> dict[str, Any]:
    """Return the whole lexicon; most of it are lists of forms, which `forms` returns."""
    lexicon: dict[str, Any] = parse_yaml(_content(), _PATH)
    return lexicon


@cache
def forms(*place: str) -> tuple[str, ...]:
    """Return the forms that stand at a place of the lexicon.

    Example:
        >>> forms("en", "contrast", "words")[:3]
        ('but', 'however', 'although')
    """
    section: Any = load_lexicon()
    for name in place:
        section = section[name]
    return tuple(section)


@cache
def lexicon_sha256() -> str:
    """Return the sha256 of the lexicon file's bytes, as the manifest records it."""
    return hashlib.sha256(_content()).hexdigest()


@cache
def _content() -> bytes:
    # Read once: the hash and the cues in use must come from the same bytes.
    return _PATH.read_bytes()

"""How deep a JSON value of others may be nested: what reads it later is recursive."""

from typing import Any, Final

MAX_JSON_DEPTH: Final = 64
"""Levels of lists and objects within each other."""


def is_too_deep(value: Any) -> bool:
    """Return whether a JSON value is nested more than `MAX_JSON_DEPTH` levels deep."""
    # Level by level, not by recursion: the interpreter's own limit must not be met.
    level = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        level = [part for part in level if isinstance(part, dict | list)]
        if not level:
            return False
        level = [item for part in level for item in (part.values() if isinstance(part, dict) else part)]
    return True

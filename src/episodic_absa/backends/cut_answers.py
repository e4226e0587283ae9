"""Closes an answer that was cut off in the middle of a list, so that its complete items are kept."""

from typing import Final

_CLOSING: Final = {"{": "}", "[": "]"}


def closed(text: str) -> str | None:
    """Return a JSON object with the complete list items of one that was cut off; None if it holds none.

    Args:
        text: begins with the opening brace of the object.
    """
    open_brackets: list[str] = []
    complete: tuple[int, tuple[str, ...]] | None = None
    is_string = is_escaped = False
    for position, character in enumerate(text):
        if is_string:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif character == '"':
                is_string = False
        elif character == '"':
            is_string = True
        elif character in _CLOSING:
            open_brackets.append(character)
        elif character in _CLOSING.values():
            if not open_brackets or _CLOSING[open_brackets.pop()] != character:
                return None
            if open_brackets and open_brackets[-1] == "[":
                complete = position + 1, tuple(open_brackets)
    if complete is None:
        return None
    end, still_open = complete
    return text[:end] + "".join(_CLOSING[bracket] for bracket in reversed(still_open))

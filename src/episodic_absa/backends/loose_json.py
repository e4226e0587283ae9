"""Reads JSON that small models write: cut off, with missing or extra commas, other quotation marks, bare words.

What cannot be read is left out member by member and item by item, so that a bad item does not destroy the good ones.
"""

import json
import re
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.serialization.canonical_json import MAX_JSON_DEPTH

_CLOSING_MARK: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_WORDS: Final[dict[str, Any]] = {"null": None, "none": None, "true": True, "false": False}
_GAP = re.compile(r"(?:\s++|//[^\n]*+|/\*[^*]{0,200}+\*/)*+")
_BARE_WORD = re.compile(r"[^\s,{}\[\]\"“][^,{}\[\]\"“\n]*+")
_BARE_KEY = re.compile(r"\w[\w ]{0,39}+(?=\s*+:)")
_STRAY_VALUE = re.compile(r",\s*+(?:[}\]]|[\"'“][^\"'“”\n]{1,40}[\"'”]\s*+:)")
_NEXT_ITEM = re.compile(r"\}\s*+,?\s*+(?=\{)|\]")
# A quotation mark ends a string only where JSON goes on behind it; any other one belongs to the quoted words.
_BEHIND: Final = {
    "key": re.compile(""),
    "member": re.compile(
        r"\s*+(?:,?\s*+(?:[}\]{]|//|\Z)|,?\s*+[\"'“][^\"'“”\n]{1,40}[\"'”]\s*+[:,]|,\s*+\w[\w ]{0,39}+\s*+:)"
    ),
    "element": re.compile(r"\s*+(?:,?\s*+(?:[}\]{]|//|\Z)|,\s*+(?:[\"'“\[]|\.\.\.|null\b)|(?<=\s)[\"“])"),
}
_Place = Literal["key", "member", "element"]
_decode = json.JSONDecoder(strict=False)


class LooseValue(NamedTuple):
    """A value, where its text ends, and whether a part of it was left out."""

    value: Any
    end: int
    is_partial: bool


class _BrokenError(Exception):
    """The text does not go on as JSON."""


class _CutError(Exception):
    """The text ends inside a value."""


def read_loosely(text: str, start: int) -> LooseValue | None:
    """Return the object or list that begins at a place, as far as it can be read; None if nothing of it can."""
    reader = _LooseReader(text, start)
    try:
        value = reader.value("element", 0)
    except (_BrokenError, _CutError):
        return None
    return LooseValue(value, reader.position, reader.is_partial)


class _LooseReader:
    """Reads one value in a single pass: the position never moves back."""

    def __init__(self, text: str, position: int) -> None:
        self.position = position
        self.is_partial = False
        self._text = text

    def value(self, place: _Place, depth: int) -> Any:
        character = self._next()
        if depth > MAX_JSON_DEPTH:
            raise _BrokenError
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._list(depth)
        if character in _CLOSING_MARK:
            return self._string(place)
        return self._bare_word()

    def _object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        members: dict[str, Any] = {}
        while True:
            try:
                character = self._next(skipping=",")
                if character == "}":
                    self.position += 1
                    return members
                if members and character in "]{":  # the closing brace was forgotten
                    return members
                key = self._key()
                if key is not None:
                    members[key] = self.value("member", depth + 1)
            except (_BrokenError, _CutError):
                # An item that ends too early is lost; what holds the complete items of a list is kept.
                self.is_partial = True
                if any(isinstance(member, dict | list) for member in members.values()):
                    return members
                raise

    def _list(self, depth: int) -> list[Any]:
        self.position += 1
        items: list[Any] = []
        while True:
            try:
                character = self._next(skipping=",")
                if character == "]":
                    self.position += 1
                    return items
                if character == "}":  # the closing bracket was forgotten
                    return items
                items.append(self.value("element", depth + 1))
            except _CutError:
                self.is_partial = True
                self.position = len(self._text)
                return items
            except _BrokenError:
                self.is_partial = True
                following = _NEXT_ITEM.search(self._text, self.position)
                self.position = len(self._text) if following is None else following.end() - (following[0] == "]")

    def _key(self) -> str | None:
        """Return the name of the next member, None if a value stands there without a name."""
        if self._text[self.position] in _CLOSING_MARK:
            key = self._string("key")
        else:
            bare = _BARE_KEY.match(self._text, self.position)
            if bare is None:
                raise _BrokenError
            key, self.position = bare[0], bare.end()
        character = self._next()
        if character == "," and _STRAY_VALUE.match(self._text, self.position):
            self.is_partial = True
            return None
        if character not in ":,":  # some models write "quote","words"
            raise _BrokenError
        self.position += 1
        return key

    def _string(self, place: _Place) -> str:
        closing = _CLOSING_MARK[self._text[self.position]]
        self.position += 1
        parts: list[str] = []
        for mark in re.compile(rf"\\.|{closing}", re.DOTALL).finditer(self._text, self.position):
            parts.append(self._text[self.position : mark.start()].replace('"', '\\"'))
            self.position = mark.end()
            if mark[0] == closing and _BEHIND[place].match(self._text, self.position):
                return _unescaped("".join(parts))
            parts.append('\\"' if mark[0] == '"' else "'" if mark[0] == "\\'" else mark[0])
        self.position = len(self._text)
        raise _CutError

    def _bare_word(self) -> Any:
        word = _BARE_WORD.match(self._text, self.position)
        if word is None:
            self.position += 1
            raise _BrokenError
        self.position = word.end()
        written = word[0].strip()
        return _WORDS.get(written.lower(), written)

    def _next(self, skipping: str = "") -> str:
        """Return the next character that is no gap; the position is on it."""
        while True:
            gap = _GAP.match(self._text, self.position)
            self.position = gap.end() if gap else self.position
            if self.position >= len(self._text):
                raise _CutError
            character = self._text[self.position]
            if character != skipping:
                return character
            self.position += 1


def _unescaped(raw: str) -> str:
    try:
        return str(_decode.decode(f'"{raw}"'))
    except ValueError:  # a backslash that escapes nothing
        return raw.replace('\\"', '"')

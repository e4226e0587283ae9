"""Changes inputs the way files go wrong: lines, words and JSON values, beside the bytes that libFuzzer changes."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

_WORD = re.compile(rb"[\w.+-]+|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
_ODD_WORDS: Final = (
    *(b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"Infinity", b"9" * 400, b"1" + b"0" * 5000, b"''", b'""'),
    *(
        b"long" * 80,
        "긴말".encode() * 120,
        b"[" * 300,
        b"{" * 100,
        b'{"a":' * 120,
        b"- " * 100,
        b"!!python/object:os.x",
    ),
    *(
        "\u202e".encode(),
        "\u200b".encode(),
        b"\x00",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\xed\xa0\xbd",
        b"\\ud83d",
        b"\r",
        b"\x85",
    ),
    *("e\u0301".encode(), "İ".encode(), "ﬁ".encode(), "각".encode(), b"=cmd()", b"../../x", b"&a *a", b"<<: *a", b"*a"),
)
_ODD_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 1.5, 10**30, 10**400, float("inf"), float("nan"), "", " ", "\ud83d", "x" * 300, "가" * 300),
    *([], {}, [[]], {"": ""}, [None], ["a", "a"], {"x" * 300: 1}, "\u202epositive", "positive", "negative", "a\nb\x00"),
)


def mutated(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Return an input with one or a few changes.

    Args:
        data: a valid or already damaged input.
        chance: chooses.
        others: inputs whose lines may be taken over.
    """
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        change = chance.choice(_CHANGES)
        data = change(data, chance, others)
    return data


def _word_replaced(data: bytes, chance: random.Random, _others: Sequence[bytes]) -> bytes:
    words = list(_WORD.finditer(data))
    if not words:
        return chance.choice(_ODD_WORDS)
    start, end = chance.choice(words).span()
    return data[:start] + chance.choice(_ODD_WORDS) + data[end:]


def _word_inserted(data: bytes, chance: random.Random, _others: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_ODD_WORDS) + data[at:]


def _word_copied(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    """Put a word of this or another input into the place of a word."""
    source: list[bytes] = _WORD.findall(chance.choice([data, *others]))
    words = list(_WORD.finditer(data))
    if not source or not words:
        return data
    start, end = chance.choice(words).span()
    return data[:start] + chance.choice(source) + data[end:]


def _line_changed(data: bytes, chance: random.Random, others: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        other = chance.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 3 and others:
        lines.insert(at, chance.choice(chance.choice(others).split(b"\n")))
    else:
        lines[at] = b" " * chance.randrange(1, 5) + lines[at]
    return b"\n".join(lines)


def _cut(data: bytes, chance: random.Random, _others: Sequence[bytes]) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _byte_changed(data: bytes, chance: random.Random, _others: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = chance.randrange(len(data))
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _value_changed(data: bytes, chance: random.Random, _others: Sequence[bytes]) -> bytes:
    """Change a value, a key or a list inside a line that holds JSON, or inside the whole input."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    begin = lines[at].find(b"{")
    if begin < 0:
        return data
    try:
        document, end = json.JSONDecoder().raw_decode(lines[at].decode("utf-8", "surrogateescape"), begin)
    except (ValueError, RecursionError):
        return data
    text = json.dumps(_changed(document, chance), ensure_ascii=chance.random() < 0.5)
    rest = lines[at].decode("utf-8", "surrogateescape")[end:]
    lines[at] = lines[at][:begin] + f"{text}{rest}".encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _changed(value: Any, chance: random.Random) -> Any:
    """Return a JSON value in which one node differs."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        kind = chance.randrange(8)
        if kind == 0:
            return {name: member for name, member in value.items() if name != key}
        if kind == 1:
            return {**value, chance.choice(("x" * 300, "extra", "", key.upper(), key + " ")): value[key]}
        return {**value, key: _changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        kind = chance.randrange(6)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return [*value, value[at]] * chance.choice((1, 1, 50))
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    return chance.choice(_ODD_VALUES)


_Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]
_CHANGES: Final[tuple[_Change, ...]] = (
    *(_word_replaced, _word_replaced, _word_inserted, _word_copied, _word_copied, _line_changed),
    *(_cut, _byte_changed, _value_changed, _value_changed, _value_changed, _value_changed),
)

"""Chance that every machine repeats: coins and draws fixed by hashes of ids, never by a clock or a seed."""

import hashlib
from collections.abc import Iterator


def coin_value(uid: str, principle_id: str) -> float:
    """Return the value in [0, 1) of the coin of a sample and a principle. Below `withhold`, advice is left out.

    Example:
        >>> round(coin_value("review-1", "P-NEG-01"), 6)
        0.0
    """
    return _whole_number(uid, principle_id) / 2**64


def drawn_places(uid: str, place_n: int) -> Iterator[int]:
    """Yield the places 0 to `place_n` - 1 in a random order fixed by the uid. Only the places consumed cost time.

    Example:
        >>> sorted(drawn_places("review-1", 4))
        [0, 1, 2, 3]
    """
    moved: dict[int, int] = {}
    for first in range(place_n):
        chosen = first + _whole_number(uid, "draw", str(first)) % (place_n - first)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.get(first, first)


def _whole_number(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:8])

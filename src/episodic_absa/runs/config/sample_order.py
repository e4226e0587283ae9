"""The orders of samples that an experiment names by a number."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

SampleT = TypeVar("SampleT")


def in_order(samples: Sequence[SampleT], order: int, split: str) -> list[SampleT]:
    """Return the samples in one of their orders: 0 is the order of the file, any other number a fixed permutation.

    The permutation follows from the number, the split and the places of the samples alone, by sha256: it is the same
    on every machine and in every version of Python. Samples that are added at the end of a file do not change the
    order of the others among themselves.

    Example:
        >>> "".join(in_order("abcde", 1, "valid")), "".join(in_order("abcdef", 1, "valid"))
        ('daebc', 'daebfc')
    """
    if order == 0:
        return list(samples)
    places = sorted(range(len(samples)), key=lambda place: _rank(order, split, place))
    return [samples[place] for place in places]


def _rank(order: int, split: str, place: int) -> bytes:
    return hashlib.sha256(f"{split}:{order}:{place}".encode()).digest()

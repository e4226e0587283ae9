"""Holm's correction: p-values that hold together, however many tests were made."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return adjusted p-values in the order given: the i-th smallest times what is left, never falling, at most 1."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, place in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)

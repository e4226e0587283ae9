"""Holm's correction of p-values for the number of tests."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return the adjusted p-values in the given order.

    The smallest of m p-values is multiplied by m, the next one by m - 1, and so on. An adjusted value is at most 1 and
    never below that of a smaller p-value.

    Example:
        >>> holm([0.01, 0.04])
        (0.02, 0.04)
    """
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)

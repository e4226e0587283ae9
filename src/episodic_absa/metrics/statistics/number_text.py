"""Numbers for sentences and tables. Rounding never turns a non-zero value into 0 or moves a p-value across .05."""

from math import floor, log10
from typing import Final

from episodic_absa.metrics.statistics.power import ALPHA

_DIGITS: Final = 3
_LARGE: Final = 100.0
_LEAST_P: Final = 0.001


def signed(value: float, digits: int | None = None) -> str:
    """Return the value with its sign (+0.012). A value that would round to 0 gets more digits (+0.00031)."""
    if value == 0:
        return "0"
    if abs(value) >= _LARGE and digits is None:
        return f"{value:+,.1f}"
    text = f"{value:+,.{_DIGITS if digits is None else digits}f}"
    if text.strip("+-0.,"):
        return text
    return f"{value:+.{1 - floor(log10(abs(value)))}f}"


def plain(value: float) -> str:
    """Return a mean as text: 3 decimals, or 1 decimal from 100 upwards."""
    return f"{value:,.1f}" if abs(value) >= _LARGE else f"{value:.{_DIGITS}f}"


def interval_text(low: float, high: float) -> str:
    """Return an interval as text: [-0.004, +0.021]."""
    return f"[{signed(low)}, {signed(high)}]"


def p_text(p_value: float) -> str:
    """Return 0.012 or <0.001. A value such as 0.0496 keeps its digits, because 0.050 is not below .05."""
    if p_value < _LEAST_P:
        return f"<{_LEAST_P}"
    digits = _DIGITS
    while (float(f"{p_value:.{digits}f}") < ALPHA) != (p_value < ALPHA):
        digits += 1
    return f"{p_value:.{digits}f}"


def p_equals(p_value: float) -> str:
    """Return `p = 0.012` or `p < 0.001`."""
    text = p_text(p_value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"

"""Numbers and money as tables and progress lines show them."""

from typing import Final

_EXACT_BELOW: Final = 10_000
_UNITS: Final = ("k", "M", "G")
_CENTS_FROM: Final = 0.1
_LEAST_SHOWN: Final = 0.0001


def short_number(number: float) -> str:
    """Return a short form of a number: 9,999 in full, 1,234,567 as 1.2M."""
    if number < _EXACT_BELOW:
        return f"{number:,.0f}"
    amount, unit = number / 1000, 0
    while round(amount, 1) >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f}{_UNITS[unit]}"


def mean_text(mean: float) -> str:
    """Return a mean of counts, with one decimal unless it is whole."""
    return f"{mean:,.0f}" if mean == round(mean) else f"{mean:,.1f}"


def money_text(dollars: float | None) -> str:
    """Return a price; below ten cents it keeps two significant digits."""
    if dollars is None:
        return "unknown"
    if not dollars:
        return "$0"
    if dollars < _LEAST_SHOWN:
        return f"<${_LEAST_SHOWN}"
    return f"${dollars:,.2f}" if dollars >= _CENTS_FROM else f"${dollars:.2g}"

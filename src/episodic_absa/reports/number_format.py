"""Numbers as readers expect them: a true minus sign, thin groups, a dash for what is not there."""

from typing import Final

NOTHING: Final = "–"
MINUS: Final = "−"


def plain(value: float | None, digits: int = 3) -> str:
    """Show a figure with fixed digits, so that columns align."""
    if value is None:
        return NOTHING
    text = f"{abs(value):,.{digits}f}"
    is_zero = not text.strip("0.,")
    return f"{MINUS if value < 0 and not is_zero else ''}{text}"


def signed(value: float | None, digits: int = 3) -> str:
    """Show a difference with its sign."""
    text = plain(value, digits)
    return text if value is None or text.startswith(MINUS) or not text.strip("0.,") else f"+{text}"


def amount(value: float | None) -> str:
    """Show a count or a sum: whole numbers without decimals."""
    if value is None:
        return NOTHING
    if float(value).is_integer():
        return plain(value, 0)
    # Small sums, such as the cost of one sample, would be 0.00.
    return plain(value, 2) if abs(value) >= 1 else plain(value, 4)


def metric(value: float | None, *, is_count: bool) -> str:
    """Show a metric: counts and large figures short, rates with three digits."""
    if value is None:
        return NOTHING
    if is_count or abs(value) >= 1000:
        return amount(value)
    return plain(value, 1 if abs(value) >= 100 else 3)


def p_value(value: float | None) -> str:
    """Show a p-value; below a thousandth its exact size says nothing more."""
    if value is None:
        return NOTHING
    return "< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0")


def percent(part: float, whole: float) -> str:
    """Show a share in whole per cent."""
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def interval(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """Show an interval."""
    if low is None or high is None:
        return NOTHING
    show = signed if sign else plain
    return f"{show(low)} to {show(high)}"

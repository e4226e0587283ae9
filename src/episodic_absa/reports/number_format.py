"""Numbers of the report: a true minus sign, thousands separators, a dash for a missing value."""

from typing import Final

from episodic_absa.metrics.statistics import number_text

NOTHING: Final = "–"
MINUS: Final = "−"


def plain(value: float | None, digits: int = 3) -> str:
    """Return a number with fixed digits, so that columns align."""
    if value is None:
        return NOTHING
    text = f"{abs(value):,.{digits}f}"
    is_zero = not text.strip("0.,")
    return f"{MINUS if value < 0 and not is_zero else ''}{text}"


def signed(value: float | None, digits: int | None = None) -> str:
    """Return a difference with its sign; 0 has none. One that would round to 0 keeps its sign and gets more digits."""
    return NOTHING if value is None else number_text.signed(value, digits).replace("-", MINUS)


def amount(value: float | None) -> str:
    """Return a count or a sum; whole numbers have no decimals."""
    if value is None:
        return NOTHING
    if float(value).is_integer():
        return plain(value, 0)
    # With two decimals a small sum, such as the cost of one sample, would be 0.00.
    return plain(value, 2) if abs(value) >= 1 else plain(value, 4)


def metric(value: float | None, *, is_count: bool) -> str:
    """Return a metric: counts and large values with few decimals, rates with three."""
    if value is None:
        return NOTHING
    if is_count or abs(value) >= 1000:
        return amount(value)
    return plain(value, 1 if abs(value) >= 100 else 3)


def p_value(value: float | None) -> str:
    """Return a p-value with three decimals, or "< .001"."""
    if value is None:
        return NOTHING
    return number_text.p_text(value).replace("<0", "< ").removeprefix("0")


def percent(part: float, whole: float) -> str:
    """Return a share in whole per cent; a dash if the whole is 0."""
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def interval(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """Return "[low, high]", with signs if `sign` is set; a dash without an interval."""
    if low is None or high is None:
        return NOTHING
    text_of = signed if sign else plain
    return f"[{text_of(low)}, {text_of(high)}]"

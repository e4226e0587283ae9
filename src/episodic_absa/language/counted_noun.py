"""A number with its English noun, as messages show it."""


def counted(number: int, noun: str, *, plural: str | None = None) -> str:
    """Return the number and its noun, in the singular for 1.

    Example:
        >>> counted(1, "row"), counted(2000, "row"), counted(2, "time of day", plural="times of day")
        ('1 row', '2,000 rows', '2 times of day')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"

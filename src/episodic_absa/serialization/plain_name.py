"""Which names can be directories, table cells and words of a message alike."""

from typing import Final

_MOST_BYTES: Final = 200
"""A file system takes 255; order and seed follow the name of a condition."""


def name_problem(name: object) -> str | None:
    """Return what is wrong with the name of a condition, an alias or an experiment; None if it can be used.

    Example:
        >>> name_problem("C2_silent"), name_problem("../C2")
        (None, 'holds "/"')
    """
    if not isinstance(name, str) or not name:
        return "is no text or empty"
    if unfit := next((part for part in ("__", "/", "\\") if part in name), None):
        return f'holds "{unfit}"'
    # Format characters turn or hide what follows them: bidi overrides, zero-width characters.
    if not name.isprintable():
        return "holds a control, bidi or zero-width character"
    if name.strip(" .") != name or name.startswith("-"):
        return "begins or ends with a space or a dot, or begins with a hyphen"
    return f"has more than {_MOST_BYTES} bytes" if len(name.encode()) > _MOST_BYTES else None

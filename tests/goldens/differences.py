"""Where two goldens differ: the review, the place in its record, what stood there and what stands there."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from tests.goldens.files import Cells
from tests.goldens.lines import Line, as_text

ABSENT: Final = "(absent)"
TOLERANCE: Final = 0.01
_MOST_SHOWN: Final = 20
_LONGEST: Final = 160


class Difference(NamedTuple):
    """One value that is not what it was."""

    cell: str
    file: str
    line: str
    """The review, episode or metric."""
    path: str
    before: str
    after: str

    @property
    def place(self) -> str:
        """The field, whatever line and list item it is of: `outputs.jsonl:changes[].reason`."""
        return f"{self.file}:{self.path}"

    def __str__(self) -> str:
        return f"{self.cell}  {self.line}  {self.place}\n    before: {self.before}\n    after:  {self.after}"


def without_rounding(golden: Cells, actual: Cells) -> Cells:
    """Return the actual cells with the golden's number in place of each that is within TOLERANCE of it.

    The reader's probabilities differ in their last digits between processors of different kinds.
    """
    known = {(cell, line.file, line.name): line.value for cell, lines in golden.items() for line in lines}
    return {
        cell: [line._replace(value=_rounded(known.get((cell, line.file, line.name)), line.value)) for line in lines]
        for cell, lines in actual.items()
    }


def _rounded(golden: Any, actual: Any) -> Any:
    if isinstance(golden, dict) and isinstance(actual, dict):
        return {key: _rounded(golden.get(key), value) for key, value in actual.items()}
    if isinstance(golden, list) and isinstance(actual, list) and len(golden) == len(actual):
        return [_rounded(old, new) for old, new in zip(golden, actual, strict=True)]
    if isinstance(golden, float) and isinstance(actual, float) and abs(golden - actual) <= TOLERANCE:
        return golden
    return actual


def differences(before: Cells, after: Cells) -> list[Difference]:
    """Return every difference between the cells of a grid, in the order of the cells and their lines."""
    return [
        difference
        for cell in dict.fromkeys([*before, *after])
        for difference in _of_cell(cell, before.get(cell, ()), after.get(cell, ()))
    ]


def told(found: Sequence[Difference]) -> str:
    """Return the first differences in full and the number of all of them, field by field."""
    counted = "\n".join(f"    {count:5}  {place}" for place, count in places(found).items())
    shown = "\n".join(map(str, found[:_MOST_SHOWN]))
    return f"{len(found)} differences, the first {min(_MOST_SHOWN, len(found))}:\n{shown}\nby field:\n{counted}"


def places(found: Iterable[Difference]) -> dict[str, int]:
    """Return how many differences there are at each field, the most frequent first."""
    return dict(Counter(difference.place for difference in found).most_common())


def _of_cell(cell: str, before: Sequence[Line], after: Sequence[Line]) -> Iterator[Difference]:
    old = {(line.file, line.name): line.value for line in before}
    new = {(line.file, line.name): line.value for line in after}
    for file, name in dict.fromkeys([*old, *new]):
        was, now = old.get((file, name), ABSENT), new.get((file, name), ABSENT)
        for path, left, right in _of_values(was, now, ""):
            yield Difference(cell, file, name, path, _shown(left), _shown(right))
    if old == new and list(old) != list(new):
        yield Difference(cell, "*", "*", "", "the same lines", "in another order")


def _of_values(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else key
            yield from _of_values(before.get(key, ABSENT), after.get(key, ABSENT), inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from _of_values(old, new, f"{path}[]")
    elif as_text(before) != as_text(after):
        yield path, before, after


def _shown(value: Any) -> str:
    text = value if value == ABSENT else as_text(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"

"""The last different texts of a batch, with what is known of each."""

from collections import OrderedDict
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class RecentTexts(Generic[ValueT]):
    """Keeps the values of the texts that were used last.

    The reader of a cluster and its driver see the same rows and make the same calls. Both then agree, without a
    message, on the texts that are analysed and on those that share the outcome of an earlier row.

    Example:
        >>> recent = RecentTexts[int](most=2)
        >>> for number, text in enumerate(["a", "b", "a", "c", "b"]):
        ...     if recent.find(text) is None:
        ...         print(number, text)
        ...         recent.keep(text, number)
        0 a
        1 b
        3 c
        4 b
    """

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, ValueT] = OrderedDict()

    def find(self, text: str) -> ValueT | None:
        """Return the value of a text, which counts as used, None if it is not kept."""
        if text not in self._values:
            return None
        self._values.move_to_end(text)
        return self._values[text]

    def keep(self, text: str, value: ValueT) -> None:
        """Keep the value of a text; the text that was not used for longest gives way."""
        if not self._most:
            return
        self._values[text] = value
        if len(self._values) > self._most:
            self._values.popitem(last=False)

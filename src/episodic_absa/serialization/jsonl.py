"""The one reader and the one writer of JSON lines: one canonical object per line, each line ended by a line feed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.quoted_value import reasons_of

ModelT = TypeVar("ModelT", bound=BaseModel)


class SplitContent(NamedTuple):
    """The content of a JSONL file, cut at its line feeds."""

    lines: list[bytes]
    """The whole lines, without their line ends."""
    torn: bytes
    """What follows the last line feed: empty, or a line that a kill cut short."""


@dataclass(frozen=True, slots=True)
class ReadLine(Generic[ModelT]):
    """One line: its value, or what is wrong with it."""

    number: int
    """From 1."""
    raw: bytes
    value: ModelT | None
    problem: str
    """Empty for a valid line. It names fields and quotes nothing."""


def json_line(value: Any) -> str:
    """Return a value or a model as one line, line end included."""
    return canonical_json(value) + "\n"


def json_lines(values: Iterable[Any]) -> str:
    """Return several values as lines; an empty text for none."""
    return "".join(map(json_line, values))


def split_lines(content: bytes) -> SplitContent:
    """Cut a file's content into whole lines and a torn rest."""
    # Not bytes.splitlines: it would also cut at a carriage return.
    *lines, torn = content.split(b"\n")
    return SplitContent(lines, torn)


def read_lines(lines: Iterable[bytes], model: type[ModelT]) -> Iterator[ReadLine[ModelT]]:
    """Yield every line with its value; a line that the model refuses has a problem instead, and reading goes on.

    Args:
        lines: with or without line ends; an open binary file is read a line at a time.
        model: what each line holds.
    """
    for number, raw in enumerate(lines, start=1):
        try:
            value = model.model_validate_json(raw)
        except ValidationError as error:
            yield ReadLine(number, raw, None, reasons_of(error))
        else:
            yield ReadLine(number, raw, value, "")

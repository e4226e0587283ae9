"""Prints to stdout and stderr: styled on a terminal, plain and unwrapped in a pipe, JSON for programs."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.text import Text

from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.redaction import redacted
from episodic_absa.serialization.terminal_text import terminal_json, visible_text

PAGE_WIDTH: Final = 100
"""The widest line of running text, in columns."""
_PIPE_WIDTH: Final = 10_000


def show(renderable: ConsoleRenderable) -> None:
    """Print to stdout. Hidden characters that the renderable left are escaped here, since a terminal obeys them."""
    console = Console(highlight=False, markup=False, emoji=False)
    renderable = _Escaped(renderable)
    if console.is_terminal:
        console.print(renderable)
        return
    if "COLUMNS" not in os.environ:
        # A pipe has no width: a record stays on one line and no id is cut.
        console.width = _PIPE_WIDTH
    with console.capture() as captured:
        console.print(renderable)
    # Not str.splitlines: it would also cut a line at a Unicode line separator.
    for line in captured.get().removesuffix("\n").split("\n"):
        # Rich pads lines with spaces up to their width.
        sys.stdout.write(line.rstrip() + "\n")


def print_json(value: Any) -> None:
    """Print one compact JSON object on a line of its own, with hidden characters as escapes."""
    sys.stdout.write(terminal_json(canonical_json(value)) + "\n")


def say(message: str) -> None:
    """Print lines about the work to stderr, with hidden characters as escapes."""
    sys.stderr.write("\n".join(map(printable, message.split("\n"))) + "\n")


def show_error(message: str) -> None:
    """Print `error: ...` to stderr as one line, even on a narrow terminal."""
    line = Text.assemble(("error: ", "bold red"), (printable(redacted(message)), "red"))
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def printable(string: str) -> str:
    """Escape hidden characters: terms and source ids come from files that anyone may have written."""
    return visible_text(string)


class _Escaped:
    """Renders another renderable, with hidden characters of its text as escapes. Joined emoji stay whole."""

    def __init__(self, renderable: ConsoleRenderable) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            if segment.control or segment.text == "\n":
                yield segment
            else:
                lines = segment.text.split("\n")
                yield Segment("\n".join(visible_text(line, keeps_joiners=True) for line in lines), segment.style)


class FirstThatFits:
    """Shows the first of several layouts that fits the width of the terminal, or the last one if none fits."""

    def __init__(self, *layouts: Callable[[], ConsoleRenderable]) -> None:
        self._layouts = layouts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update(width=_PIPE_WIDTH)
        for build_layout in self._layouts:
            layout = build_layout()
            if Measurement.get(console, unlimited, layout).maximum <= options.max_width:
                break
        yield layout


def shown_path(path: Path) -> str:
    """Return a path relative to the working directory if it lies below it."""
    plain = os.path.normpath(path)
    relative = os.path.relpath(plain)
    return plain if relative.startswith("..") else relative


def yes_no(flag: bool | None, *, alarm: bool = False) -> Text:  # noqa: FBT001 - the flag is the subject
    """Return yes, no or not applicable; `alarm` colours a yes that is bad news."""
    if flag is None:
        return Text("not applicable", style="dim")
    if flag:
        return Text("yes", style="red" if alarm else "green")
    return Text("no", style="dim")

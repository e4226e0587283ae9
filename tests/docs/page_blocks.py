"""The blocks of a documentation page: files to write, Python to run, commands to type, settings to read.

A fenced block may have a mark on the line above it:

    <!-- file: reviews.csv -->    the block is written to that file before the code of the page runs
    <!-- example output -->       the command runs; what it prints is an example and is not compared
    <!-- fails -->                the command ends with the error that the page shows
    <!-- not run: REASON -->      the command is compared with the program's options and not run
    <!-- part of: FILE -->        the code stands in that file, which a test of its own runs
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
SITE: Final = sorted((ROOT / "docs").rglob("*.md"))
PAGES: Final = [*sorted(ROOT.glob("README*.md")), *SITE]
BESIDE_THEM: Final = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PROGRAM: Final = "episodic-absa"
_FENCE: Final = re.compile(
    r"^(?:<!-- (?P<mark>[^>]+) -->\n+)?(?P<fence>`{3,})(?P<language>\S*)\n(?P<body>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A fenced block, with the mark above it."""

    language: str
    body: str
    mark: str


class Command(NamedTuple):
    """A command that a page tells its reader to type, and what the page shows below it."""

    words: tuple[str, ...]
    printed: str = ""
    """Empty if the page shows nothing or only an example."""
    not_run: str = ""
    """Why it is not run; empty if it is."""
    fails: bool = False
    """Whether it ends with the error that the page shows."""

    @property
    def is_ours(self) -> bool:
        """Whether it is a command of the package."""
        return self.words[0] == PROGRAM


def name_of(page: Path) -> str:
    """Return the name of a page, as tests show it."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Block(match["language"], match["body"], match["mark"] or "") for match in found]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading)) for heading in headings]
    return {heading.strip().lower().replace(" ", "-") for heading in plain}


def files_of(page: Path) -> dict[str, str]:
    """Return the files that a page shows, by name."""
    return {block.mark[6:]: block.body for block in blocks(page) if block.mark.startswith("file: ")}


def parts_of(page: Path) -> dict[str, Path]:
    """Return the code that a page shows of other files, with the file of each."""
    return {block.body: ROOT / block.mark[9:] for block in blocks(page) if block.mark.startswith("part of: ")}


def python_of(page: Path) -> tuple[str, str]:
    """Return the Python of a page as one script, and what the page says that it prints."""
    code, printed = [], []
    before = ""
    for block in blocks(page):
        if block.language == "python" and not block.mark:
            code.append(block.body)
        elif block.language == "text" and before == "python" and not block.mark:
            printed.append(block.body)
        before = block.language
    return "\n".join(code), "".join(printed)


def sessions_of(page: Path) -> str:
    """Return the Python sessions of a page, which go on where its script ends."""
    return "".join(block.body for block in blocks(page) if block.language == "pycon")


def commands_of(page: Path) -> Iterator[Command]:
    """Yield the commands of a page in order."""
    for typed in command_blocks(page):
        yield from typed


def command_blocks(page: Path) -> list[tuple[Command, ...]]:
    """Return the commands of a page, block by block."""
    return [tuple(_typed(block)) for block in blocks(page) if block.language == "console"]


def new_command_blocks(page: Path) -> list[tuple[Command, ...]]:
    """Return the blocks of commands that no page before this one has: what two pages show alike is run once."""
    before = {typed for earlier in PAGES[: PAGES.index(page)] for typed in command_blocks(earlier)}
    return [typed for typed in command_blocks(page) if typed not in before]


def _typed(block: Block) -> Iterator[Command]:
    reason = re.fullmatch(r"not run: (.*)", block.mark)
    starts = list(re.finditer(r"^\$ (.*)\n", block.body, re.MULTILINE))
    ends = [*(match.start() for match in starts[1:]), len(block.body)]
    for start, end in zip(starts, ends, strict=False):
        printed = block.body[start.end() : end] if block.mark in ("", "fails") else ""
        *first, last = _split(shlex.split(start[1], comments=True), "&&")
        yield from (Command(tuple(words)) for words in first)
        yield Command(tuple(last), printed, not_run=reason[1] if reason else "", fails=block.mark == "fails")


def _split(words: Sequence[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def prints_as_shown(printed: str, shown: str) -> bool:
    """Return whether a command printed what the page shows; a line of three dots stands for any lines."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in shown.splitlines())
    lines = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, lines) is not None

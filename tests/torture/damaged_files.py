"""Damage to files at rest: flipped bits, cuts, lines gone or moved, files gone. Nobody takes a damaged file for whole.

A trial passes if `verify` and `run` both notice the damage, or undo it: what is derived is made again, and a sample
that a file lost is run again, to the same bytes.
"""

import random
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from subprocess import CompletedProcess

from tests.torture.chance import chance_for, scaled
from tests.torture.grids import differences, files_of, out_of, put_back, run_grid, verify, write_grid
from tests.torture.table import Row, Tally

# Pages and values that one command makes again: damage to them is no damage to a result.
MADE_AGAIN_BY_RUN = ("report.html", "report.json")
MADE_AGAIN_BY_VERIFY = ("integrity.json",)

Damage = Callable[[bytes, random.Random], bytes]


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Return the content with one bit flipped."""
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def cut(content: bytes, chance: random.Random) -> bytes:
    """Return the beginning of the content."""
    return content[: chance.randrange(len(content))]


def line_moved(content: bytes, chance: random.Random) -> bytes:
    """Return the content with a line removed, doubled, swapped with the next or emptied, or with a block of zeros."""
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    kind = chance.choice(("removed", "doubled", "swapped", "emptied", "zeros"))
    if kind == "removed":
        return b"".join(lines[:at] + lines[at + 1 :])
    if kind == "doubled":
        return b"".join([*lines[: at + 1], *lines[at:]])
    if kind == "swapped" and len(lines) > 1:
        at = min(at, len(lines) - 2)
        return b"".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])
    if kind == "zeros":
        begin = chance.randrange(len(content))
        return content[:begin] + b"\0" * len(content[begin : begin + 64]) + content[begin + 64 :]
    return b"".join([*lines[:at], b"\n", *lines[at + 1 :]])


def rows(scale: float) -> Iterator[Row]:
    """Yield rows about every file of a run directory."""
    with tempfile.TemporaryDirectory() as folder:
        run = _FinishedRun(Path(folder, "run"), small=scale < 0.5)
        yield run.damaged("bits flipped in every file of a run", flipped, scaled(110, scale))
        yield run.damaged("every file of a run cut short", cut, scaled(50, scale, 1))
        yield run.damaged("lines of every file of a run gone or moved", line_moved, scaled(40, scale, 1))
        yield run.damaged("every file of a run gone", None, scaled(45, scale, 1))


def _where(whole: bytes, content: bytes) -> str:
    """Say where two contents begin to differ."""
    at = next((n for n, pair in enumerate(zip(whole, content, strict=False)) if pair[0] != pair[1]), len(content))
    return (
        f"{len(whole)} to {len(content)} bytes, at {at}: {whole[at - 12 : at + 12]!r} to {content[at - 12 : at + 12]!r}"
    )


class _FinishedRun:
    """A finished and verified run, damaged and put back again and again."""

    def __init__(self, folder: Path, *, small: bool) -> None:
        self._config = write_grid(folder, ("C2",) if small else ("C1", "C2"), limit=2)
        self._out, self._saved = out_of(self._config), folder / "saved"
        run_grid(self._config)
        assert verify(self._out).returncode == 0
        assert run_grid(self._config).returncode == 0
        self._files = files_of(self._out)
        put_back(self._out, self._saved)

    def damaged(self, name: str, damage: Damage | None, trials: int) -> Row:
        """Damage one file after another; None removes them."""
        chance = chance_for(name)
        names = sorted(path for path, content in self._files.items() if content)
        chance.shuffle(names)
        tally = Tally(name, f"{len(names)} files; noticed by run and by verify, or made again")
        for path in islice(cycle(names), trials):
            place = self._out / path
            content = (self._saved / path).read_bytes()
            changed = content
            while damage is not None and changed == content:
                changed = damage(content, chance)
            self._trial(tally, place, path, changed if damage else None, content)
        return tally.row()

    def _trial(self, tally: Tally, place: Path, path: str, changed: bytes | None, content: bytes) -> None:
        problems = []
        for command in ("verify", "run"):
            put_back(self._saved, self._out)
            if changed is None:
                place.unlink()
            else:
                place.write_bytes(changed)
            done = verify(self._out) if command == "verify" else run_grid(self._config)
            if not self._passes(command, done, place.name):
                problems.append(command)
        where = "gone" if changed is None else _where(content, changed)
        tally.count(torn=bool(problems), words=f"{path} unnoticed by {' and '.join(problems)}: {where}")

    def _passes(self, command: str, done: CompletedProcess[str], name: str) -> bool:
        if "Traceback" in done.stderr:
            return False
        if done.returncode or not differences(files_of(self._out), self._files):
            return True
        # Without question.json a run goes on: it says so, and the report calls every claim exploratory.
        if command == "run" and name == "question.json" and name in done.stderr:
            return True
        # A run that did samples again has forgotten the verification of the damaged ones.
        if command == "run" and not (self._out / "integrity.json").exists() and name not in MADE_AGAIN_BY_VERIFY:
            return verify(self._out).returncode == 0 and not differences(files_of(self._out), self._files)
        return name in (MADE_AGAIN_BY_RUN if command == "verify" else MADE_AGAIN_BY_VERIFY)

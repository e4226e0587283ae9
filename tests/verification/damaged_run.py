"""Damages the files of a finished grid one by one, and says what `run` and `verify` make of each damage.

`trials` is scaled by its caller: a test makes few, `make torture` many.
"""

import asyncio
import logging
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from tests.verification.finished_grid import lay_out

from episodic_absa.analysis import derive_tables, load_run
from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.serialization.durable_file import make_private_directory
from episodic_absa.verification import verify

Damage = Literal["character", "bit", "line removed", "line repeated", "truncated"]
DAMAGES: Final[tuple[Damage, ...]] = get_args(Damage)
_CONFIG: Final = """
run_id: small
data: {allowed_roots: [data], valid_file: data/valid.csv, limit: 4}
eval: {gold_jsonl: data/valid.gold.jsonl}
episodic_memory: {conditions_path: conditions.yaml}
experiment: {conditions: [C2, C2_seed_rules], seeds: [42], comparisons: [[C2, C2_seed_rules]]}
"""
_NOT_COVERED: Final = (".lock", "episodic_store.jsonl.lock", "integrity.json", "timings.jsonl")
"""Locks hold nothing that is read; `verify` writes integrity.json itself; times have no seal and may be lost."""
_WITH_CLOCK: Final = ("traces.jsonl", "run_meta.json", "manifest.json")
"""Files that name times: samples that run again do not get the same bytes."""


class Edit(NamedTuple):
    """One damage to one file."""

    file: str
    """Below the directory of the grid."""
    damage: Damage
    at: int
    """The byte, or the line from 0."""

    def apply(self, content: bytes) -> bytes:
        """Return the damaged content."""
        if self.damage == "truncated":
            return content[: self.at]
        if self.damage in ("line removed", "line repeated"):
            lines = content.splitlines(keepends=True)
            times = 2 if self.damage == "line repeated" else 0
            return b"".join([*lines[: self.at], *lines[self.at : self.at + 1] * times, *lines[self.at + 1 :]])
        if self.damage == "bit":
            return content[: self.at] + bytes([content[self.at] ^ 1 << self.at % 8]) + content[self.at + 1 :]
        return content[: self.at] + _other(content[self.at : self.at + 1]) + content[self.at + 1 :]


class Outcome(NamedTuple):
    """What became of one damage."""

    edit: Edit
    run: Literal["refused", "restored", "accepted"]
    """restored: the samples that were lost ran again, and a notice said so."""
    verify: Literal["failed", "passed"]
    run_words: str
    """The error or the notice."""
    checks: tuple[str, ...]
    """The checks that failed."""


class DamagedRun:
    """A small finished grid that is damaged again and again."""

    def __init__(self, folder: Path) -> None:
        self._config = load_experiment(lay_out(folder, _CONFIG))
        self.grid = self._config.out_dir
        asyncio.run(run_cells(self._config, use_cache_file=False))
        derive_tables(load_run(self.grid))
        self._files = {path: path.read_bytes() for path in self._paths()}

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold results, below the directory of the grid."""
        names = (str(path.relative_to(self.grid)) for path in self._files)
        return tuple(name for name in names if Path(name).name not in _NOT_COVERED)

    def edits(self, per_file: int, chance: random.Random, damages: Sequence[Damage] = DAMAGES) -> Iterator[Edit]:
        """Yield so many damages of each kind to every file."""
        for name in self.files:
            content = self._files[self.grid / name]
            for damage in damages:
                end = content.count(b"\n") if damage.startswith("line") else len(content)
                for at in sorted(chance.sample(range(end), min(per_file, end))):
                    yield Edit(name, damage, at)

    def trial(self, edit: Edit) -> Outcome:
        """Damage a file, verify its directory, run the grid again, and put everything back."""
        path = self.grid / edit.file
        path.write_bytes(edit.apply(self._files[path]))
        try:
            checks = tuple(result.check for _, result in verify(path.parent).failures)
            run, words = self.run_again()
        finally:
            self.put_back()
        return Outcome(edit, run, "failed" if checks else "passed", words, checks)

    def run_again(self) -> tuple[Literal["refused", "restored", "accepted"], str]:
        """Run the grid and derive its tables; return what became of the damage, and the error or the notice."""
        notices = _Notices()
        logger = logging.getLogger("episodic_absa.runs")
        logger.addHandler(notices)
        try:
            asyncio.run(run_cells(self._config, use_cache_file=False))
            derive_tables(load_run(self.grid))
        except EpisodicAbsaError as error:
            return "refused", str(error)
        finally:
            logger.removeHandler(notices)
        whole = [path for path in self._files if path.name not in (*_WITH_CLOCK, *_NOT_COVERED)]
        if any(not path.exists() or path.read_bytes() != self._files[path] for path in whole):
            return "accepted", notices.text
        timed = [path for path in self._files if path.name in _WITH_CLOCK]
        is_same = all(path.exists() and path.read_bytes() == self._files[path] for path in timed)
        was_run = bool(notices.text) and not any(verify(cell).failures for cell in self.grid.iterdir() if cell.is_dir())
        return ("restored" if is_same or was_run else "accepted"), notices.text

    def put_back(self) -> None:
        """Undo every damage."""
        for path in self._paths():
            if path not in self._files:
                path.unlink()
        for path, content in self._files.items():
            if not path.exists() or path.read_bytes() != content:
                make_private_directory(path.parent)
                path.write_bytes(content)
                path.chmod(0o600)  # as the run left it, also where it had gone

    def _paths(self) -> Sequence[Path]:
        return sorted(path for path in self.grid.rglob("*") if path.is_file())


class _Notices(logging.Handler):
    """Keeps what a run says."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += record.getMessage() + "\n"


def _other(character: bytes) -> bytes:
    """Return another character of the same kind, which leaves JSON and CSV readable if that is possible."""
    if character.isdigit():
        return b"%d" % ((int(character) + 1) % 10)
    if character.isalpha():
        return b"e" if character != b"e" else b"a"
    return b"\t" if character == b" " else b" "


def trials(folder: Path, per_file: int, seed: int) -> Iterator[Outcome]:
    """Damage every file of a small grid, and yield what became of each damage.

    Args:
        folder: an empty folder for the grid.
        per_file: damages of each kind in each file.
        seed: chooses the places.
    """
    run = DamagedRun(folder)
    for edit in run.edits(per_file, random.Random(seed)):
        yield run.trial(edit)
    shutil.rmtree(folder)

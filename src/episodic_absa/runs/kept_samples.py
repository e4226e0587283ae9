"""Samples that stand as they are while failed samples before them run again: found in the files, and set aside."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from episodic_absa.schemas.run_files.journal_line import CommittedSample, JournalLine
from episodic_absa.serialization.durable_file import replace_durably
from episodic_absa.serialization.jsonl import json_line, json_lines, read_lines, split_lines

logger = logging.getLogger("episodic_absa.runs")

_FILE: Final = ".kept_samples.jsonl"
_SUM: Final = "sha256"
_SUM_MARK: Final = b'{"sha256":'
"""How the first line begins, which holds the hash of the others."""
_FAILED_MARK: Final = b'"status":"error"'


def failed_indices(outputs: Path, committed_n: int) -> list[int]:
    """Return which of the committed samples failed, by the lines of outputs.jsonl."""
    lines = split_lines(outputs.read_bytes())[0] if committed_n else []
    return [index for index, line in enumerate(lines[:committed_n]) if _FAILED_MARK in line and _is_failed(line)]


def kept_sample_n(cell: Path) -> int:
    """Return how many samples of a cell stand aside while others run again."""
    return len(KeptSamples(cell, ()).load())


class KeptSamples:
    """The copy of a cell's kept samples, beside its files.

    The copy is on disk before a file is cut, so that a run that is stopped halfway loses none of them.
    """

    def __init__(self, cell: Path, names: Sequence[str]) -> None:
        self._cell = cell
        self._names = names
        """The files that hold lines of every sample."""
        self._path = cell / _FILE

    def set_aside(self, entries: Sequence[JournalLine], failed: Sequence[int]) -> Mapping[int, CommittedSample]:
        """Return the samples after the first failed one that did not fail, and those that an earlier run set aside.

        Args:
            entries: the committed samples.
            failed: indices of those that failed, ascending.
        """
        kept = self.load()
        if failed:
            kept |= self._samples(entries, failed)
            lines = json_lines(kept[index] for index in sorted(kept)).encode()
            replace_durably(self._path, json_line({_SUM: _sum(lines)}).encode() + lines)
        return kept

    def forget(self) -> None:
        """Remove the copy: the cell's files hold all samples, or none of them stands."""
        self._path.unlink(missing_ok=True)

    def load(self) -> dict[int, CommittedSample]:
        """Return the samples that stand aside, by their index; none if the copy was changed: they run again."""
        if not self._path.exists():
            return {}
        content = self._path.read_bytes()
        lines, _torn = split_lines(content)
        if content.startswith(_SUM_MARK):
            head, _, rest = content.partition(b"\n")
            if head + b"\n" != json_line({_SUM: _sum(rest)}).encode():
                logger.warning("%s is not as the run wrote it; the samples that it kept run again", self._path)
                return {}
        samples = [line.value for line in read_lines(lines, CommittedSample)]
        return {sample.sample_index: sample for sample in samples if sample is not None}

    def _samples(self, entries: Sequence[JournalLine], failed: Sequence[int]) -> dict[int, CommittedSample]:
        without = set(failed)
        contents = {name: (self._cell / name).read_bytes() for name in self._names}
        samples = {}
        for earlier, entry in zip(entries[failed[0] :], entries[failed[0] + 1 :], strict=False):
            if entry.sample_index in without:
                continue
            samples[entry.sample_index] = CommittedSample(
                sample_index=entry.sample_index,
                uid=entry.uid,
                lines={
                    name: content[earlier.offsets[name] : entry.offsets[name]].decode()
                    for name, content in contents.items()
                },
            )
        return samples


def _sum(lines: bytes) -> str:
    return hashlib.sha256(lines).hexdigest()


def _is_failed(line: bytes) -> bool:
    try:
        return bool(json.loads(line)["status"] == "error")
    except (ValueError, KeyError, TypeError):
        return False

"""Writes the files of a run after a test changed them: sealed again, so that only what the test changed is wrong."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.serialization.canonical_json import canonical_json, indented_json
from episodic_absa.serialization.seals import NO_CHECKSUM, opened, seal, sealed


def write_sealed(path: Path, document: dict[str, Any]) -> None:
    """Replace manifest.json or question.json, so that only what the test changed is wrong."""
    path.write_text(sealed(indented_json({key: document[key] for key in document if key != "seal"})), "utf-8")


def change_records(cell: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Rewrite samples.jsonl of a cell after a change of its lines, header included, with seals that fit."""
    path = cell / SAMPLES
    lines = [json.loads(opened(line).body) for line in path.read_bytes().splitlines()]
    change(lines)
    write_records(path, lines)


def write_records(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write lines as a samples.jsonl holds them."""
    sealed_lines, last = [], NO_CHECKSUM
    for value in lines:
        line, last = seal(canonical_json(value).encode(), last)
        sealed_lines.append(line + b"\n")
    path.write_bytes(b"".join(sealed_lines))

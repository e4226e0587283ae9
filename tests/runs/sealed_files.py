"""Writes the small files of a run after a test changed them: sealed again, or as older versions wrote them."""

import json
from pathlib import Path
from typing import Any

from episodic_absa.runs.run_directory import JOURNAL, MANIFEST
from episodic_absa.serialization.canonical_json import indented_json
from episodic_absa.serialization.sealed_json import sealed


def write_sealed(path: Path, document: dict[str, Any]) -> None:
    """Replace manifest.json or question.json, so that only what the test changed is wrong."""
    path.write_text(sealed(indented_json({key: document[key] for key in document if key != "seal"})), "utf-8")


def as_before_seals(cell: Path) -> None:
    """Rewrite manifest and journal of a cell without seal and hashes."""
    manifest = json.loads((cell / MANIFEST).read_bytes())
    kept = {key: manifest[key] for key in manifest if key not in ("seal", "files")}
    (cell / MANIFEST).write_text(indented_json({**kept, "manifest_version": 3}), "utf-8")
    entries = [json.loads(line) for line in (cell / JOURNAL).read_bytes().splitlines()]
    lines = [json.dumps({key: entry[key] for key in entry if key != "files"}) + "\n" for entry in entries]
    (cell / JOURNAL).write_text("".join(lines), "utf-8")

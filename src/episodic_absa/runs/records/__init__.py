"""Builds what a cell and its samples leave in the files of a run."""

from episodic_absa.runs.records.cell_manifest import build_manifest
from episodic_absa.runs.records.recorded_sample import Recorder

__all__ = [
    "Recorder",
    "build_manifest",
]

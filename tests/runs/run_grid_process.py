"""Runs a grid in a process of its own and says each commit: python run_grid_process.py CONFIG [--slow] [--llm]

--slow writes files in small pieces, so that a kill lands inside a line.
"""

import argparse
import asyncio
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

from episodic_absa.errors import EpisodicAbsaError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.serialization.durable_file import DurableFile


def _write_slowly(self: DurableFile, data: Any) -> int:
    time.sleep(0.0002)
    return os.write(self._descriptor, data[:700])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("config", type=Path)
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    if options.slow:
        DurableFile.write_some = _write_slowly  # type: ignore[method-assign]
    progress = GridProgress(on_change=lambda _: os.write(1, b"commit\n"))  # type: ignore[arg-type]
    try:
        asyncio.run(run_cells(load_experiment(options.config), progress=progress))
    except EpisodicAbsaError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    os.write(1, b"done\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

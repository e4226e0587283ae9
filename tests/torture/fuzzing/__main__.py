"""Fuzzes targets one after another: python -m tests.torture.fuzzing [TARGET]... [--scale 1.0] [--keep FOLDER].

The package is imported here, instrumented if atheris is installed; every target then runs in a forked child.
"""

import argparse
import contextlib
import importlib
import io
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path

LEAST_INPUTS = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, print one JSON line per target, and return the exit code: 1 if something was found."""
    # atheris names every module that it instruments.
    with contextlib.redirect_stderr(io.StringIO()), _instrumented():
        campaign = importlib.import_module("tests.torture.fuzzing.campaign")
        targets = importlib.import_module("tests.torture.fuzzing.targets").TARGETS
    options = _parser(list(targets)).parse_args(arguments)
    found_n = 0
    with tempfile.TemporaryDirectory(prefix="fuzz_") as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        part, parts = map(int, options.part.split("/"))
        for name in list(options.targets or targets)[part::parts]:
            inputs = options.inputs or max(LEAST_INPUTS, round(targets[name].inputs * options.scale))
            done = campaign.run_campaign(targets[name], inputs, options.seed, kept)
            found_n += len(done.findings)
            sys.stdout.write(f"{campaign.as_line(done)}\n")
            sys.stdout.flush()
    return 1 if found_n else 0


def _instrumented() -> AbstractContextManager[object]:
    if find_spec("atheris") is None:
        return contextlib.nullcontext()
    atheris = importlib.import_module("atheris")
    context: AbstractContextManager[object] = atheris.instrument_imports(include=["episodic_absa"])
    return context


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture.fuzzing", description=__doc__.partition(":")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(names)}; by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the inputs of the full torture")
    parser.add_argument("--inputs", type=int, help="so many inputs per target instead")
    parser.add_argument("--seed", type=int, default=16, help="chooses the inputs; the same ones again")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="only every N-th target, from the K-th on")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write inputs with findings there")
    return parser


if __name__ == "__main__":
    sys.exit(main())

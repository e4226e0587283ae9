"""`verify` and `report`, killed around every write and sync: every file is the old or the new one."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.torture.chance import chance_for, scaled
from tests.torture.doomed import CLI, KILLED, Moment, calls_of, moments_of, run_doomed
from tests.torture.grids import STILL, differences, files_of, out_of, put_back, run_grid, write_grid
from tests.torture.table import Row, Tally


def rows(scale: float) -> Iterator[Row]:
    """Yield a row per command."""
    with tempfile.TemporaryDirectory() as folder:
        yield _derivations_killed(Path(folder, "derived"), scale)


def _derivations_killed(folder: Path, scale: float) -> Row:
    """`verify` and `report` of a finished run: every file is the old or the new one."""
    config = write_grid(folder, ("C2",), limit=2)
    assert run_grid(config).returncode == 0
    out, saved = out_of(config), folder / "saved"
    put_back(out, saved)
    chance, tally = (
        chance_for("derivations killed"),
        Tally("verify and report killed", "integrity.json, tables, reports"),
    )
    old = files_of(out)
    for command in ("verify", "report"):
        program = [*CLI, command, out]
        put_back(saved, out)
        calls, done = calls_of(program, *STILL, loads_engine=True)
        assert done.returncode == 0, done.stderr
        new = files_of(out)
        moments = list(moments_of(calls))
        for moment in chance.sample(moments, min(len(moments), scaled(40, scale, 1))):
            put_back(saved, out)
            _derivation_killed(tally, program, moment, out, old, new)
    return tally.row()


def _derivation_killed(
    tally: Tally, program: Sequence[object], moment: Moment, out: Path, old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    killed = run_doomed(program, *STILL, *moment.options, loads_engine=True)
    assert killed.returncode == KILLED, (program, moment, killed)
    # A draft that was not renamed yet is no file of the run.
    half = [
        name
        for name, content in files_of(out).items()
        if not name.endswith(".new") and content not in (old.get(name), new.get(name))
    ]
    again = run_doomed(program, *STILL, loads_engine=True)
    unequal = differences(files_of(out), new)
    tally.count(
        torn=bool(half),
        differing=bool(unequal) or again.returncode != 0,
        words=f"{program[2]} {moment}: half-written {half}, then other bytes in {unequal}",
    )

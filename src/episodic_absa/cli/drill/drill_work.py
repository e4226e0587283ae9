"""From options to a finished drill: opens the model, shows progress, keeps the files that were asked for."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from episodic_absa.backends.backend import Backend, RepairingBackend
from episodic_absa.backends.create_backend import create_backend
from episodic_absa.cli.analyze.analyze_options import choose_backend
from episodic_absa.cli.drill.drill_run import Drill
from episodic_absa.cli.drill.drill_view import drilled_json
from episodic_absa.cli.drill.drilled import Drilled
from episodic_absa.cli.drill.drilled_conditions import drill_cells
from episodic_absa.cli.drill.hostile_reviews import DrillReviews
from episodic_absa.cli.drill.obedient_model import ObedientModel
from episodic_absa.cli.step_progress import show_steps
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.canonical_json import canonical_json

RESULT_NAME = "drill.json"


class DrillOptions(NamedTuple):
    """The options of the command."""

    backend: str | None = None
    """None: the scripted model."""
    base_url: str | None = None
    condition: str | None = None
    conditions: str | None = None
    concurrency: int = 16
    out: Path | None = None


def drill_all(reviews: DrillReviews, options: DrillOptions) -> Drilled:
    """Run a drill and return what it found.

    Raises:
        ConfigError: an option cannot be obeyed.
        BackendError: the model does not answer.
    """
    cells = drill_cells(options.conditions, options.condition)
    with _folder(options.out) as folder, show_steps("drill") as tell:

        async def run() -> Drilled:
            backend = _backend(reviews, options)
            try:
                return await Drill(reviews, cells, backend, folder, tell).run()
            finally:
                await backend.close()

        drilled = asyncio.run(run())
        if options.out is not None:
            (folder / RESULT_NAME).write_text(canonical_json(drilled_json(drilled)) + "\n", encoding="utf-8")
    return drilled


def _backend(reviews: DrillReviews, options: DrillOptions) -> Backend:
    if options.backend is None:
        if options.base_url is not None:
            raise ConfigError("--base-url is for a model of your own; name it with --backend", key="base_url")
        return RepairingBackend(ObedientModel(reviews.in_order()))
    chosen = choose_backend(options.backend, base_url=options.base_url, record=None)
    return create_backend(chosen.backbone, in_flight=asyncio.Semaphore(options.concurrency))


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Yield the folder of the stores: a new one, or a temporary one."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="episodic-absa-drill-") as folder:
            yield Path(folder)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out} is not an empty folder; name a new one", key="out")
    out.mkdir(parents=True, exist_ok=True)
    yield out

"""From options to a finished drill: opens the model, shows progress, keeps the files that were asked for."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from episodic_absa.backends.backend import Backend, RepairingBackend
from episodic_absa.backends.cache import ResponseCache
from episodic_absa.backends.create_backend import backbone_from, create_backend
from episodic_absa.backends.provider_facts import facts_of
from episodic_absa.cli.step_progress import show_steps
from episodic_absa.contrib.drill.drill_run import Drill, DrillCell
from episodic_absa.contrib.drill.drilled import Drilled
from episodic_absa.contrib.drill.hostile_reviews import DrillReviews
from episodic_absa.contrib.drill.obedient_model import ObedientModel
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.canonical_json import canonical_json

_RESULT_NAME: Final = "drill.json"


def drill_all(
    reviews: DrillReviews,
    cells: tuple[DrillCell, ...],
    *,
    backend: str | None,
    base_url: str | None,
    concurrency: int,
    out: Path | None,
) -> Drilled:
    """Run a drill and return what it found.

    Args:
        reviews: the hostile and ordinary reviews.
        cells: the conditions.
        backend: the short form of a model; None is the scripted one.
        base_url: the server of the model.
        concurrency: how many requests to it are under way at once.
        out: where the result and the stores are kept.

    Raises:
        ConfigError: an option cannot be obeyed.
        BackendError: the model does not answer.
    """
    with _folder(out) as folder, show_steps("drill") as tell, ResponseCache.in_memory() as cache:

        async def run() -> Drilled:
            model = _model(reviews, cache, backend, base_url, concurrency)
            try:
                return await Drill(reviews, cells, model, folder, tell).run()
            finally:
                await model.close()

        drilled = asyncio.run(run())
        if out is not None:
            (folder / _RESULT_NAME).write_text(canonical_json(drilled.to_json()) + "\n", encoding="utf-8")
    return drilled


def _model(
    reviews: DrillReviews, cache: ResponseCache, backend: str | None, base_url: str | None, concurrency: int
) -> Backend:
    """Return what answers. The cache sends a prompt that several conditions share once."""
    backbone = None if backend is None else backbone_from(backend, base_url=base_url)
    if base_url is not None and (backbone is None or facts_of(backbone).is_local):
        raise ConfigError("--base-url is for a model behind a server; name it with --backend", key="base_url")
    if backbone is None:
        return RepairingBackend(ObedientModel(reviews.in_order()))
    return create_backend(backbone, cache=cache, in_flight=asyncio.Semaphore(concurrency))


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

"""Writes the file of retired principles that a condition names under `advice.catalogue`."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from episodic_absa.errors import ConfigError
from episodic_absa.memory import load_catalogue, load_catalogue_overlay
from episodic_absa.schemas.overlays import CatalogueOverlay
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.durable_file import replace_durably

_YAML: Final = (".yaml", ".yml")
_JSON: Final = ".json"
_HEAD: Final = "# Principles that are never shown. A condition names this file under advice.catalogue.\n"


def retire_principles(path: Path, principle_ids: Sequence[str]) -> tuple[str, ...]:
    """Add principles to the file, which is made if there is none; return all principles it now names, sorted.

    Raises:
        ConfigError: a principle is unknown, the file is something else, or it cannot be written. It is unchanged then.
    """
    if path.suffix not in (*_YAML, _JSON):
        raise ConfigError(f"{path}: the name of the file must end in .yaml, .yml or .json", path=path)
    for principle_id in principle_ids:
        _require_known(principle_id)
    before = load_catalogue_overlay(path).retired if path.exists() else ()
    overlay = CatalogueOverlay(retired=tuple(sorted({*before, *principle_ids})))
    try:
        replace_durably(path, _text(overlay, path.suffix).encode(), is_private=False)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; name another file with --out", path=path) from error
    return overlay.retired


def _text(overlay: CatalogueOverlay, suffix: str) -> str:
    if suffix == _JSON:
        return canonical_json(overlay) + "\n"
    return f"{_HEAD}retired:\n" + "".join(f"  - {principle_id}\n" for principle_id in overlay.retired)


def _require_known(principle_id: str) -> None:
    catalogue = load_catalogue()
    if catalogue.get(principle_id) is not None:
        return
    near = get_close_matches(principle_id, [principle.principle_id for principle in catalogue])
    hint = f"did you mean {' or '.join(near)}?" if near else "`principles RUN_DIR` lists those of a trial"
    raise ConfigError(f"the catalogue has no principle {principle_id!r}; {hint}")

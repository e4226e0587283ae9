"""The store that `--store` names: it must exist, and reading it creates nothing."""

import logging
from pathlib import Path

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.store_file import refuse_other_file

logger = logging.getLogger("episodic_absa.cli")


def existing_store(path: Path) -> Path:
    """Return the resolved path of a store.

    Raises:
        MemoryStoreError: there is no file at the path, or it is no store.
    """
    resolved = path.resolve()
    if not resolved.exists():
        raise MemoryStoreError(
            f"there is no store at {path}; name one with --store PATH (the first stored episode creates it)",
            path=path,
        )
    refuse_other_file(resolved)
    logger.info("reading %s", resolved)
    return resolved

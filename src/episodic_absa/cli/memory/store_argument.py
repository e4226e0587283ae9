"""The store that `--store` names: it must exist, and reading it creates nothing."""

import logging

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.store.episode_store import EpisodeStore
from episodic_absa.memory.store.open_store import open_store

logger = logging.getLogger("episodic_absa.cli")


def existing_store(location: str) -> EpisodeStore:
    """Return the store at a path or an address.

    Raises:
        MemoryStoreError: there is none, it is no store, or it cannot be reached.
    """
    store = open_store(location)
    if not store.exists():
        raise MemoryStoreError(
            f"there is no store at {location}; name one with --store PATH (the first stored episode creates it)"
        )
    logger.info("reading %s", store.shown)
    return store

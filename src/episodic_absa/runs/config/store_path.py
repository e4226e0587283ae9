"""The place of a cell's store, from the pattern in its configuration."""

import hashlib
from pathlib import Path

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.repetition import Repetition
from episodic_absa.store.open_store import raw_lines


def filled_store_path(pattern: str, condition: str, repetition: Repetition) -> str:
    """Put a cell's condition, order and seed into `episodic_memory.store_path`."""
    filled = pattern.replace("{order}", str(repetition.order)).replace("{seed}", str(repetition.seed))
    return filled.replace("{condition}", condition)


def store_sha256(path: Path) -> str:
    """Return the hash of a file of JSON lines; of a database, the hash of its exported lines.

    Raises:
        ConfigError: it cannot be read.
    """
    digest = hashlib.sha256()
    if path.suffix.lower() == ".jsonl" or not path.is_file():
        try:
            digest.update(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error
    else:
        for line in raw_lines(path):
            digest.update(line)
    return digest.hexdigest()

"""The place of a cell's store, from the pattern in its configuration."""

from episodic_absa.schemas.repetition import Repetition


def filled_store_path(pattern: str, condition: str, repetition: Repetition) -> str:
    """Put a cell's condition, order and seed into `episodic_memory.store_path`."""
    filled = pattern.replace("{order}", str(repetition.order)).replace("{seed}", str(repetition.seed))
    return filled.replace("{condition}", condition)

"""The place of a cell's store, from the pattern in its configuration."""


def filled_store_path(pattern: str, condition: str, seed: int) -> str:
    """Put a cell's condition and seed into `episodic_memory.store_path`."""
    return pattern.replace("{condition}", condition).replace("{seed}", str(seed))

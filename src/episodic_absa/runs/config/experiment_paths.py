"""Names and places of what an experiment writes: the directory of a cell, its store, and where files may lie."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from episodic_absa.schemas.run_files.manifest import Repetition
from episodic_absa.serialization.quoted_value import listed


def cell_name(stem: str, *, order: int, seed: int, shuffle: bool) -> str:
    """Return the name of a cell.

    The order of the file stands in no name, and neither does an order that the seed sets: such cells are named as in
    version 0.1, and a grid of that version can be extended by orders.

    Args:
        stem: the name of the condition, or `build`.
        order: the order of the samples.
        seed: the seed.
        shuffle: whether the seed sets the order.

    Example:
        >>> cell_name("C2", order=1, seed=42, shuffle=False), cell_name("C2", order=0, seed=42, shuffle=False)
        ('C2__order1__seed42', 'C2__seed42')
    """
    ordered = f"{stem}__order{order}" if order and not shuffle else stem
    return f"{ordered}__seed{seed}"


def filled_store_path(pattern: str, condition: str, repetition: Repetition) -> str:
    """Put a cell's condition, order and seed into `episodic_memory.store_path`."""
    filled = pattern.replace("{order}", str(repetition.order)).replace("{seed}", str(repetition.seed))
    return filled.replace("{condition}", condition)


def disallowed_paths(paths: Mapping[str, Path], roots: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield a message and the key for every path that lies below none of the roots. Links are followed.

    Args:
        paths: resolved paths by the key that names them.
        roots: the allowed folders.
    """
    allowed = [root.resolve() for root in roots]
    for key, path in paths.items():
        if not any(path.resolve().is_relative_to(root) for root in allowed):
            where = f"lies below none of data.allowed_roots ({listed(roots)})"
            yield f"{key} {path} {where}; move the file, or add its folder to data.allowed_roots", key

"""Refuses files of an experiment that lie outside `data.allowed_roots`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from episodic_absa.serialization.quoted_value import listed


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

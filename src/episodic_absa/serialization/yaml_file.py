"""Reads YAML strictly: a broken file or a key given twice is an error that names its place, never a guess."""

from pathlib import Path
from typing import Any

import yaml

from episodic_absa.errors import ConfigError


def read_yaml_file(path: Path) -> Any:
    """Load one YAML document from a file."""
    try:
        return parse_yaml(path.read_bytes(), path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error


def parse_yaml(content: bytes, path: Path) -> Any:
    """Load one YAML document from bytes that were read from `path`."""
    try:
        return yaml.load(content, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader subclass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{place}: not valid YAML: {error.problem or error.context}", path=path) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path} is not valid YAML: {' '.join(str(error).split())}", path=path) from error


class _UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML keeps the last of two equal keys; here the second one is refused."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, str | int | float | bool | None) and key in seen:
                raise yaml.constructor.ConstructorError(
                    "while reading a mapping", node.start_mark, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key if isinstance(key, str | int | float | bool | None) else id(key_node))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping

"""Reads YAML strictly and within limits: a broken, huge or deep file, or a key given twice, is an error with its place.

The limits are checked on the events of the parser, before a value is built: PyYAML builds values by recursion, and
aliases could make a small file stand for endless values.
"""

import os
import stat
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

from episodic_absa.errors import ConfigError
from episodic_absa.serialization.quoted_value import quoted, shortened

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 100_000
"""Values of a document."""
_MAX_NUMBER_CHARS: Final = 400
_PROBLEM_CHARS: Final = 300
"""A quotation and the words around it."""
_NUMBER_TAGS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_PLAIN_TAGS: Final = (None, "!", "tag:yaml.org,2002:str")
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
# Without O_NONBLOCK a FIFO that nobody writes to would hang.
_READ_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml_file(path: Path) -> Any:
    """Load one YAML document from a file.

    Raises:
        ConfigError: the file cannot be read, is too large, or is not valid YAML.
    """
    try:
        return parse_yaml(read_yaml_bytes(path), path)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", path=path) from error


def read_yaml_bytes(path: Path) -> bytes:
    """Return the content of a YAML file; of a larger file only as much as shows that it is too large.

    Raises:
        OSError: the file cannot be read.
        ConfigError: it is no regular file, but a pipe or a device, which may never end.
    """
    descriptor = os.open(path, _READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ConfigError(f"{path} is no regular file; copy its content into a file and name that", path=path)
        return file.read(MAX_BYTES + 1)


def parse_yaml(content: bytes, path: Path) -> Any:
    """Load one YAML document from bytes that were read from `path`.

    Raises:
        ConfigError: the document is not valid, too large or too deep, or a key in it is given twice.
    """
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path} has more than {MAX_BYTES:,} bytes; a YAML file is at most that large", path=path)
    try:
        _require_within_limits(content)
        return yaml.load(content, Loader=_StrictLoader)  # noqa: S506 - a SafeLoader subclass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = shortened(error.problem or error.context or "", _PROBLEM_CHARS)
        raise ConfigError(f"{path}{place}: not valid YAML: {problem}", path=path) from error
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        problem = shortened(" ".join(str(error).split()), _PROBLEM_CHARS)
        raise ConfigError(f"{path} is not valid YAML: {problem}", path=path) from error


def _require_within_limits(content: bytes) -> None:
    """Refuse a document that is too deep, has too many values, or repeats values by aliases."""
    depth = values = 0
    for event in yaml.parse(content, Loader=_Base):
        tag = getattr(event, "tag", None)
        if tag not in _PLAIN_TAGS:
            raise _refusal(f"the tag {quoted(tag)} is not supported; leave it out", event)
        if isinstance(event, yaml.AliasEvent):
            raise _refusal(f"the alias {shortened(f'*{event.anchor}')} is not supported; write its value out", event)
        values += isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _refusal(f"nested more than {MAX_DEPTH} deep", event)
        if values > MAX_VALUES:
            raise _refusal(f"more than {MAX_VALUES:,} values", event)


def _refusal(problem: str, event: yaml.Event) -> yaml.MarkedYAMLError:
    mark: Any = event.start_mark
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


class _StrictLoader(_Base):  # type: ignore[misc]
    """PyYAML keeps the last of two equal keys; here the second one is refused, and so are numbers without end."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE_TAG:
                raise _invalid("a merge key (<<) is not supported; write the keys out", key_node)
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise _invalid(f"key {quoted(key)} is given twice", key_node)
            seen.add(key if isinstance(key, Hashable) else id(key_node))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's signature
        if node.tag in _NUMBER_TAGS and isinstance(node, yaml.ScalarNode) and len(node.value) > _MAX_NUMBER_CHARS:
            raise _invalid(f"a number of more than {_MAX_NUMBER_CHARS} characters", node)
        return super().construct_object(node, deep=deep)


def _invalid(problem: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

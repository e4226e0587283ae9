"""Reads YAML strictly and within limits: a broken, huge or deep file, or a key given twice, is an error with its place.

The limits are checked on the events of the parser, before a value is built: PyYAML builds values by recursion and
copies what an alias stands for into every message that shows it.
"""

import os
import stat
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from episodic_absa.errors import ConfigError
from episodic_absa.serialization.quoted_value import quoted, shortened

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 100_000
"""Values of a document, those that an alias repeats counted each time."""
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


class _Extent(NamedTuple):
    """How much an anchored value adds wherever its alias stands."""

    values: int
    depth: int


class _Open(NamedTuple):
    """A list or mapping of which the end is not read yet."""

    anchor: str | None
    values_before: int


class _Measure:
    """Counts the values and the depth of a document while its events pass, aliases written out."""

    def __init__(self) -> None:
        self.values = 0
        self._known: dict[str, _Extent] = {}
        self._opened: list[_Open] = []
        self._deepest: list[int] = []  # for every open collection, how deep the document goes inside it

    def take(self, event: yaml.Event) -> int:
        """Return the depth that the event reaches."""
        depth = len(self._opened)
        if isinstance(event, yaml.AliasEvent):
            extent = self._named(event)
            self.values += extent.values
            depth += extent.depth
        elif isinstance(event, yaml.ScalarEvent):
            self.values += 1
            self._keep(event.anchor, _Extent(1, 0))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._known.pop(event.anchor or "", None)
            self._opened.append(_Open(event.anchor, self.values))
            self._deepest.append(0)
            self.values += 1
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            closed, depth = self._opened.pop(), self._deepest.pop()
            self._keep(closed.anchor, _Extent(self.values - closed.values_before, depth - len(self._opened)))
        if self._deepest:
            self._deepest[-1] = max(self._deepest[-1], depth)
        return depth

    def _keep(self, anchor: str | None, extent: _Extent) -> None:
        if anchor is not None:
            self._known[anchor] = extent

    def _named(self, event: yaml.AliasEvent) -> _Extent:
        extent = self._known.get(event.anchor or "")
        if extent is None:
            alias = shortened(f"*{event.anchor}")
            raise _refusal(f"the alias {alias} stands inside what it names, or names nothing", event)
        return extent


def _require_within_limits(content: bytes) -> None:
    """Refuse a document that is too deep or has too many values, aliases written out."""
    measure = _Measure()
    for event in yaml.parse(content, Loader=_Base):
        tag = getattr(event, "tag", None)
        if tag not in _PLAIN_TAGS:
            raise _refusal(f"the tag {quoted(tag)} is not supported; leave it out", event)
        if measure.take(event) > MAX_DEPTH:
            raise _refusal(f"nested more than {MAX_DEPTH} deep", event)
        if measure.values > MAX_VALUES:
            raise _refusal(f"more than {MAX_VALUES:,} values, aliases written out", event)


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

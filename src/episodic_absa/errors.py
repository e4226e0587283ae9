"""The whole error tree. Every error says what went wrong, where, and what to do next.

EpisodicAbsaError
    ConfigError(path, key)        unknown condition, contradictory flags, bad YAML
    MemoryStoreError(path, line)  unreadable entry, locked or failing store; never skipped silently
    LeakageError(field)           label word or raw text in something to be stored or shown
"""

from pathlib import Path


class EpisodicAbsaError(Exception):
    """Root of everything this package raises on purpose."""


class ConfigError(EpisodicAbsaError):
    """A configuration or conditions file that cannot be obeyed."""

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class MemoryStoreError(EpisodicAbsaError):
    """A store that cannot be read or written safely."""

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class LeakageError(EpisodicAbsaError):
    """A label word, a forbidden key or review text in something to be stored or shown."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field

"""The errors of the package. A message says what happened, where, and what to do next.

EpisodicAbsaError
    ConfigError(path, key)            unknown condition, contradictory flags, bad YAML
    DatasetError(path, line)          a data or gold file that cannot become samples
    MissingExtraError(feature, extra) also an ImportError; prints the pip line
    BackendError(backend)             a backend that gave no valid answer
        BackendUnavailableError(kind) unreachable, overloaded or too slow, after all retries
        BackendResponseError(raw)     an answer that does not fit the schema, after all attempts
    MemoryStoreError(path, line)      an unreadable line, a locked store or a failing disk
    LeakageError(field)               a label word or review text in an advisory or an episode
    RunDirectoryError(path)           a run directory that is in use or belongs to another experiment
    ContractError(uid, field)         a result that breaks a rule of the pipeline; the sample fails
"""

from pathlib import Path
from typing import Literal


class EpisodicAbsaError(Exception):
    """The base of all errors that this package raises on purpose."""


class ConfigError(EpisodicAbsaError):
    """A configuration, conditions or catalogue file that is missing, malformed or contradictory."""

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class DatasetError(EpisodicAbsaError):
    """A data or gold file, or a row of it, that cannot be read as samples."""

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class MissingExtraError(EpisodicAbsaError, ImportError):
    """A feature whose optional package is not installed."""

    def __init__(self, *, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package; install it with: pip install 'episodic-absa[{extra}]'")
        self.feature = feature
        self.extra = extra


class BackendError(EpisodicAbsaError):
    """A backend that gave no valid answer. The sample fails, the run goes on."""

    def __init__(self, message: str, *, backend: str) -> None:
        super().__init__(message)
        self.backend = backend


class BackendUnavailableError(BackendError):
    """A backend that is unreachable, overloaded or too slow, after all retries."""

    def __init__(self, message: str, *, backend: str, kind: Literal["provider_error", "timeout"]) -> None:
        super().__init__(message, backend=backend)
        self.kind = kind


class BackendResponseError(BackendError):
    """An answer that is no JSON or does not fit the schema, after all attempts. `raw` is the last answer."""

    def __init__(
        self,
        message: str,
        *,
        backend: str,
        raw: str,
        kind: Literal["json_parse_error", "schema_validation_error"],
    ) -> None:
        super().__init__(message, backend=backend)
        self.raw = raw
        self.kind = kind


class MemoryStoreError(EpisodicAbsaError):
    """A store that cannot be read or written: a bad line, a held lock, or a failing disk."""

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class LeakageError(EpisodicAbsaError):
    """A label word, a forbidden key or review text in an advisory or an episode. `field` names the place."""

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class ContractError(EpisodicAbsaError):
    """A result that breaks a rule of the pipeline. The sample fails, the run goes on."""

    def __init__(self, message: str, *, uid: str, field: str) -> None:
        super().__init__(message)
        self.uid = uid
        self.field = field


class RunDirectoryError(EpisodicAbsaError):
    """A run directory that is in use or belongs to another experiment."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

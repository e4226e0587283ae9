"""The whole error tree. Every error says what went wrong, where, and what to do next.

EpisodicAbsaError
    ConfigError(path, key)            unknown condition, contradictory flags, bad YAML
    DatasetError(path, line)          a data or gold file that cannot become samples
    MissingExtraError(feature, extra) also an ImportError; prints the pip line
    BackendError(backend)             a model that gave no usable answer
        BackendUnavailableError       not reached, overloaded or too slow, after all retries
        BackendResponseError(raw)     answered, but not with what was asked for, after all attempts
    MemoryStoreError(path, line)      unreadable entry, locked or failing store; never skipped silently
    LeakageError(field)               label word or raw text in something to be stored or shown
    RunDirectoryError(path)           a run directory that cannot be continued: in use, or of another experiment
    ContractError(uid, field)         a result that breaks a rule of the pipeline; that sample fails
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money; None where the price is not known."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum; a sum with an unknown part is unknown."""
        unknown = self.cost_usd is None or other.cost_usd is None
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
        )


class EpisodicAbsaError(Exception):
    """Root of everything this package raises on purpose."""


class ConfigError(EpisodicAbsaError):
    """A configuration or conditions file that cannot be obeyed."""

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class DatasetError(EpisodicAbsaError):
    """A data or gold file, or a row of it, that cannot become samples."""

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
    """A model that gave no usable answer."""

    def __init__(self, message: str, *, backend: str) -> None:
        super().__init__(message)
        self.backend = backend
        self.attempts = 0
        """How many requests the call took until it failed; `RepairingBackend` counts them."""
        self.usage = Usage()
        """What these requests used, as far as the backend said so."""


class BackendUnavailableError(BackendError):
    """Not reached, overloaded or too slow, after all retries."""

    def __init__(self, message: str, *, backend: str, kind: Literal["provider_error", "timeout"]) -> None:
        super().__init__(message, backend=backend)
        self.kind = kind


class BackendResponseError(BackendError):
    """An answer that is not what was asked for, after all attempts."""

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


class ContractError(EpisodicAbsaError):
    """A result that breaks a rule of the pipeline."""

    def __init__(self, message: str, *, uid: str, field: str) -> None:
        super().__init__(message)
        self.uid = uid
        self.field = field


class RunDirectoryError(EpisodicAbsaError):
    """A run directory that cannot be continued."""

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

"""The errors of the package. A message says what happened, where, and what to do next.

EpisodicAbsaError
    InputError(argument)              also a ValueError; an argument that cannot be analysed; never quotes a review
    ConfigError(path, key)            unknown condition, contradictory flags, bad YAML
    DatasetError(path, line)          a data or gold file that cannot become samples
    MissingExtraError(feature, extra) also an ImportError; prints the pip line
    BackendError(backend)             a backend that gave no valid answer
        BackendUnavailableError(kind) unreachable, overloaded or too slow, after all retries
            UnrecordedRequestError    a recording holds no answer
        BackendResponseError(raw)     an answer that does not fit the schema, after all attempts
    DatabaseError(location)           a database that cannot be reached, or whose tables are of something else
    MemoryStoreError(path, line)      a damaged line, a file that is no store, a locked store or a failing disk
    LeakageError(field)               a label word or review text in an advisory or an episode
    RunDirectoryError(path)           a run directory that is in use or belongs to another experiment
    ContractError(uid, field)         a result that breaks a rule of the pipeline; the sample fails
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal


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


NO_USAGE: Final = Usage(cost_usd=0.0)


class EpisodicAbsaError(Exception):
    """The base of every error that this package raises on purpose.

    Example:
        >>> from episodic_absa import EpisodicAbsaError, analyze
        >>> try:
        ...     analyze("   ")
        ... except EpisodicAbsaError as error:
        ...     print(error)
        the review is empty; give some text to analyse
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Let processes exchange errors: the constructors take names, which pickles of exceptions do not know."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[EpisodicAbsaError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> EpisodicAbsaError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


class InputError(EpisodicAbsaError, ValueError):
    """An argument cannot be analysed: no text, no known language, no known word; `argument` names it.

    A message never quotes the review.

    Example:
        >>> from episodic_absa import InputError, analyze
        >>> try:
        ...     analyze("Great.", language_code="english")
        ... except InputError as error:
        ...     print(error.argument)
        language_code
    """

    def __init__(self, message: str, *, argument: str) -> None:
        super().__init__(message)
        self.argument = argument


class ConfigError(EpisodicAbsaError):
    """A setting, a configuration or a conditions file cannot be obeyed; `path` and `key` say where.

    Example:
        >>> from episodic_absa import ConfigError, load_condition
        >>> try:
        ...     load_condition("C9")
        ... except ConfigError as error:
        ...     print(error.key)
        episodic_memory.condition
    """

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


class DatasetError(EpisodicAbsaError):
    """A data or gold file, or a row of it, cannot become samples; `path` and `line` say where.

    Example:
        >>> from pathlib import Path
        >>> from episodic_absa import DatasetError
        >>> from episodic_absa.datasets.dataset_loading import load_split
        >>> try:
        ...     load_split(Path("missing.csv"), "csv", "valid")
        ... except DatasetError as error:
        ...     print(error)
        cannot read missing.csv: No such file or directory
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class MissingExtraError(EpisodicAbsaError, ImportError):
    """A feature whose optional package is not installed."""

    def __init__(self, *, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs an optional package; install it with: pip install 'episodic-absa[{extra}]'"
            f" (in a checkout: pip install -e '.[{extra}]')"
        )
        self.feature = feature
        self.extra = extra


class BackendError(EpisodicAbsaError):
    """A model gave no usable answer; `backend` names it.

    Example:
        >>> from pathlib import Path
        >>> from episodic_absa import BackendError, analyze
        >>> _ = Path("empty.jsonl").write_text("")
        >>> try:
        ...     analyze("The screen is too dark.", backend="replay:empty.jsonl")
        ... except BackendError as error:
        ...     print(error.backend)
        replay:empty.jsonl
    """

    def __init__(self, message: str, *, backend: str) -> None:
        super().__init__(message)
        self.backend = backend
        self.attempts = 0
        """How many requests the call took until it failed; `RepairingBackend` counts them."""
        self.usage = Usage()
        """What these requests used, as far as the backend said so."""


class BackendUnavailableError(BackendError):
    """A backend that is unreachable, overloaded or too slow, after all retries."""

    def __init__(self, message: str, *, backend: str, kind: Literal["provider_error", "timeout"]) -> None:
        super().__init__(message, backend=backend)
        self.kind = kind


class UnrecordedRequestError(BackendUnavailableError):
    """A recording that holds no answer to a request."""


class BackendResponseError(BackendError):
    """An answer that is not JSON or does not fit the schema, after all attempts. `raw` is the last answer."""

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


class DatabaseError(EpisodicAbsaError):
    """A database cannot be reached, read or written safely; `location` says which, without credentials."""

    def __init__(self, message: str, *, location: str) -> None:
        super().__init__(message)
        self.location = location


class MemoryStoreError(EpisodicAbsaError):
    r"""A store cannot be read or written safely; `path` and `line` say where.

    Example:
        >>> from pathlib import Path
        >>> from episodic_absa import MemoryStore, MemoryStoreError
        >>> _ = Path("notes.txt").write_text("buy milk\n")
        >>> try:
        ...     MemoryStore("notes.txt").load()
        ... except MemoryStoreError as error:
        ...     print(error.path.name, error.line)
        notes.txt None
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class LeakageError(EpisodicAbsaError):
    """Something to be stored or shown holds a label word, a forbidden key or review text; `field` says where.

    Example:
        >>> from episodic_absa import LeakageError, MemoryStore
        >>> try:
        ...     MemoryStore("store.jsonl").append({"gold_label": "positive"})
        ... except LeakageError as error:
        ...     print(error)
        an episode must not hold the key gold_label
    """

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
    """A run directory is missing or damaged, is in use, or belongs to another experiment; `path` says which.

    Example:
        >>> from episodic_absa import RunDirectoryError, run_experiment
        >>> run = run_experiment("experiments/quickstart.yaml")
        >>> try:
        ...     run.compare("C2", "C2")
        ... except RunDirectoryError as error:
        ...     print(error.path.name)
        quickstart
    """

    def __init__(self, message: str, *, path: Path) -> None:
        super().__init__(message)
        self.path = path

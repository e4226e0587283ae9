"""Which failures of a request are worth a retry, and after how long. Retries are not attempts (SPEC 3)."""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

LONGEST_WAIT_S: Final = 60.0
_DETAIL_CHARS: Final = 300
_REFUSING: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not implemented|invalid",
    re.IGNORECASE,
)
_ABOUT_SCHEMA = re.compile(r"schema|response[ _-]?format|structured|grammar|guided", re.IGNORECASE)
_ABOUT_SEED = re.compile(r"\bseed\b", re.IGNORECASE)
_ABOUT_OTHERS = re.compile(r"\b(seed|temperature|max_tokens|max_completion_tokens|model)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """One request without an answer."""

    event: str
    """What happened, without any text of the server: it may be logged."""
    transient: bool
    kind: Literal["provider_error", "timeout"] = "provider_error"
    status: int | None = None
    detail: str = ""
    """The text of the server, shortened and without the key."""
    asked_wait_s: float | None = None

    @property
    def refuses_schema(self) -> bool:
        """Whether the server refuses the JSON Schema of the answer."""
        if self.status not in _REFUSING:
            return False
        if _ABOUT_SCHEMA.search(self.detail):
            return True
        return bool(_UNSUPPORTED.search(self.detail)) and not _ABOUT_OTHERS.search(self.detail)

    @property
    def refuses_seed(self) -> bool:
        """Whether the server refuses the sampling seed."""
        return (
            self.status in _REFUSING
            and bool(_ABOUT_SEED.search(self.detail))
            and bool(_UNSUPPORTED.search(self.detail))
        )


def wait_before_retry(failure: Failure, retries: int, base_s: float) -> float:
    """Return the seconds to wait: as long as the server asks, else the base doubled with every retry."""
    wait_s = failure.asked_wait_s or base_s * 2**retries
    return min(wait_s, LONGEST_WAIT_S)


def timed_out(limit_s: float) -> Failure:
    """Return the failure of a request that exceeded its time limit."""
    return Failure(f"gave no answer within {limit_s:g} s", transient=True, kind="timeout")


def failure_of(error: "ModelAPIError", *, secret: str) -> Failure:
    """Return the failure behind a pydantic-ai error: a status of 400 or above, or a broken connection."""
    from pydantic_ai.exceptions import ModelHTTPError, ModelTimeoutError

    if not isinstance(error, ModelHTTPError):
        is_timeout = isinstance(error, ModelTimeoutError)
        return Failure(
            "timed out" if is_timeout else "could not be reached or hung up",
            transient=True,
            kind="timeout" if is_timeout else "provider_error",
            detail=_shortened(_innermost(error), secret),
        )
    status = error.status_code
    is_timeout = status == HTTPStatus.REQUEST_TIMEOUT
    transient = is_timeout or status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return Failure(
        f"answered with status {status}",
        transient=transient,
        kind="timeout" if is_timeout else "provider_error",
        status=status,
        detail=_shortened(_server_text(error.body), secret),
        asked_wait_s=_asked_wait(error.retry_after, error.headers or {}),
    )


def _asked_wait(understood: float | None, headers: dict[str, str]) -> float | None:
    """Take Retry-After in whole seconds or as a date, as pydantic-ai reads it, or in fractions of a second."""
    if understood is not None:
        return understood
    try:
        wait_s = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return wait_s if 0 <= wait_s < float("inf") else None


def _server_text(body: object) -> str:
    if isinstance(body, dict):
        for key in ("message", "detail", "error"):
            if body.get(key):
                return _server_text(body[key])
    return "" if body is None else str(body)


def _innermost(error: BaseException) -> str:
    shown = str(error)
    while error.__cause__ is not None:
        error = error.__cause__
        shown = str(error) or shown
    return shown


def _shortened(text: str, secret: str) -> str:
    shown = " ".join(text.replace(secret, "[key]").split())
    return shown if len(shown) <= _DETAIL_CHARS else f"{shown[:_DETAIL_CHARS]}…"

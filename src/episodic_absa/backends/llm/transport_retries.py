"""Which failures of a request are worth a retry, and after how long. Retries are not attempts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from episodic_absa.backends.llm.response_checks import NoApiResponseError
from episodic_absa.errors import NO_USAGE, Usage
from episodic_absa.serialization.redaction import KEY_MARK, redacted, without_keys

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

ErrorT = TypeVar("ErrorT", bound=BaseException)
LONGEST_WAIT_S: Final = 60.0
_DETAIL_CHARS: Final = 300
_SEARCHED_CHARS: Final = 20_000
_QUOTE_CHARS: Final = 16
_SHORTEST_KEY_CHARS: Final = 4
"""A shorter key is a placeholder for a local server; its characters occur in any message."""
_SHORTEST_QUOTE_CHARS: Final = 8
_REFUSING: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|not implemented|invalid",
    re.IGNORECASE,
)
Extra = Literal["schema", "seed", "stop"]
"""What a request carries beyond its messages; servers differ in what they accept."""
_ABOUT: Final[dict[Extra, re.Pattern[str]]] = {
    "schema": re.compile(r"schema|response[ _-]?format|structured|grammar|guided", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "stop": re.compile(r"\bstop\b", re.IGNORECASE),
}
_ABOUT_OTHERS = re.compile(r"\b(seed|stop|temperature|max_tokens|max_completion_tokens|model)\b", re.IGNORECASE)
_UNREADABLE_OUTPUT = re.compile(
    r"model (produced|generated|returned) (an )?(invalid )?output|parse (the )?model('s)? output", re.IGNORECASE
)
_ADDRESS_ADVICE: Final = "check the address of the server (--base-url, backbone.base_url)"
_SCHEME_ADVICE: Final = "check http or https in the address of the server (--base-url, backbone.base_url)"
_REDIRECT_ADVICE: Final = "set --base-url or backbone.base_url to the address that answers"


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
    is_lasting: bool = False
    """Whether waiting mends it hardly ever where no request was answered yet: it gets one retry."""
    advice: str = ""
    """What to do about it; empty where the status tells."""
    usage: Usage = NO_USAGE
    """What the request used all the same, as far as the server said so."""
    is_silent: bool = False
    """Whether the server sent nothing at all: it may be down."""

    def without_review(self, text: str) -> "Failure":
        """Return the failure without a detail that quotes the review: messages never hold its text."""
        size = min(_QUOTE_CHARS, max(_SHORTEST_QUOTE_CHARS, len(text)))
        starts = range(len(self.detail) - size + 1)
        if not any(self.detail[start : start + size] in text for start in starts):
            return self
        return replace(self, detail="its message quotes the review and is left out")

    @property
    def is_unreadable_output(self) -> bool:
        """Whether the model answered and its own server could not read the answer, as llama.cpp says at times."""
        return self.status == HTTPStatus.INTERNAL_SERVER_ERROR and bool(_UNREADABLE_OUTPUT.search(self.detail))

    def refuses(self, extra: Extra) -> bool:
        """Return whether the server refuses the JSON Schema of the answer, the sampling seed or the stop words."""
        if self.status not in _REFUSING:
            return False
        is_named = bool(_ABOUT[extra].search(self.detail))
        is_unsupported = bool(_UNSUPPORTED.search(self.detail))
        if extra == "schema":
            return is_named or (is_unsupported and not _ABOUT_OTHERS.search(self.detail))
        return is_named and is_unsupported


def wait_before_retry(failure: Failure, retries: int, base_s: float, *, is_limited: bool = False) -> float:
    """Return the seconds to wait: as long as the server asks, else the base doubled with every retry.

    Args:
        failure: of the request that is to be sent again.
        retries: how many there were before.
        base_s: the first wait.
        is_limited: whether a deadline ends the call, so that any wish of the server can be obeyed.
    """
    if failure.asked_wait_s and is_limited:
        return failure.asked_wait_s
    return min(failure.asked_wait_s or base_s * 2**retries, LONGEST_WAIT_S)


def timed_out(limit_s: float, progress: str = "") -> Failure:
    """Return the failure of a request that exceeded its time limit.

    Args:
        limit_s: the limit.
        progress: how far the answer came; "" if nothing of it did.
    """
    if not progress:
        return Failure(f"gave no answer within {limit_s:g} s", transient=True, kind="timeout")
    event = f"did not finish its answer within {limit_s:g} s"
    return Failure(event, transient=True, kind="timeout", detail=f"it {progress}")


def no_api_response(error: NoApiResponseError, *, secrets: Sequence[str]) -> Failure:
    """Return the failure of a request that got something else than an API response."""
    is_page = error.is_page and _is_success(error.status)
    return Failure(
        error.event,
        transient=not error.is_redirect and (error.status < HTTPStatus.BAD_REQUEST or _is_transient(error.status)),
        status=error.status,
        detail=_shortened(_server_text(error.detail), secrets),
        is_lasting=is_page,
        advice=_ADDRESS_ADVICE if is_page else _REDIRECT_ADVICE if error.is_redirect else "",
        usage=error.usage,
    )


def odd_redirect() -> Failure:
    """Return the failure of a request that was redirected to what is no address."""
    return Failure("redirects to an address that cannot be read", transient=False, advice=_REDIRECT_ADVICE)


def closed_port(address: str, start_command: str) -> Failure:
    """Return the failure of a request to a port of this machine on which nothing listens."""
    return Failure(
        "could not be reached",
        transient=False,
        detail=f"nothing listens on {address}",
        advice=f"start a server, for example `{start_command}`",
    )


def unknown_host(host: str) -> Failure:
    """Return the failure of a request to a host name that stands for no address."""
    return Failure(
        "could not be reached",
        transient=True,
        detail=f"the host name {host} does not resolve",
        is_lasting=True,
        advice=_ADDRESS_ADVICE,
    )


def behind(error: BaseException, kind: type[ErrorT]) -> ErrorT | None:
    """Return the first error of a kind, from an error down to what caused it; None if there is none."""
    below: BaseException | None = error
    while below is not None and not isinstance(below, kind):
        below = below.__cause__ or below.__context__
    return below


def is_refused(error: BaseException) -> bool:
    """Return whether nothing listens at the address, by what lies below an error."""
    if isinstance(error, ConnectionRefusedError):
        return True
    if isinstance(error, BaseExceptionGroup):  # a host name may stand for several addresses
        return bool(error.exceptions) and all(is_refused(member) for member in error.exceptions)
    below = error.__cause__ or error.__context__
    return below is not None and is_refused(below)


def failure_of(error: "ModelAPIError", *, secrets: Sequence[str]) -> Failure:
    """Return the failure behind a pydantic-ai error: a status of 400 or above, or a broken connection."""
    from pydantic_ai.exceptions import ModelHTTPError, ModelTimeoutError

    if not isinstance(error, ModelHTTPError):
        is_timeout = isinstance(error, ModelTimeoutError)
        kind: Literal["provider_error", "timeout"] = "timeout" if is_timeout else "provider_error"
        broken = replace(_broken_connection(error), kind=kind, detail=_shortened(_innermost(error), secrets))
        return replace(broken, event="timed out") if is_timeout else broken
    status = error.status_code
    return Failure(
        f"answered with status {status}",
        transient=_is_transient(status),
        kind="timeout" if status == HTTPStatus.REQUEST_TIMEOUT else "provider_error",
        status=status,
        detail=_shortened(_server_text(error.body), secrets),
        asked_wait_s=error.retry_after,
    )


def _broken_connection(error: BaseException) -> Failure:
    """Return what became of a connection that brought no whole HTTP response, by what lies below an error."""
    import httpx2

    match below := behind(error, httpx2.HTTPError):
        case httpx2.TooManyRedirects():
            return Failure("redirects in a circle", transient=True, is_lasting=True, advice=_REDIRECT_ADVICE)
        case httpx2.DecodingError():
            return Failure("sent a body that cannot be decompressed", transient=True)
        case httpx2.RemoteProtocolError():
            return _broken_protocol(str(below))
        case httpx2.ReadError() | httpx2.WriteError() | httpx2.CloseError():
            return Failure("broke the connection off", transient=True, is_silent=True)
        case _:
            advice = _SCHEME_ADVICE if "SSL" in _innermost(error) else ""
            return Failure("could not be reached", transient=True, is_silent=True, advice=advice)


def _broken_protocol(message: str) -> Failure:
    """Return the failure behind the message of an HTTP reader."""
    if message.startswith("Server disconnected"):
        return Failure("hung up without an answer", transient=True, is_silent=True)
    if message.startswith("peer closed connection"):
        return Failure("hung up in the middle of its answer", transient=True)
    if message.startswith("Receive buffer too long"):
        return Failure("sent headers without end", transient=True)
    return Failure("sent something that is not HTTP", transient=True, advice=_SCHEME_ADVICE)


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _is_transient(status: int) -> bool:
    passing = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
    return status in passing or status >= HTTPStatus.INTERNAL_SERVER_ERROR


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


def _shortened(text: str, secrets: Sequence[str]) -> str:
    """Return the text of a server on one line, without keys and without characters that steer a terminal."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_KEY_CHARS:
            text = text.replace(secret, KEY_MARK)
    # Before the last cut: half a key would not be recognised. A body has up to 2 MB.
    cut = without_keys(text)[:_SEARCHED_CHARS]
    shown = redacted(" ".join("".join(character if character.isprintable() else " " for character in cut).split()))
    return shown if len(shown) <= _DETAIL_CHARS else f"{shown[:_DETAIL_CHARS]}…"

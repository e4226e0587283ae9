"""Checks every HTTP response before a vendor's package reads it: where it redirects to, its size, depth and form."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from episodic_absa.errors import NO_USAGE, Usage
from episodic_absa.serialization.canonical_json import MAX_JSON_DEPTH, is_too_deep

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES: Final = 2_000_000
MAX_JSON_PARTS: Final = 5_000
"""Objects and lists of one response. A vendor's package makes a large object of each; an answer has about ten."""
MAX_TOKENS: Final = 10**12
"""No answer uses more; a larger count is an error of the server."""
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_PAGE_CHARS: Final = 2000
_TOKEN_KEYS: Final = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))


class NoApiResponseError(Exception):
    """A response that no model sent: a login page, an endless body, half an object, a redirect to another host."""

    def __init__(
        self,
        event: str,
        *,
        status: int,
        detail: object = "",
        usage: Usage = NO_USAGE,
        is_redirect: bool = False,
        is_page: bool = False,
    ) -> None:
        super().__init__(event)
        self.event = event
        """What the server did, without any text of its own."""
        self.status = status
        self.detail = detail
        """Text or a JSON value of the server."""
        self.usage = usage
        self.is_redirect = is_redirect
        self.is_page = is_page


@dataclass(slots=True)
class Exchange:
    """One request of ours, and what has come back so far."""

    url: "httpx2.URL | None" = None
    """Where the request went before any redirect."""
    status: int | None = None
    size: int = 0
    """Decompressed bytes of the body."""
    usage: Usage = NO_USAGE
    """What the response says it used, whether or not its answer can be read."""

    @property
    def progress(self) -> str:
        """How far the answer came, "" if nothing of it did."""
        return "" if self.status is None else f"sent {self.size:,} bytes of an answer (status {self.status})"


_EXCHANGE: ContextVar[Exchange] = ContextVar("exchange")


@contextmanager
def watched_exchange() -> Iterator[Exchange]:
    """Yield what the hooks of the HTTP client see of one request; vendors' packages lie between it and the caller."""
    exchange = Exchange()
    token = _EXCHANGE.set(exchange)
    try:
        yield exchange
    finally:
        _EXCHANGE.reset(token)


async def check_request(request: "httpx2.Request") -> None:
    """Refuse to send a redirected request to another place, however the address of the redirect was written."""
    exchange = _EXCHANGE.get(None)
    if exchange is None:
        return
    if exchange.url is None:
        exchange.url = request.url
    elif not _is_same_place(exchange.url, request.url):
        raise _another_host(exchange.url, request.url, exchange.status or HTTPStatus.TEMPORARY_REDIRECT)


def response_check(answers_under: tuple[str, ...]) -> "Callable[[httpx2.Response], Awaitable[None]]":
    """Return the hook that reads a response within the limits and refuses what is no API response.

    Args:
        answers_under: keys of which one holds the answer.
    """

    async def check(response: "httpx2.Response") -> None:
        exchange = _EXCHANGE.get(None) or Exchange()
        exchange.status, exchange.size = response.status_code, 0
        body = await _read(response, exchange)
        # aread() returns this from now on; it would read without a limit.
        response._content = body  # noqa: SLF001
        # A server may name an encoding that takes minutes to read, such as punycode.
        response.encoding = "utf-8"
        if not response.has_redirect_location:
            exchange.usage = _checked_usage(body, response.status_code, answers_under)

    return check


def _is_same_place(asked: "httpx2.URL", target: "httpx2.URL") -> bool:
    is_upgrade = (asked.scheme, target.scheme) == ("http", "https") and asked.port is target.port is None
    is_same_port = (asked.scheme, asked.port) == (target.scheme, target.port)
    return asked.host == target.host and (is_upgrade or is_same_port)


def _another_host(asked: "httpx2.URL", target: "httpx2.URL", status: int) -> NoApiResponseError:
    return NoApiResponseError(
        f"redirects to another host (status {status})",
        status=status,
        detail=f"{asked.netloc.decode()} to {target.netloc.decode() or target.scheme}",
        is_redirect=True,
    )


async def _read(response: "httpx2.Response", exchange: Exchange) -> bytes:
    """Return the decompressed body."""
    parts: list[bytes] = []
    async for part in response.aiter_bytes():
        exchange.size += len(part)
        if exchange.size > MAX_BODY_BYTES:
            raise NoApiResponseError(
                f"sent a body of more than {MAX_BODY_BYTES // 1_000_000} MB (status {response.status_code})",
                status=response.status_code,
            )
        parts.append(part)
    return b"".join(parts)


def _checked_usage(body: bytes, status: int, answers_under: tuple[str, ...]) -> Usage:
    """Return what a response says it used; raise NoApiResponseError if it is no API response."""
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    if not is_success and status < HTTPStatus.BAD_REQUEST:
        raise NoApiResponseError(f"answered with status {status}", status=status)
    try:
        value = json.loads(body)
    except RecursionError:
        raise _too_deep(status) from None
    except ValueError:
        if is_success:
            raise _no_json(body, status) from None
        return NO_USAGE
    if is_too_deep(value):
        raise _too_deep(status)
    if _has_too_many_parts(value):
        raise NoApiResponseError(
            f"sent JSON of more than {MAX_JSON_PARTS:,} objects and lists (status {status})", status=status
        )
    if not is_success:
        return NO_USAGE
    if not isinstance(value, dict):
        raise _no_json(body, status)
    usage = _usage_in(value)
    if not any(value.get(key) for key in answers_under):
        raise NoApiResponseError(
            f"sent JSON without {answers_under[0]} (status {status})",
            status=status,
            detail=value.get("error", ""),
            usage=usage,
        )
    return usage


def _has_too_many_parts(value: object) -> bool:
    """Return whether a JSON value that is not too deep holds more objects and lists than any answer."""
    parts_n, waiting = 0, [value]
    while waiting and parts_n <= MAX_JSON_PARTS:
        part = waiting.pop()
        parts_n += 1
        members = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        waiting.extend(member for member in members if isinstance(member, dict | list))
    return parts_n > MAX_JSON_PARTS


def _too_deep(status: int) -> NoApiResponseError:
    return NoApiResponseError(f"sent JSON nested more than {MAX_JSON_DEPTH} deep (status {status})", status=status)


def _no_json(body: bytes, status: int) -> NoApiResponseError:
    text = body[:_PAGE_CHARS].decode(errors="replace").strip()
    if not text:
        return NoApiResponseError(f"sent an empty body (status {status})", status=status)
    if text.startswith("<"):
        title = _TITLE.search(text)
        detail = f"a page titled {' '.join(title[1].split())!r}" if title else ""
        return NoApiResponseError(
            f"sent a web page, no API response (status {status})", status=status, detail=detail, is_page=True
        )
    return NoApiResponseError(f"sent a body that is not a JSON object (status {status})", status=status)


def is_token_count(value: object) -> TypeGuard[int]:
    """Return whether a server's value can be a number of tokens.

    Example:
        >>> is_token_count(812), is_token_count(-1), is_token_count(10**30)
        (True, False, False)
    """
    return isinstance(value, int) and 0 <= value <= MAX_TOKENS


def _usage_in(value: dict[str, Any]) -> Usage:
    """Return the tokens that a response without an answer says it used; their price is not known."""
    counts = value.get("usage")
    if not isinstance(counts, dict):
        return NO_USAGE
    for key_in, key_out in _TOKEN_KEYS:
        tokens_in, tokens_out = counts.get(key_in), counts.get(key_out)
        if is_token_count(tokens_in) and is_token_count(tokens_out):
            return Usage(tokens_in, tokens_out, cost_usd=None if tokens_in or tokens_out else 0.0)
    return NO_USAGE

"""Checks every HTTP response before a vendor's package reads it: where it redirects to, its size, depth and form."""

import json
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from episodic_absa.backends.answer_parsing import is_too_deep
from episodic_absa.backends.loose_json import MAX_JSON_DEPTH
from episodic_absa.errors import NO_USAGE, Usage

if TYPE_CHECKING:
    import httpx2

MAX_BODY_BYTES: Final = 2_000_000
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

    @classmethod
    def behind(cls, error: BaseException) -> "NoApiResponseError | None":
        """Return the error of this class that lies below a vendor's error."""
        below: BaseException | None = error
        while below is not None:
            if isinstance(below, cls):
                return below
            below = below.__cause__ or below.__context__
        return None


def response_check(answers_under: tuple[str, ...]) -> "Callable[[httpx2.Response], Awaitable[None]]":
    """Return the hook that reads a response within the limits and refuses what is no API response.

    Args:
        answers_under: keys of which one holds the answer.
    """

    async def check(response: "httpx2.Response") -> None:
        if response.has_redirect_location:
            _refuse_another_host(response)
        body = await _read(response)
        # aread() returns this from now on; it would read without a limit.
        response._content = body  # noqa: SLF001
        _refuse_odd_body(body, response.status_code, answers_under)

    return check


def _refuse_another_host(response: "httpx2.Response") -> None:
    """Refuse a redirect that would carry the review, and perhaps the key, to another address."""
    asked = response.request.url
    target = asked.join(response.headers["location"])
    is_upgrade = (asked.scheme, target.scheme) == ("http", "https") and asked.port is target.port is None
    if asked.host != target.host or (not is_upgrade and (asked.scheme, asked.port) != (target.scheme, target.port)):
        raise NoApiResponseError(
            f"redirects to another host (status {response.status_code})",
            status=response.status_code,
            detail=f"{asked.netloc.decode()} to {target.netloc.decode()}",
            is_redirect=True,
        )


async def _read(response: "httpx2.Response") -> bytes:
    """Return the decompressed body."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise NoApiResponseError(
                f"sent a body of more than {MAX_BODY_BYTES // 1_000_000} MB (status {response.status_code})",
                status=response.status_code,
            )
        parts.append(part)
    return b"".join(parts)


def _refuse_odd_body(body: bytes, status: int, answers_under: tuple[str, ...]) -> None:
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    try:
        value = json.loads(body)
    except RecursionError:
        raise _too_deep(status) from None
    except ValueError:
        if is_success:
            raise _no_json(body, status) from None
        return
    if is_too_deep(value):
        raise _too_deep(status)
    if not is_success:
        return
    if not isinstance(value, dict):
        raise _no_json(body, status)
    if not any(value.get(key) for key in answers_under):
        raise NoApiResponseError(
            f"sent JSON without {answers_under[0]} (status {status})",
            status=status,
            detail=value.get("error", ""),
            usage=_usage_in(value),
        )


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


def _usage_in(value: dict[str, Any]) -> Usage:
    """Return the tokens that a response without an answer says it used; their price is not known."""
    counts = value.get("usage")
    if not isinstance(counts, dict):
        return NO_USAGE
    for key_in, key_out in _TOKEN_KEYS:
        tokens_in, tokens_out = counts.get(key_in), counts.get(key_out)
        if isinstance(tokens_in, int) and isinstance(tokens_out, int) and min(tokens_in, tokens_out) >= 0:
            return Usage(tokens_in, tokens_out, cost_usd=None if tokens_in or tokens_out else 0.0)
    return NO_USAGE

"""What a server may do instead of answering: the bytes of each fault, and the words by which a sample must name it."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal

MAX_BODY = 2_000_000
_DAY_S = 86_400
_NO_ANSWER = "in the asked form after 3 attempts"


@dataclass(frozen=True)
class Fault:
    """One way to misbehave."""

    name: str
    cause: str
    """What the error of a sample must say if this is all that a request ever got; "" if an answer can be read."""
    head: bytes = b""
    """Sent as it is: status line, headers and the beginning of a body, or no HTTP at all."""
    body: bytes = b""
    more: bytes = b""
    """Repeated without end after the body."""
    ending: Literal["keep", "close", "reset", "drip"] = "keep"
    """What becomes of the connection; `drip` sends the body byte by byte and never ends it."""
    ends_at_once: bool = False
    """Whether the request is not worth a retry: one such fault fails its sample."""
    text: str | None = None
    """The answer in place of a good one, in an envelope that is in order."""
    envelope: tuple[tuple[str, Any], ...] = ()
    """Members of the envelope around a good answer that are not as they should be."""

    @property
    def is_answer(self) -> bool:
        """Whether the fault lies in what a model said, not in how it was brought."""
        return self.text is not None or bool(self.envelope)

    def bytes_to_send(self) -> Iterator[bytes]:
        """Yield what is sent after the head."""
        yield self.body
        if self.more:
            yield from repeat(self.more)


def head(status: int, length: int | None, *headers: str) -> bytes:
    """Return a status line and headers."""
    lines = [f"HTTP/1.1 {status} Odd", "Content-Type: application/json", *headers]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def envelope(content: str, **members: Any) -> bytes:
    """Return the completion that an honest server sends."""
    usage = {"prompt_tokens": 10 + len(content) % 7, "completion_tokens": 5, "total_tokens": 15 + len(content) % 7}
    message = {"role": "assistant", "content": content}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage,
        **members,
    }
    return json.dumps(completion).encode()


def _whole(name: str, cause: str, body: bytes, *headers: str, status: int = 200, ends_at_once: bool = False) -> Fault:
    return Fault(name, cause, head(status, len(body), *headers), body, ends_at_once=ends_at_once)


def _refusal(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()


_COMPLETION = envelope("{}")
_BOMB = gzip.compress(b'{"choices": [' + b" " * (20 * MAX_BODY))
_CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
_PAGE = b"<html><title>Sign in</title><form></form></html>"
_TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x46"

TRANSPORT_FAULTS = (
    _whole("nested body", "nested more than 64 deep", b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    Fault("endless body", r"more than 2 MB \(status 200\)", head(200, 10**12), b'{"choices": [', b" " * 65_536),
    Fault(
        "endless chunks", r"more than 2 MB \(status 200\)", head(200, None, "Transfer-Encoding: chunked"), more=_CHUNK
    ),
    Fault("endless 500", r"more than 2 MB \(status 500\)", head(500, 10**12), b'{"error": "', b"a" * 65_536),
    _whole("gzip bomb", r"more than 2 MB \(status 200\)", _BOMB, "Content-Encoding: gzip"),
    _whole("no gzip", "cannot be decompressed", b"\0\1\2", "Content-Encoding: gzip"),
    _whole("500", "answered with status 500", _refusal("out of memory"), status=500),
    _whole("503", "answered with status 503", _refusal("loading"), status=503),
    _whole("429", "answered with status 429", _refusal("slow down"), status=429),
    _whole("429, wait for garbage", "answered with status 429", _refusal("wait"), "Retry-After: soon", status=429),
    _whole("429, wait a negative time", "answered with status 429", _refusal("wait"), "Retry-After: -9", status=429),
    _whole("304", "answered with status 304", b"", status=304),
    _whole("page", "sent a web page", _PAGE),
    _whole("empty body", "sent an empty body", b""),
    _whole("empty choices", "sent JSON without choices", b'{"choices": []}'),
    _whole("choices given twice", "sent JSON without choices", _COMPLETION[:-1] + b', "choices": []}'),
    _whole("many objects", "more than 5,000 objects and lists", b'{"choices": [' + b"{}," * 100_000 + b"{}]}"),
    _whole("half an object", "not a JSON object", _COMPLETION[:-20]),
    _whole("no UTF-8", "not a JSON object", b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    _whole("NaN tokens", "API response that cannot be read", envelope("{}", usage={"prompt_tokens": float("nan")})),
    _whole("redirect to itself", "redirects in a circle", b"", "Location: /v1/chat/completions", status=307),
    Fault("length too short", "not a JSON object", head(200, 30), _COMPLETION, ending="close"),
    Fault("length too long", "hung up in the middle", head(200, 10**6), _COMPLETION, ending="close"),
    Fault("reset in the body", "broke the connection off", head(200, 10**6), _COMPLETION[:40], ending="reset"),
    Fault("hung up", "hung up without an answer", ending="close"),
    Fault("huge headers", "headers without end", b"HTTP/1.1 200 OK\r\n", more=b"X-More: " + b"a" * 8000 + b"\r\n"),
    Fault("TLS on a plain port", "not HTTP", _TLS_ALERT, ending="close"),
)
SLOW_DRIP = Fault("slow drip", "did not finish its answer within", head(200, 10**6), b"  ", ending="drip")
RETRY_IN_A_DAY = _whole(
    "429, wait a day",
    r"answered with status 429: wait; asks to wait 8\.64e\+04 s, and ",
    _refusal("wait"),
    f"Retry-After: {_DAY_S}",
    status=429,
    ends_at_once=True,
)
ANSWER_FAULTS = (
    Fault("100,000 characters", _NO_ANSWER, text="word " * 20_000),
    Fault("wrong schema", _NO_ANSWER, text='{"weather": {"tomorrow": 5}, "wind": [2, {"gusts": 3}]}'),
    Fault("nested answer", _NO_ANSWER, text="[" * 50_000),
    Fault("half a character", _NO_ANSWER, text="\ud800 I would rather not say"),
    Fault("nothing", _NO_ANSWER, text=""),
)
READABLE_FAULTS = (
    Fault(
        "huge counts", "", envelope=(("usage", {"prompt_tokens": 2**63, "completion_tokens": 1, "total_tokens": 1}),)
    ),
    Fault("half a character as model", "", envelope=(("model", "\ud800"),)),
    Fault("numbers that are none", "", text='{"terms": [NaN], "pairs": [Infinity], "better": -Infinity}'),
    Fault(
        "keys given twice",
        "",
        text='{"terms": ["a"], "terms": [], "pairs": [1], "pairs": [], "risks": [], "risks": []}',
    ),
)


def redirect_to(base_url: str) -> Fault:
    """Return the fault that sends a request, with the review in it, to another server."""
    place = f"Location: {base_url}/chat/completions"
    return _whole("redirect elsewhere", "redirects to another host", b"", place, status=307, ends_at_once=True)

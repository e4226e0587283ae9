"""A model server on loopback that speaks the OpenAI chat protocol from a script: one entry per request, in order.

Run as a program it answers every request alike, for measurements: python loopback_model.py '{"aspects": []}'
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Behaviour:
    """What the server does with one request."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    delay_s: float = 0.0
    drip_s: float = 0.0
    """Pause after each tenth of the body."""
    missing_bytes: int = 0
    """Promise so many more than are sent, then hang up."""
    hang_up: bool = False


Entry = Behaviour | Callable[[dict[str, Any]], Behaviour]


def answer(
    content: str | None, *, tokens: tuple[int, int] = (10, 5), delay_s: float = 0.0, drip_s: float = 0.0, **message: Any
) -> Behaviour:
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
    return Behaviour(json.dumps(completion).encode(), delay_s=delay_s, drip_s=drip_s)


def page(body: str, content_type: str = "text/html") -> Behaviour:
    return Behaviour(body.encode(), headers={"Content-Type": content_type})


def failure(status: int, message: str = "no", **headers: str) -> Behaviour:
    body = json.dumps({"error": {"message": message, "type": "error", "code": None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Behaviour(body, status=status, headers={"Content-Type": "application/json", **named})


HANG_UP = Behaviour(hang_up=True)


class LoopbackModel:
    """The server; a context manager. Beyond its script it repeats the last entry."""

    def __init__(self, *script: Entry) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.times: list[float] = []
        self.hung_up_on = threading.Event()
        """The client closed its socket before the answer was out."""
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def count(self) -> int:
        return len(self.bodies)

    def waits(self) -> list[float]:
        """Seconds between one request and the next."""
        return [later - earlier for earlier, later in zip(self.times, self.times[1:], strict=False)]

    def __enter__(self) -> "LoopbackModel":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def received(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Behaviour:
        with self._lock:
            entry = self._script[min(len(self.bodies), len(self._script) - 1)]
            self.paths.append(path)
            self.headers.append(headers)
            self.bodies.append(body)
            self.times.append(time.monotonic())
        return entry if isinstance(entry, Behaviour) else entry(body)

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def pause(self, seconds: float) -> None:
        self._stopped.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _is_gone(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        client.setblocking(True)


def _handler_for(model: LoopbackModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            behaviour = model.received(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            if behaviour.delay_s:
                self._wait(behaviour.delay_s)
            if behaviour.hang_up:
                self.close_connection = True
                return
            head = [f"HTTP/1.1 {behaviour.status} Scripted"]
            head += [f"{name}: {value}" for name, value in behaviour.headers.items()]
            head.append(f"Content-Length: {len(behaviour.body) + behaviour.missing_bytes}")
            self.wfile.write("\r\n".join([*head, "", ""]).encode())
            if behaviour.drip_s:
                step = max(1, len(behaviour.body) // 10)
                for start in range(0, len(behaviour.body), step):
                    self.wfile.write(behaviour.body[start : start + step])
                    self._wait(behaviour.drip_s)
            else:
                self.wfile.write(behaviour.body)
            self.close_connection = self.close_connection or bool(behaviour.missing_bytes)

        def _wait(self, seconds: float) -> None:
            """Wait, but no longer than the client does."""
            ends_at = time.monotonic() + seconds
            while (left_s := ends_at - time.monotonic()) > 0 and not model.stopped and not _is_gone(self.connection):
                model.pause(min(left_s, 0.02))
            if _is_gone(self.connection):
                model.hung_up_on.set()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


if __name__ == "__main__":
    with LoopbackModel(answer(sys.argv[1], tokens=(300, 60))) as served:
        sys.stdout.write(served.base_url + "\n")
        sys.stdout.flush()
        sys.stdin.read()

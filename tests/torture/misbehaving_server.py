"""A model server on loopback that answers honestly, and misbehaves at a given rate.

Whether a request meets a fault depends on its content and on how often that content was sent before, never on the
clock: equal runs meet equal faults. Some contents are cursed and meet the same fault at every try, so that their
samples fail; any other content is answered at the fifth try at the latest.
"""

import json
import random
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.torture.server_faults import (
    ANSWER_FAULTS,
    READABLE_FAULTS,
    RETRY_IN_A_DAY,
    TRANSPORT_FAULTS,
    Fault,
    envelope,
    head,
    redirect_to,
)

_REPAIR = "\n\nYour previous answer was:\n"
_MOST_FAULTS_IN_A_ROW = 4
_DRIP_S = 0.05
_LINGER_NEVER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Prompt:
    """One request as a model sees it."""

    system: str
    user: str

    @property
    def first_user(self) -> str:
        """The user message of the first attempt: repair attempts add a note to it."""
        return self.user.split(_REPAIR)[0]


Honest = Callable[[Prompt], str]
Chooser = Callable[[Prompt, str, int], Fault | None]


@dataclass(frozen=True)
class Exchange:
    """One request, and what it got."""

    prompt: Prompt
    content: str
    """Hash of the whole request."""
    fault: Fault | None


class RandomFaults:
    """Chooses faults by content and try."""

    def __init__(self, seed: int, *, rate: float, cursed: float, elsewhere: str, slow: Sequence[Fault] = ()) -> None:
        """Misbehave at a rate.

        Args:
            seed: another one gives other faults.
            rate: the share of requests that meet a fault.
            cursed: the share of contents that meet a fault at every try.
            elsewhere: the address of another server, for redirects.
            slow: faults that take the time limit of a request; they curse nothing.
        """
        self._seed, self._rate, self._cursed = seed, rate, cursed
        self._lasting = (*TRANSPORT_FAULTS, *ANSWER_FAULTS, RETRY_IN_A_DAY, redirect_to(elsewhere))
        self._passing = (*TRANSPORT_FAULTS, *ANSWER_FAULTS, *READABLE_FAULTS, *slow)

    def __call__(self, prompt: Prompt, content: str, try_n: int) -> Fault | None:
        fate = random.Random(f"{self._seed} {prompt.system} {prompt.first_user}")
        if fate.random() < self._cursed:
            return fate.choice(self._lasting)
        if all(self._passing_fault(content, earlier) for earlier in range(try_n - _MOST_FAULTS_IN_A_ROW, try_n)):
            return None
        return self._passing_fault(content, try_n)

    def _passing_fault(self, content: str, try_n: int) -> Fault | None:
        chance = random.Random(f"{self._seed} {content} {try_n}")
        return chance.choice(self._passing) if try_n > 0 and chance.random() < self._rate else None


def no_fault(_prompt: Prompt, _content: str, _try_n: int) -> Fault | None:
    """Choose no fault at all."""
    return None


@dataclass
class MisbehavingServer:
    """The server; a context manager. `choose` may be exchanged while it runs."""

    honest: Honest
    choose: Chooser = no_fault
    port: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    down_after: int | None = None
    """Close the port when so many requests were taken; what is under way is still answered."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._tries: Counter[str] = Counter()
        self._stopped = threading.Event()
        self._taken_n = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._stopped.clear()
        self._taken_n = 0
        self._server = _Server(("127.0.0.1", self.port), _handler_for(self))
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the port; connections are closed at their next request. It may be opened again at the same address."""
        self._stopped.set()
        self._server.shutdown()
        self._thread.join()

    def _serve(self) -> None:
        try:
            self._server.serve_forever(poll_interval=0.02)
        finally:
            self._server.server_close()

    def take(self, body: bytes) -> tuple[Prompt, Fault | None]:
        """Return the prompt of a request and what it meets."""
        request: dict[str, Any] = json.loads(body)
        system, user = (message["content"] for message in request["messages"])
        prompt, content = Prompt(system, user), sha256(body).hexdigest()
        with self._lock:
            self._taken_n += 1
            if self._taken_n == self.down_after:
                self._stopped.set()
                threading.Thread(target=self._server.shutdown).start()
            self._tries[content] += 1
            fault = self.choose(prompt, content, self._tries[content])
            self.exchanges.append(Exchange(prompt, content, fault))
        return prompt, fault

    @property
    def is_down(self) -> bool:
        return self._stopped.is_set()

    def is_stopped_after(self, seconds: float) -> bool:
        return self._stopped.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError | ValueError):  # the client hung up, or the server was closed
            super().handle_error(request, client_address)


def _handler_for(server: MisbehavingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if server.is_down:
                self.close_connection = True
                return
            prompt, fault = server.take(body)
            if fault is None or fault.is_answer:
                text = server.honest(prompt) if fault is None or fault.text is None else fault.text
                answer = envelope(text, **dict(fault.envelope if fault else ()))
                self.wfile.write(head(200, len(answer)) + answer)
            else:
                self._misbehave(fault)

        def _misbehave(self, fault: Fault) -> None:
            self.close_connection = fault.ending != "keep" or bool(fault.more)
            self.wfile.write(fault.head)
            for part in fault.bytes_to_send():
                self.wfile.write(part)
            while fault.ending == "drip" and not server.is_stopped_after(_DRIP_S):
                self.wfile.write(b" ")
            if fault.ending == "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NEVER)
                self.connection.close()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler

"""A recording of the embedded engine, and a server on loopback that answers from it after a fixed time."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recorded_model import prompt_key, review_key

from episodic_absa.backends.backend import Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.embedded import EmbeddedReplier

SERVER = Path(__file__).with_name("recorded_model.py")


class RememberingReplier(RemoteFacts):
    """The embedded engine; it keeps its answers by prompt."""

    def __init__(self) -> None:
        self._engine = EmbeddedReplier()
        self.name = self._engine.name
        self.honours_seed = False
        self.texts: dict[str, str] = {}

    async def reply(self, request: Request) -> Reply:
        reply = await self._engine.reply(request)
        prompt = request.ask.prompt
        self.texts[prompt_key(prompt.system, prompt.user)] = reply.text
        self.texts.setdefault(review_key(prompt.system, prompt.user), reply.text)
        return reply

    async def close(self) -> None:
        await self._engine.close()


@contextmanager
def serving(recording: Path, latency_s: float) -> Iterator[str]:
    """Run the server."""
    command = [sys.executable, str(SERVER), str(recording), str(latency_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().decode().strip()
        server.stdin.close()

"""A model server on loopback in a process of its own: answers recorded texts, each after the same time.

python benchmarks/recorded_model.py RECORDING.json LATENCY_S    (its address comes on standard output)
"""

import asyncio
import hashlib
import json
import sys
from pathlib import Path
from typing import Any


def prompt_key(system: str, user: str) -> str:
    """Return the key of a prompt."""
    return hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()


def review_key(system: str, user: str) -> str:
    """Return the key of a role and a review; it answers prompts of a wrong guess, which were not recorded."""
    return hashlib.sha256(f"{system}\0\0{json.loads(user)['text']}".encode()).hexdigest()


class RecordedModel:
    """Speaks the part of the OpenAI chat protocol that the benchmark needs."""

    def __init__(self, texts: dict[str, str], latency_s: float) -> None:
        self._texts = texts
        self._latency_s = latency_s
        self.requests = self.unrecorded = self.under_way = self.most_under_way = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it closes."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), "0")
                body = await reader.readexactly(int(length))
                answer = self._stats() if head.startswith("get") else await self._answered(json.loads(body))
                content = json.dumps(answer).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(content)
                    + content
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _stats(self) -> dict[str, int]:
        stats = {"requests": self.requests, "unrecorded": self.unrecorded, "most_under_way": self.most_under_way}
        self.requests = self.unrecorded = self.most_under_way = 0
        return stats

    async def _answered(self, body: dict[str, Any]) -> dict[str, Any]:
        self.requests += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(self._latency_s)
        self.under_way -= 1
        system, user = (message["content"] for message in body["messages"])
        text = self._texts.get(prompt_key(system, user))
        if text is None:
            self.unrecorded += 1
            text = self._texts[review_key(system, user)]
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "recorded",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 60, "total_tokens": 360},
        }


async def main(model: RecordedModel) -> None:
    """Serve until standard input closes."""
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0, limit=2**20, backlog=256)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(RecordedModel(json.loads(Path(sys.argv[1]).read_text("utf-8")), float(sys.argv[2]))))

"""A process of its own that asks through a cache and acknowledges each answer on standard output.

Its model answers with the process id, so that two processes never agree by chance.
"""

import argparse
import asyncio
import os
import sys

from pydantic import BaseModel

from episodic_absa.backends.backend import Ask, Prompt, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.cache import CachingReplier, ResponseCache
from episodic_absa.schemas.role_inputs import AteInputs


class Found(BaseModel):
    aspects: list[str]


class ProcessReplier(RemoteFacts):
    name = "process"
    honours_seed = True

    async def reply(self, request: Request) -> Reply:
        await asyncio.sleep(0)
        return Reply(f"{request.ask.prompt.user} by {os.getpid()}", Usage(7, 3, 0.25), "process-1")

    async def close(self) -> None:
        pass


def request(number: int) -> Request:
    inputs = AteInputs(text="배송이 빨라요", language="ko")
    return Request(Ask("ate", inputs, Prompt("ate", "Find aspects.", f"q{number}"), Found))


def caching(cache: ResponseCache) -> CachingReplier:
    return CachingReplier(
        ProcessReplier(), cache, provider="process", model="process-1", base_url=None, parameters={}, share="all"
    )


async def ask_all(cache: ResponseCache, first: int, count: int) -> None:
    replier = caching(cache)
    numbers = iter(range(first, first + count))

    async def ask_some() -> None:
        for number in numbers:
            reply = await replier.reply(request(number))
            os.write(1, f"{number}\t{reply.text}\n".encode())

    await asyncio.gather(*(ask_some() for _ in range(8)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("location", help="a path or the address of a database")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**6)
    options = parser.parse_args()
    os.write(1, b"ready\n")
    sys.stdin.readline()
    with ResponseCache(options.location) as cache:
        asyncio.run(ask_all(cache, options.first, options.count))


if __name__ == "__main__":
    main()

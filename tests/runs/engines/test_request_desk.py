"""The places that workers of a cluster share: a limit over all, one sender per equal request, nothing lost with one."""

import asyncio
from pathlib import Path
from typing import Any

from episodic_absa.backends.backend import Reply, Usage
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.runs.engines.request_desk import REQUESTS, DeskClient, RequestDesk


class DeskHere:
    """The desk in this process, called as an actor is."""

    def __init__(self, desk: RequestDesk) -> None:
        self.desk = desk
        self.take, self.give_back = _Call(desk.take), _Call(desk.give_back)


class _Call:
    def __init__(self, method: Any) -> None:
        self._method = method

    def options(self, **_: object) -> "_Call":
        return self

    def remote(self, *arguments: object) -> Any:
        return asyncio.ensure_future(self._method(*arguments))


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_the_limit_holds_over_all_workers_and_who_waits_comes_in_turn() -> None:
    async def use() -> None:
        desk = RequestDesk(2)
        assert await desk.take(REQUESTS, "a") is False
        assert await desk.take(REQUESTS, "b") is False
        third = asyncio.create_task(desk.take(REQUESTS, "a"))
        fourth = asyncio.create_task(desk.take(REQUESTS, "c"))
        await settle()
        assert not third.done()
        await desk.give_back(REQUESTS, "b")
        assert await third is True
        await settle()
        assert not fourth.done()
        assert await desk.held_n(REQUESTS) == 2

    asyncio.run(use())


def test_a_lost_worker_gives_back_what_it_held_and_what_it_waited_for() -> None:
    async def use() -> None:
        desk = RequestDesk(1)
        await desk.take(REQUESTS, "lost")
        await desk.take("key", "lost")
        waits = [asyncio.create_task(desk.take(name, holder)) for name in (REQUESTS, "key") for holder in ("lost", "b")]
        await settle()
        await desk.forget("lost")
        await settle()
        assert [wait.done() for wait in waits] == [False, True, False, True]
        await desk.give_back(REQUESTS, "lost")  # a late message changes nothing
        assert await desk.held_n(REQUESTS) == 1
        waits[0].cancel()
        waits[2].cancel()

    asyncio.run(use())


def test_a_request_that_is_given_up_while_it_waits_leaves_no_place_taken() -> None:
    async def use() -> None:
        desk = RequestDesk(1)
        client = DeskClient(DeskHere(desk), "a")
        async with client:
            given_up = asyncio.create_task(client.take(REQUESTS))
            await settle()
            given_up.cancel()
            await settle()
        await settle()
        assert await desk.held_n(REQUESTS) == 0

    asyncio.run(use())


def test_two_workers_send_an_equal_request_once(tmp_path: Path) -> None:
    async def use() -> None:
        desk, sent = DeskHere(RequestDesk(8)), 0

        async def send() -> Reply:
            nonlocal sent
            sent += 1
            await asyncio.sleep(0.01)
            return Reply("answer", Usage(3, 2, 0.0), "m")

        caches = [ResponseCache(tmp_path / "cache.sqlite", turns=DeskClient(desk, name)) for name in "ab"]
        try:
            replies = await asyncio.gather(*(cache.answer("key", send) for cache in caches for _ in range(2)))
            assert {reply.text for reply in replies} == {"answer"}
            assert sent == 1
            assert [reply.cached for reply in replies].count(False) == 1
            assert sum(cache.stats.misses for cache in caches) == 1
            await settle()
            assert await desk.desk.held_n("key") == 0
        finally:
            for cache in caches:
                cache.close()

    asyncio.run(use())

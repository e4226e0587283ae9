import asyncio

import pytest

from episodic_absa.backends.backend import Reply, Usage
from episodic_absa.runs.progress import CountingCache


def test_only_what_is_sent_is_in_flight_and_costs() -> None:
    async def scenario() -> None:
        cache = CountingCache.in_memory()
        may_answer = asyncio.Event()

        async def send() -> Reply:
            await may_answer.wait()
            return Reply("yes", Usage(10, 5, 0.25))

        asked = [asyncio.create_task(cache.answer(key, send)) for key in ("a", "a", "b", "c")]
        await asyncio.sleep(0)
        # "a" is sent once; of three requests two have a place.
        assert (cache.counts(2).sent_n, cache.counts(2).in_flight_n, cache.counts(8).in_flight_n) == (3, 2, 3)
        assert cache.counts(8).answered_n == 0
        may_answer.set()
        await asyncio.gather(*asked)
        await cache.answer("b", send)
        counts = cache.counts(2)
        assert (counts.sent_n, counts.answered_n, counts.in_flight_n, counts.cached_n) == (3, 3, 0, 2)
        assert counts.usage == Usage(30, 15, 0.75)
        cache.close()

    asyncio.run(scenario())


def test_a_request_that_fails_is_no_longer_in_flight() -> None:
    async def refuse() -> Reply:
        raise ConnectionError

    async def scenario() -> None:
        cache = CountingCache.in_memory()
        with pytest.raises(ConnectionError):
            await cache.answer("a", refuse)
        counts = cache.counts(8)
        assert (counts.sent_n, counts.in_flight_n, counts.usage) == (1, 0, Usage(cost_usd=0.0))
        cache.close()

    asyncio.run(scenario())

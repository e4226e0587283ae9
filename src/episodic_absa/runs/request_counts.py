"""What a run has sent so far: counted at the cache, where it is known which requests need not be sent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from episodic_absa.backends.backend import Reply, Usage
from episodic_absa.backends.cache.response_cache import ResponseCache


@dataclass(frozen=True)
class RequestCounts:
    """Requests of this invocation; what earlier ones paid for is not in it."""

    sent_n: int = 0
    in_flight_n: int = 0
    cached_n: int = 0
    """Answered by the cache, or by an equal request that was already on its way."""
    usage: Usage = field(default_factory=lambda: Usage(cost_usd=0.0))
    """Of the answers that were sent for."""


class CountingCache(ResponseCache):
    """A response cache that knows what its misses cost."""

    def __init__(self, path: Path | None) -> None:
        super().__init__(path)
        self._under_way_n = 0
        self._usage = Usage(cost_usd=0.0)

    async def answer(self, key: str, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """Answer as any response cache does, and count what is sent."""

        async def counted() -> Reply:
            self._under_way_n += 1
            try:
                reply = await send()
            finally:
                self._under_way_n -= 1
            self._usage = self._usage.plus(reply.usage)
            return reply

        return await super().answer(key, counted)

    def counts(self, concurrency: int) -> RequestCounts:
        """Count; no more than `concurrency` requests are really in flight, the others wait for a place."""
        stats = self.stats
        return RequestCounts(
            sent_n=stats.misses,
            in_flight_n=min(self._under_way_n, concurrency),
            cached_n=stats.hits + stats.joined,
            usage=self._usage,
        )

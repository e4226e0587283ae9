"""How far a run is: counts per cell and over the grid, for whoever shows them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from episodic_absa.backends.backend import Reply, Usage
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.errors import BackendError


@dataclass(frozen=True)
class RequestCounts:
    """Requests of this invocation; those of earlier invocations do not count."""

    sent_n: int = 0
    """Those that wait for a place included."""
    answered_n: int = 0
    """Of those sent."""
    in_flight_n: int = 0
    cached_n: int = 0
    """Answered by the cache, or by an equal request that was already under way."""
    usage: Usage = field(default_factory=lambda: Usage(cost_usd=0.0))
    """Usage of the requests that were sent, with that of failed ones as far as the server said so."""


class CountingCache(ResponseCache):
    """A response cache that counts the cost of its misses."""

    def __init__(self, location: Path | str | None) -> None:
        super().__init__(location)
        self._under_way_n = 0
        self._answered_n = 0
        self._usage = Usage(cost_usd=0.0)

    async def answer(self, key: str, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """Answer as any response cache does, and count the requests that are sent."""

        async def counted() -> Reply:
            self._under_way_n += 1
            try:
                reply = await send()
            except BackendError as error:
                self._usage = self._usage.plus(_reported(error.usage))
                raise
            finally:
                self._under_way_n -= 1
            self._answered_n += 1
            self._usage = self._usage.plus(reply.usage).plus(reply.wasted)
            return reply

        return await super().answer(key, counted)

    def counts(self, concurrency: int) -> RequestCounts:
        """Return the counts; at most `concurrency` requests are in flight, the others wait for a place."""
        stats = self.stats
        return RequestCounts(
            sent_n=stats.misses,
            answered_n=self._answered_n,
            in_flight_n=min(self._under_way_n, concurrency),
            cached_n=stats.hits + stats.joined,
            usage=self._usage,
        )


def _reported(usage: Usage) -> Usage:
    """Return the usage; a failed request without tokens cost nothing that is known of."""
    return usage if usage.tokens_in or usage.tokens_out else Usage(cost_usd=0.0)


@dataclass
class CellProgress:
    """How far one cell is; after its last sample, what it came to."""

    name: str
    total: int = 0
    done: int = 0
    resumed: int = 0
    """Samples that an earlier invocation committed and that stand; the counts below are of this invocation."""
    redone: int = 0
    """Samples that had failed in an earlier invocation and are run again."""
    failed: int = 0
    causes: list[str] = field(default_factory=list)
    """Why samples failed: a message each."""
    stored: int = 0
    changed: int = 0
    shown: int = 0

    @property
    def run_n(self) -> int:
        """Samples that this invocation has run."""
        return self.done - self.resumed


@dataclass
class GridProgress:
    """How far the grid is."""

    cells: dict[str, CellProgress] = field(default_factory=dict)
    """All cells of the grid from the start, those that build stores first."""
    requests: Callable[[], RequestCounts] = RequestCounts
    on_change: Callable[["GridProgress"], None] = lambda _: None

    @property
    def failed(self) -> int:
        """Failed samples over the grid."""
        return sum(cell.failed for cell in self.cells.values())

    @property
    def run_n(self) -> int:
        """Samples that this invocation has run."""
        return sum(cell.run_n for cell in self.cells.values())

    @property
    def causes(self) -> list[str]:
        """Why samples failed: a message each."""
        return [message for cell in self.cells.values() for message in cell.causes]

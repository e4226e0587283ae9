"""Answers by key: an equal request is sent once, and nothing is used before it is committed."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, Self

from episodic_absa.backends.backend import Reply
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.backends.cache.kept_answers import KeptAnswers
from episodic_absa.backends.cache.postgres_cache import PostgresAnswers
from episodic_absa.errors import NO_USAGE
from episodic_absa.postgres.location import is_postgres

_RECENT_ANSWERS: Final = 4096


class CacheStats(NamedTuple):
    """How many requests were answered in which way."""

    hits: int
    misses: int
    """Sent, whether or not an answer came."""
    joined: int
    """Waited for an equal request that was already on its way."""


class ResponseCache:
    """Answers by key, shared by any number of repliers and processes; use it from one event loop at a time.

    The caller that opens it closes it.

    Args:
        location: the file or the database that keeps the answers; None keeps them in memory. Two processes may send
            equal requests at the same time; both then use the answer that was kept first.
    """

    def __init__(self, location: Path | str | None) -> None:
        self._file = None if location is None else _open_answers(location)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="response-cache")
        self._lookups = ThreadPoolExecutor(max_workers=1, thread_name_prefix="response-cache-lookups")
        # With a file or a database these are the recent answers, without one all of them.
        self._known: OrderedDict[str, Reply] = OrderedDict()
        # Answers of asks that failed: equal asks share them until this cache is closed, and no later run sees them.
        self._dropped: dict[str, Reply] = {}
        self._hits = self._misses = self._joined = 0
        self._traffic: _Traffic | None = None
        self._closed = False

    @classmethod
    def in_memory(cls) -> Self:
        """Open a cache that ends with this process (`--no-cache`)."""
        return cls(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def stats(self) -> CacheStats:
        """Count hits, misses and joined requests since this cache was opened."""
        return CacheStats(self._hits, self._misses, self._joined)

    def close(self) -> None:
        """Finish the commit in progress and close what keeps the answers; later requests raise RuntimeError."""
        self._closed = True
        self._lookups.shutdown(wait=True)
        self._thread.shutdown(wait=True)
        if self._file is not None:
            self._file.close()

    async def answer(self, key: str, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the kept answer, or join the request on its way, or send it and commit what comes back.

        If the request that others wait for fails or is cancelled, its error stays with its caller and one of the
        others sends again. An answer that has arrived is committed even if its caller is gone.
        """
        loop = asyncio.get_running_loop()
        if self._traffic is None or self._traffic.loop is not loop:
            # What was on its way in a loop that has ended will never arrive.
            self._traffic = _Traffic(loop)
        traffic = self._traffic
        while (flight := traffic.flights.get(key)) is not None:
            # Shielded, because a waiter that is cancelled would otherwise cancel the future of all the others.
            landed = await asyncio.shield(flight)
            if landed is not None:
                self._joined += 1
                return landed
        if self._closed:
            raise RuntimeError("the response cache was asked after it had been closed")
        if (reply := await self._find(key, traffic)) is not None:
            self._hits += 1
            # A run whose answers are all known would otherwise never let timers, signals and progress have a turn.
            await asyncio.sleep(0)
            return reply
        return await self._send(key, send, traffic)

    async def drop(self, keys: Sequence[str]) -> None:
        """Remove the answers of an ask that failed from the file, so that a later run sends them again.

        Until this cache is closed equal asks still get these answers: cells of one run share them.
        """
        for key in keys:
            if (reply := await self._find(key, None)) is not None:
                self._dropped[key] = reply
        if self._file is not None and keys:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._file.remove, keys)

    async def _find(self, key: str, traffic: "_Traffic | None") -> Reply | None:
        if (dropped := self._dropped.get(key)) is not None:
            return dropped
        reply = self._known.get(key)
        if reply is not None:
            self._known.move_to_end(key)
        elif self._file is not None:
            if self._file.looks_up_at_once:
                reply = self._file.find(key)
            else:
                reply = await self._look_up(self._file, key, traffic)
            if reply is not None:
                self._remember(key, reply)
        return reply

    async def _look_up(self, file: KeptAnswers, key: str, traffic: "_Traffic | None") -> Reply | None:
        """Look up in a thread; equal requests that come meanwhile wait for the outcome."""
        loop = asyncio.get_running_loop()
        if traffic is None:
            return await loop.run_in_executor(self._lookups, file.find, key)
        flight = traffic.flights[key] = loop.create_future()
        reply: Reply | None = None
        try:
            reply = await loop.run_in_executor(self._lookups, file.find, key)
        finally:
            # Those who wait look again when this request has had its turn: it is sent by then, or has come to nothing.
            del traffic.flights[key]
            flight.set_result(reply)
        return reply

    async def _send(self, key: str, send: Callable[[], Awaitable[Reply]], traffic: "_Traffic") -> Reply:
        flight = traffic.flights[key] = traffic.loop.create_future()
        self._misses += 1
        try:
            reply = await send()
        except BaseException:
            traffic.flights.pop(key).set_result(None)
            raise
        as_kept = replace(reply, cached=True, is_cut=False, wasted=NO_USAGE)
        if self._file is None:
            self._land(key, as_kept, traffic)
        else:
            traffic.arrived[key] = as_kept
            if traffic.writer is None or traffic.writer.done():
                traffic.writer = traffic.loop.create_task(self._commit_arrived(self._file, traffic))
        kept = await asyncio.shield(flight)
        # Another process may have been first. What is in the file is what a resumed run will see, so it is used.
        return reply if kept is None or kept == as_kept else kept

    async def _commit_arrived(self, file: KeptAnswers, traffic: "_Traffic") -> None:
        """Commit in one transaction all that has arrived since the last one, until nothing is left."""
        while traffic.arrived:
            batch, traffic.arrived = traffic.arrived, {}
            [outcome] = await asyncio.gather(self._commit(file, batch), return_exceptions=True)
            for key, reply in batch.items():
                if isinstance(outcome, BaseException):
                    flight = traffic.flights.pop(key)
                    flight.set_exception(outcome)
                    # Its caller may be gone; looking at it here keeps asyncio from reporting it as forgotten.
                    flight.exception()
                else:
                    self._land(key, outcome.get(key, reply), traffic)

    async def _commit(self, file: KeptAnswers, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, file.commit, batch)

    def _land(self, key: str, reply: Reply, traffic: "_Traffic") -> None:
        self._remember(key, reply)
        traffic.flights.pop(key).set_result(reply)

    def _remember(self, key: str, reply: Reply) -> None:
        # Who finds the answer later has not waited for it.
        self._known[key] = replace(reply, waited_s=0.0)
        if self._file is not None and len(self._known) > _RECENT_ANSWERS:
            self._known.popitem(last=False)


def _open_answers(location: Path | str) -> KeptAnswers:
    return PostgresAnswers(str(location)) if is_postgres(location) else AnswerFile(Path(location))


@dataclass(slots=True)
class _Traffic:
    """What is on its way in one event loop."""

    loop: asyncio.AbstractEventLoop
    flights: dict[str, "asyncio.Future[Reply | None]"] = field(default_factory=dict)
    """Resolved when the answer is committed, or with None when the request came to nothing."""
    arrived: dict[str, Reply] = field(default_factory=dict)
    """Answers that wait for the next commit."""
    writer: "asyncio.Task[None] | None" = None

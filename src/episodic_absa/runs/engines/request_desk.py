"""Grants places to the workers of a cluster: so many requests at once, and one worker at a time per equal request.

`RequestDesk` is one actor of a cluster, `DeskClient` is how a worker asks it.
"""

import asyncio
from collections import Counter, defaultdict, deque
from typing import Any, Final, NamedTuple

REQUESTS: Final = "requests"
"""The places for requests in flight; every other name has one place."""
CONCURRENCY_GROUPS: Final = {"waiting": 100_000, "short": 100}
"""Who gives a place back must not stand in line behind those that wait for one."""


class _Waiting(NamedTuple):
    holder: str
    granted: "asyncio.Future[bool]"


class RequestDesk:
    """Counts the places that workers hold.

    Args:
        most: requests in flight over all workers.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._waiting: defaultdict[str, deque[_Waiting]] = defaultdict(deque)

    async def take(self, name: str, holder: str) -> bool:
        """Wait for a place; return whether it was not free at once."""
        if self._free_n(name) > 0 and not self._waiting.get(name):
            self._held[name][holder] += 1
            return False
        granted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[name].append(_Waiting(holder, granted))
        return await granted

    async def give_back(self, name: str, holder: str) -> None:
        """Give one place back; the place of a forgotten worker was given back with it."""
        if name in self._held and self._held[name][holder] > 0:
            self._held[name][holder] -= 1
            self._grant(name)

    async def forget(self, holder: str) -> None:
        """Give back all places of a worker that is lost, those that it waits for included."""
        for name in {*self._held, *self._waiting}:
            if name in self._waiting:
                self._waiting[name] = deque(waiting for waiting in self._waiting[name] if waiting.holder != holder)
            if name in self._held:
                del self._held[name][holder]
            self._grant(name)

    async def held_n(self, name: str) -> int:
        """Return how many places of a name are taken."""
        return self._held[name].total() if name in self._held else 0

    def _free_n(self, name: str) -> int:
        taken_n = self._held[name].total() if name in self._held else 0
        return (self._most if name == REQUESTS else 1) - taken_n

    def _grant(self, name: str) -> None:
        waiting = self._waiting.get(name)
        while waiting and self._free_n(name) > 0:
            holder, granted = waiting.popleft()
            self._held[name][holder] += 1
            granted.set_result(True)
        if not waiting:
            self._waiting.pop(name, None)
        if name in self._held and not self._held[name].total():
            # There are as many names as different requests.
            del self._held[name]


class DeskClient:
    """The desk as one worker sees it; as a context it holds a place for a request.

    Args:
        desk: the actor.
        holder: the name of this worker.
    """

    def __init__(self, desk: Any, holder: str) -> None:
        self._desk = desk
        self._holder = holder

    async def take(self, key: str) -> bool:
        """Wait for the place of a key; return whether another worker had it meanwhile."""
        call = self._desk.take.options(concurrency_group="waiting").remote(key, self._holder)
        taking = asyncio.ensure_future(_result_of(call))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The desk does not know that nobody waits any more. The place goes back when it comes.
            taking.add_done_callback(lambda taken: self._give_back_if_taken(key, taken))
            raise

    def give_back(self, key: str) -> None:
        """Give the place back, without waiting until the desk knows."""
        self._desk.give_back.options(concurrency_group="short").remote(key, self._holder)

    def _give_back_if_taken(self, key: str, taking: "asyncio.Future[bool]") -> None:
        if not taking.cancelled() and taking.exception() is None:
            self.give_back(key)

    async def __aenter__(self) -> None:
        await self.take(REQUESTS)

    async def __aexit__(self, *_: object) -> None:
        self.give_back(REQUESTS)


async def _result_of(call: Any) -> bool:
    return bool(await call)

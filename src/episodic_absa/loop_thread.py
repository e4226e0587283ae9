"""An event loop in a thread of its own: synchronous functions work in scripts and inside a running loop alike."""

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

ResultT = TypeVar("ResultT")


class LoopThread:
    """Runs coroutines for callers that may be in an event loop already, as notebooks are."""

    def __init__(self, *, owner: str) -> None:
        self._owner = owner
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="episodic-absa", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Return the result of a coroutine; an interrupt of the waiting caller cancels it.

        Raises:
            RuntimeError: the loop is closed.
        """
        if self._loop.is_closed():
            coroutine.close()
            raise RuntimeError(f"this {self._owner} is closed; make a new one")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def run_async(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Return the result of a coroutine to a caller in another event loop, which is not blocked meanwhile.

        Raises:
            RuntimeError: the loop is closed.
        """
        if self._loop.is_closed():
            coroutine.close()
            raise RuntimeError(f"this {self._owner} is closed; make a new one")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    @property
    def is_closed(self) -> bool:
        """Whether the loop has ended."""
        return self._loop.is_closed()

    def cancel_all(self) -> None:
        """Cancel what an interrupt left running, and wait for its end."""
        self.run(_cancel_others())

    def close(self) -> None:
        """Stop the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cancel_all()
        finally:
            self.close()


async def _cancel_others() -> None:
    # An interrupt can strike between the start of a task and the moment its future is known to the caller.
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)

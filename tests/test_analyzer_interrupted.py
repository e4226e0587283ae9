"""Ctrl-C in the middle of an analysis leaves nothing running, whenever it strikes."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from episodic_absa import Analyzer
from episodic_absa.backends.backend import Answer, Ask, OutputT
from episodic_absa.backends.backend_facts import RemoteFacts


class NeverAnswers(RemoteFacts):
    """A backend that waits for ever and tells when it was cancelled."""

    name = "test:never"
    honours_seed = False

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.cancelled = threading.Event()

    async def answer(self, _: Ask[OutputT]) -> Answer[OutputT]:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError("nobody sets that event")

    async def close(self) -> None:
        pass


def test_an_interrupt_before_the_analysis_is_known_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = NeverAnswers()
    start = asyncio.run_coroutine_threadsafe

    def interrupted(coroutine: Coroutine[Any, Any, Any], loop: asyncio.AbstractEventLoop) -> Future[Any]:
        start(coroutine, loop)
        assert backend.asked.wait(60)
        monkeypatch.undo()
        raise KeyboardInterrupt

    with Analyzer(backend=backend, store=tmp_path / "store.jsonl") as analyzer:
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            analyzer.analyze("The battery lasts long.")
    assert backend.cancelled.is_set()

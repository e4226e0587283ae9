"""Listens at the seam between agents and model: every prompt of a sample, as it was sent."""

import asyncio
from collections.abc import Hashable
from typing import Any

from episodic_absa.backends.backend import Answer, Ask, Backend, OutputT, Prompt
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.vocabulary import Role


class WatchedPrompts(PassedOnFacts):
    """Passes questions on and keeps their prompts. One of it serves one sample."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self.prompts: list[tuple[Role, Prompt]] = []

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Keep the prompt, then return the backend's answer."""
        self.prompts.append((ask.role, ask.prompt))
        return await self._backend.answer(ask)

    async def close(self) -> None:
        """Close nothing: the backend serves other samples, too."""


class SharedAnswers(PassedOnFacts):
    """Asks each distinct prompt once, however many conditions send it, also while its answer is under way."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._backend = backend
        self._answers: dict[Hashable, asyncio.Task[Answer[Any]]] = {}

    async def answer(self, ask: Ask[OutputT]) -> Answer[OutputT]:
        """Return the answer to an equal question, or ask."""
        key = (ask.role, ask.prompt, ask.output_model, ask.seed, ask.temperature)
        if key not in self._answers:
            self._answers[key] = asyncio.create_task(self._ask(ask))
        # One condition that is given up must not take the answer from the others.
        return await asyncio.shield(self._answers[key])

    async def close(self) -> None:
        """Give up what is under way. The backend stays open: whoever made it closes it."""
        for task in self._answers.values():
            task.cancel()
        await asyncio.gather(*self._answers.values(), return_exceptions=True)

    async def _ask(self, ask: Ask[Any]) -> Answer[Any]:
        return await self._backend.answer(ask)

"""A replier whose answers are kept, and the key of a request: a hash over all that decides its answer."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from pydantic import BaseModel, JsonValue

from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.backends.backend import Replier, Reply, Request, Setbacks
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.serialization.canonical_json import canonical_json


def compute_request_key(request: Request, **also: JsonValue) -> str:
    """Hash this attempt's prompt, its schema, the seed and the attempt, and whatever else decides the answer."""
    ask = request.ask
    output_model: type[BaseModel] = ask.output_model
    parts = {
        **also,
        "system": ask.prompt.system,
        "user": request.user_text,
        "schema": _canonical_schema(output_model),
        "seed": ask.seed,
        "attempt": request.attempt,
    }
    if ask.temperature is not None:
        parts["temperature"] = ask.temperature
    # A review may hold half a surrogate pair, which UTF-8 cannot; written out it is still told apart.
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "backslashreplace")).hexdigest()


@cache
def _canonical_schema(model: type[BaseModel]) -> str:
    return canonical_json(json_schema(model))


class CachingReplier(PassedOnFacts):
    """A replier whose answers are kept: the same request gets the same answer, in this run and in later ones."""

    def __init__(
        self,
        replier: Replier,
        cache: ResponseCache,
        *,
        provider: str,
        model: str,
        base_url: str | None,
        parameters: Mapping[str, JsonValue],
        share: Literal["all", "condition"],
    ) -> None:
        super().__init__(replier)
        self._replier = replier
        self._cache = cache
        self._by_condition = share == "condition"
        self._under_way: dict[str, Setbacks] = {}
        """Of the requests that are sent, by key: an ask that waits for an equal one fails with its cause."""
        self._identity: dict[str, JsonValue] = {
            "provider": provider,
            "model": model,
            "base_url": base_url,
            "parameters": canonical_json(dict(parameters)),
        }

    def key(self, request: Request) -> str:
        """Return the key of one attempt."""
        condition: dict[str, JsonValue] = {"condition": request.ask.condition} if self._by_condition else {}
        return compute_request_key(request, **self._identity, **condition)

    async def reply(self, request: Request) -> Reply:
        """Answer from the cache, or send and keep; `cached` says that this call did not have to send."""
        key = self.key(request)
        if (equal := self._under_way.get(key)) is not None:
            request.setbacks.shared = equal
            request.ask.on_wait()

        async def send() -> Reply:
            self._under_way[key] = request.setbacks
            try:
                return await self._replier.reply(request)
            finally:
                del self._under_way[key]

        return await self._cache.answer(key, send)

    async def drop(self, requests: Sequence[Request]) -> None:
        """Keep the answers to these requests no longer than the cache is open: their ask failed."""
        await self._cache.drop([self.key(request) for request in requests])

    async def close(self) -> None:
        """Close the replier; the cache is closed by whoever opened it."""
        await self._replier.close()

"""Writes answers to a JSONL recording, and answers from a recording without any model.

A recording knows requests by prompt, schema, seed and attempt, not by provider or model: what a real model said can be
replayed by anyone. The seed is part of it so that several draws of one prompt stay apart; a recording therefore answers
only the seeds it was made with. Conditions are not: equal prompts get the first recorded answer in all of them.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError, field_serializer

from episodic_absa.backends.backend import Replier, Reply, Request, Usage
from episodic_absa.backends.backend_facts import PassedOnFacts
from episodic_absa.backends.cache.caching_replier import compute_request_key
from episodic_absa.backends.embedded import ENGINE_NAME
from episodic_absa.errors import ConfigError, UnrecordedRequestError
from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.serialization.durable_file import DurableFile
from episodic_absa.serialization.jsonl import json_line, split_lines
from episodic_absa.serialization.quoted_value import reasons_of


class RecordedUsage(FrozenModel):
    """The tokens and cost of one answer."""

    tokens_in: Count
    tokens_out: Count
    cost_usd: float | None
    """Written as decimal text: canonical JSON rounds numbers to six decimals, and a cheap call costs less than that."""

    @field_serializer("cost_usd")
    def _as_decimal_text(self, cost_usd: float | None) -> str | None:
        return None if cost_usd is None else f"{Decimal(repr(cost_usd)):f}"


class RecordedReply(FrozenModel):
    """One line of a recording. Only `key` is looked up; the other names tell a reader what it is."""

    key: str
    role: str
    prompt_name: str
    seed: int
    attempt: Count
    text: str
    """As the model wrote it, half surrogate pairs included."""
    model: str
    usage: RecordedUsage
    dropped: bool = False
    """Whether the call of the earlier answer with this key failed: a later line may answer otherwise. Without text."""


_LINES_PER_SYNC: Final = 64
_LINE_START: Final = b'{"attempt":'


class RecordingReplier(PassedOnFacts):
    """Appends each new reply to a recording, one process at a time.

    Put it outermost, around the cache: then the recording is complete even where the cache answers. Below the cache it
    holds only what was really sent. An existing recording is continued; the torn last line of a killed one is cut off.
    """

    def __init__(self, replier: Replier, path: Path) -> None:
        super().__init__(replier)
        self._replier = replier
        self._path = path
        self._unsynced = 0
        try:
            self._file = DurableFile(path)
        except OSError as error:
            raise self._failed(error) from error
        self._is_open = True
        try:
            self._recorded, self._size = self._continue_recording()
        except BaseException:
            self._file.close()
            raise

    async def reply(self, request: Request) -> Reply:
        """Pass the request on and record the reply."""
        reply = await self._replier.reply(request)
        key = compute_request_key(request)
        if key not in self._recorded:
            self._write(_encoded(key, request, reply))
            self._recorded.add(key)
            self._unsynced += 1
            if self._unsynced >= _LINES_PER_SYNC:
                self._unsynced = 0
                await asyncio.to_thread(self._sync)
        return reply

    async def drop(self, requests: Sequence[Request]) -> None:
        """Note that the call of these requests failed, so that what a later run is answered is recorded as well.

        Until then a replay gives the answers with which it failed.
        """
        for request in requests:
            key = compute_request_key(request)
            if key in self._recorded:
                self._write(_encoded(key, request, Reply(""), dropped=True))
                self._recorded.discard(key)

    async def close(self) -> None:
        """Close the replier and the recording, which is on disk afterwards."""
        try:
            await self._replier.close()
        finally:
            if self._is_open:
                self._is_open = False
                try:
                    self._sync()
                finally:
                    self._file.close()

    def _continue_recording(self) -> tuple[set[str], int]:
        if not self._file.lock():
            raise ConfigError(
                f"{self._path} is already being recorded to; choose another backbone.record",
                path=self._path,
                key="backbone.record",
            )
        content = self._path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        torn = content[len(whole) :]
        # Only what looks like the beginning of one of our lines is cut off; anything else may be somebody's file.
        ours = torn[: len(_LINE_START)] == _LINE_START[: len(torn)]
        recording = _parsed(whole if ours else content, self._path, key="backbone.record")
        if torn and ours:
            self._file.cut(len(whole))
        elif torn:
            self._file.append(b"\n", at=len(content))
        return set(recording.replies) - recording.dropped, self._path.stat().st_size

    def _write(self, line: bytes) -> None:
        try:
            self._file.append(line, at=self._size, waits=False)
        except OSError as error:
            raise self._failed(error) from error
        self._size += len(line)

    def _sync(self) -> None:
        try:
            self._file.sync()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"cannot record to {self._path} ({error}); check space and permissions or choose another backbone.record",
            path=self._path,
            key="backbone.record",
        )


class ReplayReplier:
    """Answers only from a recording. A request that was not recorded is an error, never a guess."""

    is_local = True
    is_reproducible = True
    needs_key = False
    honours_seed = True

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"cannot read the recording {path} ({error}); record one with backbone.record, "
                "or correct backbone.recording",
                path=path,
                key="backbone.recording",
            ) from error
        self.name = f"replay:{path.name}"
        self.fingerprint = hashlib.sha256(content).hexdigest()
        self._path = path
        self._replies = _parsed(content, path, key="backbone.recording").replies
        # A recorded run of the embedded engine had the reader of that engine, and only with it ends the same.
        self.shares_the_reader = {reply.model for reply in self._replies.values()} == {ENGINE_NAME}

    async def reply(self, request: Request) -> Reply:
        """Return the recorded reply, with its usage and model."""
        reply = self._replies.get(compute_request_key(request))
        if reply is None:
            ask = request.ask
            raise UnrecordedRequestError(
                f"the recording {self._path} holds no answer for {ask.role} (prompt {ask.prompt.name}, "
                f"seed {ask.seed}, attempt {request.attempt}); record this run again with backbone.record, "
                "or restore the prompts, data and seed it was recorded with",
                backend=self.name,
                kind="provider_error",
            )
        # A replayed run never waits; without this, timers, signals and progress would get no turn.
        await asyncio.sleep(0)
        return reply

    async def close(self) -> None:
        """Nothing is open."""


class _Recording(NamedTuple):
    """What a recording holds, by key."""

    replies: dict[str, Reply]
    dropped: set[str]
    """Keys whose reply is to be recorded again, because the call failed."""


def _encoded(key: str, request: Request, reply: Reply, *, dropped: bool = False) -> bytes:
    ask, usage = request.ask, reply.usage
    record = RecordedReply(
        key=key,
        role=ask.role,
        prompt_name=ask.prompt.name,
        seed=ask.seed,
        attempt=request.attempt,
        text=reply.text,
        model=reply.model,
        usage=RecordedUsage(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost_usd=usage.cost_usd),
        dropped=dropped,
    )
    # Half a surrogate pair has no UTF-8 form: pydantic writes it in Python mode only, and this encodes it as the JSON
    # escape that stands for it.
    written = record.model_dump(exclude=None if dropped else {"dropped"})
    return json_line(written).encode("utf-8", "backslashreplace")


def _parsed(content: bytes, path: Path, *, key: str) -> _Recording:
    """Return the replies by key; two lines with one key must hold equal replies, unless the first call failed."""
    replies: dict[str, Reply] = {}
    dropped: set[str] = set()
    lines, torn = split_lines(content)
    for number, line in enumerate([*lines, torn] if torn else lines, start=1):
        record = _record(line, path, number, key=key)
        if record.dropped:
            dropped.add(record.key)
            continue
        usage = Usage(record.usage.tokens_in, record.usage.tokens_out, record.usage.cost_usd)
        reply = Reply(record.text, usage, record.model)
        if record.key in dropped:
            dropped.discard(record.key)
            replies[record.key] = reply
        elif replies.setdefault(record.key, reply) != reply:
            raise _damaged(path, number, "an earlier line answers the same request differently", key=key)
    return _Recording(replies, dropped)


def _record(line: bytes, path: Path, number: int, *, key: str) -> RecordedReply:
    # Not `read_lines`: pydantic's JSON reader refuses half a surrogate pair, which a model may have written.
    try:
        return RecordedReply.model_validate(json.loads(line))
    except (ValueError, RecursionError) as error:
        why = reasons_of(error) if isinstance(error, ValidationError) else "it is not JSON"
        raise _damaged(path, number, why, key=key) from error


def _damaged(path: Path, number: int, why: str, *, key: str) -> ConfigError:
    return ConfigError(
        f"the recording {path} is damaged in line {number}: {why}; restore the file, or take that line out "
        "and record what is then missing again",
        path=path,
        key=key,
    )

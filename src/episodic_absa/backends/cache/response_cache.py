"""Answers kept in SQLite: an equal request is sent once, and nothing is used before it is committed.

The key covers all that decides an answer (SPEC 10, Cache); which role asks is not part of it.
"""

import asyncio
import hashlib
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, Self

from pydantic import BaseModel, JsonValue

from episodic_absa.backends.answer_parsing import json_schema
from episodic_absa.backends.backend import Replier, Reply, Request, Usage
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.canonical_json import canonical_json

FORMAT_VERSION: Final = 1
_BUSY_TIMEOUT_S: Final = 60.0
_BUSY_PAUSE_S: Final = 0.02
_RECENT_ANSWERS: Final = 4096
_CREATE: Final = """
CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    text BLOB NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost_usd REAL,
    model TEXT NOT NULL
)
"""
_FIND: Final = "SELECT text, tokens_in, tokens_out, cost_usd, model FROM answers WHERE key = ?"
_KEEP: Final = (
    "INSERT INTO answers (key, text, tokens_in, tokens_out, cost_usd, model) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (key) DO NOTHING"
)


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
    # A review may hold half a surrogate pair, which UTF-8 cannot; written out it is still told apart.
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "backslashreplace")).hexdigest()


@cache
def _canonical_schema(model: type[BaseModel]) -> str:
    return canonical_json(json_schema(model))


class CacheStats(NamedTuple):
    """How the requests so far were answered."""

    hits: int
    misses: int
    """Sent, whether or not an answer came."""
    joined: int
    """Waited for an equal request that was already on its way."""


class ResponseCache:
    """Answers by key, shared by any number of repliers and processes; use it from one event loop at a time.

    Whoever opens it closes it.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else _AnswerFile(path)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="response-cache")
        # With a file these are the recent answers, without one all of them.
        self._known: OrderedDict[str, Reply] = OrderedDict()
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
        """Finish the commit under way and let go of the file; answers that arrive later are refused."""
        self._closed = True
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
        if (found := self._find(key)) is not None:
            self._hits += 1
            # A run whose answers are all known would otherwise never let timers, signals and progress have a turn.
            await asyncio.sleep(0)
            return found
        return await self._send(key, send, traffic)

    def _find(self, key: str) -> Reply | None:
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        elif self._file is not None and (found := self._file.find(key)) is not None:
            self._remember(key, found)
        return found

    async def _send(self, key: str, send: Callable[[], Awaitable[Reply]], traffic: "_Traffic") -> Reply:
        flight = traffic.flights[key] = traffic.loop.create_future()
        self._misses += 1
        try:
            reply = await send()
        except BaseException:
            traffic.flights.pop(key).set_result(None)
            raise
        if not reply.from_model:
            # A login page or a proxy's complaint is no answer: the next one who asks should reach the model.
            traffic.flights.pop(key).set_result(None)
            return reply
        as_kept = replace(reply, cached=True)
        if self._file is None:
            self._land(key, as_kept, traffic)
        else:
            traffic.arrived[key] = as_kept
            if traffic.writer is None or traffic.writer.done():
                traffic.writer = traffic.loop.create_task(self._commit_arrived(self._file, traffic))
        kept = await asyncio.shield(flight)
        # Another process may have been first. What is in the file is what a resumed run will see, so it is used.
        return reply if kept is None or kept == as_kept else kept

    async def _commit_arrived(self, file: "_AnswerFile", traffic: "_Traffic") -> None:
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

    async def _commit(self, file: "_AnswerFile", batch: Mapping[str, Reply]) -> dict[str, Reply]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, file.commit, batch)

    def _land(self, key: str, reply: Reply, traffic: "_Traffic") -> None:
        self._remember(key, reply)
        traffic.flights.pop(key).set_result(reply)

    def _remember(self, key: str, reply: Reply) -> None:
        self._known[key] = reply
        if self._file is not None and len(self._known) > _RECENT_ANSWERS:
            self._known.popitem(last=False)


@dataclass(slots=True)
class _Traffic:
    """What is on its way in one event loop."""

    loop: asyncio.AbstractEventLoop
    flights: dict[str, "asyncio.Future[Reply | None]"] = field(default_factory=dict)
    """Resolved when the answer is committed, or with None when the request came to nothing."""
    arrived: dict[str, Reply] = field(default_factory=dict)
    """Answers that wait for the next commit."""
    writer: "asyncio.Task[None] | None" = None


class CachingReplier:
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
        self.name = replier.name
        self._replier = replier
        self._cache = cache
        self._by_condition = share == "condition"
        self._identity: dict[str, JsonValue] = {
            "provider": provider,
            "model": model,
            "base_url": base_url,
            "parameters": canonical_json(dict(parameters)),
        }

    @property
    def honours_seed(self) -> bool:
        """As the replier behind it."""
        return self._replier.honours_seed

    def key(self, request: Request) -> str:
        """Return the key of one attempt."""
        condition: dict[str, JsonValue] = {"condition": request.ask.condition} if self._by_condition else {}
        return compute_request_key(request, **self._identity, **condition)

    async def reply(self, request: Request) -> Reply:
        """Answer from the cache, or send and keep; `cached` says that this call did not have to send."""
        return await self._cache.answer(self.key(request), lambda: self._replier.reply(request))

    async def close(self) -> None:
        """Close the replier; the cache is closed by whoever opened it."""
        await self._replier.close()


class _AnswerFile:
    """The SQLite file: one connection reads in the event loop, the other writes in a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare()
            self._reader = self._connect()
            self._writer = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    def find(self, key: str) -> Reply | None:
        """Look one answer up."""
        try:
            return _find(self._reader, key)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def commit(self, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        """Write all or nothing, on disk when it returns; return those answers that another process wrote first."""
        earlier: dict[str, Reply] = {}
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            with self._writer:
                for key, reply in batch.items():
                    usage = reply.usage
                    text = reply.text.encode("utf-8", "surrogatepass")
                    row = (key, text, usage.tokens_in, usage.tokens_out, usage.cost_usd, reply.model)
                    if self._writer.execute(_KEEP, row).rowcount == 0 and (found := _find(self._writer, key)):
                        earlier[key] = found
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return earlier

    def close(self) -> None:
        """Close both connections; the last one of all processes folds the write-ahead log into the file."""
        self._reader.close()
        self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=8
        )
        # FULL: a commit returns when the log is on disk. NORMAL would leave the last answers to a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        """Check that the file is ours, or make it so. Two processes may both be first."""
        deadline = time.monotonic() + _BUSY_TIMEOUT_S
        while True:
            try:
                with closing(self._connect()) as connection:
                    self._check_or_create(connection)
            except sqlite3.OperationalError as error:
                # SQLite does not wait for others while it switches to a write-ahead log.
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_BUSY_PAUSE_S)
            else:
                return

    def _check_or_create(self, connection: sqlite3.Connection) -> None:
        if not _tables(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if not _tables(connection):
                    connection.execute(_CREATE)
                    connection.execute("CREATE TABLE cache_format (version INTEGER NOT NULL)")
                    connection.execute("INSERT INTO cache_format VALUES (?)", (FORMAT_VERSION,))
        if not {"answers", "cache_format"} <= _tables(connection):
            raise self._refused("is a database of something else", "move it away or choose another cache.path")
        versions = connection.execute("SELECT version FROM cache_format").fetchall()
        if versions != [(FORMAT_VERSION,)]:
            told = ", ".join(str(version) for (version,) in versions) or "unknown"
            raise self._refused(
                f"has format {told} and this version writes format {FORMAT_VERSION}",
                "move it away or choose another cache.path",
            )

    def _unusable(self, error: OSError | sqlite3.Error) -> ConfigError:
        code = _code(error) if isinstance(error, sqlite3.Error) else None
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return self._refused(
                f"is damaged or no cache at all ({error})",
                "move it away, its answers will be asked for again, or choose another cache.path",
            )
        if code == sqlite3.SQLITE_BUSY:
            return self._refused(
                f"was held by another process for {_BUSY_TIMEOUT_S:g} s",
                "end that process or choose another cache.path",
            )
        return self._refused(
            f"cannot be used ({error})", "check space and permissions, choose another cache.path, or use --no-cache"
        )

    def _refused(self, what: str, what_next: str) -> ConfigError:
        return ConfigError(f"the response cache {self._path} {what}; {what_next}", path=self._path, key="cache.path")


def _code(error: sqlite3.Error) -> int | None:
    # Errors of the Python module itself carry no code; the low byte is the one without details.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()}


def _find(connection: sqlite3.Connection, key: str) -> Reply | None:
    for text, tokens_in, tokens_out, cost_usd, model in connection.execute(_FIND, (key,)).fetchall():
        usage = Usage(tokens_in, tokens_out, cost_usd)
        return Reply(text.decode("utf-8", "surrogatepass"), usage, model, cached=True)
    return None

"""The answers of a response cache in PostgreSQL: for processes on several machines."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from episodic_absa.backends.backend import Reply, Usage
from episodic_absa.errors import ConfigError, DatabaseError
from episodic_absa.postgres.connection import Connection, connect
from episodic_absa.postgres.lasting_connection import LastingConnection
from episodic_absa.postgres.location import PostgresLocation
from episodic_absa.postgres.migrations import SCHEMA, TableSet, check_tables, migrate

_ANSWERS: Final = f"{SCHEMA}.answers"
# A text of a model may hold half a character or a zero byte, which text columns refuse.
_CREATE: Final = f"""
CREATE TABLE {_ANSWERS} (
    key text PRIMARY KEY,
    text bytea NOT NULL,
    tokens_in bigint NOT NULL,
    tokens_out bigint NOT NULL,
    cost_usd double precision,
    model bytea NOT NULL
)
"""
TABLES: Final = TableSet(
    "response_cache",
    ((_CREATE,),),
    {"answers": frozenset({"key", "text", "tokens_in", "tokens_out", "cost_usd", "model"})},
)
_COLUMNS: Final = "key, text, tokens_in, tokens_out, cost_usd, model"
_FIND: Final = f"SELECT {_COLUMNS} FROM {_ANSWERS} WHERE key = ANY(%s)"  # noqa: S608 - constants
# All processes take rows in the order of their keys: two that write the same ones never wait for each other.
_KEEP: Final = f"""
INSERT INTO {_ANSWERS} ({_COLUMNS})
SELECT * FROM unnest(%s::text[], %s::bytea[], %s::bigint[], %s::bigint[], %s::float8[], %s::bytea[]) AS arrived (key)
ORDER BY arrived.key
ON CONFLICT (key) DO NOTHING
RETURNING key
"""  # noqa: S608 - constants
_REMOVE: Final = f"""
DELETE FROM {_ANSWERS}
WHERE key IN (SELECT key FROM {_ANSWERS} WHERE key = ANY(%s) ORDER BY key FOR UPDATE)
"""  # noqa: S608 - constants


class PostgresAnswers:
    """Answers in one table of a database: one connection reads, the other writes, each in a thread of its own.

    A server that is restarted is waited for: whatever was asked of it can be asked again, and gives the same.
    """

    looks_up_at_once = False

    def __init__(self, address: str) -> None:
        with _config_errors():
            location = cache_database(address)
            self._reader = LastingConnection(location)
            try:
                migrate(self._reader.connection, location, TABLES)
                self._writer = LastingConnection(location)
            except BaseException:
                self._reader.connection.close()
                raise

    def find(self, key: str) -> Reply | None:
        """Look one answer up."""
        with _config_errors():
            return self._reader.run(lambda connection: _found(connection, [key])).get(key)

    def commit(self, batch: Mapping[str, Reply]) -> dict[str, Reply]:
        """Write all or nothing, on the server's disk when it returns; return what another process wrote first."""
        with _config_errors():
            return self._writer.run(lambda connection: _kept(connection, batch))

    def remove(self, keys: Sequence[str]) -> None:
        """Remove answers; they are gone from the server's disk when it returns."""
        with _config_errors():
            self._writer.run(lambda connection: connection.execute(_REMOVE, (list(keys),)))

    def close(self) -> None:
        """Close both connections."""
        self._reader.connection.close()
        self._writer.connection.close()


def cache_database(address: str) -> PostgresLocation:
    """Return the database that an address names.

    Raises:
        DatabaseError: it names none, holds a password, or names a store in it.
    """
    location = PostgresLocation.parse(address)
    if location.given_name is not None:
        raise DatabaseError(
            f"the address {location.shown} names a store, and a database holds one response cache; take store= out",
            location=location.shown,
        )
    return location


def check_database(address: str) -> None:
    """Look whether answers can be kept in a database, and write nothing.

    Raises:
        ConfigError: they cannot.
        MissingExtraError: psycopg is not installed.
    """
    with _config_errors():
        location = cache_database(address)
        with connect(location) as connection:
            check_tables(connection, location, TABLES)


def _found(connection: Connection, keys: list[str]) -> dict[str, Reply]:
    # Binary: a cost comes back bit for bit, whatever the server's extra_float_digits.
    return {
        key: Reply(_text(text), Usage(tokens_in, tokens_out, cost_usd), _text(model), cached=True)
        for key, text, tokens_in, tokens_out, cost_usd, model in connection.execute(_FIND, (keys,), binary=True)
    }


def _kept(connection: Connection, batch: Mapping[str, Reply]) -> dict[str, Reply]:
    earlier: dict[str, Reply] = {}
    left = sorted(batch)
    with connection.transaction():
        # Once, unless another process removes an answer between the two statements.
        while left:
            rows = [(key, batch[key], batch[key].usage) for key in left]
            columns = (
                left,
                [reply.text.encode("utf-8", "surrogatepass") for _, reply, _ in rows],
                [usage.tokens_in for _, _, usage in rows],
                [usage.tokens_out for _, _, usage in rows],
                [usage.cost_usd for _, _, usage in rows],
                [reply.model.encode("utf-8", "surrogatepass") for _, reply, _ in rows],
            )
            written = {key for (key,) in connection.execute(_KEEP, columns)}
            left = [key for key in left if key not in written]
            if left:
                earlier |= _found(connection, left)
                left = [key for key in left if key not in earlier]
    return earlier


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")


@contextmanager
def _config_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise ConfigError(
            f"the response cache cannot be used: {error}, choose another cache.path, or use --no-cache",
            key="cache.path",
        ) from error

"""The answers of a response cache in PostgreSQL: for processes on several machines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from episodic_absa.backends.cache.kept_answers import Cursor, Execute, KeptAnswers, ResultT
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


class PostgresAnswers(KeptAnswers):
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

    def close(self) -> None:
        """Close both connections."""
        self._reader.connection.close()
        self._writer.connection.close()

    def _read(self, work: Callable[[Execute], ResultT]) -> ResultT:
        with _config_errors():
            return self._reader.run(lambda connection: work(_execute(connection)))

    def _write(self, work: Callable[[Execute], ResultT]) -> ResultT:
        def in_transaction(connection: Connection) -> ResultT:
            with connection.transaction():
                return work(_execute(connection))

        with _config_errors():
            return self._writer.run(in_transaction)

    def _stored_model(self, model: str) -> bytes:
        return model.encode("utf-8", "surrogatepass")


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


def _execute(connection: Connection) -> Execute:
    def execute(statement: str, parameters: tuple[Any, ...]) -> Cursor:
        # Binary: a cost comes back bit for bit, whatever the server's extra_float_digits.
        named = statement.replace(" answers ", f" {_ANSWERS} ").replace("?", "%s")
        cursor: Cursor = connection.execute(named, parameters, binary=True)
        return cursor

    return execute


@contextmanager
def _config_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise ConfigError(
            f"the response cache cannot be used: {error}, choose another cache.path, or use --no-cache",
            key="cache.path",
        ) from error

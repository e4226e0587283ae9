"""The answers of a response cache in PostgreSQL: for processes on several machines."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from episodic_absa.backends.cache.kept_answers import Cursor, Execute, KeptAnswers, ResultT
from episodic_absa.errors import ConfigError, DatabaseError
from episodic_absa.postgres.connection import Connection, LastingConnection, connect, database_errors
from episodic_absa.postgres.location import SCHEMA, PostgresLocation

_ANSWERS: Final = f"{SCHEMA}.answers"
_VERSIONS: Final = f"{SCHEMA}.schema_versions"
_KIND: Final = "response_cache"
_VERSION: Final = 1
_LOCK: Final = 0x65_70_69_73_6F_64_69_63
"""The advisory lock of who makes tables: `episodic` in ASCII."""
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
_KEEP_VERSION: Final = f"INSERT INTO {_VERSIONS} (kind, version) VALUES (%s, %s)"  # noqa: S608 - a constant
_FIND_VERSION: Final = f"SELECT version FROM {_VERSIONS} WHERE kind = %s"  # noqa: S608 - a constant
_COLUMNS: Final = frozenset({"key", "text", "tokens_in", "tokens_out", "cost_usd", "model"})
_PRESENT: Final = """
SELECT relation.relname, coalesce(array_agg(attribute.attname::text) FILTER (WHERE attribute.attname IS NOT NULL), '{}')
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
LEFT JOIN pg_catalog.pg_attribute AS attribute
    ON attribute.attrelid = relation.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE namespace.nspname = %s AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
GROUP BY relation.relname
"""


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
                _make_table(self._reader.connection, location)
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
        with connect(location) as connection, database_errors(location):
            _is_made(connection, location)


def _make_table(connection: Connection, location: PostgresLocation) -> None:
    """Make the table, in one transaction; a table that is there costs two reads.

    Raises:
        DatabaseError: it is newer or of something else, or the role may not make it. Nothing is written.
    """
    with database_errors(location):
        if _is_made(connection, location):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if _is_made(connection, location):
                return
            # IF NOT EXISTS alone would ask for the right to create a schema that an administrator has made.
            if connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
                connection.execute(f"CREATE SCHEMA {SCHEMA}")
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {_VERSIONS} (kind text PRIMARY KEY, version integer NOT NULL)"
            )
            connection.execute(_CREATE)
            connection.execute(_KEEP_VERSION, (_KIND, _VERSION))


def _is_made(connection: Connection, location: PostgresLocation) -> bool:
    """Return whether the table is there; refuse what is newer or of something else. Writes nothing."""
    present = {name: frozenset(columns) for name, columns in connection.execute(_PRESENT, (SCHEMA,)).fetchall()}
    if not present:
        return False
    if not {"kind", "version"} <= present.get("schema_versions", frozenset()):
        raise _refused(location, f"has a schema {SCHEMA} of something else")
    versions = connection.execute(_FIND_VERSION, (_KIND,)).fetchall()
    if not versions and "answers" not in present:
        return False
    if versions not in ([], [(_VERSION,)]):
        raise _refused(
            location,
            f"has tables {_KIND} of version {versions[0][0]} and this version of the package writes {_VERSION}",
            "update the package, or name another database",
        )
    if not versions or not present.get("answers", frozenset()) >= _COLUMNS:
        raise _refused(location, f"has a table {_ANSWERS} of something else, or none")
    return True


def _refused(location: PostgresLocation, what: str, what_next: str = "name another database") -> DatabaseError:
    return DatabaseError(
        f"the database {location.shown} {what}; nothing was written; {what_next}", location=location.shown
    )


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

"""Versioned tables in the database schema `episodic_absa`: made, brought up to date, or refused untouched."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from episodic_absa.errors import DatabaseError
from episodic_absa.postgres.connection import Connection, database_errors
from episodic_absa.postgres.location import PostgresLocation

SCHEMA: Final = "episodic_absa"
_VERSIONS: Final = f"{SCHEMA}.schema_versions"
_LOCK: Final = 0x65_70_69_73_6F_64_69_63
"""The advisory lock of migrations: `episodic` in ASCII."""
_COLUMNS: Final = """
SELECT relation.relname, coalesce(array_agg(attribute.attname::text) FILTER (WHERE attribute.attname IS NOT NULL), '{}')
FROM pg_catalog.pg_class AS relation
JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace
LEFT JOIN pg_catalog.pg_attribute AS attribute
    ON attribute.attrelid = relation.oid AND attribute.attnum > 0 AND NOT attribute.attisdropped
WHERE namespace.nspname = %s AND relation.relkind IN ('r', 'p', 'v', 'm', 'f')
GROUP BY relation.relname
"""


@dataclass(frozen=True, slots=True)
class TableSet:
    """The tables of one purpose, and how they came to be."""

    kind: str
    """The purpose, such as `response_cache`; each has a version of its own."""
    migrations: tuple[tuple[str, ...], ...]
    """The statements that lead to version 1, from there to version 2, and so on. Never change one that was released."""
    columns: Mapping[str, frozenset[str]]
    """The tables of the latest version, without the name of the schema, and the columns that they have at least."""

    @property
    def version(self) -> int:
        """The version that this package reads and writes."""
        return len(self.migrations)


def migrate(connection: Connection, location: PostgresLocation, tables: TableSet) -> None:
    """Make the tables or bring them up to date, in one transaction; tables that are up to date cost two reads.

    Raises:
        DatabaseError: the tables are newer or of something else, or the role may not make them. Nothing is written.
    """
    with database_errors(location):
        if _found_version(connection, location, tables) == tables.version:
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            version = _found_version(connection, location, tables)
            _advance(connection, tables, version)


def check_tables(connection: Connection, location: PostgresLocation, tables: TableSet) -> int:
    """Return the version of the tables, 0 if there are none. Writes nothing.

    Raises:
        DatabaseError: they are newer or of something else.
    """
    with database_errors(location):
        return _found_version(connection, location, tables)


def _advance(connection: Connection, tables: TableSet, version: int) -> None:
    # IF NOT EXISTS alone would ask for the right to create a schema that an administrator has made.
    if connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
    connection.execute(f"CREATE TABLE IF NOT EXISTS {_VERSIONS} (kind text PRIMARY KEY, version integer NOT NULL)")
    for statements in tables.migrations[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(
        f"INSERT INTO {_VERSIONS} (kind, version) VALUES (%s, %s) "  # noqa: S608 - a constant
        "ON CONFLICT (kind) DO UPDATE SET version = excluded.version",
        (tables.kind, tables.version),
    )


def _found_version(connection: Connection, location: PostgresLocation, tables: TableSet) -> int:
    """Return the version of the tables, 0 if there are none yet."""
    relations = {name: frozenset(columns) for name, columns in connection.execute(_COLUMNS, (SCHEMA,)).fetchall()}
    if not relations:
        return 0
    if not {"kind", "version"} <= relations.get("schema_versions", frozenset()):
        raise _refused(location, f"has a schema {SCHEMA} of something else")
    rows = connection.execute(
        f"SELECT version FROM {_VERSIONS} WHERE kind = %s",  # noqa: S608 - a constant
        (tables.kind,),
    ).fetchall()
    if not rows:
        if strange := sorted(set(tables.columns) & set(relations)):
            raise _refused(location, f"has a table {SCHEMA}.{strange[0]} of something else")
        return 0
    version = rows[0][0]
    if not isinstance(version, int) or not 1 <= version <= tables.version:
        raise _refused(
            location,
            f"has tables {tables.kind} of version {version} and this version of the package writes {tables.version}",
            "update the package, or name another database",
        )
    if version == tables.version:
        for name, columns in tables.columns.items():
            if not columns <= relations.get(name, frozenset()):
                raise _refused(location, f"has no table {SCHEMA}.{name} with the columns of version {version}")
    return version


def _refused(location: PostgresLocation, what: str, what_next: str = "name another database") -> DatabaseError:
    return DatabaseError(
        f"the database {location.shown} {what}; nothing was written; {what_next}", location=location.shown
    )

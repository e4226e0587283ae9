"""Versioned tables: made once, brought up to date, and refused untouched when they are not ours."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.postgres_server import PostgresServer

from episodic_absa.errors import DatabaseError
from episodic_absa.postgres.connection import connect
from episodic_absa.postgres.location import PostgresLocation
from episodic_absa.postgres.migrations import TableSet, migrate

FIRST = ("CREATE TABLE episodic_absa.birds (name text PRIMARY KEY)", "INSERT INTO episodic_absa.birds VALUES ('wren')")
SECOND = ("ALTER TABLE episodic_absa.birds ADD COLUMN legs integer NOT NULL DEFAULT 2",)
V1 = TableSet("birds", (FIRST,), {"birds": frozenset({"name"})})
V2 = TableSet("birds", (FIRST, SECOND), {"birds": frozenset({"name", "legs"})})
VERSIONS = "CREATE TABLE episodic_absa.schema_versions (kind text, version integer)"
VERSION_2 = "INSERT INTO episodic_absa.schema_versions VALUES ('birds', 2)"
SONGS = "CREATE TABLE episodic_absa.birds (song text)"
RELATIONS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'episodic_absa'"


def opened(address: str, tables: TableSet) -> list[tuple[Any, ...]]:
    """Migrate and return the birds."""
    location = PostgresLocation.parse(address)
    with connect(location) as connection:
        migrate(connection, location, tables)
        birds: list[tuple[Any, ...]] = connection.execute("SELECT * FROM episodic_absa.birds").fetchall()
    return birds


def test_tables_are_made_by_one_of_many_and_brought_up_to_date(postgres_server: PostgresServer) -> None:
    address = postgres_server.new_database()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: opened(address, V1), range(4))) == [[("wren",)]] * 4
    assert opened(address, V2) == [("wren", 2)]
    # An older package does not touch what a newer one has made.
    with pytest.raises(DatabaseError, match="of version 2 and this version of the package writes 1"):
        opened(address, V1)
    assert opened(address, V2) == [("wren", 2)]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("CREATE TABLE episodic_absa.schema_versions (release date)", "a schema episodic_absa of something else"),
        ("CREATE TABLE episodic_absa.cars (wheels integer)", "a schema episodic_absa of something else"),
        (f"{VERSIONS}; {SONGS}", "a table episodic_absa.birds of something else"),
        (
            f"{VERSIONS}; {SONGS}; {VERSION_2}",
            "no table episodic_absa.birds with the columns of version 2",
        ),
    ],
)
def test_tables_of_something_else_stay_untouched(postgres_server: PostgresServer, statements: str, words: str) -> None:
    address = postgres_server.new_database()
    postgres_server.execute(f"CREATE SCHEMA episodic_absa; {statements}", url=address)
    before = postgres_server.execute(RELATIONS, url=address)
    with pytest.raises(DatabaseError, match=words):
        opened(address, V2)
    assert postgres_server.execute(RELATIONS, url=address) == before


def test_a_migration_that_fails_leaves_nothing_behind(postgres_server: PostgresServer) -> None:
    address = postgres_server.new_database()
    broken = TableSet("birds", (FIRST, ("CREATE TABLE nowhere.at_all (a text)",)), V2.columns)
    with pytest.raises(DatabaseError, match="look at the log of the server"):
        opened(address, broken)
    assert postgres_server.execute(RELATIONS, url=address) == []

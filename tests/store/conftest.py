"""Every database that can hold a store."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.postgres_server import PostgresServer
from tests.store.places import Place, PostgresPlace, SqlitePlace


@pytest.fixture(scope="session")
def stores_database(postgres_server: PostgresServer) -> str:
    """The address of a database; each store has a schema of its own in it."""
    return postgres_server.new_database()


@pytest.fixture
def sqlite_place(tmp_path: Path) -> SqlitePlace:
    """A file that does not exist yet."""
    return SqlitePlace(tmp_path)


@pytest.fixture
def postgres_place(postgres_server: PostgresServer, stores_database: str) -> PostgresPlace:
    """A store in PostgreSQL that was not created yet."""
    return PostgresPlace(postgres_server, stores_database)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    """A store that was not created yet."""
    found: Place = request.getfixturevalue(f"{request.param}_place")
    return found


@pytest.fixture(params=["sqlite", "postgres"])
def fresh_place(request: pytest.FixtureRequest) -> Callable[[], Place]:
    """Returns one more store that was not created yet at each call."""
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        return lambda: SqlitePlace(folder)
    server, database = request.getfixturevalue("postgres_server"), request.getfixturevalue("stores_database")
    return lambda: PostgresPlace(server, database)

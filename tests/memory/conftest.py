"""Every place that can keep episodes, for the tests of stores."""

import pytest
from tests.memory.store_places import PLACES, PostgresPlace, StorePlace
from tests.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def store_database(postgres_server: PostgresServer) -> str:
    """The address of a database; tests clear it, because creating one takes longer."""
    return postgres_server.new_database()


@pytest.fixture(params=list(PLACES))
def place(request: pytest.FixtureRequest) -> StorePlace:
    """A place where no episode has been kept yet."""
    return PLACES[request.param](request)


@pytest.fixture
def postgres_place(request: pytest.FixtureRequest) -> PostgresPlace:
    """A store in PostgreSQL that was not created yet."""
    place = PLACES["postgres"](request)
    assert isinstance(place, PostgresPlace)
    return place

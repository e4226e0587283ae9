"""Every place that can keep answers, for the tests of a response cache."""

import pytest
from tests.backends.cache.cache_places import PLACES, CachePlace
from tests.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def cache_database(postgres_server: PostgresServer) -> str:
    """The address of a database; tests clear it, because creating one takes longer."""
    return postgres_server.new_database()


@pytest.fixture(params=list(PLACES))
def place(request: pytest.FixtureRequest) -> CachePlace:
    """A place where no answer has been kept yet."""
    return PLACES[request.param](request)

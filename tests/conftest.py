"""Settings that every test shares."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from tests.postgres_server import PostgresServer, missing_part

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("repeatable")

# Read when numpy is loaded, which no import above does. Arrays of tests are small: threads would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Started in the background of a script, a run ignores Ctrl-C and so would every process it starts; tests that interrupt
# one would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server, one for each worker: a test may crash and restart it, and no other worker notices."""
    if (reason := missing_part()) is not None:
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server

"""Settings that every test shares."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.extras import SkippedForExtras
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


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the list by which `.ci/run` repeats what could not run without extras."""
    parser.addoption(
        "--skipped-for-extras", type=Path, metavar="FILE", help="write the ids of tests that an extra is missing for"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin that list, in the process that hears of all tests."""
    file = config.getoption("--skipped-for-extras")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkippedForExtras(file))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server, one for each worker: a test may crash and restart it, and no other worker notices."""
    if (reason := missing_part()) is not None:
        pytest.skip(reason)
    with PostgresServer() as server:
        yield server

"""Addresses of databases: what libpq gets, what a message shows, and what is refused."""

import pytest

from episodic_absa.errors import DatabaseError
from episodic_absa.postgres.location import PostgresLocation, is_postgres


@pytest.mark.parametrize(
    ("address", "conninfo", "name"),
    [
        ("postgresql://db.example/absa", "postgresql://db.example/absa", "episodes"),
        ("postgres:///absa?store=hotels", "postgres:///absa", "hotels"),
        ("postgresql://a,b:5433/absa?store=h-1&sslmode=require", "postgresql://a,b:5433/absa?sslmode=require", "h-1"),
        ("postgresql://ann@/absa?host=/tmp/pg&store=x", "postgresql://ann@/absa?host=/tmp/pg", "x"),
    ],
)
def test_the_store_is_taken_off_an_address(address: str, conninfo: str, name: str) -> None:
    location = PostgresLocation.parse(address)
    assert (location.conninfo, location.name) == (conninfo, name)
    assert PostgresLocation.parse(location.shown) == location


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hunter2@db.example/absa",
        "postgresql://ann:hun/hunter2@db.example/absa",
        "postgresql://db.example/absa?password=hunter2",
        "postgresql://db.example/absa?pass%77ord=hunter2",
        "postgresql://db.example/absa?sslmode=require&sslpassword=hunter2",
    ],
)
def test_an_address_with_a_password_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(DatabaseError, match=r"PGPASSWORD.*PGPASSFILE.*PGSERVICEFILE") as caught:
        PostgresLocation.parse(address)
    assert "hunter2" not in f"{caught.value} {caught.value.location}"


@pytest.mark.parametrize(
    "address",
    ["postgresql:/db.example/absa", "store.jsonl", "postgresql://h/d?store=", "postgresql://h/d?store=a&store=b",
     "postgresql://h/d?store=a%2Fb", "postgresql://h\n/d", "postgresql://h\ud800/d"],
)  # fmt: skip
def test_an_address_that_names_nothing_is_refused(address: str) -> None:
    with pytest.raises(DatabaseError, match=r"postgresql://host/database|store=NAME"):
        PostgresLocation.parse(address)


def test_a_path_is_no_database() -> None:
    assert [is_postgres(location) for location in ("a/postgresql", "postgresql", "C:\\x", "POSTGRESQL://h/d")] == [
        False,
        False,
        False,
        True,
    ]

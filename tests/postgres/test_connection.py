"""Connections to a real server: what is checked, and what a refusal says."""

import sys

import pytest
from tests.postgres_server import GUARDED_USER, PASSWORD, PostgresServer

from episodic_absa.errors import DatabaseError, MissingExtraError
from episodic_absa.postgres.connection import connect, database_errors
from episodic_absa.postgres.location import PostgresLocation


def refusal(address: str) -> str:
    """Return why no connection comes about."""
    with pytest.raises(DatabaseError) as caught:
        connect(PostgresLocation.parse(address)).close()
    return str(caught.value)


def test_every_refusal_says_what_to_do_and_shows_no_password(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded = postgres_server.url(user=GUARDED_USER)
    assert "asks for a password" in refusal(guarded)
    monkeypatch.setenv("PGPASSWORD", "Wr0ng-password")
    wrong = refusal(guarded)
    assert "refuses the user or the password" in wrong
    assert "PGPASSWORD" in wrong
    assert "Wr0ng-password" not in wrong
    assert "createdb" in refusal(postgres_server.url("missing"))
    assert "PGUSER" in refusal(postgres_server.url(user="stranger"))
    assert "cannot be reached" in refusal("postgresql://127.0.0.1:1/absa")
    assert "cannot be reached" in refusal("postgresql://host.invalid/absa")
    assert "cannot be reached" in refusal("postgresql:///absa?host=/nowhere")
    assert "cannot be read" in refusal("postgresql://db.example/absa?colour=red")
    latin = postgres_server.new_database(options="ENCODING 'LATIN1' TEMPLATE template0")
    assert "--encoding=UTF8" in refusal(latin)


def test_a_password_of_the_environment_opens_a_durable_connection(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_server.execute(f"ALTER ROLE {GUARDED_USER} SET synchronous_commit = off")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    location = PostgresLocation.parse(postgres_server.url(user=GUARDED_USER, store="hotels"))
    with connect(location, lock_timeout_s=2) as connection:
        assert connection.execute("SHOW synchronous_commit").fetchall() == [("on",)]
        assert connection.execute("SHOW lock_timeout").fetchall() == [("2s",)]
        assert connection.info.get_parameters()["application_name"] == "episodic-absa"


def test_a_server_that_goes_away_is_named(postgres_server: PostgresServer) -> None:
    location = PostgresLocation.parse(postgres_server.url())
    connection = connect(location)
    postgres_server.restart_after_crash()
    for _ in range(2):
        with pytest.raises(DatabaseError, match="not reachable any more"), database_errors(location):
            connection.execute("SELECT 1")
    connect(location).close()


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'episodic-absa\[postgres\]'"):
        connect(PostgresLocation.parse("postgresql://db.example/absa"))

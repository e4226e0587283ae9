"""`cache.path: postgresql://...` through the command: every refusal says what to do, and nothing is written."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.run.test_run import closed_port, write_experiment
from tests.postgres_server import GUARDED_USER, PostgresServer

Cli = Callable[..., subprocess.CompletedProcess[str]]
RELATIONS = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema !~ '^(pg_|information)'"


def test_a_database_that_cannot_be_used_ends_the_run_before_anything_is_written(
    cli: Cli, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    foreign, future = postgres_server.new_database(), postgres_server.new_database()
    postgres_server.execute("CREATE SCHEMA episodic_absa; CREATE TABLE episodic_absa.answers (sum money)", url=foreign)
    postgres_server.execute(
        "CREATE SCHEMA episodic_absa; CREATE TABLE episodic_absa.schema_versions (kind text, version integer);"
        "INSERT INTO episodic_absa.schema_versions VALUES ('response_cache', 99)",
        url=future,
    )
    before = [postgres_server.execute(RELATIONS, url=url) for url in (foreign, future)]
    refusals = {
        f"postgresql://127.0.0.1:{closed_port()}/absa": "cannot be reached",
        postgres_server.url(user=GUARDED_USER): "refuses the user or the password",
        postgres_server.url("missing"): "does not exist",
        foreign: "has a schema episodic_absa of something else; nothing was written",
        future: "of version 99 and this version of the package writes 1; nothing was written",
        f"{foreign}&password=Hidden-1": "cache.path holds a key",
        "postgresql://h/absa?store=hotels": "a database holds one response cache",
    }
    for address, words in refusals.items():
        config = write_experiment(tmp_path, cache={"path": address})
        run = cli("run", config, env={"PGPASSWORD": "Wr0ng-password"})
        assert (run.returncode, run.stdout) == (2, ""), address
        assert run.stderr.startswith("error: ")
        assert words in run.stderr
        for unwanted in ("Traceback", "Wr0ng-password", "Hidden-1"):
            assert unwanted not in run.stderr
        assert not (tmp_path / "results").exists()
    assert [postgres_server.execute(RELATIONS, url=url) for url in (foreign, future)] == before

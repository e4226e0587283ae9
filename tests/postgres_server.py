"""A real PostgreSQL server for tests: its own data, its own socket, nothing of the machine's own server.

It takes the binaries of the distribution's package (Debian: `apt-get install postgresql`), found on the PATH or in
/usr/lib/postgresql/*/bin. PostgreSQL refuses to run as root; then it runs as `nobody`.
"""

import itertools
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tests.extras import reason_without_extra

_UNPRIVILEGED = "nobody"
_USER = "absa"
GUARDED_USER = "guarded"
"""A user who has to give PASSWORD."""
PASSWORD = "Tr0ub4dor-and-3"  # noqa: S105 - of a server that ends with the tests


def missing_part() -> str | None:
    """Say why no server can be started here, None if one can."""
    if (reason := reason_without_extra("postgres")) is not None:
        return reason
    if _binaries() is None:
        return "there is no PostgreSQL server: apt-get install postgresql"
    if os.getuid() == 0 and _readable_folder() is None:
        return f"PostgreSQL does not run as root, and {_UNPRIVILEGED} can read no folder for temporary files"
    return None


class PostgresServer:
    """A server that listens on a socket in its own folder; it is gone with everything in it when closed."""

    def __init__(self) -> None:
        binaries = _binaries()
        assert binaries is not None
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir=_readable_folder()))
        self._numbers = itertools.count(1)
        self._as_user: dict[str, Any] = {"cwd": self._folder, "env": os.environ | {"LC_ALL": "C", "TZ": "UTC"}}
        if os.getuid() == 0:
            account = pwd.getpwnam(_UNPRIVILEGED)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
            self._as_user |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        data = self._folder / "data"
        self._run("initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-N")
        rules = data / "pg_hba.conf"
        rules.write_text(f"local all {GUARDED_USER} scram-sha-256\n" + rules.read_text())
        # A crash of the server loses nothing that the kernel holds, so no test has to wait for a disk.
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(
                f"listen_addresses = ''\nunix_socket_directories = '{self._folder}'\nmax_connections = 60\n"
                "shared_buffers = 16MB\nautovacuum = off\nfsync = off\n"
            )
        self.start()
        self.execute(f"CREATE ROLE {GUARDED_USER} LOGIN PASSWORD '{PASSWORD}'")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # The server keeps the streams that it inherits, so a pipe would never end.
        self._run("pg_ctl", "-D", self._folder / "data", "-l", self._folder / "log", "-w", "-t", "60", "start")

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop the server; `immediate` is a crash: nothing is written out, the next start recovers."""
        self._run("pg_ctl", "-D", self._folder / "data", "-m", mode, "-w", "-t", "60", "stop")

    def restart_after_crash(self) -> None:
        """Crash the server and start it again."""
        self.stop("immediate")
        self.start()

    def url(self, database: str = "postgres", *, user: str = _USER, **parameters: str) -> str:
        """Return the address of a database."""
        query = "&".join(f"{name}={value}" for name, value in {"host": str(self._folder), **parameters}.items())
        return f"postgresql://{user}@/{database}?{query}"

    def new_database(self, *, options: str = "") -> str:
        """Create an empty database and return its address."""
        name = f"absa_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} {options}")
        return self.url(name)

    def execute(self, statement: str, *, url: str | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        import psycopg

        with psycopg.connect(url or self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Stop the server and remove its folder."""
        try:
            if (self._folder / "data" / "postmaster.pid").exists():
                self.stop("immediate")
        finally:
            shutil.rmtree(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, program: str, *arguments: object) -> None:
        with tempfile.TemporaryFile("w+") as said:
            code = subprocess.run(
                [self._binaries / program, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                check=False,
                **self._as_user,
            ).returncode
            said.seek(0)
            assert code == 0, f"{program}: {said.read()}"


def _binaries() -> Path | None:
    """Return the folder of the newest server, None if there is none."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    wanted = ("initdb", "pg_ctl", "postgres")
    return next((folder for folder in folders if all((folder / name).exists() for name in wanted)), None)


def _readable_folder() -> str | None:
    """Return a folder for temporary files that the server's user can reach."""
    for folder in (tempfile.gettempdir(), "/dev/shm", "/tmp"):  # noqa: S108 - mkdtemp makes a folder in it
        path = Path(folder).resolve()
        reached = (path, *path.parents)
        if os.getuid() != 0 or (path.is_dir() and all(place.stat().st_mode & stat.S_IXOTH for place in reached)):
            return str(path)
    return None

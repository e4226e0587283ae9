"""Connections to PostgreSQL. What goes wrong becomes a DatabaseError that says what to do, without secrets."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from episodic_absa.errors import DatabaseError, MissingExtraError
from episodic_absa.postgres.location import WHERE_PASSWORDS_STAND, PostgresLocation
from episodic_absa.serialization.quoted_value import shortened
from episodic_absa.serialization.redaction import redacted

if TYPE_CHECKING:
    import psycopg

ResultT = TypeVar("ResultT")
Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

LOCK_TIMEOUT_S: Final = 60.0
_CONNECT_TIMEOUT_S: Final = 10
_QUOTED_CHARS: Final = 300
_SETTINGS: Final = {
    "application_name": "episodic-absa",
    "connect_timeout": _CONNECT_TIMEOUT_S,
    # A server whose machine is gone would otherwise be waited for without end.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
# With synchronous_commit off, a commit returns before it is on disk. Stricter settings of the server stay.
_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
_SERVER_GONE: Final = (
    "is not reachable any more",
    "start the command again when the server answers; everything acknowledged is kept",
)
_BY_SQLSTATE: Final = {
    "25006": ("can only be read", "name the primary server, not a standby"),
    "42501": ("refuses what was asked for", "grant the role CREATE on the database, or ask the owner of the tables"),
    "53100": ("has no space left", "make room on the server"),
    "53300": ("has no free connection", "raise max_connections or use fewer processes"),
    "55P03": ("is locked by another process", "wait for that process or end it"),
    "57014": ("took too long", "look at the load of the server and try again"),
}
_BY_WORDS: Final = (
    (("no password supplied",), "asks for a password and none is given", WHERE_PASSWORDS_STAND),
    (("password authentication failed",), "refuses the user or the password", WHERE_PASSWORDS_STAND),
    (("pg_hba.conf",), "does not let this user in from this machine", "add the user to pg_hba.conf on the server"),
    (("too many clients",), *_BY_SQLSTATE["53300"]),
    (("remaining connection slots",), *_BY_SQLSTATE["53300"]),
    (("the database system is",), "is starting or stopping", "try again in a moment"),
    (("service", "not found"), "has a service that is not defined", "correct PGSERVICE or PGSERVICEFILE"),
    (('database "', "does not exist"), "does not exist", "correct the address, or create the database with createdb"),
    (
        ('role "', "does not exist"),
        "does not know this user",
        "name the user in the address (postgresql://user@host/database) or in PGUSER",
    ),
)
_RECONNECT_S: Final = 20.0
_RECONNECT_PAUSE_S: Final = 0.2


def connect(location: PostgresLocation, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> Connection:
    """Open a connection in autocommit mode; a commit on it is on disk when it returns.

    Args:
        location: where; user and password come from the environment, a password file or a service file.
        lock_timeout_s: how long a statement waits for what another process holds.

    Raises:
        MissingExtraError: psycopg is not installed.
        DatabaseError: the server cannot be reached, refuses, or the database is not in UTF-8.
    """
    psycopg = _import_psycopg()
    try:
        given = psycopg.conninfo.conninfo_to_dict(location.conninfo)
        connection: Connection = psycopg.connect(**{**_SETTINGS, **given, "client_encoding": "UTF8"}, autocommit=True)
    except psycopg.Error as error:
        raise _described(error, location, _refused_connection(error)) from error
    except UnicodeError as error:
        raise DatabaseError(
            f"the database {location.shown} has a host name that cannot be looked up; correct the address",
            location=location.shown,
        ) from error
    try:
        _require_utf_8(connection, location)
        with database_errors(location):
            # A statement sees what others have committed before it, whatever the server's default is.
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            connection.execute(_DURABLE)
            connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{round(lock_timeout_s * 1000)}ms",))
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def database_errors(location: PostgresLocation) -> Iterator[None]:
    """Turn what psycopg raises within the block into a DatabaseError; the connection stands already."""
    psycopg = _import_psycopg()
    try:
        yield
    except psycopg.Error as error:
        raise _described(error, location, _classified(error)) from error


def _described(error: "psycopg.Error", location: PostgresLocation, advice: tuple[str, str]) -> DatabaseError:
    """Return what happened, where, and what to do next. Details of the server are left out: they may quote a value."""
    said = error.diag.message_primary or str(error)
    said = shortened(redacted(" ".join(said.split())), _QUOTED_CHARS)
    what, what_next = advice
    return DatabaseError(f"the database {location.shown} {what} ({said}); {what_next}", location=location.shown)


def _classified(error: "psycopg.Error") -> tuple[str, str]:
    psycopg = _import_psycopg()
    state = error.sqlstate
    # 57P: an administrator ended the connection. 08: it broke. Without a state, nobody answered.
    if (state is None and isinstance(error, psycopg.OperationalError)) or (state or "").startswith(("57P", "08")):
        return _SERVER_GONE
    return _BY_SQLSTATE.get(state or "", ("cannot do what was asked for", "look at the log of the server"))


def _refused_connection(error: "psycopg.Error") -> tuple[str, str]:
    """Say why no connection came about: libpq gives no state for it, only words."""
    psycopg = _import_psycopg()
    if isinstance(error, psycopg.ProgrammingError):
        return "has an address that cannot be read", "write postgresql://host:port/database?parameter=value"
    words = str(error).lower()
    for needles, what, what_next in _BY_WORDS:
        if all(needle in words for needle in needles):
            return what, what_next
    return "cannot be reached", "check host, port and network, and that the server runs"


def _require_utf_8(connection: Connection, location: PostgresLocation) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise DatabaseError(
            f"the database {location.shown} stores texts as {encoding}, which cannot hold every review; create one "
            "with createdb --encoding=UTF8 --template=template0",
            location=location.shown,
        )


def _import_psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError(feature="a PostgreSQL database", extra="postgres") from error
    return psycopg


class LastingConnection:
    """A connection for work that may begin again: a server that is restarted is waited for."""

    def __init__(self, location: PostgresLocation, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self._process = os.getpid()
        self._location = location
        self._lock_timeout_s = lock_timeout_s
        self._patience_s = _RECONNECT_S
        self.connection = self._connect()

    def run(self, work: Callable[[Connection], ResultT]) -> ResultT:
        """Do some work that may be done twice; begin again on a new connection if this one breaks.

        Raises:
            DatabaseError: the server refuses the work, or does not come back.
        """
        deadline = 0.0
        while True:
            try:
                if self.connection.closed:
                    self.connection = self._connect()
                with database_errors(self._location):
                    result = work(self.connection)
            except DatabaseError:
                # An open connection says that the server has answered: it would answer the same again.
                if not self.connection.closed:
                    raise
                deadline = deadline or time.monotonic() + self._patience_s
                if time.monotonic() >= deadline:
                    # Whoever asks next does not wait again for a server that is gone.
                    self._patience_s = 0.0
                    raise
                time.sleep(_RECONNECT_PAUSE_S)
            else:
                self._patience_s = _RECONNECT_S
                return result

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def leave_to_parent(self) -> None:
        """Give up the connection in a forked child, without a word to the server: the parent goes on using it.

        A descriptor that stays open in the child would keep the parent's locks when the parent dies.
        """
        if not self.connection.closed:
            os.close(self.connection.fileno())

    def __del__(self) -> None:
        # Nobody closed it. In a forked child it belongs to the parent.
        connection = getattr(self, "connection", None)
        if connection is not None and self._process == os.getpid():
            connection.close()

    def _connect(self) -> Connection:
        return connect(self._location, lock_timeout_s=self._lock_timeout_s)

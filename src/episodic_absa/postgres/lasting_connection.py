"""A connection that is opened again after the server went away."""

import os
import time
from collections.abc import Callable
from typing import Final, TypeVar

from episodic_absa.errors import DatabaseError
from episodic_absa.postgres.connection import LOCK_TIMEOUT_S, Connection, connect, database_errors
from episodic_absa.postgres.location import PostgresLocation

ResultT = TypeVar("ResultT")

_RECONNECT_S: Final = 20.0
_RECONNECT_PAUSE_S: Final = 0.2


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

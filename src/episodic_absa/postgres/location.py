"""The address of a database: `postgresql://host:port/database?store=NAME`, never with a password."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Self
from urllib.parse import unquote

from episodic_absa.errors import DatabaseError
from episodic_absa.serialization.quoted_value import quoted, shortened
from episodic_absa.serialization.redaction import credential_in, redacted

SCHEMA: Final = "episodic_absa"
"""The schema of the response cache, and of stores of 0.2."""
DEFAULT_STORE: Final = "episodes"
_SCHEMES: Final = ("postgresql", "postgres")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}")
_SECRET_PARAMETERS: Final = frozenset({"password", "sslpassword", "oauth_client_secret"})
WHERE_PASSWORDS_STAND: Final = (
    "a password stands in the environment (PGPASSWORD), in a password file (PGPASSFILE) or in a service file "
    "(PGSERVICEFILE)"
)


def is_postgres(location: str | PurePath) -> bool:
    """Return whether a location of the user is the address of a database and not a path.

    Example:
        >>> is_postgres("postgresql://db.example/absa"), is_postgres("store.jsonl")
        (True, False)
    """
    scheme, colon, _ = str(location).partition(":")
    return bool(colon) and scheme.lower() in _SCHEMES


@dataclass(frozen=True, slots=True)
class PostgresLocation:
    """An address without a password, split into what libpq reads and what this package reads.

    Example:
        >>> location = PostgresLocation.parse("postgresql://ann@db.example:5433/absa?store=hotels&sslmode=require")
        >>> location.conninfo, location.name
        ('postgresql://ann@db.example:5433/absa?sslmode=require', 'hotels')
    """

    conninfo: str
    """What libpq reads."""
    given_name: str | None = None
    """The value of the parameter `store`."""

    @classmethod
    def parse(cls, location: str) -> Self:
        """Read an address.

        Raises:
            DatabaseError: it is no address of a database, or it holds a password.
        """
        shown = shortened(redacted(location))
        # One of these signs cannot stand in an address, and libpq stops at some of them without a word.
        is_broken = any(sign <= " " or "\ud800" <= sign <= "\udfff" for sign in location)
        if is_broken or not is_postgres(location) or not location.partition(":")[2].startswith("//"):
            raise DatabaseError(
                f"{quoted(shown)} is no address of a database; write postgresql://host/database, as text and not as a "
                "path",
                location=shown,
            )
        address, _, query = location.partition("?")
        parameters = [(unquote(part.partition("=")[0]), part) for part in query.split("&") if part]
        if credential_in(location) or any(name.lower() in _SECRET_PARAMETERS for name, _ in parameters):
            shown = shortened(redacted(unquote(location)))
            raise DatabaseError(
                f"the address {shown} holds a password, which lists of processes and manifests would show; take it "
                f"out: {WHERE_PASSWORDS_STAND}",
                location=shown,
            )
        names = [unquote(part.partition("=")[2]) for name, part in parameters if name == "store"]
        if len(names) > 1 or any(_NAME.fullmatch(name) is None for name in names):
            raise DatabaseError(
                f"the address {shown} names no store; store=NAME stands in it once, with 1 to 63 letters, digits and "
                "the characters _ . -",
                location=shown,
            )
        kept = "&".join(part for name, part in parameters if name != "store")
        return cls(f"{address}?{kept}" if kept else address, names[0] if names else None)

    @property
    def name(self) -> str:
        """The name of the store; one database holds many."""
        return self.given_name or DEFAULT_STORE

    @property
    def shown(self) -> str:
        """The address for messages."""
        mark = "&" if "?" in self.conninfo else "?"
        return shortened(redacted(self.conninfo + (f"{mark}store={self.given_name}" if self.given_name else "")))

"""The tables of stores in PostgreSQL, and what of a store's row a reader or a writer knows."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory.columns.source_table import source_hash
from episodic_absa.postgres.migrations import SCHEMA, TableSet

Fetch: TypeAlias = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns the rows."""

STORES: Final = f"{SCHEMA}.stores"
GROUPS: Final = f"{SCHEMA}.episode_groups"
EPISODES: Final = f"{SCHEMA}.episodes"
TALLIES: Final = f"{SCHEMA}.tallies"
VERDICTS: Final = f"{SCHEMA}.verdicts"
LANGUAGES: Final = f"{SCHEMA}.tally_languages"

# Numbers of episodes have no gaps: they are given under the writers' lock, in the order of the commits.
_STORES: Final = f"""
CREATE TABLE {STORES} (
    store_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    generation bigint NOT NULL DEFAULT 0,
    first_number bigint NOT NULL DEFAULT 1,
    last_number bigint NOT NULL DEFAULT 0,
    line_n bigint NOT NULL DEFAULT 0,
    verdict_n bigint NOT NULL DEFAULT 0,
    last_group bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20)
"""
# Everything that decides the rank of an episode has few distinct values: one row for each combination that occurs.
_GROUPS: Final = f"""
CREATE TABLE {GROUPS} (
    group_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store_id integer NOT NULL REFERENCES {STORES} ON DELETE CASCADE,
    digest bytea NOT NULL,
    language text NOT NULL,
    structures text NOT NULL,
    length_bucket text NOT NULL,
    num_aspects bigint NOT NULL,
    symptom text NOT NULL,
    rationale text NOT NULL,
    risks text NOT NULL,
    principle_id text NOT NULL,
    action_taken text NOT NULL,
    episode_type text NOT NULL,
    UNIQUE (store_id, digest)
)
"""
# `source` is the hash of a uid: a uid may hold signs that text columns refuse, and may be too long for an index.
# `token` tells an append whose commit was not answered from another one: ids of transactions are given again after a
# crash of the server.
_EPISODES: Final = f"""
CREATE TABLE {EPISODES} (
    store_id integer NOT NULL REFERENCES {STORES} ON DELETE CASCADE,
    number bigint NOT NULL,
    line bigint NOT NULL,
    group_id bigint NOT NULL,
    source bigint NOT NULL,
    token bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (store_id, number)
)
"""
_COUNTED_LINES: Final = """
CREATE TABLE {table} (
    store_id integer NOT NULL REFERENCES {stores} ON DELETE CASCADE,
    line bigint NOT NULL,
    source bigint NOT NULL,
    {more}token bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (store_id, line)
)
"""
# Version 1 counted changes and terms; version 2 does not.
_EXPERIENCE: Final = f"""
CREATE TABLE {SCHEMA}.experience (
    store_id integer NOT NULL REFERENCES {STORES} ON DELETE CASCADE,
    language text NOT NULL,
    structures text NOT NULL,
    length_bucket text NOT NULL,
    num_aspects bigint NOT NULL,
    kind text NOT NULL,
    confirmed bigint NOT NULL,
    contradicted bigint NOT NULL,
    still_open bigint NOT NULL,
    PRIMARY KEY (store_id, language, structures, length_bucket, num_aspects, kind)
) WITH (fillfactor = 50)
"""
_LANGUAGES: Final = f"""
CREATE TABLE {LANGUAGES} (
    store_id integer NOT NULL REFERENCES {STORES} ON DELETE CASCADE,
    language text NOT NULL,
    review_n bigint NOT NULL DEFAULT 0,
    term_n bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (store_id, language)
) WITH (fillfactor = 20)
"""
_TERMS: Final = f"""
CREATE TABLE {SCHEMA}.tally_terms (
    store_id integer NOT NULL REFERENCES {STORES} ON DELETE CASCADE,
    language text NOT NULL,
    term bytea NOT NULL,
    place bigint NOT NULL,
    seen_in bigint NOT NULL,
    PRIMARY KEY (store_id, language, term),
    UNIQUE (store_id, language, place)
) WITH (fillfactor = 80)
"""
TABLES: Final = TableSet(
    "episode_store",
    (
        (
            _STORES,
            _GROUPS,
            f"CREATE INDEX ON {GROUPS} (store_id, group_id)",
            _EPISODES,
            # Without the store: the planner must not take the primary key to find the newest of a group.
            f"CREATE INDEX ON {EPISODES} (group_id, number)",
            f"CREATE INDEX ON {EPISODES} (store_id, source)",
            _COUNTED_LINES.format(table=TALLIES, stores=STORES, more="counts boolean NOT NULL,\n    "),
            f"CREATE INDEX ON {TALLIES} (store_id, source)",
            _COUNTED_LINES.format(table=VERDICTS, stores=STORES, more=""),
            f"CREATE INDEX ON {VERDICTS} (store_id, source)",
            _EXPERIENCE,
            _LANGUAGES,
            _TERMS,
        ),
        (
            f"DROP TABLE {SCHEMA}.experience",
            f"DROP TABLE {SCHEMA}.tally_terms",
            f"ALTER TABLE {LANGUAGES} DROP COLUMN term_n",
        ),
    ),
    {
        "stores": frozenset({"store_id", "name", "generation", "first_number", "last_number", "line_n", "verdict_n"}),
        "episode_groups": frozenset({"group_id", "store_id", "digest", "language", "structures"}),
        "episodes": frozenset({"store_id", "number", "line", "group_id", "source", "token", "body"}),
        "tallies": frozenset({"store_id", "line", "source", "counts", "token", "body"}),
        "verdicts": frozenset({"store_id", "line", "source", "token", "body"}),
        "tally_languages": frozenset({"store_id", "language", "review_n"}),
    },
)

STATE: Final = f"""
SELECT store_id, generation, first_number, last_number, line_n, verdict_n, last_group FROM {STORES} WHERE name = %s
"""  # noqa: S608 - constants
LOCK_CLASS: Final = 0x65_70_69_73
"""The class of the writers' locks: `epis` in ASCII."""


class StoreState(NamedTuple):
    """The row of a store."""

    store_id: int = 0
    """0: the store was not created yet."""
    generation: int = 0
    """Changes when episodes are removed or rewritten."""
    first_number: int = 1
    last_number: int = 0
    line_n: int = 0
    """Lines written so far, removed ones included."""
    verdict_n: int = 0
    last_group: int = 0

    def first_live(self, keep_last_n: int) -> int:
        """Return the number of the oldest episode that is not pruned."""
        return max(self.first_number, self.last_number - keep_last_n + 1)


def read_state(fetch: Fetch, name: str) -> StoreState:
    """Return the row of a store; the tables exist."""
    rows = fetch(STATE, (name,))
    return StoreState(*rows[0]) if rows else StoreState()


def fetch_nothing(query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return no rows: a Fetch for tables that are known to hold none."""
    del query, parameters
    return []


def source_key(source_id: str) -> int:
    """Return the hash of a uid as a number that a column holds."""
    hashed = source_hash(source_id)
    return hashed - (1 << 64) if hashed >= 1 << 63 else hashed


def lock_key(name: str) -> int:
    """Return the number of a store's lock. Two stores of equal number only wait for each other."""
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest(), "little", signed=True)


def bad_row(reason: str) -> MemoryStoreError:
    """Return the error for a row that is no line of a store."""
    return MemoryStoreError(
        f"a row of a store in PostgreSQL is bad: {reason}. `episodic-absa memory check` names it; restore the "
        "database from a backup"
    )

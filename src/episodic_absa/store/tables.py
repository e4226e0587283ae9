"""The tables of a store, version by version, in the words that SQLite and PostgreSQL share.

`{integer}`, `{bytes}` and `{key}` stand for the types of a database. A statement that was released never changes.
"""

from collections.abc import Mapping
from typing import Final

EPISODES, VERDICTS, ANSWERS, TOMBSTONES = "episodes", "verdicts", "answers", "tombstones"
SEALED: Final = (EPISODES, VERDICTS, ANSWERS, TOMBSTONES)
"""Tables whose rows carry a seal of themselves and of the row before."""
ENDS: Final = "SELECT (SELECT max(number) FROM episodes), (SELECT max(number) FROM tombstones)"
"""What changes whenever an index over the episodes is behind."""

_NAMES: Final = "CREATE TABLE namespaces (id {key}, name text NOT NULL UNIQUE)"
# A row that each sealed table must have, the last one after a close: a lost end shows, and its numbers stay given.
_HEADS: Final = "CREATE TABLE heads (name text PRIMARY KEY, number {integer} NOT NULL, seal {bytes} NOT NULL)"
# Everything that decides the rank of an episode has few distinct values: one row for each combination that occurs.
_GROUPS: Final = (
    "CREATE TABLE episode_groups (id {key}, namespace {integer} NOT NULL, ranked text NOT NULL, "
    "UNIQUE (namespace, ranked))"
)
# `source` is the hash of a uid: a uid may hold signs that text columns refuse, and may be too long for an index.
_EPISODES: Final = (
    "CREATE TABLE episodes (number {integer} PRIMARY KEY, namespace {integer} NOT NULL, source {integer} NOT NULL, "
    "group_id {integer} NOT NULL, body {bytes} NOT NULL, seal {bytes} NOT NULL)"
)
_OTHER_ROWS: Final = (
    "CREATE TABLE {table} (number {integer} PRIMARY KEY, namespace {integer} NOT NULL, source {integer} NOT NULL, "
    "body {bytes} NOT NULL, seal {bytes} NOT NULL)"
)
_FACTS: Final = "CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL)"
_TERMS: Final = (
    "CREATE TABLE terms (namespace {integer} NOT NULL, language text NOT NULL, term text NOT NULL, "
    "person text NOT NULL, judged_right {integer} NOT NULL, wrong {integer} NOT NULL, wrong_target {integer} NOT NULL, "
    "wrong_polarity {integer} NOT NULL, missed {integer} NOT NULL, PRIMARY KEY (namespace, language, term, person))"
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        _NAMES,
        _HEADS,
        _GROUPS,
        _EPISODES,
        "CREATE INDEX episodes_of_group ON episodes (group_id, number)",
        "CREATE INDEX episodes_of_source ON episodes (source)",
        _OTHER_ROWS.replace("{table}", TOMBSTONES),
        _FACTS,
    ),
    (
        _OTHER_ROWS.replace("{table}", VERDICTS),
        "CREATE INDEX verdicts_of_source ON verdicts (source)",
        _OTHER_ROWS.replace("{table}", ANSWERS),
        "CREATE INDEX answers_of_source ON answers (source)",
        _TERMS,
    ),
)
"""The statements that lead to version 1 (what agents remember), and from there to version 2 (what people say)."""

VERSION: Final = len(MIGRATIONS)


def statements(since: int, types: Mapping[str, str], until: int = VERSION) -> list[str]:
    """Return the statements that lead from one version to another.

    Args:
        since: the version that is there; 0 for none.
        types: the words of a database for `integer`, `bytes` and `key`.
        until: the version that is wanted.
    """
    return [statement.format(**types) for migration in MIGRATIONS[since:until] for statement in migration]

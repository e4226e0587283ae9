"""Databases that can hold a store, for tests that run on each of them; and episodes to put into one."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel
from tests.postgres_server import PostgresServer

from episodic_absa.schemas.stored.memory_v1_3 import EpisodeDraftV1_3
from episodic_absa.store.additions import Guard
from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.dialects.postgres_dialect import PostgresDialect
from episodic_absa.store.dialects.sqlite_dialect import SqliteDialect
from episodic_absa.store.episode_store import DEFAULT_KEEP_LAST_N, EpisodeStore
from episodic_absa.store.open_store import database_at

BUSY_TIMEOUT_S = 20.0
_numbers = itertools.count(1)


def admit(value: BaseModel) -> None:
    """Look at nothing."""


class Place(Protocol):
    """A place for one store that was not created yet."""

    location: str

    def dialect(self, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Dialect:
        """Return a new way to the store."""
        ...


class SqlitePlace:
    def __init__(self, folder: Path) -> None:
        self.location = str(folder / f"store_{next(_numbers)}.sqlite")

    def dialect(self, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> SqliteDialect:
        return SqliteDialect(self.location, busy_timeout_s=busy_timeout_s)


class PostgresPlace:
    def __init__(self, server: PostgresServer, database: str) -> None:
        self.server = server
        self.database = database
        self.location = f"{database}&store=s{next(_numbers)}"

    def dialect(self, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> PostgresDialect:
        return PostgresDialect(self.location, busy_timeout_s=busy_timeout_s, guard=admit)


def opened(place: Place, **options: Any) -> EpisodeStore:
    """Return a store whose guard admits everything."""
    busy_timeout_s = options.pop("busy_timeout_s", BUSY_TIMEOUT_S)
    options.setdefault("keep_last_n", DEFAULT_KEEP_LAST_N)
    return EpisodeStore(place.dialect(busy_timeout_s=busy_timeout_s), guard=admit, **options)


def opened_at(location: str | Path, *, guard: Guard = admit, reads_only: bool = False, **options: Any) -> EpisodeStore:
    """Return the store of a location; by default its guard admits everything."""
    database = database_at(location, guard=guard, busy_timeout_s=BUSY_TIMEOUT_S, reads_only=reads_only)
    return EpisodeStore(database, guard=guard, **options)


def draft(number: int = 1, *, uid: str | None = None, **changed: Any) -> EpisodeDraftV1_3:
    """Return an episode; `changed` replaces fields by dotted names with `__` for a dot."""
    fields: dict[str, Any] = {
        "action_taken": "abstain",
        "case_summary": {
            "rationale_summary": "proposals=none; action=abstain; adopt=low_signal",
            "symptom": "risks=none; structure=none; max_severity=none",
            "target_aspect_type": "room",
        },
        "correction": {
            "applicable_conditions": ["language=en"],
            "corrective_principle": "With no structural cue the first reading held; do not edit without new evidence.",
            "principle_id": "P-STB-01",
        },
        "error_category": ["none"],
        "evaluation": {
            "override_applied": False,
            "override_harm": False,
            "override_success": False,
            "risk_after": {"severity_sum": 0, "tags": []},
            "risk_before": {"severity_sum": 0, "tags": []},
        },
        "input_signature": {
            "detected_structure": ["none"],
            "has_negation": False,
            "language": "en",
            "length_bucket": "short",
            "num_aspects": 1,
        },
        "outcome": {"by": "risk", "value": "neutral"},
        "outcome_delta": {"delta_risk": 0},
        "provenance": {
            "created_from_split": "unknown",
            "sample_index": number,
            "seed": 0,
            "source_id": uid or f"review-{number}",
            "used_in_eval": False,
        },
    }
    for name, value in changed.items():
        *folders, last = name.split("__")
        place = fields
        for folder in folders:
            place = place[folder]
        place[last] = value
    return EpisodeDraftV1_3.model_validate(fields)


def ids(episodes: Iterator[Any] | list[Any]) -> list[str]:
    """Return the ids of episodes."""
    return [episode.episode_id for episode in episodes]

"""Stores as versions 0.1 and 0.2 wrote them."""

import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tests.store.places import draft

from episodic_absa.postgres.connection import connect
from episodic_absa.postgres.location import SCHEMA, PostgresLocation
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1
from episodic_absa.schemas.memory_v1_2 import STORE_HEADER
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.seals import NO_CHECKSUM, opened, seal


def episodes_of_1_1(seed: int) -> Iterator[EpisodicMemoryEntryV1_1]:
    """Yield episodes without end, as the original rules write them."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        before, after = rng.randrange(4), rng.randrange(4)
        polarities = {term: rng.choice(("positive", "negative")) for term in rng.sample(("room", "bed", "침대"), 2)}
        snapshot = {"aspects_norm": list(polarities), "confidence": rng.random(), "polarities": polarities}
        fields: dict[str, Any] = draft(number).model_dump(mode="json", exclude={"changes", "context", "namespace"})
        del fields["outcome"]
        fields |= {
            "schema_version": "1.1",
            "episode_id": f"epi_{number:06d}",
            "episode_type": rng.choice(("success", "harm", "neutral")),
            "outcome_delta": {"conflict_resolved": None, "delta_risk": after - before},
            "stage_snapshot": {"final": snapshot, "stage1": snapshot},
        }
        fields["evaluation"]["risk_before"]["severity_sum"] = before
        fields["evaluation"]["risk_after"]["severity_sum"] = after
        yield EpisodicMemoryEntryV1_1.model_validate(fields)


def sealed_lines(bodies: Iterable[bytes]) -> bytes:
    """Return the content of a sealed file of 0.2: the header and the lines."""
    lines, last = [], NO_CHECKSUM
    for body in (STORE_HEADER, *bodies):
        line, last = seal(body, last)
        lines.append(line + b"\n")
    return b"".join(lines)


def write_store_of_0_2(path: Path, episode_n: int, seed: int = 1) -> None:
    """Write a sealed file with episodes, tallies and verdicts of schema 1.2."""
    bodies: list[bytes] = []
    for old in islice(episodes_of_1_1(seed), episode_n):
        uid = old.provenance.source_id
        fields = old.model_dump(mode="json") | {"schema_version": "1.2", "outcome": "open", "outcome_by": None}
        fields["changes"] = [{"adopted": True, "kind": "flip", "outcome": "open", "outcome_by": None}]
        bodies.append(canonical_json(fields).encode())
        tally = {"kind": "tally", "language": "en", "schema_version": "1.2", "source_id": uid, "terms": ["room"]}
        bodies.append(canonical_json(tally).encode())
        if int(old.episode_id[4:]) % 10 == 0:
            verdict = {"aspect": "room", "kind": "verdict", "schema_version": "1.2", "source_id": uid}
            bodies.append(canonical_json({**verdict, "verdict": "right"}).encode())
    path.write_bytes(sealed_lines(bodies))


def write_tables_of_0_2(location: PostgresLocation, path: Path) -> None:
    """Put the lines of a sealed file into tables as version 0.2 had them."""
    with connect(location) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
        connection.execute(f"CREATE TABLE {SCHEMA}.stores (store_id bigint, name text)".encode())
        connection.execute(f"INSERT INTO {SCHEMA}.stores VALUES (7, %s)".encode(), (location.name,))  # noqa: S608 - a constant
        for table, place in (("episodes", "number"), ("tallies", "line"), ("verdicts", "line")):
            columns = f"(store_id bigint, {place} bigint, body bytea)"
            connection.execute(f"CREATE TABLE {SCHEMA}.{table} {columns}".encode())
        for number, line in enumerate(path.read_bytes().splitlines()):
            body = opened(line).body
            table = "tallies" if b'"tally"' in body else "verdicts" if b'"verdict"' in body else "episodes"
            if b'"format"' not in body:
                row = (7, number, body)
                connection.execute(f"INSERT INTO {SCHEMA}.{table} VALUES (%s, %s, %s)".encode(), row)  # noqa: S608 - constants

"""A store as JSON lines: what is exported can be imported again, and old files are read."""

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import jsonschema
import pytest
from tests.schemas.json_schema_files import SCHEMA_FOLDER
from tests.store.old_stores import episodes_of_1_1, write_store_of_0_2
from tests.store.places import Place, SqlitePlace, admit, draft, ids, opened

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_2 import EpisodicMemoryEntryV1_2
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.store.dialects.dialect import Dialect
from episodic_absa.store.exported_lines import (
    TakenIn,
    exported_lines,
    from_1_1,
    from_1_2,
    opened_file,
    read_lines,
    take_in,
    to_1_1,
)


def take(dialect: Dialect, lines: Iterable[bytes]) -> TakenIn:
    with dialect.writing() as writer:
        return take_in(writer, read_lines(lines, "lines.jsonl"), admit, "store")


def filled(place: Place) -> None:
    with opened(place) as store:
        for number in range(1, 6):
            store.append(draft(number))
        store.append_verdict(VerdictV1_3(source_id="review-2", aspect="room", verdict="wrong_target", language="en"))
        store.append_verdict(VerdictV1_3(source_id="review-3", aspect="room", verdict="right", language="en"))
        store.forget("review-5")
        store.forget("review-3")


def test_every_exported_line_validates_against_the_shipped_schema_as_it_stands(place: Place) -> None:
    filled(place)
    lines = list(exported_lines(place.dialect()))
    assert len(lines) == 3 + 1 + 3
    for line in lines:
        value = json.loads(line)
        name = {"verdict": "verdict_v1_3", "tombstone": "tombstone_v1_3"}.get(
            value.get("kind"), "episodic_memory_entry_v1_3"
        )
        schema = json.loads((SCHEMA_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        jsonschema.validate(value, schema)
        assert canonical_json(value).encode() + b"\n" == line


def test_an_imported_store_is_the_exported_one(place: Place, tmp_path: Path) -> None:
    filled(place)
    empty = SqlitePlace(tmp_path)
    with opened(place) as store:
        lines = list(exported_lines(store.dialect))
        other = empty.dialect()
        assert take(other, lines) == TakenIn(episode_n=3, verdict_n=1)
        assert list(exported_lines(other)) == lines
        other.close()
        with opened(empty) as imported:
            assert imported.episodes(imported.numbers()) == store.episodes(store.numbers())
            assert imported.terms("en") == store.terms("en")
            # What was forgotten there gives its id to nothing else.
            assert imported.append(draft(6)).episode_id == "epi_000006"


def test_lines_taken_into_a_filled_store_get_new_ids_and_come_once(place: Place) -> None:
    filled(place)
    lines = [line for line in exported_lines(place.dialect()) if b'"tombstone"' not in line]
    more = draft(9).model_dump(mode="json") | {"episode_id": "epi_000001"}
    assert take(place.dialect(), lines) == TakenIn(known_n=4)
    assert take(place.dialect(), [canonical_json(more).encode() + b"\n"]) == TakenIn(episode_n=1)
    with opened(place) as store:
        assert ids(list(store.newest_episodes()))[0] == "epi_000006"


def test_an_episode_of_1_1_comes_back_as_it_was() -> None:
    for entry in islice(episodes_of_1_1(seed=5), 300):
        upgraded = from_1_1(entry)
        assert upgraded.outcome.by == "risk"
        assert canonical_json(to_1_1(upgraded)) == canonical_json(entry)


def test_an_outcome_of_the_reader_gives_way_to_the_risks() -> None:
    fields = next(episodes_of_1_1(seed=5)).model_dump(mode="json")
    fields |= {"schema_version": "1.2", "episode_type": "harm", "outcome": "contradicted"}
    fields["changes"] = [{"adopted": False, "kind": "drop", "outcome": "contradicted", "outcome_by": "reader"}]
    fields["evaluation"] |= {
        "override_harm": False,
        "override_success": False,
        "risk_before": {"severity_sum": 2, "tags": ["IRONY"]},
        "risk_after": {"severity_sum": 0, "tags": []},
    }
    by_reader = from_1_2(EpisodicMemoryEntryV1_2.model_validate({**fields, "outcome_by": "reader"}))
    by_referee = from_1_2(EpisodicMemoryEntryV1_2.model_validate({**fields, "outcome_by": "referee"}))
    assert (by_reader.outcome.value, by_reader.outcome.by) == ("success", "risk")
    assert (by_referee.outcome.value, by_referee.outcome.by) == ("harm", "referee")
    assert [change.model_dump() for change in by_reader.changes] == [{"adopted": False, "kind": "drop"}]


def test_a_sealed_store_of_0_2_is_read_and_a_changed_line_of_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    write_store_of_0_2(path, 400)
    place = SqlitePlace(tmp_path)
    taken = take(place.dialect(), opened_file(path))
    assert taken == TakenIn(episode_n=400, verdict_n=40)
    with opened(place) as store:
        assert len(store) == 400
        assert all(isinstance(episode, EpisodicMemoryEntryV1_3) for episode in store.newest_episodes())
    lines = path.read_bytes().splitlines(keepends=True)
    lines[200] = lines[200].replace(b'"review-', b'"revieW-')
    with pytest.raises(MemoryStoreError, match="checksum does not fit") as error:
        list(read_lines(lines, str(path)))
    assert error.value.line == 201


def test_a_line_that_is_none_is_an_error_with_its_place() -> None:
    line = canonical_json(draft(1).model_dump(mode="json") | {"episode_id": "epi_000001"}).encode() + b"\n"
    for second, reason in ((b"{}\n", "Field required"), (line, "does not come after"), (b"buy milk\n", "JSON")):
        with pytest.raises(MemoryStoreError, match=reason) as error:
            list(read_lines([line, second], "lines.jsonl"))
        assert error.value.line == 2


def test_an_old_verdict_on_a_term_counts_for_it_and_one_on_the_whole_result_for_none(sqlite_place: SqlitePlace) -> None:
    tally = b'{"kind":"tally","language":"ko","schema_version":"1.2","source_id":"r1","terms":["x"]}\n'
    verdicts = [
        b'{"aspect":"x","kind":"verdict","schema_version":"1.2","source_id":"r1","verdict":"wrong"}\n',
        b'{"aspect":null,"kind":"verdict","schema_version":"1.2","source_id":"r1","verdict":"right"}\n',
    ]
    assert take(sqlite_place.dialect(), [tally, *verdicts]).verdict_n == 2
    with opened(sqlite_place) as store:
        assert {term: counts.wrong for term, counts in store.terms("ko").items()} == {"x": 1}

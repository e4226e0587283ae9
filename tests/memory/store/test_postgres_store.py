"""A store in PostgreSQL keeps what it acknowledged, and refuses what it cannot use without a trace."""

import copy
import json
import random
import select
import signal
import socket
import tempfile
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra
from tests.memory.store_places import PostgresPlace, opened
from tests.postgres_server import GUARDED_USER, PASSWORD, PostgresServer
from tests.warm_python import WarmProcess, run_warm

from episodic_absa import AgentMemory, Analyzer, Situation
from episodic_absa.errors import InputError, MemoryStoreError
from episodic_absa.memory import MemoryStore, Retriever, open_store
from episodic_absa.memory.store.postgres.postgres_store import PostgresStore
from episodic_absa.memory.store.postgres.store_tables import TABLES
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2

HERE = Path(__file__).parent
BASE: dict[str, Any] = json.loads((HERE.parent / "episode.json").read_text(encoding="utf-8"))


def draft(source_id: str = "s-1", index: int = 0) -> dict[str, Any]:
    episode = copy.deepcopy(BASE)
    episode["provenance"] |= {"source_id": source_id, "sample_index": index}
    return episode


def tally(source_id: str) -> TallyV1_2:
    return TallyV1_2(language="en", source_id=source_id, terms=("room",))


def stored_ids(place: PostgresPlace) -> list[str]:
    return [json.loads(line)["episode_id"] for line in place.lines()]


def started_appender(place: PostgresPlace, source: str) -> WarmProcess:
    appender = WarmProcess([HERE / "appender.py", place.location, "--source", source], loads_engine=False)
    assert appender.stdout is not None
    assert appender.stdout.readline() == b"ready\n"
    return appender


def test_ten_killed_clients_lose_no_acknowledged_episode(postgres_place: PostgresPlace) -> None:
    chance = random.Random(20)
    acknowledged: list[str] = []
    for kill in range(10):
        with started_appender(postgres_place, f"w-{kill}") as appender:
            assert appender.stdout is not None
            heard = b"".join(appender.stdout.readline() for _ in range(chance.randint(1, 60)))
            appender.send_signal(signal.SIGKILL)
            rest, err = appender.communicate()
        assert err == b""
        said = heard + rest
        acknowledged += said[: said.rfind(b"\n") + 1].decode().split()
        written = stored_ids(postgres_place)
        assert written == [f"epi_{number:06d}" for number in range(1, len(written) + 1)]
        assert set(acknowledged) <= set(written)
    assert len(set(acknowledged)) == len(acknowledged)
    with opened(postgres_place) as store:
        assert int(store.append(draft()).episode_id[4:]) == len(written) + 1
        assert store.check().is_sound


def test_a_server_that_crashes_loses_no_acknowledged_episode_and_writers_go_on(
    postgres_place: PostgresPlace, postgres_server: PostgresServer
) -> None:
    each, crashes = 150, 5
    acknowledged: list[list[str]] = [[], []]

    def append_many(writer: int) -> None:
        with opened(postgres_place) as store:
            for index in range(each):
                source = f"w{writer}-{index}"
                acknowledged[writer].append(store.append(draft(source, index), tally=tally(source)).episode_id)

    writers = [threading.Thread(target=append_many, args=(writer,)) for writer in (0, 1)]
    for writer in writers:
        writer.start()
    for crash in range(1, crashes + 1):
        while sum(map(len, acknowledged)) < crash * 40 and any(writer.is_alive() for writer in writers):
            threading.Event().wait(0.001)
        before = {name for said in acknowledged for name in list(said)}
        postgres_server.restart_after_crash()
        kept = {json.loads(line).get("episode_id") for line in postgres_place.lines()}
        assert before <= kept
    for writer in writers:
        writer.join()
    # A commit that nobody answered was looked up: nothing is lost, nothing is written twice.
    said = sorted(name for names in acknowledged for name in names)
    assert said == [f"epi_{number:06d}" for number in range(1, 2 * each + 1)]
    assert all(a < b for names in acknowledged for a, b in pairwise(names))
    with opened(postgres_place) as store:
        assert len(store.load()) == 2 * each
        assert store.statistics().reviews_by_language["en"] == 2 * each
        assert store.check().is_sound


class DeafProxy:
    """Stands between a client and the server; the answers to some commits get lost together with the connection.

    Args:
        folder: gets the socket that clients use.
        server: the folder of the server's socket.
        lost: which commits are not answered, counted from 1.
        reaches_server: whether the server sees them before.
    """

    def __init__(self, folder: Path, server: str, lost: set[int], *, reaches_server: bool) -> None:
        self._server = f"{server}/.s.PGSQL.5432"
        self._lost, self._reaches_server = lost, reaches_server
        self.commit_n = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            while True:
                readable, _, _ = select.select([client, server], [], [])
                for source, target in ((server, client), (client, server)):
                    if source not in readable:
                        continue
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    if source is client and b"COMMIT\0" in data:
                        self.commit_n += 1
                        if self.commit_n in self._lost:
                            if self._reaches_server:
                                server.sendall(data)
                                server.recv(1 << 16)
                            return
                    target.sendall(data)


@pytest.mark.parametrize("reaches_server", [True, False])
def test_a_commit_that_was_not_answered_is_looked_up_and_not_repeated(
    postgres_place: PostgresPlace, reaches_server: bool
) -> None:
    with opened(postgres_place) as store:
        store.append(draft("s-0"), tally=tally("s-0"))
    with tempfile.TemporaryDirectory() as folder:
        host = postgres_place.location.partition("host=")[2]
        proxy = DeafProxy(Path(folder), host, {2, 4, 5}, reaches_server=reaches_server)
        with open_store(postgres_place.location.replace(host, folder)) as store:
            for index in range(1, 6):
                entry = store.append(draft(f"s-{index}", index), tally=tally(f"s-{index}"))
                assert entry.episode_id == f"epi_{index + 1:06d}"
        proxy.close()
    assert proxy.commit_n > 5
    with opened(postgres_place) as store:
        assert [episode.provenance.source_id for episode in store.load()] == [f"s-{index}" for index in range(6)]
        assert store.statistics().reviews_by_language["en"] == 6
        assert store.check().is_sound


def test_reads_and_appends_go_on_after_a_restart_between_them(
    postgres_place: PostgresPlace, postgres_server: PostgresServer
) -> None:
    with opened(postgres_place) as store:
        store.append(draft("a"))
        assert len(store.load()) == 1
        postgres_server.restart_after_crash()
        assert [episode.provenance.source_id for episode in store.load()] == ["a"]
        postgres_server.restart_after_crash()
        assert store.append(draft("b")).episode_id == "epi_000002"


def test_a_block_that_lost_its_lock_with_the_connection_writes_no_more(
    postgres_place: PostgresPlace, postgres_server: PostgresServer
) -> None:
    with opened(postgres_place) as store:
        with store.writing():
            store.append(draft("a"))
            postgres_server.restart_after_crash()
            with pytest.raises(MemoryStoreError, match="broke while this process held the writers' lock"):
                store.append(draft("b"))
        assert store.append(draft("c")).episode_id == "epi_000002"


def test_a_dropped_store_is_empty_and_begins_anew(postgres_place: PostgresPlace) -> None:
    with opened(postgres_place) as store:
        store.append(draft("a"), tally=tally("a"))
        assert len(store.load()) == 1
        postgres_place.clear()
        assert not store.exists()
        assert list(store.load()) == []
        assert store.append(draft("b")).episode_id == "epi_000001"
        assert [episode.provenance.source_id for episode in store.load()] == ["b"]
        postgres_place.drop_tables()
        assert not store.exists()
        assert len(store.load()) == 0
        with pytest.raises(MemoryStoreError, match="does not exist"):
            store.append(draft("c"))
        assert store.append(draft("c")).episode_id == "epi_000001"
        assert store.check().is_sound


def test_one_database_holds_several_stores(postgres_place: PostgresPlace) -> None:
    with open_store(f"{postgres_place.location}&store=hotels") as hotels, opened(postgres_place) as other:
        assert (hotels.name, other.name) == ("hotels", "episodes")
        hotels.append(draft("h"))
        other.append(draft("o"))
        assert hotels.append(draft("h2")).episode_id == "epi_000002"
        assert [episode.provenance.source_id for episode in other.load()] == ["o"]
        hotels.compact(1)
        assert (len(hotels.load()), len(other.load())) == (1, 1)
        assert hotels.check().is_sound
        assert other.check().is_sound


def test_reading_creates_no_tables(postgres_server: PostgresServer) -> None:
    url = postgres_server.new_database()
    with open_store(url) as store:
        assert not store.exists()
        assert list(store.load()) == []
        assert store.statistics().lock == "none"
        assert store.check().episode_n == 0
        assert store.compact(5).kept_n == 0
    assert postgres_server.execute("SELECT to_regnamespace('episodic_absa')", url=url) == [(None,)]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ann:secret@host/absa", "PGPASSWORD"),
        ("postgresql://host/absa?password=secret", "PGPASSWORD"),
        ("postgresql://host/absa?store=a/b", "names no store"),
        ("postgresql:host", "is no address of a database"),
    ],
)
def test_a_bad_address_is_refused_at_once_and_never_shows_a_password(address: str, words: str) -> None:
    with pytest.raises(MemoryStoreError, match=words) as caught:
        open_store(address)
    assert "secret" not in str(caught.value)


def test_an_address_given_as_a_path_is_refused() -> None:
    for given in (Path("postgresql://host/absa"), "postgresql://host/absa"):
        with pytest.raises(InputError, match="open_store"):
            MemoryStore(given)


def test_a_server_that_cannot_be_reached_is_a_store_error(tmp_path: Path) -> None:
    require_extra("postgres")
    with (
        open_store(f"postgresql:///absa?host={tmp_path}") as store,
        pytest.raises(MemoryStoreError, match="cannot be reached"),
    ):
        store.load()


def test_passwords_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, postgres_place: PostgresPlace) -> None:
    with opened(postgres_place) as store:
        store.append(draft("a"))
    guarded = postgres_place.location.replace("absa@", f"{GUARDED_USER}@", 1)
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with open_store(guarded) as store, pytest.raises(MemoryStoreError, match="refuses the user or the password"):
        store.load()
    monkeypatch.delenv("PGPASSWORD")
    with open_store(guarded) as store, pytest.raises(MemoryStoreError, match=r"none is given.*PGPASSFILE"):
        store.load()
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    for statement in (
        f"GRANT USAGE ON SCHEMA episodic_absa TO {GUARDED_USER}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA episodic_absa TO {GUARDED_USER}",
    ):
        postgres_place.execute(statement)
    with open_store(guarded) as store:
        assert len(store.load()) == 1
        # Whoever may only read is told so, and nothing is written.
        with pytest.raises(MemoryStoreError, match="refuses what was asked for"):
            store.append(draft("b"))
        assert len(store.load()) == 1


def test_tables_of_another_version_or_of_something_else_are_refused_untouched(postgres_server: PostgresServer) -> None:
    newer, foreign = postgres_server.new_database(), postgres_server.new_database()
    with open_store(newer) as store:
        store.append(draft())
    postgres_server.execute(
        "UPDATE episodic_absa.schema_versions SET version = 99 WHERE kind = 'episode_store'", url=newer
    )
    postgres_server.execute("CREATE SCHEMA episodic_absa", url=foreign)
    postgres_server.execute("CREATE TABLE episodic_absa.episodes (title text)", url=foreign)
    for url, words in ((newer, "of version 99"), (foreign, "of something else")):
        with open_store(url) as store:
            with pytest.raises(MemoryStoreError, match=words):
                store.load()
            with pytest.raises(MemoryStoreError, match=words):
                store.append(draft())
    assert postgres_server.execute("SELECT count(*) FROM episodic_absa.episodes", url=newer) == [(1,)]
    assert postgres_server.execute("SELECT count(*) FROM episodic_absa.episodes", url=foreign) == [(0,)]
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'episodic_absa'"
    assert postgres_server.execute(tables, url=foreign) == [(1,)]


def test_tables_of_version_1_lose_their_counts_and_no_line(postgres_place: PostgresPlace) -> None:
    with opened(postgres_place) as store:
        store.append(draft("a"), tally=tally("a"))
        store.append_verdict(VerdictV1_2(source_id="a", verdict="right"))
    lines = postgres_place.lines()
    for statement in TABLES.migrations[0]:
        if "absa.experience" in statement or "absa.tally_terms" in statement:
            postgres_place.execute(statement)
    postgres_place.execute("ALTER TABLE episodic_absa.tally_languages ADD COLUMN term_n bigint NOT NULL DEFAULT 1")
    postgres_place.execute(
        "INSERT INTO episodic_absa.tally_terms SELECT store_id, 'en', 'room', 0, 1 FROM episodic_absa.stores"
    )
    postgres_place.execute(
        "INSERT INTO episodic_absa.experience "
        "SELECT store_id, 'en', 'none', 'short', 1, 'flip', 1, 0, 0 FROM episodic_absa.stores"
    )
    postgres_place.execute("UPDATE episodic_absa.schema_versions SET version = 1 WHERE kind = 'episode_store'")
    with opened(postgres_place) as store:
        assert [episode.provenance.source_id for episode in store.load()] == ["a"]
        assert postgres_place.lines() == lines
        assert store.load().episode_index.samples.verdicts_on("a") == {None: "right"}
        store.append(draft("b"), tally=tally("b"))
        assert store.statistics().reviews_by_language["en"] == 2
        assert store.check().is_sound
    gone = "SELECT to_regclass('episodic_absa.experience'), to_regclass('episodic_absa.tally_terms')"
    assert postgres_place.execute(gone) == [(None, None)]


def test_a_check_names_rows_that_somebody_changed(postgres_place: PostgresPlace) -> None:
    with opened(postgres_place) as store:
        for source in ("a", "b", "c", "d"):
            store.append(draft(source), tally=tally(source))
        assert store.check().is_sound
        postgres_place.execute("UPDATE episodic_absa.tally_languages SET review_n = 9")
        assert store.check().damage == ("the table tally_languages does not count what the tallies hold",)
        postgres_place.execute("UPDATE episodic_absa.episodes SET body = '{}' WHERE number = 2")
        postgres_place.execute("DELETE FROM episodic_absa.episodes WHERE number = 3")
        bad = store.check().bad_lines
        assert [finding.line for finding in bad] == [3, 7]
        assert "epi_000003" in bad[1].reason
        with pytest.raises(MemoryStoreError, match="memory check"):
            list(store.newest_episodes())
        with pytest.raises(MemoryStoreError, match="restore the database from a backup"):
            store.repair()


def test_questions_of_advice_scan_no_table(postgres_place: PostgresPlace) -> None:
    asked: list[tuple[str, Any]] = []
    with opened(postgres_place, keep_last_n=50) as store:
        for index in range(400):
            store.append(draft(f"s-{index}", index), tally=tally(f"s-{index}"))
        store.append_verdict(VerdictV1_2(source_id="s-9", verdict="right"))
        postgres_place.execute("ANALYZE")
        assert isinstance(store, PostgresStore)
        fetch = store._fetch

        def noted(query: str, parameters: Any) -> list[tuple[Any, ...]]:
            asked.append((query, parameters))
            return fetch(query, parameters)

        store._fetch = noted  # type: ignore[method-assign]
        loaded = store.load()
        signature = loaded[0].input_signature
        assert len(Retriever().retrieve(loaded, signature, ["IRONY"], sample_id="s-1")) == 3
        assert loaded.episode_index.samples.is_tallied("s-1")
        loaded.episode_index.samples.verdicts_on("s-1")
        list(store.lines_of("s-9"))
        # With few rows the planner takes the whole table for good reason.
        import psycopg

        with psycopg.connect(postgres_place.location, autocommit=True) as connection:
            connection.execute("SET enable_seqscan = off")
            plans = [
                " ".join(str(row[0]) for row in connection.execute(f"EXPLAIN {query}".encode(), parameters))
                for query, parameters in asked
            ]
    assert len(plans) >= 6
    assert [plan for plan in plans if "Seq Scan" in plan] == []


def test_without_the_extra_the_error_names_the_pip_line() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from episodic_absa.memory import open_store\n"
        "from episodic_absa.errors import MissingExtraError\n"
        "try: open_store('postgresql://host/absa').load()\n"
        "except MissingExtraError as error: print(error)"
    )
    done = run_warm(["-c", code], loads_engine=False)
    assert "episodic-absa[postgres]" in done.stdout


def test_analyzer_and_agent_memory_remember_in_a_database(postgres_place: PostgresPlace) -> None:
    text = "The room was clean, but the breakfast was cold."
    with Analyzer(condition="C2", store=postgres_place.location) as analyzer:
        analyzer.analyze(text, uid="r1")
        assert analyzer.feedback("r1", "right")
        assert not analyzer.feedback("r1", "right")
        analyzer.analyze(text, uid="r2")
    with opened(postgres_place) as store:
        assert {line.provenance.source_id for line in store.load()} == {"r1", "r2"}
    with AgentMemory(f"{postgres_place.location}&store=cases") as memory:
        situation = Situation(language="en", structures={"contrast"}, risks={"contrast_scope"})
        assert memory.remember(situation, action="changed", outcome="better") == "epi_000001"
        assert memory.recall(situation).suggests == "change"
        assert repr(memory) == "AgentMemory(cases)"

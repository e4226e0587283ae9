"""What only a cache in a database does: it looks up beside the event loop, and waits for a server that restarts."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from tests.backends.cache.cache_places import PostgresPlace
from tests.backends.cache.test_response_cache import ScriptedReplier, a_few_turns, caching, make_request
from tests.postgres_server import PostgresServer

from episodic_absa.backends.cache import CacheStats, ResponseCache
from episodic_absa.backends.cache.postgres_cache import PostgresAnswers
from episodic_absa.errors import ConfigError
from episodic_absa.postgres.connection import connect
from episodic_absa.postgres.location import PostgresLocation


@pytest.fixture
def address(postgres_server: PostgresServer, cache_database: str) -> str:
    PostgresPlace(postgres_server, cache_database).clear()
    return cache_database


def test_a_lookup_that_takes_long_stops_neither_the_event_loop_nor_a_second_time(address: str) -> None:
    async def ask(cache: ResponseCache, replier: ScriptedReplier) -> None:
        wrapped = caching(cache, replier)
        with closing(connect(PostgresLocation.parse(address))) as holder, holder.transaction():
            holder.execute("LOCK TABLE episodic_absa.answers IN ACCESS EXCLUSIVE MODE")
            tasks = [asyncio.create_task(wrapped.reply(make_request())) for _ in range(3)]
            await a_few_turns()
            assert not any(task.done() for task in tasks)
        replies = await asyncio.gather(*tasks)
        assert {reply.text for reply in replies} == {"answer 1 to ate.v1"}

    with ResponseCache(address) as cache:
        asyncio.run(ask(cache, ScriptedReplier()))
        assert cache.stats == CacheStats(hits=0, misses=1, joined=2)
    with ResponseCache(address) as cache:
        asyncio.run(ask(cache, ScriptedReplier()))
        assert cache.stats == CacheStats(hits=1, misses=0, joined=2)


def test_a_restart_between_two_requests_goes_unnoticed(postgres_server: PostgresServer, address: str) -> None:
    with ResponseCache(address) as cache:
        first = asyncio.run(caching(cache).reply(make_request(seed=1)))
        postgres_server.restart_after_crash()
        asyncio.run(caching(cache).reply(make_request(seed=2)))
    with ResponseCache(address) as cache:
        again = asyncio.run(caching(cache, ScriptedReplier(failures=1)).reply(make_request(seed=1)))
    assert again.text == first.text


def test_a_server_that_does_not_come_back_is_a_clear_error(postgres_server: PostgresServer, address: str) -> None:
    replier = ScriptedReplier()
    with ResponseCache(address) as cache:
        assert isinstance(cache._file, PostgresAnswers)
        cache._file._reader._patience_s = 0.0
        postgres_server.stop("immediate")
        try:
            for _ in range(2):
                with pytest.raises(ConfigError, match="reach") as caught:
                    asyncio.run(caching(cache, replier).reply(make_request()))
        finally:
            postgres_server.start()
        assert (caught.value.path, caught.value.key, replier.calls) == (None, "cache.path", 0)
        assert asyncio.run(caching(cache, replier).reply(make_request())).text == "answer 1 to ate.v1"


VERSIONS = "CREATE TABLE episodic_absa.schema_versions (kind text, version integer)"
SONGS = "CREATE TABLE episodic_absa.answers (song text)"
OURS = "INSERT INTO episodic_absa.schema_versions VALUES ('response_cache', 1)"
RELATIONS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'episodic_absa'"


def test_the_table_is_made_by_one_of_many(address: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: ResponseCache(address).close(), range(4)))
    ResponseCache(address).close()


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("CREATE TABLE episodic_absa.schema_versions (release date)", "a schema episodic_absa of something else"),
        ("CREATE TABLE episodic_absa.cars (wheels integer)", "a schema episodic_absa of something else"),
        (f"{VERSIONS}; {SONGS}", "a table episodic_absa.answers of something else"),
        (f"{VERSIONS}; {SONGS}; {OURS}", "a table episodic_absa.answers of something else"),
        (f"{VERSIONS}; {OURS}", "a table episodic_absa.answers of something else, or none"),
        (f"{VERSIONS}; {OURS.replace('1)', '2)')}", "of version 2 and this version of the package writes 1"),
    ],
)
def test_tables_of_something_else_stay_untouched(
    postgres_server: PostgresServer, address: str, statements: str, words: str
) -> None:
    postgres_server.execute(f"CREATE SCHEMA episodic_absa; {statements}", url=address)
    before = postgres_server.execute(RELATIONS, url=address)
    with pytest.raises(ConfigError, match=words):
        ResponseCache(address)
    assert postgres_server.execute(RELATIONS, url=address) == before

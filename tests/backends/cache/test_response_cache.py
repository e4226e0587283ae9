"""What the key covers, equal requests sent once, nothing used before it is committed."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tests.backends.cache.cache_places import PLACES, CachePlace

from episodic_absa.backends.backend import Ask, Prompt, RepairingBackend, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.cache import CacheStats, CachingReplier, ResponseCache
from episodic_absa.backends.cache.answer_file import AnswerFile
from episodic_absa.errors import BackendUnavailableError, ConfigError
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import Role


class Found(BaseModel):
    aspects: list[str]


class FoundMore(Found):
    certain: bool = True


class ScriptedReplier(RemoteFacts):
    """Numbers its answers, or always gives the same. It can wait for `gate`, and fails as often as told."""

    name = "scripted:1"

    def __init__(
        self, *, answer: Reply | None = None, failures: int = 0, honours_seed: bool = True, gated: bool = False
    ) -> None:
        self.honours_seed = honours_seed
        self._answer = answer
        self.calls = 0
        self.answered = 0
        self.closed = False
        self.gate = asyncio.Event()
        self._failures = failures
        if not gated:
            self.gate.set()

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        number = self.calls
        await self.gate.wait()
        if number <= self._failures:
            raise BackendUnavailableError(f"overloaded ({number})", backend=self.name, kind="provider_error")
        self.answered += 1
        text = f"answer {number} to {request.ask.prompt.name}"
        return self._answer or Reply(text, Usage(10 * number, number, 0.1 * number), "m-1")

    async def close(self) -> None:
        self.closed = True


def make_request(
    *,
    role: Role = "ate",
    system: str = "Find aspects.",
    user: str = "배송이 빨라요",
    output_model: type[BaseModel] = Found,
    seed: int = 42,
    condition: str = "C1",
    attempt: int = 1,
    repair_note: str | None = None,
) -> Request:
    inputs = AteInputs(text="배송이 빨라요", language="ko")
    ask = Ask(role, inputs, Prompt(f"{role}.v1", system, user), output_model, seed=seed, condition=condition)
    return Request(ask, attempt, repair_note)


def caching(
    cache: ResponseCache,
    replier: ScriptedReplier | None = None,
    *,
    provider: str = "openai",
    model: str = "m-1",
    base_url: str | None = None,
    parameters: dict[str, Any] | None = None,
    share: Literal["all", "condition"] = "all",
) -> CachingReplier:
    return CachingReplier(
        replier or ScriptedReplier(),
        cache,
        provider=provider,
        model=model,
        base_url=base_url,
        parameters={"temperature": 0.0, "max_tokens": 1024} if parameters is None else parameters,
        share=share,
    )


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


async def a_few_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("identity", "question"),
    [
        pytest.param({"provider": "google"}, {}, id="provider"),
        pytest.param({"model": "m-2"}, {}, id="model"),
        pytest.param({"base_url": "http://localhost:8000/v1"}, {}, id="base URL"),
        pytest.param({"parameters": {"temperature": 0.7, "max_tokens": 1024}}, {}, id="a parameter's value"),
        pytest.param({"parameters": {"temperature": 0.0}}, {}, id="a parameter's absence"),
        pytest.param({}, {"system": "Find every aspect."}, id="system text"),
        pytest.param({}, {"user": "배송이 느려요"}, id="user text"),
        pytest.param({}, {"system": "Find aspects.배송이", "user": " 빨라요"}, id="border between system and user"),
        pytest.param({}, {"repair_note": "Your previous answer was: {"}, id="repair note"),
        pytest.param({}, {"output_model": FoundMore}, id="schema"),
        pytest.param({}, {"seed": 43}, id="seed"),
        pytest.param({}, {"attempt": 2}, id="attempt"),
    ],
)
def test_each_part_of_the_key_makes_another_request(
    tmp_path: Path, identity: dict[str, Any], question: dict[str, Any]
) -> None:
    replier = ScriptedReplier(honours_seed=False)
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        base, changed = caching(cache, replier), caching(cache, replier, **identity)
        assert base.key(make_request()) != changed.key(make_request(**question))
        first = asyncio.run(base.reply(make_request()))
        second = asyncio.run(changed.reply(make_request(**question)))
    assert (first.text, second.text) == ("answer 1 to ate.v1", "answer 2 to ate.v1")


def test_role_prompt_name_and_typed_inputs_are_not_part_of_the_key() -> None:
    replier = caching(ResponseCache.in_memory())
    request = make_request()
    other = replace(
        request.ask,
        role="stage2_ate",
        inputs=AteInputs(text="x", language="en"),
        prompt=replace(request.ask.prompt, name="stage2_ate"),
    )
    assert replier.key(request) == replier.key(replace(request, ask=other))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
parameter_sets = st.dictionaries(st.text(), json_values, max_size=5)


def reversed_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_order(value[key]) for key in reversed(value)}
    return [reversed_order(item) for item in value] if isinstance(value, list) else value


@given(parameters=parameter_sets, others=parameter_sets)
def test_keys_are_equal_exactly_when_parameters_are_in_whatever_order(
    parameters: dict[str, Any], others: dict[str, Any]
) -> None:
    sets = (parameters, reversed_order(parameters), others)
    keys = {caching(ResponseCache.in_memory(), parameters=each).key(make_request()) for each in sets}
    assert len(keys) == len({canonical_json(parameters), canonical_json(others)})


@pytest.mark.parametrize("share", ["all", "condition"])
def test_the_key_is_a_hash_over_canonical_json(share: Literal["all", "condition"]) -> None:
    parts = {
        "provider": "openai",
        "model": "m-1",
        "base_url": None,
        "parameters": '{"max_tokens":1024,"temperature":0.0}',
        "system": "Find aspects.",
        "user": "배송이 빨라요\n\nAgain.",
        "schema": canonical_json(Found.model_json_schema()),
        "seed": 42,
        "attempt": 2,
    }
    if share == "condition":
        parts["condition"] = "C1"
    key = caching(ResponseCache.in_memory(), share=share).key(make_request(attempt=2, repair_note="Again."))
    assert key == hashlib.sha256(canonical_json(parts).encode()).hexdigest()


@pytest.mark.parametrize(("share", "sent"), [("all", 1), ("condition", 3)])
def test_conditions_share_answers_or_draw_their_own(
    place: CachePlace, share: Literal["all", "condition"], sent: int
) -> None:
    async def ask_grid(cache: ResponseCache, replier: ScriptedReplier) -> list[str]:
        # Each cell of a grid may wrap the model anew; the cache is what they have in common.
        cells = [(caching(cache, replier, share=share), name) for name in ("C1", "C2_silent", "C2") for _ in range(2)]
        replies = await asyncio.gather(*(cell.reply(make_request(condition=name)) for cell, name in cells))
        return [reply.text for reply in replies]

    replier = ScriptedReplier()
    with ResponseCache(place.location) as cache:
        texts = asyncio.run(ask_grid(cache, replier))
        assert texts[::2] == texts[1::2]
        assert len(set(texts)) == replier.calls == sent
        assert asyncio.run(ask_grid(cache, replier)) == texts
    assert replier.calls == sent


@pytest.fixture(params=[*PLACES, "memory"])
def any_cache(request: pytest.FixtureRequest) -> Iterator[ResponseCache]:
    """A cache of every kind, also one that ends with the process."""
    location = None if request.param == "memory" else PLACES[request.param](request).location
    with ResponseCache(location) as cache:
        yield cache


def test_a_known_answer_comes_back_with_the_recorded_usage(any_cache: ResponseCache) -> None:
    replier = ScriptedReplier()
    first = asyncio.run(caching(any_cache, replier).reply(make_request()))
    again = asyncio.run(caching(any_cache, replier).reply(make_request()))
    assert any_cache.stats == CacheStats(hits=1, misses=1, joined=0)
    assert not first.cached
    assert again == replace(first, cached=True)
    assert again.usage == Usage(10, 1, 0.1)
    assert replier.calls == 1


def test_a_later_invocation_finds_the_answers_of_an_earlier_one(place: CachePlace) -> None:
    with ResponseCache(place.location) as cache:
        first = asyncio.run(caching(cache).reply(make_request()))
    unused = ScriptedReplier()
    with ResponseCache(place.location) as cache:
        assert asyncio.run(caching(cache, unused).reply(make_request())) == replace(first, cached=True)
    assert unused.calls == 0
    if isinstance(place.location, Path):
        assert [file.name for file in place.location.parent.iterdir()] == ["cache.sqlite"]


def test_an_in_memory_cache_leaves_nothing_behind() -> None:
    replier = ScriptedReplier()
    for _ in range(2):
        with ResponseCache.in_memory() as cache:
            asyncio.run(caching(cache, replier).reply(make_request()))
    assert replier.calls == 2


def test_closing_the_replier_leaves_the_cache_open_for_others() -> None:
    with ResponseCache.in_memory() as cache:
        replier = ScriptedReplier()
        asyncio.run(caching(cache, replier).close())
        assert replier.closed
        asyncio.run(caching(cache).reply(make_request()))
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(caching(cache).reply(make_request()))


def test_each_repair_attempt_is_kept_on_its_own() -> None:
    class Improving(ScriptedReplier):
        async def reply(self, request: Request) -> Reply:
            reply = await super().reply(request)
            return replace(reply, text='{"aspects": ["배송"]}' if request.attempt == 3 else "no JSON")

    replier = Improving()
    with ResponseCache.in_memory() as cache:
        backend = RepairingBackend(caching(cache, replier))
        answers = [asyncio.run(backend.answer(make_request().ask)) for _ in range(2)]
    assert [(answer.attempts, answer.cached, answer.usage.tokens_in) for answer in answers] == [
        (3, False, 60),
        (3, True, 60),
    ]
    assert replier.calls == 3


def test_equal_concurrent_requests_are_sent_once(any_cache: ResponseCache) -> None:
    async def ask(cache: ResponseCache) -> list[Reply]:
        replier = ScriptedReplier(gated=True)
        tasks = [asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(20)]
        await a_few_turns()
        replier.gate.set()
        replies = await asyncio.gather(*tasks)
        assert replier.calls == 1
        return replies

    replies = asyncio.run(ask(any_cache))
    assert any_cache.stats == CacheStats(hits=0, misses=1, joined=19)
    assert [reply.cached for reply in replies] == [False] + [True] * 19
    assert {replace(reply, cached=False) for reply in replies} == {replies[0]}


def test_when_the_first_of_equal_requests_fails_another_one_takes_over(any_cache: ResponseCache) -> None:
    async def ask(cache: ResponseCache) -> list[Reply | BaseException]:
        replier = ScriptedReplier(failures=2, gated=True)
        tasks = [asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(5)]
        await until(lambda: replier.calls == 1)
        replier.gate.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert replier.calls == 3
        return outcomes

    outcomes = asyncio.run(ask(any_cache))
    # In memory nothing is awaited after the answer: it is there before the waiting ones look again.
    is_kept = any_cache._file is not None
    assert any_cache.stats == (CacheStats(0, 3, joined=2) if is_kept else CacheStats(hits=2, misses=3, joined=0))
    failed = [outcome for outcome in outcomes if isinstance(outcome, BackendUnavailableError)]
    assert [str(error) for error in failed] == ["overloaded (1)", "overloaded (2)"]
    assert {outcome.text for outcome in outcomes if isinstance(outcome, Reply)} == {"answer 3 to ate.v1"}


def test_when_the_first_of_equal_requests_is_cancelled_another_one_takes_over(any_cache: ResponseCache) -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = ScriptedReplier(gated=True)
        first, *others = [asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(4)]
        await until(lambda: replier.calls == 1)
        first.cancel()
        await until(lambda: replier.calls == 2)
        replier.gate.set()
        replies = await asyncio.gather(*others)
        assert {reply.text for reply in replies} == {"answer 2 to ate.v1"}
        assert first.cancelled()
        assert replier.calls == 2

    asyncio.run(ask(any_cache))


def test_a_waiting_request_that_is_cancelled_leaves_the_others_alone() -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = ScriptedReplier(gated=True)
        tasks = [asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(4)]
        await a_few_turns()
        tasks[2].cancel()
        await a_few_turns()
        replier.gate.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome).__name__ for outcome in outcomes] == ["Reply", "Reply", "CancelledError", "Reply"]
        assert replier.calls == 1

    with ResponseCache.in_memory() as cache:
        asyncio.run(ask(cache))


def test_no_answer_is_used_before_it_is_committed(place: CachePlace) -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = ScriptedReplier()
        tasks: list[asyncio.Task[Reply]] = []

        with place.held():
            tasks.extend(asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(3))
            await until(lambda: replier.answered == 1)
            tasks.append(asyncio.create_task(caching(cache, replier).reply(make_request())))
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in tasks)
        await asyncio.gather(*tasks)
        assert replier.calls == 1

    with ResponseCache(place.location) as cache:
        asyncio.run(ask(cache))


def test_an_answer_that_arrived_is_kept_though_its_caller_was_cancelled(place: CachePlace) -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = ScriptedReplier()
        tasks: list[asyncio.Task[Reply]] = []

        with place.held():
            tasks.extend(asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(3))
            await until(lambda: replier.answered == 1)
            await a_few_turns()
            tasks[0].cancel()
            await a_few_turns()
            assert tasks[0].cancelled()
        assert [reply.text for reply in await asyncio.gather(*tasks[1:])] == ["answer 1 to ate.v1"] * 2
        assert replier.calls == 1

    with ResponseCache(place.location) as cache:
        asyncio.run(ask(cache))
    with ResponseCache(place.location) as cache:
        assert asyncio.run(caching(cache).reply(make_request())).cached


def test_answers_that_arrive_together_are_committed_together(tmp_path: Path) -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = caching(cache)
        await asyncio.gather(*(replier.reply(make_request(seed=seed)) for seed in range(64)))

    statements: list[str] = []
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        assert isinstance(cache._file, AnswerFile)
        cache._file._writer.set_trace_callback(statements.append)
        asyncio.run(ask(cache))
    assert statements.count("COMMIT") == 1
    assert sum(statement.startswith("INSERT") for statement in statements) == 64


def test_what_was_on_its_way_in_a_loop_that_ended_is_sent_again_in_the_next(place: CachePlace) -> None:
    async def leave(cache: ResponseCache, replier: ScriptedReplier) -> None:
        left = asyncio.create_task(caching(cache, replier).reply(make_request()))
        await a_few_turns()
        assert not left.done()

    with ResponseCache(place.location) as cache:
        asyncio.run(leave(cache, ScriptedReplier(gated=True)))
        assert asyncio.run(caching(cache).reply(make_request())).text == "answer 1 to ate.v1"


def test_more_answers_than_are_held_in_memory_are_all_found(tmp_path: Path) -> None:
    count = 5000

    async def ask(cache: ResponseCache, replier: ScriptedReplier) -> list[str]:
        wrapped = caching(cache, replier)
        return [r.text for r in await asyncio.gather(*(wrapped.reply(make_request(seed=n)) for n in range(count)))]

    replier = ScriptedReplier()
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        texts = asyncio.run(ask(cache, replier))
        assert asyncio.run(ask(cache, replier)) == texts
        assert cache.stats == CacheStats(hits=count, misses=count, joined=0)
        assert len(cache._known) < count
    assert len(set(texts)) == count


any_text = st.text(st.characters())


@settings(max_examples=40)
@example(text="반쪽 \ud83d", prompt="\udc00 반쪽", cost=None)
@given(text=any_text, prompt=any_text, cost=st.none() | st.floats(min_value=0, max_value=1e6))
def test_every_text_and_cost_comes_back_as_it_was(
    place: CachePlace, text: str, prompt: str, cost: float | None
) -> None:
    place.clear()
    sent = Reply(text, Usage(1, 2, cost), "m-1")
    for cached in (False, True):
        with ResponseCache(place.location) as cache:
            reply = asyncio.run(caching(cache, ScriptedReplier(answer=sent)).reply(make_request(user=prompt)))
        assert reply == replace(sent, cached=cached)


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()


def cache_of_the_future(path: Path) -> None:
    ResponseCache(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE cache_format SET version = 99")
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        pytest.param(lambda path: path.write_bytes("리뷰,긍정\n".encode() * 500), "damaged or no cache", id="text"),
        pytest.param(foreign_database, "database of something else", id="foreign database"),
        pytest.param(cache_of_the_future, "has format 99 and this version writes format 1", id="other format"),
        pytest.param(lambda path: path.mkdir(), "cannot be used", id="folder"),
    ],
)
def test_a_file_that_is_no_cache_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], told: str
) -> None:
    path = tmp_path / "cache.sqlite"
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(ConfigError, match=r"choose another cache\.path") as caught:
        ResponseCache(path)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)
    assert (caught.value.path, caught.value.key) == (path, "cache.path")
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_an_empty_file_becomes_a_cache_and_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be used"):
        ResponseCache(tmp_path / "file" / "cache.sqlite")
    with ResponseCache(tmp_path / "file") as cache:
        asyncio.run(caching(cache).reply(make_request()))


def test_damage_found_while_reading_is_a_clear_error_and_nothing_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"

    async def fill(cache: ResponseCache) -> None:
        wrapped = caching(cache)
        await asyncio.gather(*(wrapped.reply(make_request(seed=seed)) for seed in range(500)))

    with ResponseCache(path) as cache:
        asyncio.run(fill(cache))
    whole = path.read_bytes()
    # The first page, which says what the file is, stays.
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    replier = ScriptedReplier()
    with pytest.raises(ConfigError, match="damaged") as caught, ResponseCache(path) as cache:
        asyncio.run(caching(cache, replier).reply(make_request(seed=1)))
    assert str(path) in str(caught.value)
    assert replier.calls == 0


def test_the_answers_of_a_failed_ask_are_asked_for_again_by_the_next_invocation(place: CachePlace) -> None:
    async def ask(cache: ResponseCache, replier: ScriptedReplier) -> None:
        wrapped = caching(cache, replier)
        await asyncio.gather(*(wrapped.reply(make_request(seed=seed)) for seed in range(3)))
        await wrapped.drop([make_request(seed=seed) for seed in (0, 2)])
        assert (await wrapped.reply(make_request(seed=0))).cached

    first, second = ScriptedReplier(), ScriptedReplier()
    for replier in (first, second):
        with ResponseCache(place.location) as cache:
            asyncio.run(ask(cache, replier))
    assert (first.calls, second.calls) == (3, 2)


def test_an_answer_that_cannot_be_committed_reaches_nobody(place: CachePlace) -> None:
    async def ask(cache: ResponseCache) -> list[Reply | BaseException]:
        replier = caching(cache, ScriptedReplier(answer=Reply("x" * 100_000)))
        return await asyncio.gather(*(replier.reply(make_request()) for _ in range(3)), return_exceptions=True)

    with ResponseCache(place.location) as cache:
        advice = place.refuse_commits(cache)
        outcomes = asyncio.run(ask(cache))
    assert [type(outcome) for outcome in outcomes] == [ConfigError] * 3
    assert advice in str(outcomes[0])
    assert "choose another cache.path" in str(outcomes[0])
    with ResponseCache(place.location) as cache:
        assert not asyncio.run(caching(cache).reply(make_request())).cached


def test_answers_held_too_long_by_another_process_is_a_clear_error(place: CachePlace) -> None:
    async def ask(cache: ResponseCache) -> None:
        with place.held(), pytest.raises(ConfigError, match=r"(held|locked) by another process"):
            await caching(cache).reply(make_request())
        await caching(cache).reply(make_request())

    with ResponseCache(place.location) as cache:
        place.lose_patience(cache)
        asyncio.run(ask(cache))


def test_closing_while_answers_are_awaited_hangs_nobody(place: CachePlace) -> None:
    async def ask(cache: ResponseCache) -> None:
        replier = ScriptedReplier(gated=True)
        tasks = [asyncio.create_task(caching(cache, replier).reply(make_request())) for _ in range(3)]
        await a_few_turns()
        cache.close()
        replier.gate.set()
        async with asyncio.timeout(60):
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [RuntimeError] * 3

    asyncio.run(ask(ResponseCache(place.location)))


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        assert isinstance(cache._file, AnswerFile)
        settings_in_force = [
            cache._file._writer.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "synchronous")
        ]
    assert settings_in_force == [("wal",), (2,)], "2 is FULL"

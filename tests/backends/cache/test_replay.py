"""A recording answers what was recorded, and nothing else."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.backends.cache.test_response_cache import Found, FoundMore, make_request

from episodic_absa.backends.backend import Replier, Reply, Request, Usage
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.cache import CachingReplier, ResponseCache
from episodic_absa.backends.replay import RecordingReplier, ReplayReplier
from episodic_absa.errors import BackendUnavailableError, ConfigError
from episodic_absa.serialization.canonical_json import canonical_json


class ScriptedReplier(RemoteFacts):
    """Numbers its answers, each at a price that six decimals cannot hold."""

    name = "scripted:1"
    honours_seed = False

    def __init__(self, *, answer: Reply | None = None) -> None:
        self._answer = answer
        self.calls = 0
        self.closed = False

    async def reply(self, request: Request) -> Reply:
        self.calls += 1
        usage = Usage(10 * self.calls, self.calls, None if self.calls == 3 else 0.00000123 * self.calls)
        return self._answer or Reply(f'{{"{request.ask.role}": ["배송 {self.calls}"]}}\n', usage, "m-1")

    async def close(self) -> None:
        self.closed = True


REQUESTS = [
    make_request(),
    make_request(role="atsa", user="배송: ?"),
    make_request(seed=43),
    make_request(attempt=2, repair_note="Your previous answer was: {"),
    make_request(output_model=FoundMore),
]


async def ask_all(replier: Replier, requests: list[Request]) -> list[Reply]:
    try:
        return [await replier.reply(request) for request in requests]
    finally:
        await replier.close()


def record(path: Path, requests: list[Request], replier: Replier | None = None) -> list[Reply]:
    return asyncio.run(ask_all(RecordingReplier(replier or ScriptedReplier(), path), requests))


def cached(replier: Replier, cache: ResponseCache) -> CachingReplier:
    return CachingReplier(replier, cache, provider="p", model="m-1", base_url=None, parameters={}, share="all")


def test_replaying_gives_the_replies_and_usage_that_were_recorded(tmp_path: Path) -> None:
    path = tmp_path / "made" / "answers.jsonl"
    replies = record(path, REQUESTS)
    replay = ReplayReplier(path)
    assert asyncio.run(ask_all(replay, list(reversed(REQUESTS)))) == list(reversed(replies))
    assert replay.name == "replay:answers.jsonl"
    assert replay.honours_seed
    assert replay.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_recording_line_says_what_was_asked_without_the_prompt(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path, [make_request()])
    parts = {
        "system": "Find aspects.",
        "user": "배송이 빨라요",
        "schema": canonical_json(Found.model_json_schema()),
        "seed": 42,
        "attempt": 1,
    }
    assert path.read_text(encoding="utf-8") == (
        f'{{"attempt":1,"key":"{hashlib.sha256(canonical_json(parts).encode()).hexdigest()}",'
        '"model":"m-1","prompt_name":"ate.v1","role":"ate","seed":42,'
        '"text":"{\\"ate\\": [\\"배송 1\\"]}\\n",'
        '"usage":{"cost_usd":"0.00000123","tokens_in":10,"tokens_out":1}}\n'
    )


def test_name_seed_support_and_closing_are_those_of_the_wrapped_replier(tmp_path: Path) -> None:
    replier = ScriptedReplier()
    recording = RecordingReplier(replier, tmp_path / "answers.jsonl")
    assert (recording.name, recording.honours_seed) == ("scripted:1", False)
    asyncio.run(recording.close())
    asyncio.run(recording.close())
    assert replier.closed


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param(make_request(system="Find every aspect."), id="system text"),
        pytest.param(make_request(user="배송이 느려요"), id="user text"),
        pytest.param(make_request(repair_note="Your previous answer was: {"), id="repair note"),
        pytest.param(make_request(output_model=FoundMore), id="schema"),
        pytest.param(make_request(seed=43), id="seed"),
        pytest.param(make_request(attempt=2), id="attempt"),
    ],
)
def test_what_was_not_recorded_is_an_error_that_says_what_is_missing(tmp_path: Path, missing: Request) -> None:
    path = tmp_path / "answers.jsonl"
    record(path, [make_request()])
    with pytest.raises(BackendUnavailableError) as caught:
        asyncio.run(ReplayReplier(path).reply(missing))
    assert caught.value.kind == "provider_error"
    assert caught.value.backend == "replay:answers.jsonl"
    for word in (str(path), "ate", "ate.v1", f"seed {missing.ask.seed}", f"attempt {missing.attempt}"):
        assert word in str(caught.value)


def test_conditions_share_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    replies = record(path, [make_request(condition="C1")])
    assert asyncio.run(ask_all(ReplayReplier(path), [make_request(condition="C2")])) == replies


def test_around_the_cache_a_recording_is_complete_and_below_it_holds_what_was_sent(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer.jsonl", tmp_path / "inner.jsonl"
    with ResponseCache.in_memory() as cache:
        known = asyncio.run(ask_all(cached(ScriptedReplier(), cache), REQUESTS[:2]))
        replies = record(outer, REQUESTS[:3], cached(ScriptedReplier(), cache))
        below = cached(RecordingReplier(ScriptedReplier(), inner), cache)
        asyncio.run(ask_all(below, REQUESTS[:4]))
    assert [reply.cached for reply in replies] == [True, True, False]
    assert asyncio.run(ask_all(ReplayReplier(outer), REQUESTS[:2])) == known
    assert [json.loads(line)["attempt"] for line in inner.read_text().splitlines()] == [2]


def test_a_recording_is_continued_and_says_everything_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    replier = ScriptedReplier()
    first = record(path, REQUESTS[:2] * 2, replier)
    before = path.read_bytes()
    record(path, REQUESTS, replier)
    assert path.read_bytes().startswith(before)
    assert len(path.read_text(encoding="utf-8").splitlines()) == len(REQUESTS)
    assert asyncio.run(ask_all(ReplayReplier(path), REQUESTS[:2])) == first[:2]


def test_the_torn_last_line_of_a_killed_recorder_is_recorded_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path, REQUESTS[:2])
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for cut in range(start + 1, len(whole)):
        path.write_bytes(whole[:cut])
        replies = record(path, REQUESTS[:2])
        assert path.read_bytes()[:start] == whole[:start]
        assert asyncio.run(ask_all(ReplayReplier(path), REQUESTS[:2])) == replies


@pytest.mark.parametrize(
    "content", [b'{"name": "somebody\'s file"}', "리뷰,긍정\n배송이 빨라요,1\n".encode(), b"notes", b"\xff\xfe\x00{\n"]
)
def test_a_file_that_is_no_recording_is_refused_and_never_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="damaged in line 1") as caught:
        RecordingReplier(ScriptedReplier(), path)
    assert caught.value.key == "backbone.record"
    with pytest.raises(ConfigError, match="damaged in line 1"):
        ReplayReplier(path)
    assert path.read_bytes() == content


def test_a_recording_without_a_last_line_end_is_continued_on_a_new_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    record(path, REQUESTS[:1])
    by_hand = json.dumps(dict(reversed(json.loads(path.read_text(encoding="utf-8")).items())))
    path.write_text(by_hand, encoding="utf-8")
    record(path, REQUESTS[:2])
    assert path.read_text(encoding="utf-8").startswith(by_hand + "\n{")
    asyncio.run(ask_all(ReplayReplier(path), REQUESTS[:2]))


def test_one_recording_has_one_recorder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    recording = RecordingReplier(ScriptedReplier(), path)
    with pytest.raises(ConfigError, match="already being recorded"):
        RecordingReplier(ScriptedReplier(), path)
    asyncio.run(recording.close())
    record(path, REQUESTS)


def test_a_recording_that_cannot_be_made_or_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"choose another backbone\.record"):
        RecordingReplier(ScriptedReplier(), tmp_path)
    with pytest.raises(ConfigError, match=r"correct backbone\.recording") as caught:
        ReplayReplier(tmp_path / "none.jsonl")
    assert caught.value.path == tmp_path / "none.jsonl"


def test_many_replies_are_recorded_in_the_order_they_came(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    requests = [make_request(seed=seed) for seed in range(300)]

    async def ask() -> list[Reply]:
        recording = RecordingReplier(ScriptedReplier(), path)
        replies = await asyncio.gather(*(recording.reply(request) for request in requests))
        await recording.close()
        return replies

    replies = asyncio.run(ask())
    assert asyncio.run(ask_all(ReplayReplier(path), requests)) == replies
    assert [json.loads(line)["seed"] for line in path.read_text(encoding="utf-8").splitlines()] == list(range(300))


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda line: {key: value for key, value in line.items() if key != name}


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        pytest.param(lambda line: json.dumps(line)[:-20], "not JSON", id="torn"),
        pytest.param(lambda _: "", "not JSON", id="empty line"),
        pytest.param(lambda _: "[" * 100_000, "not JSON", id="too deep"),
        pytest.param(lambda _: "[]", "valid dictionary", id="no object"),
        pytest.param(lambda line: json.dumps(without("text")(line)), "text: Field required", id="no text"),
        pytest.param(lambda line: json.dumps({**line, "text": 3}), "text: ", id="text is no text"),
        pytest.param(lambda line: json.dumps({**line, "usage": {"tokens_in": 1}}), "usage.tokens_out", id="usage"),
        pytest.param(lambda line: json.dumps({**line, "gold": 1}), "gold: Extra inputs", id="unknown field"),
        pytest.param(
            lambda line: json.dumps({**line, "text": "other"}), "answers the same request", id="contradiction"
        ),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, spoil: Callable[[dict[str, Any]], str], told: str) -> None:
    path = tmp_path / "answers.jsonl"
    record(path, REQUESTS[:2])
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, spoil(json.loads(lines[0])), lines[1], ""]), encoding="utf-8")
    with pytest.raises(ConfigError, match="damaged in line 3") as caught:
        ReplayReplier(path)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)
    assert (caught.value.path, caught.value.key) == (path, "backbone.recording")


any_text = st.text(st.characters())


@example(text="반쪽 \ud83d", prompt="\udc00 반쪽", cost=None)
@given(text=any_text, prompt=any_text, cost=st.none() | st.floats(min_value=0, max_value=1e6))
def test_every_text_and_cost_is_replayed_as_it_was(tmp_path: Path, text: str, prompt: str, cost: float | None) -> None:
    path = tmp_path / "answers.jsonl"
    path.unlink(missing_ok=True)
    sent = Reply(text, Usage(1, 2, cost), "m-1")
    assert record(path, [make_request(user=prompt)], ScriptedReplier(answer=sent)) == [sent]
    path.read_text(encoding="utf-8")
    assert asyncio.run(ask_all(ReplayReplier(path), [make_request(user=prompt)])) == [sent]


def test_what_a_later_run_is_answered_after_a_failed_call_replaces_the_recorded_answers(tmp_path: Path) -> None:
    path, requests = tmp_path / "r.jsonl", [make_request(), make_request(user="other")]

    async def fail(replier: RecordingReplier) -> None:
        for request in requests:
            await replier.reply(request)
        await replier.drop(requests[:1])
        await replier.close()

    asyncio.run(fail(RecordingReplier(ScriptedReplier(answer=Reply("bad")), path)))
    assert [reply.text for reply in asyncio.run(ask_all(ReplayReplier(path), requests))] == ["bad", "bad"]
    record(path, requests, ScriptedReplier(answer=Reply("good")))
    assert [reply.text for reply in asyncio.run(ask_all(ReplayReplier(path), requests))] == ["good", "bad"]
    record(path, requests, ScriptedReplier(answer=Reply("third")))
    assert path.read_text("utf-8").count("third") == 0

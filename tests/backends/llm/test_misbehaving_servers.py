"""What a server may send without ending a run, and what its failure is called. Requests are counted."""

import asyncio
import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.backends.llm.asking import REVIEW, SCREEN, asked, failed, kept_in, make_ask, run
from tests.backends.llm.loopback_model import HANG_UP, Behaviour, LoopbackModel, answer, failure, page

from episodic_absa.backends.answer_parsing import UnusableReplyError, parse_reply
from episodic_absa.backends.backend import Prompt, RepairingBackend, Request
from episodic_absa.backends.limited_backend import LimitedBackend
from episodic_absa.backends.llm import LlmReplier
from episodic_absa.errors import BackendResponseError, BackendUnavailableError, Usage
from episodic_absa.runs.progress import CountingCache
from episodic_absa.schemas.answers import TermsAnswer
from episodic_absa.schemas.seed_answers import AteAnswer

LOGIN = page("<html><title>Sign in\n here</title><script>var a = {}</script></html>")
DEEP = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
LONG = b'{"choices": [' + b" " * 3_000_000
MANY = b'{"choices": [' + b"{}," * 6_000 + b"{}]}"


@pytest.fixture(autouse=True)
def _no_address_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def packed(body: bytes) -> Behaviour:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return Behaviour(gzip.compress(body), headers=headers)


@pytest.mark.parametrize(
    ("odd", "event"),
    [
        (LOGIN, "sent a web page, no API response (status 200): a page titled 'Sign in here'"),
        (page(""), "sent an empty body (status 200)"),
        (page('{"choices": []}'), "sent JSON without choices (status 200)"),
        (page('{"error": {"message": "busy"}}'), "sent JSON without choices (status 200): busy"),
        (Behaviour(DEEP), "sent JSON nested more than 64 deep (status 200)"),
        (Behaviour(DEEP, status=503), "sent JSON nested more than 64 deep (status 503)"),
        (Behaviour(LONG, missing_bytes=10**9), "sent a body of more than 2 MB (status 200)"),
        (packed(LONG), "sent a body of more than 2 MB (status 200)"),
        (page('{"choices": ["x"]}'), "sent an API response that cannot be read"),
        (page('{"choices": [{"index": ' + "9" * 5000 + "}]}"), "sent a body that is not a JSON object (status 200)"),
        (page("[]"), "sent a body that is not a JSON object (status 200)"),
        (page('{"choices": [}'), "sent a body that is not a JSON object (status 200)"),
        (Behaviour(b'{"choices": "\xff\xfe'), "sent a body that is not a JSON object (status 200)"),
        (Behaviour(MANY), "sent JSON of more than 5,000 objects and lists (status 200)"),
        (Behaviour(status=304), "answered with status 304"),
        (Behaviour(b"\0\1", headers={"Content-Encoding": "gzip"}), "sent a body that cannot be decompressed"),
        (Behaviour(b"{", missing_bytes=1), "hung up in the middle of its answer"),
        (HANG_UP, "hung up without an answer"),
    ],
    ids=[
        *("page", "empty", "no choices", "error", "deep", "deep 503", "endless", "packed", "odd", "digits"),
        *("list", "broken", "bytes"),
        *("parts", "304", "not packed", "half", "gone"),
    ],
)
def test_what_no_model_sent_is_retried_and_is_never_an_attempt_nor_part_of_a_prompt(odd: Behaviour, event: str) -> None:
    with LoopbackModel(odd, answer(SCREEN)) as server:
        got = asked(server)
    assert (got.attempts, server.count, got.usage.tokens_in) == (1, 2, 10)
    assert server.bodies[0] == server.bodies[1]
    error, server = failed(odd, max_retries=1)
    assert isinstance(error, BackendUnavailableError)
    assert (error.kind, error.attempts, server.count) == ("provider_error", 1, 2)
    assert str(error).startswith(f"openai:m {event}")


def test_a_wrong_address_is_told_after_one_retry_and_a_server_that_has_answered_gets_the_usual_ones() -> None:
    error, server = failed(LOGIN)
    assert (server.count, str(error).partition("(after ")[2]) == (
        2,
        "1 retry); check the address of the server (--base-url, backbone.base_url)",
    )
    with pytest.raises(BackendUnavailableError, match=r"host name nobody\.invalid does not resolve \(after 1 retry\)"):
        run(lambda replier: RepairingBackend(replier).answer(make_ask(AteAnswer)), "http://nobody.invalid/v1")

    async def twice(replier: LlmReplier) -> int:
        await replier.reply(Request(make_ask(AteAnswer)))
        return (await RepairingBackend(replier).answer(make_ask(AteAnswer))).attempts

    with LoopbackModel(answer(SCREEN), LOGIN, LOGIN, LOGIN, answer(SCREEN)) as server:
        assert run(twice, server.base_url) == 1
    assert server.count == 5


def test_only_answers_of_a_model_are_kept_and_a_compressed_one_is_read() -> None:
    async def twice(replier: LlmReplier) -> list[bool]:
        with CountingCache.in_memory() as cache:
            kept = kept_in(cache, replier)
            with pytest.raises(BackendUnavailableError):
                await kept.reply(Request(make_ask(AteAnswer)))
            return [(await kept.reply(Request(make_ask(AteAnswer)))).cached for _ in range(2)]

    with LoopbackModel(LOGIN, packed(answer(SCREEN).body)) as server:
        assert run(twice, server.base_url, max_retries=0) == [False, True]
    assert server.count == 2


def test_an_answer_that_nests_too_deep_is_unusable_and_never_a_recursion_error() -> None:
    for depth in (65, 900, 50_000):
        with pytest.raises(UnusableReplyError):
            parse_reply('{"aspects": ' + "[" * depth + "]" * depth + "}", AteAnswer)


def redirect(place: str) -> Behaviour:
    return Behaviour(status=307, headers={"Location": place})


def test_a_redirect_to_another_host_is_refused_and_one_on_the_same_host_is_followed() -> None:
    with LoopbackModel(answer(SCREEN)) as elsewhere:
        error, server = failed(redirect(f"{elsewhere.base_url}/chat/completions"))
    assert (server.count, elsewhere.count) == (1, 0)
    assert "redirects to another host (status 307): 127.0.0.1:" in str(error)
    assert "backbone.base_url" in str(error)
    with LoopbackModel(redirect("/v1/moved"), answer(SCREEN)) as server:
        assert asked(server).attempts == 1
    assert server.paths[-1] == "/v1/moved"


@pytest.mark.parametrize(
    ("place", "event", "request_n"),
    [
        ("http://localhost/v1/chat/completions", "redirects to another host", 1),
        ("http:///x", "redirects to another host", 1),  # the HTTP client completes it to port 80
        ("//other.invalid/v1", "redirects to another host", 1),
        ("javascript:0", "redirects to an address that cannot be read", 1),
        ("http://[::1", "redirects to an address that cannot be read", 1),
        ("/v1/chat/completions", "redirects in a circle", 12),
    ],
)
def test_no_way_of_writing_an_address_leads_elsewhere_and_a_circle_is_named(
    place: str, event: str, request_n: int
) -> None:
    error, server = failed(redirect(place))
    assert (server.count, str(error).startswith(f"openai:m {event}")) == (request_n, True), str(error)


def test_a_server_leaves_no_cookie_behind_and_its_encoding_is_not_obeyed() -> None:
    body = "가-bbbb".encode()
    odd = Behaviour(body, status=500, headers={"Content-Type": "text/plain; charset=punycode", "Set-Cookie": "a=b"})
    error, server = failed(odd, max_retries=1)
    assert "answered with status 500: 가-bbbb (after 1 retry)" in str(error)
    assert "cookie" not in server.headers[1]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no\x1b[2J\u202e\ud800 more", "no [2J more"),
        (f"cannot read: {REVIEW}", "its message quotes the review and is left out"),
        ("the context is too long", "the context is too long"),
    ],
)
def test_the_message_of_a_server_steers_no_terminal_and_never_quotes_the_review(said: str, told: str) -> None:
    error, _ = failed(failure(400, said))
    assert str(error) == f"openai:m answered with status 400: {told}"


def test_a_wish_to_wait_beyond_the_time_left_fails_at_once_with_its_cause() -> None:
    error, server = failed(failure(429, "slow down", Retry_After="3600"), total_timeout_s=60)
    assert isinstance(error, BackendUnavailableError)
    assert (error.kind, server.count) == ("provider_error", 1)
    assert "openai:m answered with status 429: slow down; asks to wait 3.6e+03 s, and " in str(error)
    assert "backbone.total_timeout_s" in str(error)


def test_a_request_that_waits_for_its_retry_holds_no_place() -> None:
    async def both(replier: LlmReplier) -> str:
        waiting = asyncio.create_task(replier.reply(Request(make_ask(AteAnswer))))
        await asyncio.sleep(0)  # it takes the only place
        try:
            async with asyncio.timeout(20):
                return (await replier.reply(Request(make_ask(AteAnswer)))).text
        finally:
            waiting.cancel()

    with LoopbackModel(failure(500), answer(SCREEN)) as server:
        assert run(both, server.base_url, places=asyncio.Semaphore(1), retry_base_s=30) == SCREEN


def test_the_usage_of_failed_requests_is_counted_but_is_no_part_of_the_answer() -> None:
    paid = page(json.dumps({"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 3}}))

    async def counted(replier: LlmReplier) -> tuple[Usage, Usage]:
        with CountingCache.in_memory() as cache:
            kept = kept_in(cache, replier)
            answered = await RepairingBackend(kept).answer(make_ask(AteAnswer))
            return answered.usage, cache.counts(1).usage

    with LoopbackModel(paid, answer(SCREEN, tokens=(100, 20))) as server:
        in_answer, in_all = run(counted, server.base_url)
    assert (in_answer.tokens_in, in_answer.tokens_out) == (100, 20)
    assert (in_all.tokens_in, in_all.tokens_out) == (170, 23)
    stopped = json.loads(answer(None, tokens=(90, 1)).body)
    stopped["choices"][0]["finish_reason"] = "content_filter"
    filtered = Behaviour(json.dumps(stopped).encode())
    odd = json.loads(answer(SCREEN, tokens=(7, 2)).body)
    odd["choices"][0]["message"] = None
    unreadable = Behaviour(json.dumps(odd).encode())
    for script, tokens in (
        *(([filtered], (90, 1)), ([paid], (140, 6)), ([answer("no"), paid], (150, 11))),
        ([unreadable], (14, 4)),
    ):
        error, _ = failed(*script, max_retries=1)
        assert (error.usage.tokens_in, error.usage.tokens_out) == tokens

    async def lost(replier: LlmReplier) -> Usage:
        with CountingCache.in_memory() as cache:
            kept = kept_in(cache, replier)
            with pytest.raises(BackendUnavailableError):
                await kept.reply(Request(make_ask(AteAnswer)))
            return cache.counts(1).usage

    with LoopbackModel(filtered) as server:
        assert run(lost, server.base_url).tokens_in == 90


def test_a_closed_local_port_is_told_without_a_retry_with_the_command_that_starts_a_server() -> None:
    with LoopbackModel(HANG_UP) as gone:
        pass
    for host in ("127.0.0.1", "localhost"):
        address = gone.base_url.replace("127.0.0.1", host)
        with pytest.raises(BackendUnavailableError) as caught:
            # A single wait before a retry would outlast the guard of this test.
            run(lambda replier: replier.reply(Request(make_ask(AteAnswer))), address, retry_base_s=60)
        port = gone.base_url.split(":")[2].split("/")[0]
        assert str(caught.value) == (
            f"openai:m could not be reached: nothing listens on {address}; "
            f"start a server, for example `llama-server -m model.gguf --port {port}`"
        )


def test_a_local_server_that_has_answered_before_is_worth_a_retry() -> None:
    async def twice(replier: LlmReplier) -> str:
        await replier.reply(Request(make_ask(AteAnswer)))
        server.__exit__(None, None, None)
        with pytest.raises(BackendUnavailableError) as caught:
            await replier.reply(Request(make_ask(AteAnswer)))
        return str(caught.value)

    server = LoopbackModel(Behaviour(answer(SCREEN).body, headers={"Connection": "close"}))
    server.__enter__()
    assert "(after 2 retries)" in run(twice, server.base_url, max_retries=2)


def test_what_no_file_can_hold_ends_no_run(tmp_path: Path) -> None:
    async def kept(replier: LlmReplier) -> tuple[Usage, str]:
        with CountingCache(tmp_path / "cache.sqlite") as cache:
            keeping = kept_in(cache, replier)
            reply = await keeping.reply(Request(make_ask(AteAnswer)))
            return reply.usage, reply.model

    body = json.loads(answer(SCREEN, tokens=(2**63, 1)).body)
    with LoopbackModel(Behaviour(json.dumps({**body, "model": "\ud800"}).encode())) as server:
        assert run(kept, server.base_url) == (Usage(cost_usd=None), "m")


def test_half_a_character_in_an_answer_is_no_failure_of_the_transport() -> None:
    error, server = failed(answer("\ud800 no"))
    assert "did not answer the question" in str(error)
    assert "Your previous answer was:\n? no" in server.bodies[1]["messages"][1]["content"]
    assert parse_reply('{"terms": ["scr\\ud800een"]}', TermsAnswer).terms == ("scr?een",)


def test_a_question_that_waits_lets_others_pass() -> None:
    def by_text(body: dict[str, Any]) -> Behaviour:
        is_first = "first" in body["messages"][1]["content"]
        return failure(429, "slow down", Retry_After="50") if is_first else answer(SCREEN)

    async def both(replier: LlmReplier) -> int:
        limited = LimitedBackend(RepairingBackend(replier, total_timeout_s=100), 1)
        first = make_ask(AteAnswer, prompt=Prompt("ate", "List the aspects.", "first"))
        waiting = [asyncio.create_task(limited.answer(first)) for _ in range(3)]
        await asyncio.sleep(0)
        attempts = (await limited.answer(make_ask(AteAnswer))).attempts
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        return attempts

    with LoopbackModel(by_text) as server:
        assert run(both, server.base_url) == 1
    assert server.count == 4


def test_who_waits_for_an_equal_request_fails_with_its_cause() -> None:
    async def both(replier: LlmReplier) -> list[str]:
        with CountingCache.in_memory() as cache:
            kept = kept_in(cache, replier)
            backend = RepairingBackend(kept, total_timeout_s=0.5)
            asks = [backend.answer(make_ask(AteAnswer)) for _ in range(3)]
            return [str(error) for error in await asyncio.gather(*asks, return_exceptions=True)]

    with LoopbackModel(failure(503, "loading the model"), answer(SCREEN, delay_s=20)) as server:
        messages = run(both, server.base_url)
    for message in messages:
        assert "one request came to nothing, the last one: it answered with status 503" in message


def test_a_request_that_ends_halfway_says_how_far_it_came() -> None:
    slow = answer(SCREEN, drip_s=5)
    error, _ = failed(slow, timeout_s=0.3, max_retries=0)
    assert str(error).startswith("openai:m did not finish its answer within 0.3 s: it sent ")
    assert "bytes of an answer (status 200)" in str(error)
    error, _ = failed(slow, total_timeout_s=0.3)
    assert "its only request had only sent " in str(error)


def test_a_question_that_got_no_place_says_so() -> None:
    async def both(replier: LlmReplier) -> str:
        waiting = asyncio.create_task(replier.reply(Request(make_ask(AteAnswer))))
        await asyncio.sleep(0)
        with pytest.raises(BackendUnavailableError) as caught:
            await RepairingBackend(replier, total_timeout_s=0.1).answer(make_ask(AteAnswer))
        waiting.cancel()
        return str(caught.value)

    with LoopbackModel(answer(SCREEN, delay_s=20)) as server:
        message = run(both, server.base_url, places=asyncio.Semaphore(1))
    assert "its only request still waited for a free place (experiment.concurrency)" in message


def test_the_total_limit_names_what_came_last() -> None:
    slow = answer(SCREEN, delay_s=20)
    error, _ = failed(failure(503, "loading the model"), slow, total_timeout_s=0.5)
    assert isinstance(error, BackendUnavailableError)
    assert error.kind == "timeout"
    assert "within 0.5 s (backbone.total_timeout_s): one request came to nothing, the last one: it " in str(error)
    assert "answered with status 503 after " in str(error)
    assert ": loading the model" in str(error)
    error, _ = failed(answer("no"), slow, total_timeout_s=0.5)
    assert "it sent an answer that cannot be used: the answer holds no complete JSON object" in str(error)
    error, _ = failed(slow, total_timeout_s=0.2)
    assert "still unanswered" in str(error)


@pytest.mark.parametrize("says_so", [True, False])
def test_an_answer_that_was_cut_off_names_the_limit_to_raise_and_is_told_once(
    *, says_so: bool, caplog: pytest.LogCaptureFixture
) -> None:
    body = json.loads(answer('{"aspects": [', tokens=(10, 5 if says_so else 1024)).body)
    body["choices"][0]["finish_reason"] = "length" if says_so else "stop"
    error, server = failed(Behaviour(json.dumps(body).encode()))
    assert isinstance(error, BackendResponseError)
    assert str(error).endswith("it was cut off: raise backbone.max_tokens, now 1024")
    assert "max_tokens" not in server.bodies[1]["messages"][1]["content"]
    told = [record.getMessage() for record in caplog.records if "max_tokens" in record.getMessage()]
    assert told == ["openai:m was cut off at backbone.max_tokens (1024)"] * says_so


def test_equal_retries_are_told_once_and_counted_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    async def many(replier: LlmReplier) -> None:
        asks = (replier.reply(Request(make_ask(AteAnswer))) for _ in range(6))
        await asyncio.gather(*asks, return_exceptions=True)

    with caplog.at_level(logging.INFO, "episodic_absa.backends"), LoopbackModel(failure(500)) as server:
        run(many, server.base_url, max_retries=2)
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings[1:] == ["openai:m answered with status 500: 12 retries in all"]
    assert warnings[0].startswith("openai:m answered with status 500; retry 1 of 2 in ")

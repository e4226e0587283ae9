"""The backend against a real server on loopback: what each kind of trouble ends as, and that nothing hangs."""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from tests.backends.llm.asking import KEY, RETRY_BASE_S, REVIEW, SCREEN, answered, asked, failed, make_ask, run
from tests.backends.llm.loopback_model import HANG_UP, Behaviour, LoopbackModel, answer, failure, page

from episodic_absa.backends.backend import Answer, Prompt, RepairingBackend, Reply, Request
from episodic_absa.backends.llm import LlmReplier, LlmSettings
from episodic_absa.errors import BackendError, BackendResponseError, BackendUnavailableError
from episodic_absa.schemas.seed_answers import AteAnswer, AteReviewAnswer, AtsaAnswer, JudgeAnswer

NEXT_EXAMPLE = ['\n{"text"']


@pytest.fixture(autouse=True)
def _only_our_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_a_request_carries_prompt_schema_seed_and_limits_and_its_answer_tokens_and_model() -> None:
    with LoopbackModel(answer(SCREEN, tokens=(120, 17))) as server:
        got = asked(server)
    assert got.output.aspects[0].aspect_term == "screen"
    assert (got.usage.tokens_in, got.usage.tokens_out, got.attempts, got.model) == (120, 17, 1, "served-model")
    assert got.usage.cost_usd is None
    assert server.paths == ["/v1/chat/completions"]
    (body,) = server.bodies
    assert body["messages"] == [
        {"role": "system", "content": "List the aspects."},
        {"role": "user", "content": REVIEW},
    ]
    assert (body["model"], body["seed"], body["temperature"], body["max_tokens"]) == ("m", 7, 0.0, 1024)
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["name"] == "AteAnswer"
    assert "tools" not in body


@pytest.mark.parametrize(
    "content",
    [
        f"```json\n{SCREEN}\n```",
        f"Here it is:\n```\n{SCREEN}\n```\nDone.",
        f"<think>is it {{}}?</think>{SCREEN}",
        f"\n\n  {SCREEN}",
    ],
)
def test_wrapping_around_an_answer_costs_no_attempt(content: str) -> None:
    with LoopbackModel(answer(content)) as server:
        assert asked(server).attempts == 1


def test_repair_attempts_carry_error_and_answer_and_sum_up_their_tokens() -> None:
    kept = '{"reviews": [{"aspect_term": "screen", "action": "keep", "reason": "named"}]}'
    wrong = kept.replace('"keep"', '"retain"')
    with LoopbackModel(
        answer('{"reviews": [{"aspe', tokens=(100, 10)), answer(wrong, tokens=(200, 20)), answer(kept, tokens=(300, 30))
    ) as server:
        got = answered(server, make_ask(AteReviewAnswer))
    assert (got.attempts, got.usage.tokens_in, got.usage.tokens_out) == (3, 600, 60)
    users = [body["messages"][1]["content"] for body in server.bodies]
    assert users[0] == REVIEW
    assert "no complete JSON object" in users[1]
    assert "retain" in users[2]
    assert "reviews.0.action" in users[2]


def test_an_answer_that_stays_wrong_is_a_schema_error_after_three_attempts() -> None:
    error, server = failed(answer('{"aspects": "screen"}'))
    assert isinstance(error, BackendResponseError)
    assert (error.kind, server.count) == ("schema_validation_error", 3)


@pytest.mark.parametrize(
    "behaviour",
    [
        page("<html>{}</html>", content_type="application/json"),
        page('{"id": "x", "choices": [{"message": {"content": {}', content_type="text/plain"),
        page('{"error": {"message": "{}"}}', content_type="application/json"),
    ],
    ids=lambda behaviour: behaviour.body.decode()[:20],
)
def test_status_200_without_an_api_response_never_passes_for_an_answer(behaviour: Behaviour) -> None:
    # {} alone is a valid judge's answer: nothing of such a page may be read as one.
    with LoopbackModel(behaviour) as server, pytest.raises(BackendUnavailableError) as caught:
        answered(server, make_ask(JudgeAnswer), max_retries=1)
    assert (caught.value.kind, caught.value.attempts, server.count) == ("provider_error", 1, 2)
    assert {json.dumps(body) for body in server.bodies} == {json.dumps(server.bodies[0])}


def test_an_empty_answer_and_a_refusal_are_answers_that_can_be_repaired() -> None:
    for content in ("", None):
        with LoopbackModel(answer(content), answer(SCREEN)) as server:
            assert asked(server).attempts == 2
    error, _ = failed(answer(None, refusal="I cannot help with that."))
    assert isinstance(error, BackendResponseError)
    assert error.raw == "I cannot help with that."


def test_a_content_filter_without_text_fails_at_once_and_says_so() -> None:
    body = json.loads(answer(None).body)
    body["choices"][0]["finish_reason"] = "content_filter"
    error, server = failed(Behaviour(json.dumps(body).encode()))
    assert isinstance(error, BackendUnavailableError)
    assert (error.kind, server.count) == ("provider_error", 1)
    assert "content filter" in str(error)


@pytest.mark.parametrize(
    "trouble",
    [*(failure(status) for status in (429, 500, 502, 503, 529)), HANG_UP],
    ids=["429", "500", "502", "503", "529", "dropped"],
)
def test_transport_trouble_is_retried_without_counting_as_an_attempt(trouble: Behaviour) -> None:
    with LoopbackModel(trouble, trouble, answer(SCREEN)) as server:
        got = asked(server)
    assert (got.attempts, got.usage.tokens_in, server.count) == (1, 10, 3)
    assert got.waited_s >= 3 * RETRY_BASE_S  # the pauses before the second and the third request


def test_a_request_slower_than_its_limit_is_retried_without_counting_as_an_attempt() -> None:
    with LoopbackModel(answer(SCREEN, delay_s=5), answer(SCREEN, drip_s=0.2), answer(SCREEN)) as server:
        got = asked(server, timeout_s=0.3)
    # On a busy machine the third request may be too slow as well; it is retried, too.
    assert got.attempts == 1
    assert server.count >= 3


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [(failure(429), "provider_error"), (failure(500), "provider_error"), (HANG_UP, "provider_error"),
     (answer(SCREEN, delay_s=5), "timeout")],
    ids=["429", "500", "dropped", "too slow"],
)  # fmt: skip
def test_retries_end_after_five_and_do_not_multiply(trouble: Behaviour, kind: str) -> None:
    error, server = failed(trouble, timeout_s=0.1 if kind == "timeout" else 60)
    assert isinstance(error, BackendUnavailableError)
    assert error.kind == kind
    assert "after 5 retries" in str(error)
    # On a busy machine a request may end before it has arrived.
    assert server.count == 6 or (kind == "timeout" and server.count < 6)


def test_waits_double() -> None:
    _, server = failed(failure(500), retry_base_s=0.05)
    meant = [0.05, 0.1, 0.2, 0.4, 0.8]
    assert len(server.waits()) == len(meant)
    for wait, least in zip(server.waits(), meant, strict=True):
        # A busy machine may be late; it is never early.
        assert 0.95 * least <= wait


def in_two_seconds() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)


@pytest.mark.parametrize(
    ("header", "least_s"),
    [("1", 0.9), (in_two_seconds, 0.5), *((odd, RETRY_BASE_S) for odd in ("0", "-5", "0.9", "soon", "nan", ""))],
)
def test_a_server_may_ask_for_a_longer_wait_and_a_senseless_wish_leaves_the_usual_one(
    header: str | Callable[[], str], least_s: float
) -> None:
    def busy(_: Any) -> Behaviour:
        return failure(503, Retry_After=header if isinstance(header, str) else header())

    with LoopbackModel(busy, answer(SCREEN)) as server:
        asked(server)
    (wait,) = server.waits()
    assert wait >= least_s


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422])
def test_other_refusals_fail_at_once(status: int) -> None:
    error, server = failed(failure(status, "we do not like it"))
    assert isinstance(error, BackendUnavailableError)
    assert (error.kind, server.count) == ("provider_error", 1)
    assert f"status {status}: we do not like it" in str(error)


@pytest.mark.parametrize(("status", "named"), [(401, "OPENAI_API_KEY"), (404, "backbone.model: m)"), (404, "/v1)")])
def test_a_refused_key_or_an_unknown_model_is_told_with_what_to_check(status: int, named: str) -> None:
    error, _ = failed(failure(status, "not found"))
    assert named in str(error)


def test_the_total_limit_ends_waiting_and_closes_the_socket() -> None:
    with LoopbackModel(answer(SCREEN, delay_s=60)) as server:
        with pytest.raises(BackendUnavailableError) as caught:
            asked(server, total_timeout_s=1)
        assert server.hung_up_on.wait(60)
    assert (caught.value.kind, server.count) == ("timeout", 1)


def refusing(parameter: str, message: str, status: int = 400) -> Callable[[dict[str, Any]], Behaviour]:
    return lambda body: failure(status, message) if parameter in body else answer(SCREEN)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "'response_format' of type 'json_schema' is not supported with this model."),
        (400, "Invalid schema for response_format 'AteAnswer'"),
        (404, "unsupported"),
        (422, "Failed to parse grammar"),
    ],
)
def test_a_server_that_refuses_schemas_gets_them_in_the_prompt_with_one_notice(
    status: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def ask_often(replier: LlmReplier) -> list[Answer[AteAnswer]]:
        backend = RepairingBackend(replier)
        at_once = await asyncio.gather(*(backend.answer(make_ask(AteAnswer)) for _ in range(8)))
        return [*at_once, await backend.answer(make_ask(AteAnswer))]

    caplog.set_level(logging.INFO, "episodic_absa.backends")
    with LoopbackModel(refusing("response_format", message, status)) as server:
        answers = run(ask_often, server.base_url)
    assert [got.attempts for got in answers] == [1] * 9
    notices = [record for record in caplog.records if "JSON Schema" in record.getMessage()]
    assert len(notices) == 1
    accepted = [body for body in server.bodies if "response_format" not in body]
    assert len(accepted) == 9
    assert '"aspect_term"' in accepted[0]["messages"][0]["content"]
    assert "response_format" not in server.bodies[-1]


def test_a_wanted_schema_is_not_given_up() -> None:
    error, server = failed(refusing("response_format", "response_format is not supported"), output="json_schema")
    assert isinstance(error, BackendUnavailableError)
    assert server.count == 1


def test_prompted_output_never_sends_a_response_format() -> None:
    with LoopbackModel(answer(SCREEN)) as server:
        asked(server, output="prompted")
    (body,) = server.bodies
    assert "response_format" not in body
    assert body["messages"][0]["content"].startswith("List the aspects.")
    assert '"aspects"' in body["messages"][0]["content"]


def test_a_server_without_seeds_is_asked_without_and_no_longer_counts_as_honouring_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def ask_twice(replier: LlmReplier) -> tuple[bool, bool]:
        before = replier.honours_seed
        await replier.reply(Request(make_ask(AteAnswer)))
        await replier.reply(Request(make_ask(AteAnswer)))
        return before, replier.honours_seed

    with LoopbackModel(refusing("seed", "Unrecognized request argument supplied: seed")) as server:
        assert run(ask_twice, server.base_url) == (True, False)
    assert ["seed" in body for body in server.bodies] == [True, False, False]
    assert all("response_format" in body for body in server.bodies)
    assert [record.levelname for record in caplog.records if "seed" in record.getMessage()] == ["WARNING"]


def test_a_complaint_about_another_parameter_gives_nothing_up() -> None:
    error, server = failed(failure(400, "Unsupported value: 'temperature' does not support 0.0"))
    assert "temperature" in str(error)
    assert server.count == 1


def test_sixty_four_requests_at_once_are_all_on_their_way_together() -> None:
    async def many(replier: LlmReplier) -> list[Reply]:
        return await asyncio.gather(*(replier.reply(Request(make_ask(AteAnswer, seed=n))) for n in range(64)))

    with LoopbackModel(answer(SCREEN, delay_s=1.0)) as server:
        replies = run(many, server.base_url)
    assert [reply.text for reply in replies] == [SCREEN] * 64
    assert sorted(body["seed"] for body in server.bodies) == list(range(64))
    assert server.times[-1] - server.times[0] < 1.0


def test_a_replier_serves_one_event_loop_after_another() -> None:
    with LoopbackModel(answer(SCREEN)) as server:
        replier = LlmReplier(LlmSettings(provider="openai", model="m", base_url=server.base_url))

        async def once() -> str:
            reply = await replier.reply(Request(make_ask(AteAnswer)))
            await replier.close()
            return reply.text

        assert [asyncio.run(once()), asyncio.run(once())] == [SCREEN, SCREEN]


def test_free_keys_stay_in_the_schema() -> None:
    with LoopbackModel(answer('{"sentiments": []}')) as server:
        answered(server, make_ask(AtsaAnswer))
    sent = server.bodies[0]["response_format"]["json_schema"]
    distribution = sent["schema"]["$defs"]["AnsweredSentiment"]["properties"]["polarity_distribution"]
    assert distribution["additionalProperties"]["type"] == "number"
    assert sent["strict"] is False


def test_a_path_on_the_server_is_no_model_name() -> None:
    body = json.loads(answer(SCREEN).body)
    body["model"] = "/srv/weights/model.gguf"
    with LoopbackModel(Behaviour(json.dumps(body).encode())) as server:
        assert asked(server).model == "m"


@pytest.mark.parametrize("status", [400, 401, 429])
def test_the_key_is_sent_but_stands_in_no_log_error_or_repr(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []

    async def ask(replier: LlmReplier) -> None:
        shown.extend([repr(replier), repr(replier.settings), repr(replier._connection)])
        try:
            await replier.reply(Request(make_ask(AteAnswer)))
        except BackendError as error:
            below: BaseException | None = error
            while below is not None:
                shown.extend([str(below), repr(below)])
                below = below.__cause__ or below.__context__

    with LoopbackModel(failure(status, f"the key {KEY} is wrong")) as server:
        run(ask, server.base_url, max_retries=1)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "[key]" in "".join(shown)
    assert KEY not in "".join(shown)
    assert KEY not in caplog.text


def test_review_text_stays_out_of_the_log_above_debug(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with LoopbackModel(failure(500, REVIEW), failure(400, f"response_format: {REVIEW}"), answer(SCREEN)) as server:
        asked(server)
    assert "500" in caplog.text
    assert REVIEW not in caplog.text


def sent_bodies(server: LoopbackModel, *, states_form: bool = True) -> list[dict[str, Any]]:
    prompt = Prompt("v3/joint.en", "Name the pairs.", REVIEW, states_form=states_form)
    answered(server, make_ask(AteAnswer, prompt=prompt))
    return server.bodies


def test_a_prompt_with_examples_ends_the_answer_where_a_further_example_begins() -> None:
    with LoopbackModel(answer(SCREEN)) as server:
        assert sent_bodies(server)[0]["stop"] == NEXT_EXAMPLE
    with LoopbackModel(answer(SCREEN)) as server:
        assert "stop" not in sent_bodies(server, states_form=False)[0]


def test_a_server_that_refuses_stop_words_is_asked_without_them() -> None:
    with LoopbackModel(failure(400, "Unsupported parameter: 'stop'"), answer(SCREEN)) as server:
        bodies = sent_bodies(server)
    assert [body.get("stop") for body in bodies] == [NEXT_EXAMPLE, None]


def test_an_answer_that_its_own_server_cannot_read_is_an_attempt_with_another_prompt_next() -> None:
    trouble = failure(500, "The model produced output that does not match the expected peg-native format")
    with LoopbackModel(trouble, answer(SCREEN)) as server:
        first, second = sent_bodies(server)
    assert first["messages"][0] == second["messages"][0]
    asked_again = second["messages"][1]["content"]
    assert asked_again.startswith(first["messages"][1]["content"])
    assert "It cannot be used" in asked_again
    assert "peg-native" not in asked_again


def test_other_server_errors_are_retried_with_the_same_prompt() -> None:
    with LoopbackModel(failure(500, "out of memory"), answer(SCREEN)) as server:
        first, second = sent_bodies(server)
    assert first == second

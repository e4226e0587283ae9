"""Anthropic and Google on their own wire formats, against loopback. Skipped where their packages are not installed."""

import json
from typing import Any

import pytest
from tests.backends.llm.asking import KEY, SCREEN, answered, asked, make_ask
from tests.backends.llm.loopback_model import HANG_UP, Behaviour, Entry, LoopbackModel, failure, page
from tests.extras import require_extra

from episodic_absa.backends.backend import Answer, OutputT
from episodic_absa.errors import BackendError, BackendUnavailableError
from episodic_absa.schemas.seed_answers import AteAnswer, AtsaAnswer

MODELS = {"anthropic": "claude-haiku-5-5", "google": "gemini-2.5-flash"}


@pytest.fixture(params=["anthropic", "google"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    chosen: str = request.param
    require_extra(chosen)
    monkeypatch.setenv(f"{chosen.upper()}_API_KEY", KEY)
    return chosen


def answer(provider: str, text: str) -> Behaviour:
    body: dict[str, Any]
    if provider == "anthropic":
        body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-5-5",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
    else:
        body = {
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
            "modelVersion": "gemini-2.5-flash",
        }
    return Behaviour(json.dumps(body).encode())


def chosen(server: LoopbackModel, provider: str) -> dict[str, Any]:
    """Return the settings that ask this server as a vendor is asked."""
    return {"provider": provider, "model": MODELS[provider], "base_url": server.base_url.removesuffix("/v1")}


def ask(provider: str, output_model: type[OutputT], *script: Entry) -> tuple[Answer[OutputT], LoopbackModel]:
    with LoopbackModel(*script) as server:
        return answered(server, make_ask(output_model), **chosen(server, provider)), server


def count_requests(provider: str, trouble: Behaviour) -> tuple[int, BackendError]:
    with LoopbackModel(trouble) as server, pytest.raises(BackendError) as caught:
        asked(server, **chosen(server, provider))
    return server.count, caught.value


def test_an_answer_arrives_with_tokens_and_price(provider: str) -> None:
    got, _ = ask(provider, AteAnswer, answer(provider, SCREEN))
    assert (got.output.aspects[0].aspect_term, got.attempts) == ("screen", 1)
    assert (got.usage.tokens_in, got.usage.tokens_out) == (100, 10)


def test_only_google_gets_the_seed(provider: str) -> None:
    _, server = ask(provider, AteAnswer, answer(provider, SCREEN))
    assert ('"seed": 7' in json.dumps(server.bodies[0])) is (provider == "google")


def test_the_schema_goes_with_the_request_unless_it_would_lose_free_keys(provider: str) -> None:
    _, server = ask(provider, AteAnswer, answer(provider, SCREEN))
    assert "aspect_term" in json.dumps(server.bodies[0])
    assert "fits this schema" not in json.dumps(server.bodies[0])
    _, server = ask(provider, AtsaAnswer, answer(provider, '{"sentiments": []}'))
    assert ("fits this schema" in json.dumps(server.bodies[0])) is (provider == "anthropic")


@pytest.mark.parametrize("trouble", [failure(429), failure(500), HANG_UP], ids=["429", "500", "dropped"])
def test_trouble_is_retried_five_times_and_no_more(provider: str, trouble: Behaviour) -> None:
    count, error = count_requests(provider, trouble)
    assert isinstance(error, BackendUnavailableError)
    assert (count, error.kind) == (6, "provider_error")


def test_trouble_passes(provider: str) -> None:
    got, server = ask(provider, AteAnswer, failure(503), HANG_UP, answer(provider, SCREEN))
    assert (got.attempts, server.count) == (1, 3)


def test_a_refused_key_names_the_variable_and_is_not_shown(provider: str) -> None:
    count, error = count_requests(provider, failure(401, f"{KEY} is no key"))
    assert count == 1
    assert f"{provider.upper()}_API_KEY" in str(error)
    assert KEY not in str(error)


@pytest.mark.parametrize(
    ("body", "requests"),
    [("<html>{}</html>", 2), ("", 6), ('{"hello": 1}', 6)],  # a server that begins with a page is not the vendor's
    ids=["html", "empty", "other json"],
)
def test_a_page_is_no_answer(provider: str, body: str, requests: int) -> None:
    count, error = count_requests(provider, page(body, "application/json"))
    assert isinstance(error, BackendUnavailableError)
    assert (count, error.kind, error.attempts) == (requests, "provider_error", 1)

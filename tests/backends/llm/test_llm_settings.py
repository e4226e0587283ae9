"""Addresses, keys, optional vendors and prices: everything that is settled before a request is sent."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from tests.backends.llm.asking import SCREEN, answered, make_ask
from tests.backends.llm.loopback_model import LoopbackModel, answer

from episodic_absa.backends.answer_schemas import has_free_keys, typed_schema
from episodic_absa.backends.backend import Request
from episodic_absa.backends.llm import LlmReplier, LlmSettings, cost_usd, open_connection
from episodic_absa.backends.llm.transport_retries import Failure, wait_before_retry
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.schemas import seed_answers
from episodic_absa.schemas.frozen_model import FrozenModel

ANSWERS: list[type[FrozenModel]] = [
    seed_answers.AteAnswer,
    seed_answers.AtsaAnswer,
    seed_answers.ValidatorAnswer,
    seed_answers.TurnAnswer,
    seed_answers.JudgeAnswer,
    seed_answers.AteReviewAnswer,
    seed_answers.AtsaReviewAnswer,
    seed_answers.Validator2Answer,
]
AZURE = "https://ours.openai.azure.com/openai/v1/"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GOOGLE", "GEMINI"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def make_settings(provider: str = "openai", **settings: Any) -> LlmSettings:
    return LlmSettings.model_validate({"provider": provider, "model": "gpt-4o-mini", **settings})


def test_importing_the_backend_imports_no_vendor() -> None:
    code = (
        "import sys, episodic_absa.backends.llm.llm_replier\n"
        "print([name for name in ('pydantic_ai', 'openai', 'httpx2', 'genai_prices') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        (make_settings(), "OPENAI_API_KEY"),
        (make_settings(base_url="https://api.openai.com/v1"), "OPENAI_API_KEY"),
        (make_settings(base_url=AZURE), "AZURE_OPENAI_API_KEY"),
        (make_settings("anthropic"), "ANTHROPIC_API_KEY"),
        (make_settings("google"), "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
    ids=["openai", "openai by address", "azure", "anthropic", "google"],
)
def test_a_missing_key_of_a_hosted_provider_names_the_variable(settings: LlmSettings, variable: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        LlmReplier(settings)


def test_azure_prefers_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai")
    assert open_connection(make_settings(base_url=AZURE)).key_variable == "OPENAI_API_KEY"
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "for-azure")
    connection = open_connection(make_settings(base_url=AZURE))
    assert (connection.key, connection.key_variable, connection.host) == ("for-azure", "AZURE_OPENAI_API_KEY", "azure")


def test_a_server_of_ones_own_needs_no_key_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def ask(replier: LlmReplier) -> str:
        try:
            async with asyncio.timeout(120):
                return (await replier.reply(Request(make_ask(seed_answers.AteAnswer)))).text
        finally:
            await replier.close()

    with LoopbackModel(answer('{"aspects": []}')) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        replier = LlmReplier(make_settings(max_retries=0))
        assert replier.base_url == server.base_url
        assert asyncio.run(ask(replier)) == '{"aspects": []}'
    assert server.headers[0]["authorization"].startswith("Bearer ")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("ollama", "http://127.0.0.1:11434/v1"),
        ("vllm", "http://127.0.0.1:8000/v1"),
        ("llama.cpp", "http://127.0.0.1:8080/v1"),
        ("http://10.0.0.7:1234/v1", "http://10.0.0.7:1234/v1"),
    ],
)
def test_local_servers_have_names(name: str, address: str) -> None:
    assert LlmReplier(make_settings(base_url=name)).base_url == address


@pytest.mark.parametrize(
    ("address", "variable"),
    [
        ("http://me:hidden-word@127.0.0.1:1/v1", "OPENAI_BASE_URL"),
        ("http://hidden-word@127.0.0.1:1/v1", "OPENAI_BASE_URL"),
        ("http://me:hidden-word/@127.0.0.1:1/v1", "OPENAI_BASE_URL"),
        ("http://127.0.0.1:1/v1?api-version=2&api_key=hidden-word", "OPENAI_API_KEY"),
    ],
)
def test_a_credential_in_the_address_of_the_settings_is_refused_and_not_repeated(address: str, variable: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_settings(base_url=address)
    assert variable in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_the_environment_may_hold_a_login_which_no_address_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:hid%40den/word@127.0.0.1:1/v1")
    connection = open_connection(make_settings(base_url=None))
    assert connection.shown_url == connection.base_url == "http://127.0.0.1:1/v1"
    assert connection.secrets[-1] == "hid@den/word"
    assert "word" not in repr(connection)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1?key=hidden-word")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        open_connection(make_settings(base_url=None))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["olama", "localhost:8000", "ftp://x/v1", "http://", "http://[::1/v1", "http://h:99999/v1", "http://h\x01/v1",
     "me:hidden-word@h/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_a_traceback_or_a_password(address: str) -> None:
    with pytest.raises(ConfigError, match=r"not an address .*ollama, vllm, llama\.cpp") as caught:
        LlmReplier(make_settings(base_url=address))
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["foo://me:hidden-word@h:1", "http://me:hidden-word@h:port"])
def test_a_proxy_that_cannot_be_used_is_an_error_without_its_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigError, match="ALL_PROXY") as caught:
        open_connection(make_settings(base_url="http://llm.example/v1"))
    assert "hidden" not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-열쇠")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_connection(make_settings())


@pytest.mark.parametrize(("provider", "module"), [("anthropic", "anthropic"), ("google", "google.genai.types")])
def test_a_vendor_that_is_not_installed_names_its_extra(
    provider: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "k")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        LlmReplier(make_settings(provider))
    assert caught.value.extra == provider


@pytest.mark.parametrize(("model", "sent"), [("gpt-5", False), ("o3-mini", False), ("gpt-4o-mini", True)])
@pytest.mark.parametrize("own", [None, 0.7])
def test_models_that_take_no_temperature_get_none(model: str, sent: bool, own: float | None) -> None:
    with LoopbackModel(answer(SCREEN)) as server:
        answered(server, replace(make_ask(seed_answers.AteAnswer), temperature=own), model=model)
    assert server.bodies[0].get("temperature") == ((own or 0.0) if sent else None)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _nodes(value)


@pytest.mark.parametrize("model", ANSWERS, ids=lambda model: model.__name__)
def test_openai_gets_schemas_that_its_strict_mode_accepts(
    model: type[FrozenModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    replier = LlmReplier(make_settings())
    parameters = replier._parameters(model, schema=True)
    sent = replier._connection.model.prepare_request(None, parameters)[1].output_object
    assert sent is not None
    assert sent.strict is not has_free_keys(model)
    for node in _nodes(sent.json_schema) if sent.strict else ():
        for field in (node.get("properties") or {}).values() if node.get("type") == "object" else ():
            assert {"type", "anyOf", "$ref"} & field.keys(), field
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert sorted(node["required"]) == sorted(node["properties"])


def test_only_answers_with_named_keys_can_be_strict() -> None:
    assert [model.__name__ for model in ANSWERS if has_free_keys(model)] == ["AtsaAnswer", "JudgeAnswer"]


@pytest.mark.parametrize("model", ANSWERS, ids=lambda model: model.__name__)
def test_every_enumeration_names_its_type(model: type[FrozenModel]) -> None:
    for node in _nodes(typed_schema(model)):
        if isinstance(node.get("enum"), list):
            assert node["type"] == (["string", "null"] if None in node["enum"] else "string")


@pytest.mark.parametrize(
    ("settings", "price"),
    [
        (make_settings(), 0.75),
        (make_settings(base_url=AZURE), 0.75),
        (make_settings(model="of-our-own-making"), None),
        (make_settings(base_url="ollama"), None),
        (make_settings(base_url="https://llm.example.org/v1"), None),
    ],
    ids=["openai", "azure", "unknown model", "local", "unknown server"],
)
def test_prices_are_known_for_listed_models_only(
    settings: LlmSettings, price: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pydantic_ai.usage import RequestUsage

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    usage = RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert cost_usd(open_connection(settings), usage, settings.model) == price


def test_no_wait_is_longer_than_a_minute() -> None:
    asked = Failure("answered with status 429", transient=True, status=429, asked_wait_s=3600)
    assert wait_before_retry(asked, 0, 2.0) == 60
    assert [wait_before_retry(Failure("x", transient=True), n, 2.0) for n in range(6)] == [2, 4, 8, 16, 32, 60]

"""Builds a connected pydantic-ai model from settings and environment: addresses, keys, one HTTP client.

Nothing here is imported from a vendor before a connection is opened.
"""

import os
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from episodic_absa.backends.llm.llm_settings import ADDRESS_VARIABLE, KEY_VARIABLES, Host, LlmSettings
from episodic_absa.backends.llm.response_checks import check_request, response_check
from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.serialization.quoted_value import quoted
from episodic_absa.serialization.redaction import credential_in, login_in, without_credentials

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.usage import RequestUsage

LOCAL_SERVERS: Final = {
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
}
_TITLES: Final[dict[Host, str]] = {
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "other": "this server",
}
_OWN_ADDRESSES: Final[dict[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
# A message of Anthropic may be empty, and Google says under promptFeedback why it refuses: both are answers.
_ANSWERS_UNDER: Final = {
    "openai": ("choices",),
    "anthropic": ("content", "stop_reason"),
    "google": ("candidates", "promptFeedback"),
}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_NO_KEY: Final = "no-key"
_IDLE_CONNECTIONS: Final = 128
_MOST_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class LlmConnection:
    """A model ready to be asked."""

    model: "Model[Any]"
    http_client: "httpx2.AsyncClient"
    host: Host
    base_url: str | None
    key: str = field(repr=False)
    key_variable: str
    """The environment variable of the key."""
    password: str = field(default="", repr=False)
    """That of the address in the environment."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may hold."""
        return tuple(filter(None, (self.key, self.password)))

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine."""
        return self.base_url is not None and urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def shown_url(self) -> str:
        """The address for a message."""
        if self.base_url is None:
            return _OWN_ADDRESSES.get(self.host, "")
        return urlsplit(self.base_url)._replace(query="").geturl()

    @property
    def start_command(self) -> str:
        """A command that starts a server at this address, as an example."""
        port = urlsplit(self.base_url or "").port or 80
        name = next((name for name, url in LOCAL_SERVERS.items() if urlsplit(url).port == port), "")
        if name in ("ollama", "vllm"):
            return "ollama serve" if name == "ollama" else "vllm serve MODEL"
        return f"llama-server -m model.gguf --port {port}"

    @property
    def takes_temperature(self) -> bool:
        """Whether the model samples at a temperature; reasoning models mostly do not."""
        profile: Any = self.model.profile
        if profile.get("anthropic_disallows_sampling_settings", False):
            return False
        if not profile.get("openai_supports_reasoning", False):
            return True
        efforts = profile.get("openai_reasoning_efforts")
        can_stop = profile.get("openai_supports_reasoning_effort_none", False) if efforts is None else "none" in efforts
        return can_stop and not profile.get("thinking_enabled_by_default", False)


def open_connection(settings: LlmSettings) -> LlmConnection:
    """Connect to the model of the settings; nothing is sent yet."""
    base_url, login = _server(settings)
    host = _host(settings, base_url)
    key, variable = _key(host, needed=needs_key(settings))
    http_client = _http_client(base_url, _ANSWERS_UNDER[settings.provider], login)
    build = {"openai": _openai_model, "anthropic": _anthropic_model, "google": _google_model}[settings.provider]
    model = build(settings.model, base_url, key, host, http_client)
    return LlmConnection(model, http_client, host, base_url, key, variable, login[1] if login else "")


def needs_key(settings: LlmSettings) -> bool:
    """Return whether the environment must hold a key; a server of one's own may do without."""
    base_url = _address(settings)
    return _host(settings, base_url) != "other" and not (base_url and settings.provider != "openai")


def key_variables(settings: LlmSettings) -> tuple[str, ...]:
    """Return the environment variables that may hold the key; the first one that is set counts."""
    return KEY_VARIABLES[_host(settings, _address(settings))]


def _address(settings: LlmSettings) -> str | None:
    return _server(settings)[0]


def _server(settings: LlmSettings) -> tuple[str | None, tuple[str, str] | None]:
    """Return the address in force, and the login that only the environment may put into it."""
    given = settings.base_url or (os.environ.get(ADDRESS_VARIABLE) if settings.provider == "openai" else None)
    if not given:
        return None, None
    origin = "base_url" if settings.base_url else ADDRESS_VARIABLE
    address = without_credentials(LOCAL_SERVERS.get(given.lower(), given))
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address or not address.isprintable() or " " in address:
        # Without a scheme nobody can tell a password from a host.
        shown = "it holds an @" if "@" in given else f"got {quoted(given)}"
        raise ConfigError(
            f"{origin} is not an address of a server ({shown}); give one such as http://127.0.0.1:8000/v1, "
            f"or one of {', '.join(LOCAL_SERVERS)}",
            key="backbone.base_url",
        )
    if credential_in(given) == "a key":
        raise ConfigError(
            f"{origin} holds a key in its query; take it out and put it into the environment variable "
            f"{KEY_VARIABLES[_host(settings, address)][0]}",
            key="backbone.base_url",
        )
    return address, login_in(given)


def _host(settings: LlmSettings, base_url: str | None) -> Host:
    if settings.provider != "openai":
        return settings.provider
    name = urlsplit(base_url or _OWN_ADDRESSES["openai"]).hostname or ""
    if name == "api.openai.com" or name.endswith(".api.openai.com"):
        return "openai"
    return "azure" if name.endswith((".azure.com", ".azure.us", ".azure.cn")) else "other"


def _key(host: Host, *, needed: bool) -> tuple[str, str]:
    """Return the key and the variable that holds it; a server of one's own may do without."""
    variables = KEY_VARIABLES[host]
    for variable in variables:
        if key := os.environ.get(variable, "").strip():
            if not (key.isascii() and key.isprintable()):
                raise ConfigError(
                    f"the key in {variable} holds a line break or a character that is not ASCII; no request can carry "
                    "it. Set the variable again",
                    key="backbone.provider",
                )
            return key, variable
    if needed:
        raise ConfigError(
            f"no key for {_TITLES[host]}; set the environment variable {' or '.join(variables)}. A server of your own "
            "needs no key: name its address with --base-url or backbone.base_url, such as ollama",
            key="backbone.provider",
        )
    return _NO_KEY, variables[0]


def _http_client(
    base_url: str | None, answers_under: tuple[str, ...], login: tuple[str, str] | None
) -> "httpx2.AsyncClient":
    import httpx2

    is_loopback = base_url is not None and urlsplit(base_url).hostname in _LOOPBACK
    try:
        return httpx2.AsyncClient(
            # Not in the address, which the packages below log.
            auth=login,
            timeout=None,  # the replier limits each request as a whole
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=_IDLE_CONNECTIONS),
            event_hooks={"request": [check_request], "response": [response_check(answers_under)]},
            # A server could fill the memory with cookies, and an answer would depend on what was answered before.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=True,
            max_redirects=_MOST_REDIRECTS,
            trust_env=not is_loopback,  # a proxy does not lead to this machine
        )
    except (ValueError, ImportError, httpx2.InvalidURL) as error:
        # The message of the package may quote the proxy's password.
        raise ConfigError(
            "the environment names a proxy that cannot be used; set HTTP_PROXY, HTTPS_PROXY and ALL_PROXY to an "
            "address such as http://127.0.0.1:3128, or remove them"
        ) from error


def _openai_model(
    name: str, base_url: str | None, key: str, host: Host, http_client: "httpx2.AsyncClient"
) -> "Model[Any]":
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    address = base_url or _OWN_ADDRESSES["openai"]
    client = AsyncOpenAI(api_key=key, base_url=address, http_client=http_client, max_retries=0, timeout=None)
    if host != "other":
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))
    # Ollama and older servers know max_tokens only.
    profile = OpenAIModelProfile(supports_json_schema_output=True, openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(name, provider=OpenAICompatibleProvider("other", openai_client=client, profile=profile))


def _anthropic_model(
    name: str, base_url: str | None, key: str, _host: Host, http_client: "httpx2.AsyncClient"
) -> "Model[Any]":
    anthropic = _vendor("anthropic", feature="the Anthropic backend", extra="anthropic")
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    address = base_url or _OWN_ADDRESSES["anthropic"]
    client = anthropic.AsyncAnthropic(
        api_key=key, base_url=address, http_client=http_client, max_retries=0, timeout=None
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _google_model(
    name: str, base_url: str | None, key: str, _host: Host, http_client: "httpx2.AsyncClient"
) -> "Model[Any]":
    types = _vendor("google.genai.types", feature="the Google backend", extra="google")
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    once = types.HttpRetryOptions(attempts=1)
    provider = GoogleProvider(api_key=key, base_url=base_url, http_client=http_client, retry_options=once)
    return GoogleModel(name, provider=provider)


def _vendor(module: str, *, feature: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(feature=feature, extra=extra) from error


def cost_usd(connection: LlmConnection, usage: "RequestUsage", model: str) -> float | None:
    """Return the price in US dollars, or None for a model or server without a listed price."""
    if connection.is_local:
        return None
    from genai_prices import calc_price

    try:
        if connection.host == "other":
            price = calc_price(usage, model, provider_api_url=connection.base_url)
        else:
            price = calc_price(usage, model, provider_id=connection.host)
    except LookupError:
        return None
    return float(price.total_price)

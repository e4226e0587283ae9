"""Builds a backend from settings: the replier, the limit, the cache and the recording around it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

from pydantic import ValidationError, model_validator

from episodic_absa.backends.backend import RepairingBackend, Replier, Request
from episodic_absa.backends.backend_facts import BACKEND_FORMS, Provider, short_form
from episodic_absa.backends.cache.caching_replier import CachingReplier
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.backends.llm.llm_replier import LlmReplier
from episodic_absa.backends.llm.llm_settings import LlmSettings, ModelName, RequestSettings, Seconds
from episodic_absa.backends.replay import RecordingReplier, ReplayReplier
from episodic_absa.errors import ConfigError
from episodic_absa.serialization.quoted_value import quoted

EMBEDDED_MODEL: Final = "reader-1"


class BackboneSettings(RequestSettings):
    """What answers, and how it is asked.

    Raises:
        ValidationError: a value is out of range, a key is unknown, or two keys contradict each other.

    Example:
        >>> from episodic_absa import Analyzer, BackboneSettings
        >>> backbone = BackboneSettings(provider="openai", model="qwen2.5:7b", base_url="ollama", max_tokens=512)
        >>> with Analyzer(backend=backbone) as analyzer:
        ...     analyzer
        Analyzer(openai:qwen2.5:7b, condition C1)
    """

    provider: Provider = "embedded"
    """Who answers; `python` stands in manifests for a backend that a program passed in."""
    model: ModelName = EMBEDDED_MODEL
    """The model of the provider; the embedded engine has one."""
    total_timeout_s: Seconds = 300.0
    """One call with all attempts and retries."""
    recording: Path | None = None
    """What replay answers from."""
    record: Path | None = None
    """Where answers are recorded to."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.provider == "embedded" and self.model != EMBEDDED_MODEL:
            raise ValueError(f"the embedded engine has one model, {EMBEDDED_MODEL}; got {quoted(self.model)}")
        if (self.provider == "replay") != (self.recording is not None):
            raise ValueError("provider replay needs a recording, and only replay reads one")
        if self.provider not in ("embedded", "replay") and self.model == EMBEDDED_MODEL:
            raise ValueError(f"provider {self.provider} needs a model")
        return self

    def llm_settings(self) -> LlmSettings:
        """Return what a connection to this model needs. Only for providers that are models behind an address."""
        return LlmSettings.model_validate(self.model_dump(include=set(LlmSettings.model_fields)))


def backbone_from(spec: str, *, base_url: str | None = None) -> BackboneSettings:
    """Return the settings for the short form of the command line: `embedded`, `openai:MODEL`, `replay:FILE`, ..."""
    provider, _, rest = spec.partition(":")
    if provider not in get_args(Provider) or provider == "python":
        raise ConfigError(f"unknown backend {quoted(spec)}; choose {BACKEND_FORMS}", key="backend")
    if provider == "embedded" and not rest:
        return BackboneSettings(base_url=base_url)
    if not rest:
        what = "a file" if provider == "replay" else "a model"
        raise ConfigError(f"backend {quoted(spec)} needs {what}: {short_form(provider)}", key="backend")
    chosen: dict[str, Any] = {"recording": Path(rest)} if provider == "replay" else {"model": rest}
    try:
        return BackboneSettings.model_validate({"provider": provider, "base_url": base_url, **chosen})
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"backend {quoted(spec)}: {message}", key="backend") from error


def create_backend(
    backbone: BackboneSettings,
    *,
    cache: ResponseCache | None = None,
    share: Literal["all", "condition"] = "all",
    in_flight: AbstractAsyncContextManager[object] | None = None,
) -> RepairingBackend:
    """Return the backend for these settings. The caller that opened the cache closes it.

    Args:
        backbone: what answers.
        cache: keeps the answers of a server.
        share: which conditions share them.
        in_flight: entered around every request to a server, such as a semaphore that limits them.
    """
    replier: Replier
    dropping: list[CachingReplier | RecordingReplier] = []
    is_server = backbone.provider not in ("embedded", "replay")
    if backbone.provider == "embedded":
        replier = EmbeddedReplier()
    elif backbone.recording is not None:
        replier = ReplayReplier(backbone.recording)
    else:
        # The limit lies below the cache: a cached answer needs no place.
        replier = llm = LlmReplier(backbone.llm_settings(), in_flight)
        if cache is not None:
            replier = cached = CachingReplier(
                llm,
                cache,
                provider=backbone.provider,
                model=backbone.model,
                # The address in force: an environment variable may name another server than the settings do.
                base_url=llm.base_url,
                parameters=backbone.model_dump(include={"temperature", "max_tokens", "output"}),
                share=share,
            )
            dropping.append(cached)
    if backbone.record is not None:
        # Outermost: a recording is complete even where the cache answered.
        replier = recorder = RecordingReplier(replier, backbone.record)
        dropping.append(recorder)

    async def drop_answers(requests: Sequence[Request]) -> None:
        for keeper in dropping:
            await keeper.drop(requests)

    return RepairingBackend(
        replier,
        total_timeout_s=backbone.total_timeout_s,
        max_tokens=backbone.max_tokens if is_server else None,
        drop_answers=drop_answers,
    )

"""Builds a backend from settings: the replier, the limit, the cache and the recording around it."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from episodic_absa.backends.backend import LimitedReplier, RepairingBackend, Replier
from episodic_absa.backends.cache.caching_replier import CachingReplier
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.backends.llm.llm_replier import LlmReplier
from episodic_absa.backends.llm.llm_settings import LlmSettings
from episodic_absa.backends.replay import RecordingReplier, ReplayReplier
from episodic_absa.errors import ConfigError
from episodic_absa.schemas.frozen_model import FrozenModel

Provider = Literal["embedded", "openai", "anthropic", "google", "replay"]
EMBEDDED_MODEL: Final = "rules-1"
_Seconds = Annotated[float, Field(gt=0)]


class BackboneSettings(FrozenModel):
    """Which backend answers, and how it is asked."""

    provider: Provider = "embedded"
    model: str = EMBEDDED_MODEL
    base_url: str | None = None
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    """None: the server's own default, for models that take no other."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    output: Literal["auto", "json_schema", "prompted"] = "auto"
    timeout_s: _Seconds = 60.0
    """One request."""
    total_timeout_s: _Seconds = 300.0
    """One call with all attempts and retries."""
    retry_base_s: Annotated[float, Field(ge=0)] = 2.0
    recording: Path | None = None
    """What replay answers from."""
    record: Path | None = None
    """Where answers are recorded to."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.provider == "embedded" and self.model != EMBEDDED_MODEL:
            raise ValueError(f"the embedded engine has one model, {EMBEDDED_MODEL}; got {self.model!r}")
        if (self.provider == "replay") != (self.recording is not None):
            raise ValueError("provider replay needs a recording, and only replay reads one")
        if self.provider not in ("embedded", "replay") and self.model == EMBEDDED_MODEL:
            raise ValueError(f"provider {self.provider} needs a model")
        return self


def backbone_from(spec: str, *, base_url: str | None = None) -> BackboneSettings:
    """Return the settings for the short form of the command line: `embedded`, `openai:MODEL`, `replay:FILE`, ..."""
    provider, _, rest = spec.partition(":")
    if provider not in get_args(Provider):
        raise ConfigError(
            f"unknown backend {spec!r}; choose embedded, openai:MODEL, anthropic:MODEL, google:MODEL or replay:FILE",
            key="backend",
        )
    if provider == "embedded" and not rest:
        return BackboneSettings(base_url=base_url)
    if not rest:
        what = "FILE" if provider == "replay" else "MODEL"
        raise ConfigError(f"backend {spec!r} lacks its part behind the colon: {provider}:{what}", key="backend")
    chosen: dict[str, Any] = {"recording": Path(rest)} if provider == "replay" else {"model": rest}
    try:
        return BackboneSettings.model_validate({"provider": provider, "base_url": base_url, **chosen})
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"backend {spec!r}: {message}", key="backend") from error


def create_backend(
    backbone: BackboneSettings,
    *,
    cache: ResponseCache | None = None,
    share: Literal["all", "condition"] = "all",
    concurrency: int | None = None,
) -> RepairingBackend:
    """Return the backend for these settings. The caller that opened the cache closes it."""
    replier = _replier(backbone)
    if isinstance(replier, LlmReplier):
        replier = _limited_and_cached(replier, backbone, cache, share, concurrency)
    if backbone.record is not None:
        # Outermost: a recording is complete even where the cache answered.
        replier = RecordingReplier(replier, backbone.record)
    return RepairingBackend(replier, total_timeout_s=backbone.total_timeout_s)


def _limited_and_cached(
    llm: LlmReplier,
    backbone: BackboneSettings,
    cache: ResponseCache | None,
    share: Literal["all", "condition"],
    concurrency: int | None,
) -> Replier:
    # The limit lies below the cache: a cached answer needs no place.
    sender: Replier = llm if concurrency is None else LimitedReplier(llm, asyncio.Semaphore(concurrency))
    if cache is None:
        return sender
    return CachingReplier(
        sender,
        cache,
        provider=backbone.provider,
        model=backbone.model,
        # The address in force: an environment variable may name another server than the settings do.
        base_url=llm.base_url,
        parameters={
            "temperature": backbone.temperature,
            "max_tokens": backbone.max_tokens,
            "output": backbone.output,
        },
        share=share,
    )


def _replier(backbone: BackboneSettings) -> Replier:
    if backbone.provider == "embedded":
        return EmbeddedReplier()
    if backbone.provider == "replay":
        assert backbone.recording is not None  # noqa: S101 - the settings see to it
        return ReplayReplier(backbone.recording)
    return LlmReplier(llm_settings_of(backbone))


def llm_settings_of(backbone: BackboneSettings) -> LlmSettings:
    """Return how the model of these settings is reached; an embedded engine and a recording are not."""
    if backbone.provider == "embedded" or backbone.provider == "replay":
        raise ConfigError(f"provider {backbone.provider} asks no server", key="backbone.provider")
    return LlmSettings(
        provider=backbone.provider,
        model=backbone.model,
        base_url=backbone.base_url,
        temperature=backbone.temperature,
        max_tokens=backbone.max_tokens,
        output=backbone.output,
        timeout_s=backbone.timeout_s,
        retry_base_s=backbone.retry_base_s,
    )

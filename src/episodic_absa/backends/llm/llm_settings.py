"""The settings to reach a model. Keys come from the environment and never stand here."""

from typing import Annotated, Literal

from pydantic import Field

from episodic_absa.schemas.frozen_model import FrozenModel

Seconds = Annotated[float, Field(gt=0)]
ModelName = Annotated[str, Field(min_length=1)]


class RequestSettings(FrozenModel):
    """How a model is reached and asked: what the backbone of an experiment and a connection have in common."""

    provider: str
    model: ModelName
    base_url: str | None = None
    """An address, or ollama, vllm or llama.cpp for the usual local one; None is the provider's own."""
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    """None: the server's own default, for models that take no other."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    output: Literal["auto", "json_schema", "prompted"] = "auto"
    timeout_s: Seconds = 60.0
    """One request."""
    retry_base_s: Annotated[float, Field(ge=0)] = 2.0
    """The first wait; each further one is twice as long."""


class LlmSettings(RequestSettings):
    """One model behind one address."""

    provider: Literal["openai", "anthropic", "google"]
    """openai stands for every server that speaks its chat protocol."""
    max_retries: Annotated[int, Field(ge=0)] = 5

"""The settings to reach a model. Keys come from the environment and never stand here."""

from typing import Annotated, Final, Literal

from pydantic import Field, ValidationInfo, field_validator

from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.redaction import credential_in

Seconds = Annotated[float, Field(gt=0)]
Host = Literal["openai", "azure", "anthropic", "google", "other"]
KEY_VARIABLES: Final[dict[Host, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "other": ("OPENAI_API_KEY",),
}
"""Where the key for a host stands in the environment; the first variable that is set counts."""
ADDRESS_VARIABLE: Final = "OPENAI_BASE_URL"
"""Where the address of a server stands in the environment, for provider openai."""
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
    """The most tokens of one answer."""
    output: Literal["auto", "json_schema", "prompted"] = "auto"
    """Whether the JSON Schema of an answer goes with the request, into the prompt, or where the server accepts it."""
    timeout_s: Seconds = 60.0
    """One request."""
    retry_base_s: Annotated[float, Field(ge=0)] = 2.0
    """The first wait; each further one is twice as long."""

    @field_validator("base_url")
    @classmethod
    def _holds_no_credential(cls, base_url: str | None, info: ValidationInfo) -> str | None:
        if (kind := credential_in(base_url)) is None:
            return base_url
        provider = info.data.get("provider", "openai")
        variable = {"anthropic": KEY_VARIABLES["anthropic"], "google": KEY_VARIABLES["google"]}.get(
            provider, KEY_VARIABLES["openai"]
        )[0]
        instead = f"put the key into the environment variable {variable}"
        if provider == "openai" and kind != "a key":
            instead += f", or the whole address into {ADDRESS_VARIABLE} and leave base_url out"
        raise ValueError(f"base_url holds {kind}, which manifests would record; take it out and {instead}")


class LlmSettings(RequestSettings):
    """One model behind one address."""

    provider: Literal["openai", "anthropic", "google"]
    """openai stands for every server that speaks its chat protocol."""
    max_retries: Annotated[int, Field(ge=0)] = 5

"""The facts of each provider, known before a backend is made. `create_backend` makes its replier."""

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from episodic_absa.backends.backend_facts import BackendFacts, Provider, RemoteFacts
from episodic_absa.backends.create_backend import BackboneSettings
from episodic_absa.backends.embedded import ENGINE_NAME, EmbeddedReplier
from episodic_absa.backends.llm.llm_connection import key_variables, needs_key
from episodic_absa.backends.llm.llm_replier import LlmReplier
from episodic_absa.backends.replay import ReplayReplier
from episodic_absa.reader.reader import default_reader
from episodic_absa.vocabulary import Language

_FINGERPRINT_CHARS: Final = 16


class ProviderFacts(NamedTuple):
    """The facts of one provider."""

    title: str
    """As a sentence names it."""
    replier: type[EmbeddedReplier | ReplayReplier | LlmReplier | RemoteFacts]
    shipped_fingerprint: Callable[[], str] | None = None
    """The hash of what this package ships and the answers come from."""
    note: str = ""
    """What a reader of the answers should know."""

    @property
    def is_local(self) -> bool:
        """Whether answers are made in this process: no network, no cost."""
        return self.replier.is_local

    @property
    def is_reproducible(self) -> bool:
        """Whether equal questions always get equal answers."""
        return self.replier.is_reproducible


# Every cell of a grid records it and `verify` compares it again; installed files stay as they are.
@cache
def _embedded_fingerprint() -> str:
    return default_reader().fingerprint


PROVIDERS: Final[dict[Provider, ProviderFacts]] = {
    "embedded": ProviderFacts(
        "the embedded engine",
        EmbeddedReplier,
        shipped_fingerprint=_embedded_fingerprint,
        note="embedded engine (one small reader, no LLM); --backend openai:MODEL uses one",
    ),
    "openai": ProviderFacts("OpenAI, or a server with its protocol", LlmReplier),
    "anthropic": ProviderFacts("Anthropic", LlmReplier),
    "google": ProviderFacts("Google", LlmReplier),
    "replay": ProviderFacts("the recording", ReplayReplier),
    "python": ProviderFacts("a backend of a program", RemoteFacts),
}


def facts_of(backbone: BackboneSettings) -> ProviderFacts:
    """Return what the backend of these settings will be."""
    return PROVIDERS[backbone.provider]


def is_passed_in(backbone: BackboneSettings) -> bool:
    """Return whether the settings stand for a backend that a program passed in; no config names one."""
    return backbone.provider == "python"


def needs_key_for(backbone: BackboneSettings) -> bool:
    """Return whether these settings need a key in the environment; a server of one's own may do without."""
    return not (facts_of(backbone).is_local or is_passed_in(backbone)) and needs_key(backbone.llm_settings())


def key_variables_for(backbone: BackboneSettings) -> tuple[str, ...]:
    """Return the environment variables that may hold the key for these settings; none for a local provider."""
    return () if facts_of(backbone).is_local else key_variables(backbone.llm_settings())


def shipped_fingerprint(backbone: BackboneSettings) -> str | None:
    """Return the hash of what this package ships and the answers come from; None for a server or a recording."""
    compute = facts_of(backbone).shipped_fingerprint
    return None if compute is None else compute()


def reader_fingerprint() -> str:
    """Return the hash of the reader that witnesses changes under rules v3, whatever model answers."""
    return _embedded_fingerprint()


def settings_of(backend: BackendFacts, backbone: BackboneSettings) -> BackboneSettings:
    """Return the settings that stand for a backend that a program passed in: its name and its fingerprint.

    A backend that states the name and the fingerprint of what the given settings name, as a wrapper does, is that.
    """
    if backbone.recording is not None:
        named = (f"replay:{backbone.recording.name}", backend.fingerprint)
    else:
        named = (f"{backbone.provider}:{backbone.model}", shipped_fingerprint(backbone))
    if (backend.name, backend.fingerprint) == named:
        return backbone
    mark = f" {backend.fingerprint[:_FINGERPRINT_CHARS]}" if backend.fingerprint else ""
    passed = {"provider": "python", "model": f"{backend.name}{mark}", "base_url": None, "recording": None}
    return backbone.model_copy(update=passed)


def is_embedded_engine(name: str) -> bool:
    """Return whether a backend, by its name in the records, is the embedded engine and no language model."""
    return name == ENGINE_NAME


def why_unread(model: str, language: Language) -> str | None:
    """Return why a model, by its name in a call record, reads no text in this language; None if it may."""
    if is_embedded_engine(model) and language == "other":
        return "the embedded engine reads Korean and English only"
    return None

"""What a backend states about itself. The rest of the package asks these facts and never a provider's name."""

from operator import attrgetter
from typing import Final, Literal, Protocol, get_args


class BackendFacts(Protocol):
    """The facts that every backend and replier states."""

    @property
    def name(self) -> str:
        """Provider and model, such as `openai:gpt-4o-mini`."""

    @property
    def fingerprint(self) -> str | None:
        """The hash of what decides the answers besides the settings; None for a server, which may change unseen."""

    @property
    def is_local(self) -> bool:
        """Whether answers are made in this process: no network, no cost."""

    @property
    def is_reproducible(self) -> bool:
        """Whether equal questions always get equal answers."""

    @property
    def needs_key(self) -> bool:
        """Whether an API key must be set in the environment."""

    @property
    def honours_seed(self) -> bool:
        """Whether another seed may give another answer. A server may turn out not to."""

    @property
    def shares_the_reader(self) -> bool:
        """Whether the embedded engine gives or gave the answers, so that the reader of rules v3 would repeat them."""


class RemoteFacts:
    """The facts of a server about which nothing is known. Inherit them for a backend of your own."""

    fingerprint: str | None = None
    is_local: bool = False
    is_reproducible: bool = False
    needs_key: bool = False
    honours_seed: bool = True
    shares_the_reader: bool = False


class PassedOnFacts:
    """The facts of a wrapper: those of the backend or replier behind it."""

    def __init__(self, behind: BackendFacts) -> None:
        self._behind = behind
        self.name = behind.name

    # Asked anew each time: a server may turn out not to honour a seed.
    fingerprint = property(attrgetter("_behind.fingerprint"))
    is_local = property(attrgetter("_behind.is_local"))
    is_reproducible = property(attrgetter("_behind.is_reproducible"))
    needs_key = property(attrgetter("_behind.needs_key"))
    honours_seed = property(attrgetter("_behind.honours_seed"))
    shares_the_reader = property(attrgetter("_behind.shares_the_reader"))


Provider = Literal["embedded", "openai", "anthropic", "google", "replay", "python"]


def short_form(provider: str) -> str:
    """Return what `--backend` takes for a provider, such as `openai:MODEL`."""
    if provider == "embedded":
        return provider
    return f"{provider}:FILE" if provider == "replay" else f"{provider}:MODEL"


# "python" stands for a backend that a program passed in: no config and no command names it.
_FORMS: Final = [short_form(provider) for provider in get_args(Provider) if provider != "python"]
BACKEND_FORMS: Final = f"{', '.join(_FORMS[:-1])} or {_FORMS[-1]}"
"""The short forms of all providers, as help pages and messages list them."""

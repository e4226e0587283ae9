"""The providers, and how the short form of a backend names each."""

from typing import Final, Literal, get_args

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

"""The prompt files: which file instructs a role under which rules and in which language, and their hashes."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from episodic_absa.pipeline.roles import ROLE_SPECS, V1_ROLES
from episodic_absa.vocabulary import Language, Role, Rules

_ROLES: Final[dict[Rules, tuple[Role, ...]]] = {
    "seed": V1_ROLES,
    "v3": tuple(ROLE_SPECS),
}
_LANGUAGES: Final = ("en", "ko")


def prompt_name(role: Role, rules: Rules, language: Language) -> str:
    """Return the name of a prompt. Under v3 a prompt shows examples in the language of the sample only."""
    if rules == "seed":
        return f"{role}.v1"
    return f"v3/{role}.{language if language in _LANGUAGES else 'en'}"


@cache
def instructions(name: str) -> str:
    """Return the instructions of a prompt by its name."""
    folder, file = ("pipeline", name.removeprefix("v3/")) if name.startswith("v3/") else ("seed", name)
    return (files("episodic_absa") / folder / "prompts" / f"{file}.md").read_text("utf-8").strip()


@cache
def prompt_versions(rules: Rules = "seed") -> dict[str, str]:
    """Return the sha256 of every prompt that these rules use, by name."""
    languages: tuple[Language, ...] = ("en", "ko")
    names = dict.fromkeys(prompt_name(role, rules, language) for role in _ROLES[rules] for language in languages)
    return {name: hashlib.sha256(instructions(name).encode()).hexdigest() for name in names}

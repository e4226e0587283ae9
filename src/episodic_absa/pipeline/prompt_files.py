"""The prompt files of both sets of rules, and their hashes."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from episodic_absa.pipeline.roles import ROLE_SPECS, SEED_ROLES
from episodic_absa.vocabulary import Language, Role, Rules

_LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")


class PromptFiles(NamedTuple):
    """The prompts that some rules use."""

    package: str
    """The package whose folder `prompts` holds them."""
    form: str
    """The name of a prompt."""
    file: str
    """The file of a prompt."""
    roles: tuple[Role, ...]
    states_form: bool
    """Whether a prompt states the form of the answer, so that no schema follows it."""

    def name(self, role: Role, language: Language) -> str:
        """Return the name of a prompt. It shows examples in the language of the sample, if it has some."""
        return self.form.format(role=role, language=language if language in _LANGUAGES else "en")

    def instructions(self, role: Role, language: Language) -> str:
        """Return the instructions of a role."""
        file = self.file.format(role=role, language=language if language in _LANGUAGES else "en")
        return _text(self.package, file)

    def all(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the instructions of every prompt."""
        for role in self.roles:
            for language in _LANGUAGES:
                yield self.name(role, language), self.instructions(role, language)


PROMPT_FILES: Final[Mapping[Rules, PromptFiles]] = {
    "seed": PromptFiles("seed", "{role}.v1", "{role}.v1.md", SEED_ROLES, states_form=False),
    "v3": PromptFiles("pipeline", "v3/{role}.{language}", "{role}.{language}.md", tuple(ROLE_SPECS), states_form=True),
}


@cache
def prompt_versions(rules: Rules = "seed") -> dict[str, str]:
    """Return the sha256 of every prompt that these rules use, by name."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in PROMPT_FILES[rules].all()}


@cache
def _text(package: str, file: str) -> str:
    return (files("episodic_absa") / package / "prompts" / file).read_text("utf-8").strip()

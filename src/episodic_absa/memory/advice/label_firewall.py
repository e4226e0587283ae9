"""The last look at every message and warning: no label word and none of the sample's aspect terms may pass."""

from collections.abc import Sequence
from typing import NamedTuple

from episodic_absa.errors import LeakageError
from episodic_absa.language import find_aspect_term, find_polarity_word
from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1
from episodic_absa.vocabulary import FirewallMode


class Screened(NamedTuple):
    """What passed, and how much did not."""

    advisories: tuple[AdvisoryV1_1, ...]
    warnings: tuple[str, ...]
    dropped_n: int


class LabelFirewall:
    """Leaves a leaking item out (`drop`) or fails the sample (`strict`)."""

    def __init__(self, mode: FirewallMode = "drop") -> None:
        self._mode = mode

    def screen(self, build: AdvisoryBuild, aspect_terms: Sequence[str]) -> Screened:
        """Let through what names neither a label nor a term of this sample."""
        advisories = tuple(one for one in build.advisories if self._passes(one.message, aspect_terms))
        warnings = tuple(one for one in build.warnings if self._passes(one, aspect_terms))
        dropped = len(build.advisories) + len(build.warnings) - len(advisories) - len(warnings)
        return Screened(advisories, warnings, dropped)

    def _passes(self, wording: str, aspect_terms: Sequence[str]) -> bool:
        found = find_polarity_word(wording) or find_aspect_term(wording, aspect_terms)
        if found is not None and self._mode == "strict":
            raise LeakageError("an advisory names a label or an aspect of the sample", field="message")
        return found is None

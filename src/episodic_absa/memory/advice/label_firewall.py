"""Checks every message and warning before it may be shown: no label word and no aspect term of the sample."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple, TypeVar

from episodic_absa.errors import LeakageError
from episodic_absa.language import find_aspect_term, find_polarity_word
from episodic_absa.memory.advice.advisory_builder import AdvisoryBuild
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1
from episodic_absa.schemas.memory_v1_2 import AdvisoryV1_2, AnyAdvisory
from episodic_absa.vocabulary import FirewallMode

AdvisoryT = TypeVar("AdvisoryT", AdvisoryV1_1, AdvisoryV1_2, AnyAdvisory)


class Screened(NamedTuple):
    """The advisories and warnings that passed, and how many did not."""

    advisories: tuple[AnyAdvisory, ...]
    warnings: tuple[str, ...]
    dropped_n: int
    warning_principles: tuple[str, ...] = ()
    """The principle that each warning comes from."""


class LabelFirewall:
    """Removes an item that names a label or an aspect (`drop`), or raises (`strict`)."""

    def __init__(self, mode: FirewallMode = "drop") -> None:
        self._mode = mode

    def screen(self, build: AdvisoryBuild, aspect_terms: Sequence[str]) -> Screened:
        """Return the advisories and warnings that name neither a label nor an aspect term of the sample.

        Raises:
            LeakageError: an item leaks and the mode is `strict`.
        """
        advisories = tuple(item for item in build.advisories if self._passes(item.message, aspect_terms))
        passes = [self._passes(warning, aspect_terms) for warning in build.warnings]
        warnings = tuple(compress(build.warnings, passes))
        dropped = len(build.advisories) + len(build.warnings) - len(advisories) - len(warnings)
        return Screened(advisories, warnings, dropped, tuple(compress(build.warning_principles, passes)))

    def _passes(self, wording: str, aspect_terms: Sequence[str]) -> bool:
        leak = find_polarity_word(wording) or find_aspect_term(wording, aspect_terms)
        if leak is not None and self._mode == "strict":
            raise LeakageError("an advisory names a label or an aspect of the sample", field="message")
        return leak is None

"""Words in both languages of a report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bilingual:
    """The same words for readers of English and of Korean."""

    en: str
    ko: str

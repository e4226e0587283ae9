"""Words in both languages of a report."""

from dataclasses import dataclass
from typing import Final, Literal

Language = Literal["en", "ko"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")


@dataclass(frozen=True)
class Bilingual:
    """The same words for readers of English and of Korean."""

    en: str
    ko: str

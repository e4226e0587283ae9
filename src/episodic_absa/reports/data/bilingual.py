"""Words in both languages of a report."""

from episodic_absa.schemas.frozen_model import FrozenModel


class Bilingual(FrozenModel):
    """The same sentence for readers of English and of Korean."""

    en: str
    ko: str

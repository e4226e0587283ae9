"""The table of debate speakers."""

from typing import Final

from episodic_absa.schemas.absa import Persona
from episodic_absa.vocabulary import Speaker

PERSONAS: Final[dict[Speaker, Persona]] = {
    "epm": Persona(name="EPM", role="Evidence-Polarity Mapper", goal="find the exact words that support each polarity"),
    "tan": Persona(name="TAN", role="Target-Aspect Normalizer", goal="see that every target is the right Stage1 term"),
    "cj": Persona(name="CJ", role="Consistency Judge", goal="see that the tuples fit each other and the sentence"),
}
"""Who speaks, as the prompts introduce them."""

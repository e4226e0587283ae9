"""Finds the words that a model quotes, and tells whether they stand beside their aspect."""

from episodic_absa.language import clauses, norm, occurrences
from episodic_absa.schemas.absa import Span
from episodic_absa.vocabulary import Language


def words_in_text(quote: str, text: str) -> str:
    """Return the quote as the text writes it; "" if the text does not hold it."""
    for form in (quote.strip(), norm(quote)):
        offsets = occurrences(form, text)
        if offsets:
            return text[offsets[0] : offsets[0] + len(form)]
    return ""


def lies_at_home(words: str, place: Span | None, text: str, language: Language) -> bool:
    """Return whether words of the text stand in the clause of the place. Without a place there is no such clause."""
    if place is None or not words:
        return False
    home = next(((start, end) for start, end in clauses(text, language) if start <= place.start < end), None)
    if home is None:
        return False
    return any(home[0] <= offset and offset + len(words) <= home[1] for offset in occurrences(words, text))

"""Finds the words that a model quotes."""

from episodic_absa.language import norm, occurrences


def words_in_text(quote: str, text: str) -> str:
    """Return the quote as the text writes it; "" if the text does not hold it."""
    for form in (quote.strip(), norm(quote)):
        offsets = occurrences(form, text)
        if offsets:
            return text[offsets[0] : offsets[0] + len(form)]
    return ""

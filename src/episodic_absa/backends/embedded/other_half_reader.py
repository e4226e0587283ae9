"""The reader on the embedded backend, whose answers come from the same rules and weights."""

from episodic_absa.backends.embedded.embedded_reader import EmbeddedReader
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.vocabulary import Language, Polarity


class OtherHalfReader(EmbeddedReader):
    """Witnesses a change with the half, rules or weights, that did not propose it."""

    def view_of_change(
        self, text: str, language: Language, term: str, from_polarity: Polarity | None, to_polarity: Polarity | None
    ) -> ReaderView | None:
        """Return the view of the other half; None if both or neither propose the change."""
        return self.other_half(text, language, term, from_polarity, to_polarity)

"""What the pipeline and the embedded engine ask of a reader."""

from typing import Protocol

from episodic_absa.reader.readings import Reading
from episodic_absa.schemas.reader_view import ReaderView
from episodic_absa.vocabulary import Language


class TextReader(Protocol):
    """Reads a text without having seen any answer of a model."""

    def read(self, text: str, language: Language | None = None) -> Reading:
        """Return the pairs that the reader names, and its label of the text."""
        ...

    def reads(self, language: Language) -> bool:
        """Return whether the reader knows a language."""
        ...

    def view(self, text: str, language: Language, term: str) -> ReaderView | None:
        """Return what the reader makes of a term; None if it cannot read the language or the term."""
        ...

"""Builds the signature of a text. The memory keeps the signature and never the text."""

import unicodedata
from functools import lru_cache
from typing import Final

from episodic_absa.language import detect_structures, effective_language, first_contrast_marker
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.vocabulary import Language, LengthBucket

_SHORT_BELOW: Final = 50
_MEDIUM_BELOW: Final = 200


class SignatureBuilder:
    """Reads structures off a text with the shared lexicon.

    Example:
        >>> from episodic_absa import SignatureBuilder
        >>> signature = SignatureBuilder().build("The battery lasts long, but the screen is too dark.", "en", 2)
        >>> signature.detected_structure, signature.contrast_marker, signature.length_bucket
        (('contrast',), 'but', 'medium')
    """

    def build(self, raw_text: str, language: str | None, num_aspects: int) -> InputSignatureV1_1:
        """Return the signature of a text: language, structures, number of aspects and length.

        Args:
            raw_text: the text of the sample; nothing of it is kept but the lexicon form of a contrast marker.
            language: a language code; None, "" or "unknown" is detected from the text.
            num_aspects: how many aspects Stage1 kept.
        """
        text = unicodedata.normalize("NFC", raw_text)
        return _signature(text, effective_language(language, text), num_aspects)


@lru_cache(maxsize=64)  # the read, the write and the record of a sample ask for the same signature
def _signature(text: str, language: Language, num_aspects: int) -> InputSignatureV1_1:
    structures = detect_structures(text, language)
    return InputSignatureV1_1(
        language=language,
        detected_structure=structures,
        contrast_marker=first_contrast_marker(text, language),
        # Without a lexicon for the language, null says that nobody has looked.
        has_negation=None if language == "other" else "negation" in structures,
        num_aspects=num_aspects,
        length_bucket=length_bucket(text),
    )


def length_bucket(text: str) -> LengthBucket:
    """Return the length bucket of a text, outer white space not counted."""
    length = len(text.strip())
    if length < _SHORT_BELOW:
        return "short"
    return "medium" if length < _MEDIUM_BELOW else "long"

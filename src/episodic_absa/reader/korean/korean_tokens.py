"""The morphemes of a Korean text, as the modules beside this one look at them."""

from dataclasses import dataclass
from typing import Final

from episodic_absa.language import Morpheme
from episodic_absa.reader.korean.opinion_lexicon import OpinionLexicon

NOUNS: Final = frozenset({"NNG", "NNP", "SL", "XR", "XPN", "SH"})
# Endings that bind to what follows instead of closing a clause.
BINDING_ENDINGS: Final = frozenset(
    {
        "게",
        "지",
        "어",
        "아",
        "다고",
        "라고",
        "자고",
        "냐고",
        "러",
        "려고",
        "도록",
        "어야",
        "을지",
        "ᆯ지",
        "는지",
        "은지",
        "ᆫ지",
    }
)


@dataclass(frozen=True, slots=True)
class KoreanTokens:
    """A text with its morphemes; positions outside it are empty."""

    text: str
    items: tuple[Morpheme, ...]
    forms: list[str]
    tags: list[str]
    """Without the mark of irregular stems."""
    lexicon: OpinionLexicon

    def tag(self, at: int) -> str:
        """Return the tag at a position."""
        return self.tags[at] if 0 <= at < len(self.tags) else ""

    def form(self, at: int) -> str:
        """Return the form at a position."""
        return self.forms[at] if 0 <= at < len(self.forms) else ""

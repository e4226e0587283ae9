"""A situation in closed words: all that an agent tells the memory. It has no field for text or labels."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from episodic_absa.errors import InputError
from episodic_absa.language.language_codes import checked_language_code
from episodic_absa.language.review_text import checked_review
from episodic_absa.memory.signature_builder import SignatureBuilder
from episodic_absa.vocabulary import Language, LengthBucket, Severity

SituationStructure = Literal["negation", "contrast", "irony"]
SituationRisk = Literal[
    "negation_scope",
    "contrast_scope",
    "irony",
    "polarity_mismatch",
    "evidence_gap",
    "span_mismatch",
    "missing_second_aspect",
    "other",
]
"""What may go wrong in a situation, as plain words; docs/agent_memory.md explains each."""

_LARGEST_COUNT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent is about to judge, in words of a closed vocabulary.

    Args:
        language: the language of the text: `ko`, `en` or `other`.
        structures: what the text contains: `negation`, `contrast`, `irony`.
        risks: what may go wrong: `negation_scope`, `contrast_scope`, `irony`, `polarity_mismatch`, `evidence_gap`,
            `span_mismatch`, `missing_second_aspect`, `other`.
        severity: how grave the risks are: `low`, `mid` or `high`.
        conflict: whether two answers of the agent contradict each other.
        length: the length of the text: `short` (below 50 characters), `medium` (below 200) or `long`.
        targets: how many things the agent judges.

    Raises:
        InputError: a word is unknown. The message names the words that are known.

    Example:
        >>> from episodic_absa import Situation
        >>> Situation(language="en", structures={"negation"}, risks={"negation_scope"})
        Situation(en, medium, negation; risks: negation_scope)
    """

    language: Language
    structures: Collection[SituationStructure] = ()
    risks: Collection[SituationRisk] = ()
    severity: Severity = "mid"
    conflict: bool = False
    length: LengthBucket = "medium"
    targets: int = 1

    def __post_init__(self) -> None:
        _check("language", self.language, get_args(Language))
        _check("severity", self.severity, get_args(Severity))
        _check("length", self.length, get_args(LengthBucket))
        for name, known in (("structures", get_args(SituationStructure)), ("risks", get_args(SituationRisk))):
            words = getattr(self, name)
            if not isinstance(words, Iterable):
                raise InputError(f"{name} must be a set of words, got {type(words).__name__}", argument=name)
            words = (words,) if isinstance(words, str) else tuple(words)
            for word in words:
                _check(name, word, known)
            # Sets have no order; in the order of the vocabulary equal situations are equal and give equal bytes.
            object.__setattr__(self, name, tuple(word for word in known if word in words))
        if not isinstance(self.conflict, bool):
            raise InputError(f"conflict must be True or False, got {type(self.conflict).__name__}", argument="conflict")
        if (
            isinstance(self.targets, bool)
            or not isinstance(self.targets, int)
            or not 0 <= self.targets < _LARGEST_COUNT
        ):
            raise InputError(f"targets must be a whole number from 0 to {_LARGEST_COUNT - 1}", argument="targets")

    @classmethod
    def of_text(
        cls,
        text: str,
        *,
        language: str | None = None,
        risks: Collection[SituationRisk] = (),
        severity: Severity = "mid",
        conflict: bool = False,
        targets: int = 1,
    ) -> "Situation":
        """Return the situation of a text: language, structures and length are read off it; the text is not kept.

        Raises:
            InputError: the text is empty or no text, or a word is unknown.

        Example:
            >>> from episodic_absa import Situation
            >>> Situation.of_text("The screen is not dark.")
            Situation(en, short, negation)
        """
        if not isinstance(text, str):
            raise InputError(
                f"Situation.of_text reads the text of a case, a str, got {type(text).__name__}; without a text write "
                "Situation(language=...)",
                argument="text",
            )
        signature = SignatureBuilder().build(checked_review(text), checked_language_code(language), targets)
        return cls(
            language=signature.language,
            structures=tuple(word for word in signature.detected_structure if word != "none"),
            risks=risks,
            severity=severity,
            conflict=conflict,
            length=signature.length_bucket,
            targets=targets,
        )

    def __repr__(self) -> str:
        words = ", ".join([self.language, self.length, *self.structures, *(["conflict"] if self.conflict else [])])
        risks = f"; risks: {', '.join(self.risks)}" if self.risks else ""
        return f"Situation({words}{risks})"


def _check(argument: str, word: object, known: tuple[str, ...]) -> None:
    if not isinstance(word, str) or word not in known:
        # A caller may pass a text by mistake; the message does not repeat it.
        raise InputError(f"unknown word in {argument}; choose from: {', '.join(known)}", argument=argument)

"""Language rules: detection, normalised terms, structural cues, polarity words."""

from episodic_absa.language.clauses import clauses
from episodic_absa.language.cues import (
    Cue,
    CueKind,
    detect_structures,
    find_contrasts,
    find_ironies,
    find_negations,
    first_contrast_marker,
)
from episodic_absa.language.korean_analyser import (
    Morpheme,
    ends_in_predicate,
    ends_with_particle,
    morphemes,
    strip_particle,
)
from episodic_absa.language.language_detection import effective_language
from episodic_absa.language.lexicon import forms, lexicon_sha256
from episodic_absa.language.polarity_words import find_aspect_term, find_polarity_word
from episodic_absa.language.second_aspect import guess_second_aspect
from episodic_absa.language.terms import nearest_occurrence, norm, norm_key, occurrences, occurs, synonyms_of
from episodic_absa.language.word_reading import (
    NOTHING_READ,
    Action,
    PolarityCounts,
    PolarityReading,
    read_action,
    read_label,
    read_polarity,
)

__all__ = [
    "NOTHING_READ",
    "Action",
    "Cue",
    "CueKind",
    "Morpheme",
    "PolarityCounts",
    "PolarityReading",
    "clauses",
    "detect_structures",
    "effective_language",
    "ends_in_predicate",
    "ends_with_particle",
    "find_aspect_term",
    "find_contrasts",
    "find_ironies",
    "find_negations",
    "find_polarity_word",
    "first_contrast_marker",
    "forms",
    "guess_second_aspect",
    "lexicon_sha256",
    "morphemes",
    "nearest_occurrence",
    "norm",
    "norm_key",
    "occurrences",
    "occurs",
    "read_action",
    "read_label",
    "read_polarity",
    "strip_particle",
    "synonyms_of",
]

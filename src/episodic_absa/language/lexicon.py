"""Reads and validates lexicon.yaml. The modules beside it match its forms against texts."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.serialization.yaml_file import parse_yaml

LEXICON_PATH: Final = Path(__file__).with_name("lexicon.yaml")

_Form = Annotated[str, Field(min_length=1)]
_Forms = Annotated[tuple[_Form, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Particles(_Part):
    """Korean particles: those that may be removed, and all that may follow a noun."""

    removable: _Forms
    attached: _Forms


class KoreanContrast(_Part):
    """Contrast words and word endings."""

    words: _Forms
    word_tails: tuple[_Form, ...]
    endings: _Forms
    never_ending_in: tuple[_Form, ...]
    although_ending_in: tuple[_Form, ...]


class NegatingAdverb(_Part):
    """안 or 못, with the predicate stems that may be glued to it."""

    form: _Form
    stems: _Forms
    never: tuple[_Form, ...]


class NegatingAuxiliary(_Part):
    """An auxiliary that negates after a connective such as -지."""

    form: _Form
    stems: _Forms


class Absence(_Part):
    """없-, and the nouns with which it affirms."""

    form: _Form
    stem: _Form
    never_after: tuple[_Form, ...]


class KoreanNegation(_Part):
    """Korean negation: adverbs, connectives with auxiliaries, absence, word beginnings."""

    adverbs: tuple[NegatingAdverb, ...]
    connectives: _Forms
    connective_never_after: tuple[_Form, ...]
    auxiliaries: tuple[NegatingAuxiliary, ...]
    absence: Absence
    word_starts: _Forms


class KoreanPhrase(_Part):
    """A phrase whose parts may be spaced freely and conjugated."""

    form: _Form
    parts: Annotated[tuple[_Forms, ...], Field(min_length=1)]


class KoreanIrony(_Part):
    """Conservative irony cues."""

    word_starts: tuple[_Form, ...]
    words: tuple[_Form, ...]
    phrases: tuple[KoreanPhrase, ...]


class KoreanCues(_Part):
    """The Korean cues."""

    contrast: KoreanContrast
    negation: KoreanNegation
    irony: KoreanIrony


class EnglishContrast(_Part):
    """Contrast words."""

    words: _Forms


class EnglishNegation(_Part):
    """Negating words and endings."""

    words: _Forms
    clitics: tuple[_Form, ...]


class EnglishIrony(_Part):
    """Conservative irony cues."""

    phrases: tuple[_Form, ...]
    final_tokens: tuple[_Form, ...]


class ClosedClasses(_Part):
    """Words that mark the beginning and the end of a noun phrase."""

    determiners: frozenset[_Form]
    pronouns: frozenset[_Form]
    verbs: frozenset[_Form]
    adverbs: frozenset[_Form]
    adjectives: frozenset[_Form]
    function_words: frozenset[_Form]


class EnglishCues(_Part):
    """The English cues."""

    contrast: EnglishContrast
    negation: EnglishNegation
    irony: EnglishIrony
    closed_classes: ClosedClasses


class PolarityForms(_Part):
    """The label words that no advisory may contain."""

    words: _Forms
    stems: _Forms


class Lexicon(_Part):
    """The whole file."""

    particles: Particles
    ko: KoreanCues
    en: EnglishCues
    synonyms: tuple[_Forms, ...]
    polarity: PolarityForms


@cache
def load_lexicon() -> Lexicon:
    """Return the shipped lexicon."""
    return parse_lexicon(_lexicon_bytes(), LEXICON_PATH)


@cache
def lexicon_sha256() -> str:
    """Return the sha256 of the lexicon file's bytes, as the manifest records it."""
    return hashlib.sha256(_lexicon_bytes()).hexdigest()


def parse_lexicon(raw: bytes, path: Path) -> Lexicon:
    """Return the lexicon in the bytes of a file; `path` appears in errors only.

    Raises:
        ConfigError: the content is no valid lexicon.
    """
    try:
        return Lexicon.model_validate(parse_yaml(raw, path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"]) or None
        raise ConfigError(
            f"the lexicon {path} is broken at {key or 'the top'}: {first['msg']}; restore the shipped file",
            path=path,
            key=key,
        ) from error


@cache
def _lexicon_bytes() -> bytes:
    # Read once: the hash and the cues in use must come from the same bytes.
    try:
        return LEXICON_PATH.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read the lexicon {LEXICON_PATH}: {error}; reinstall the package", path=LEXICON_PATH
        ) from error

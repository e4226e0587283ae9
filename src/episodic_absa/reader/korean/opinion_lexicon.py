"""The Korean word lists, read from YAML once and checked, and the matching of idioms."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from episodic_absa.errors import ConfigError
from episodic_absa.serialization.yaml_file import read_yaml_file

ModelT = TypeVar("ModelT", bound=BaseModel)
_FOLDER: Final = Path(__file__).parent
_ANY_TOKENS: Final = 2
"""How many tokens a ~ may stand for."""


class _Checked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Colour(_Checked):
    """A word whose polarity depends on its target."""

    other: float
    good: frozenset[str]
    bad: frozenset[str]

    def score_for(self, words: Sequence[str]) -> float:
        """Return the score when said of a target that consists of these words."""
        # The last word is the head: in "battery charging time" it is the time that is long.
        for word in reversed(words):
            if word in self.good:
                return max(1.5, abs(self.other))
            if word in self.bad:
                return -max(1.5, abs(self.other))
        return self.other


class _IdiomLine(_Checked):
    seq: str
    score: float
    verdict: bool = False
    object: bool = False
    comparative: bool = False
    skip: bool = False
    subject: bool = False
    keep_last: bool = False
    comparison: bool = False
    place: bool = False
    event: bool = False
    reverses: bool = False


class _Part(NamedTuple):
    forms: frozenset[str] | None
    optional: bool


class Idiom(NamedTuple):
    """A sequence of tokens that means more than its words."""

    seq: str
    parts: tuple[_Part, ...]
    score: float
    verdict: bool
    """It judges the whole and needs no target."""
    object: bool
    """The target stands after it."""
    comparative: bool
    """Holds only before a comparative (could be better)."""
    skip: bool
    """No opinion at all; listed so that its words are not taken for one."""
    subject: bool
    """Its first word is the target itself."""
    keep_last: bool
    """Its last word belongs to the target."""
    comparison: bool
    """The noun before it is what the target is compared with."""
    place: bool
    """The target may be the place where it is seen (말투에 가시가 돋치다)."""
    event: bool
    """What somebody did to something: said of who did it if named, else of what it was done to."""
    reverses: bool
    """Turns the opinion right behind it round (anything but, far from)."""

    def end_of_match(self, forms: Sequence[str], start: int) -> int | None:
        """Return where the idiom ends if it begins at `start`."""
        return _match(self.parts, forms, 0, start)


def _match(parts: tuple[_Part, ...], forms: Sequence[str], part: int, at: int) -> int | None:
    if part == len(parts):
        return at
    wanted = parts[part]
    if wanted.forms is None:
        for skipped in range(_ANY_TOKENS + 1):
            end = _match(parts, forms, part + 1, at + skipped)
            if end is not None:
                return end
        return None
    if at < len(forms) and forms[at] in wanted.forms:
        end = _match(parts, forms, part + 1, at + 1)
        if end is not None:
            return end
    return _match(parts, forms, part + 1, at) if wanted.optional else None


def _parse_idiom(line: _IdiomLine) -> Idiom:
    parts = tuple(
        _Part(None, optional=False)
        if piece == "~"
        else _Part(frozenset(piece.removesuffix("?").split("|")), piece.endswith("?"))
        for piece in line.seq.split()
    )
    return Idiom(parts=parts, **line.model_dump())


class _OpinionFile(_Checked):
    words: dict[float, tuple[str, ...]]
    by_target: dict[str, Colour]
    idioms: tuple[_IdiomLine, ...]
    intensifiers: frozenset[str]
    softeners: frozenset[str]
    conclusions: frozenset[str]
    only_as: dict[str, str] = {}
    unwanted: frozenset[str] = frozenset()
    not_targets: frozenset[str] = frozenset()
    object_verbs: dict[float, tuple[str, ...]] = {}
    not_opinions: frozenset[str] = frozenset()
    modified_heads: frozenset[str] = frozenset()
    body_parts: frozenset[str] = frozenset()
    bodily: frozenset[str] = frozenset()
    joined_nouns: frozenset[str] = frozenset()


class OpinionLexicon(NamedTuple):
    """The opinion words of one language."""

    words: dict[str, float]
    by_target: dict[str, Colour]
    idioms: dict[str, tuple[Idiom, ...]]
    """By the first form."""
    intensifiers: frozenset[str]
    softeners: frozenset[str]
    conclusions: frozenset[str]
    only_as: dict[str, str]
    unwanted: frozenset[str]
    not_targets: frozenset[str]
    object_verbs: dict[str, float]
    not_opinions: frozenset[str]
    modified_heads: frozenset[str]
    """Nouns that are targets only with another noun before them."""
    body_parts: frozenset[str]
    bodily: frozenset[str]
    """What a part of the body feels; nothing is said of a target by it."""
    joined_nouns: frozenset[str]
    """Nouns that the analyser takes apart."""

    def longest_idiom(self, forms: Sequence[str], start: int) -> tuple[Idiom, int] | None:
        """Return the idiom at `start` that takes the most tokens, and where it ends."""
        best: tuple[Idiom, int] | None = None
        for idiom in self.idioms.get(forms[start], ()):
            end = idiom.end_of_match(forms, start)
            if end is not None and (best is None or end > best[1]):
                best = (idiom, end)
        return best


@cache
def korean_lexicon() -> OpinionLexicon:
    """Return the Korean opinion words."""
    return _load_opinions("korean_opinions.yaml", "korean_idioms.yaml")


def _load_opinions(*names: str) -> OpinionLexicon:
    file = _checked(_OpinionFile, *names)
    idioms: dict[str, list[Idiom]] = {}
    for idiom in map(_parse_idiom, file.idioms):
        for first in idiom.parts[0].forms or ():
            idioms.setdefault(first, []).append(idiom)
    return OpinionLexicon(
        words={word: score for score, words in file.words.items() for word in words},
        by_target=file.by_target,
        idioms={first: tuple(found) for first, found in idioms.items()},
        intensifiers=file.intensifiers,
        softeners=file.softeners,
        conclusions=file.conclusions,
        only_as=file.only_as,
        unwanted=file.unwanted,
        not_targets=file.not_targets,
        object_verbs={word: score for score, words in file.object_verbs.items() for word in words},
        not_opinions=file.not_opinions,
        modified_heads=file.modified_heads,
        body_parts=file.body_parts,
        bodily=file.bodily,
        joined_nouns=file.joined_nouns,
    )


def _checked(model: type[ModelT], *names: str) -> ModelT:
    """Read one list, which may be spread over several files."""
    path = _FOLDER / names[0]
    content: dict[str, Any] = {}
    for name in names:
        content |= read_yaml_file(_FOLDER / name)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path} is not a word list of the embedded engine: {error}", path=path) from error

"""The reviews of a drill: hostile ones with their canaries, and ordinary ones between them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError, field_validator

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.serialization.yaml_file import read_yaml_file

UID_PREFIX: Final = "drill-"
"""Stands before the id of a review in the uid of its sample."""
_SHORTEST_CANARY: Final = 5
_HOSTILE_IN_A_ROW: Final = 3
_SHIPPED: Final = Path(__file__).with_name("hostile_reviews.yaml")
_BESIDE_LETTERS: Final = re.compile(r"[\W_]+")
_LOOK_ALIKE: Final = str.maketrans(
    "\u0430\u03b1\u0432\u0441\u0501\u0435\u04bb\u043d\u0456\u03b9\u0458\u043a\u03ba"
    "\u043c\u043e\u03bf\u0440\u03c1\u0433\u0455\u0442\u03c4\u03c5\u03bd\u0445\u0443",
    "aabcdehhiijkkmoopprsttuvxy",
)
"""Cyrillic and Greek letters that are read as Latin ones."""
_Name = Annotated[str, Field(min_length=1, max_length=64)]


class Attack(FrozenModel):
    """One kind of attack."""

    what: str
    terms: Literal["allowed", "never"]
    """Whether a term of such a review may stand in the store."""
    quotes_catalogue: bool = False
    """Whether such reviews repeat sentences of the shipped principles, which advisories show anyway."""


class ScriptedPair(FrozenModel):
    """A pair that an obedient model answers."""

    term: str
    polarity: str
    then: str | None = None
    """The polarity to which the model changes in the debate."""


class DrillReview(FrozenModel):
    """A review, and what an obedient model answers to it."""

    id: _Name
    language: Literal["ko", "en"]
    text: Annotated[str, Field(min_length=1)]
    pairs: tuple[ScriptedPair, ...]
    says: str = ""

    @property
    def sample(self) -> Sample:
        """The review as the pipeline takes it."""
        return Sample(uid=f"{UID_PREFIX}{self.id}", text=self.text, language_code=self.language)

    @property
    def spoken(self) -> str:
        """What an obedient model writes wherever it may write freely."""
        return self.says or self.text


class HostileReview(DrillReview):
    """A review that attacks the program."""

    attack: _Name
    canary: Annotated[str, Field(max_length=64)]
    """A word that occurs in no other review."""
    hides: tuple[str, ...] = ()
    """Further forms of the canary."""

    @property
    def spoken(self) -> str:
        """What an obedient model writes wherever it may write freely: the canary is always in it."""
        return self.says or f"{self.canary}: {self.text}"

    @field_validator("canary")
    @classmethod
    def _can_be_told_apart(cls, canary: str) -> str:
        if len(folded(canary)) < _SHORTEST_CANARY:
            raise ValueError(f"a canary needs at least {_SHORTEST_CANARY} letters and digits")
        return canary


class DrillReviews(FrozenModel):
    """Everything that a drill reads."""

    attacks: Mapping[str, Attack]
    hostile: Annotated[tuple[HostileReview, ...], Field(min_length=1)]
    ordinary: Annotated[tuple[DrillReview, ...], Field(min_length=1)]

    def in_order(self) -> Iterator[DrillReview]:
        """Yield all reviews, an ordinary one after every third hostile one: memory may show it what it kept of them."""
        hostile, ordinary = iter(self.hostile), iter(self.ordinary)
        while group := list(islice(hostile, _HOSTILE_IN_A_ROW)):
            yield from chain(group, islice(ordinary, 1))
        yield from ordinary

    def attack_of(self, review: HostileReview) -> Attack:
        """Return the kind of attack of a review."""
        return self.attacks[review.attack]


def folded(string: str) -> str:
    r"""Return the letters and digits of a string in one case, with look-alike letters as Latin ones.

    Example:
        >>> folded("Sk\u043e\u200bpel_30")
        'skopel30'
    """
    plain = unicodedata.normalize("NFKC", string).casefold().translate(_LOOK_ALIKE)
    return _BESIDE_LETTERS.sub("", plain)


def load_reviews(path: Path | None = None) -> DrillReviews:
    """Return the reviews of a file, by default the shipped ones.

    Raises:
        ConfigError: the file cannot be read, or two of its reviews cannot be told apart.
    """
    path = path or _SHIPPED
    try:
        reviews = DrillReviews.model_validate(read_yaml_file(path))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"{path}: {place}: {problem['msg']}", path=path, key=place) from error
    if problem_text := _ambiguity(reviews):
        raise ConfigError(f"{path}: {problem_text}", path=path, key="hostile")
    return reviews


def _ambiguity(reviews: DrillReviews) -> str | None:
    """Return why reviews or canaries cannot be told apart, None if they can."""
    everything = tuple(reviews.in_order())
    if len({review.id for review in everything}) < len(everything):
        return "two reviews have the same id; give each its own"
    if len({review.sample.text for review in everything}) < len(everything):
        return "two reviews have the same text; change one of them"
    texts = {review.id: folded(review.text) for review in everything}
    for review in reviews.hostile:
        if review.attack not in reviews.attacks:
            return f"{review.id}: attack {review.attack} is not among attacks; add it there"
        if any(folded(review.canary) in text for name, text in texts.items() if name != review.id):
            return f"{review.id}: its canary occurs in another review, too; choose another canary"
    return None

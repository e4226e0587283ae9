"""question.json: what a grid is to answer. Written before its first sample; afterwards it is only added to."""

import hashlib
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import ConfigDict, Field

from episodic_absa.schemas.frozen_model import Count, FrozenModel
from episodic_absa.serialization.canonical_json import canonical_json

QUESTION_VERSION: Final = 2
ValueT = TypeVar("ValueT")
Pair = tuple[str, str]
"""Conditions A and B; every difference is A minus B."""


class _Recorded(FrozenModel):
    # A later version may add keys; they do not hinder reading.
    model_config = ConfigDict(extra="ignore")


class AskedQuestion(_Recorded):
    """The question as it was before the first sample."""

    pairs: tuple[Pair, ...]
    """By the names that results use. The first pair is the primary one."""
    primary_metric: str
    smallest_effect: Annotated[float, Field(gt=0, le=1)]
    """The smallest difference in the primary metric that matters."""
    sample_n: Count
    """Distinct reviews over all evaluated cells."""
    uids_sha256: str
    """Hash of the sorted uids of these reviews."""
    conditions: tuple[str, ...]
    orders: tuple[int, ...]
    seeds: tuple[int, ...]
    strata: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """The hash by which the manifests of a grid name the question."""
        return hashlib.sha256(canonical_json(self).encode()).hexdigest()

    @property
    def as_added(self) -> "AddedQuestion":
        """Everything that is asked, as if it had been added."""
        return AddedQuestion(
            primary_metrics=(self.primary_metric,),
            smallest_effects=(self.smallest_effect,),
            **self.model_dump(include={"pairs", "conditions", "orders", "seeds", "strata"}),
        )


class AddedQuestion(_Recorded):
    """What one later invocation added."""

    pairs: tuple[Pair, ...] = ()
    primary_metrics: tuple[str, ...] = ()
    """A primary metric that was named instead of the asked one."""
    smallest_effects: tuple[float, ...] = ()
    conditions: tuple[str, ...] = ()
    orders: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()
    strata: tuple[str, ...] = ()

    def values(self) -> dict[str, tuple[Any, ...]]:
        """Return the added values by the name of their field."""
        return dict(self)


class Question(_Recorded):
    """What was asked before the first sample, and what was added later."""

    format: Literal["episodic_absa.question"] = "episodic_absa.question"
    version: Literal[1, 2] = QUESTION_VERSION
    """From version 2 on the file ends with a seal."""
    asked: AskedQuestion
    added: tuple[AddedQuestion, ...] = ()
    """One entry per invocation that added something, the oldest first."""

    @property
    def added_together(self) -> AddedQuestion:
        """Everything that was added, each value once."""
        values = [addition.values() for addition in self.added]
        return AddedQuestion(**{name: _once(each[name] for each in values) for name in AddedQuestion.model_fields})

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The asked pairs, then the added ones."""
        return (*self.asked.pairs, *self.added_together.pairs)

    @property
    def strata(self) -> tuple[str, ...]:
        """The asked strata, then the added ones."""
        return (*self.asked.strata, *self.added_together.strata)

    def adding(self, now: AskedQuestion) -> "Question":
        """Return the question with what `now` asks beyond it; the same question if that is nothing."""
        asked, added = self.asked.as_added.values(), self.added_together.values()
        known = {name: (*asked[name], *added[name]) for name in asked}
        # The same pair in the other direction asks nothing new.
        known["pairs"] += tuple((b, a) for a, b in known["pairs"])
        addition = AddedQuestion(
            **{name: _beyond(values, known[name]) for name, values in now.as_added.values().items()}
        )
        return self if addition == AddedQuestion() else self.model_copy(update={"added": (*self.added, addition)})


def _once(values: Iterable[tuple[ValueT, ...]]) -> tuple[ValueT, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(values)))


def _beyond(values: tuple[ValueT, ...], known: tuple[ValueT, ...]) -> tuple[ValueT, ...]:
    return tuple(value for value in dict.fromkeys(values) if value not in known)

"""A reading together with the trained weights, and whatever was worked out from the two so far."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar, TypeVarTuple

from episodic_absa.backends.embedded.model.trained_weights import LanguageWeights, TrainedWeights
from episodic_absa.backends.embedded.reading import Reading

ResultT = TypeVar("ResultT")
Details = TypeVarTuple("Details")


@dataclass(frozen=True)
class WeighedReading(Reading):
    """One text as the engine knows it: what the rules read, and the weights to weigh it by."""

    trained: TrainedWeights = field(kw_only=True, repr=False, compare=False)
    _results: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, reading: Reading, trained: TrainedWeights) -> Self:
        """Join a reading and weights."""
        return cls(**{part.name: getattr(reading, part.name) for part in fields(reading)}, trained=trained)

    @property
    def weights(self) -> LanguageWeights:
        """The weights of the text's language; they are loaded when first asked for."""
        return self.trained.of(self.language)

    def once(self, work: "Callable[[WeighedReading, *Details], ResultT]", *details: *Details) -> ResultT:
        """Return `work(self, *details)`, computed on the first call and kept with the reading.

        Ten roles ask about one text. Two threads may both compute a result; they get equal ones.
        """
        key = (work, *details)
        if key not in self._results:
            self._results[key] = work(self, *details)
        result: ResultT = self._results[key]
        return result

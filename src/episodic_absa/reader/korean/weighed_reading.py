"""A reading together with the trained weights, and whatever was worked out from the two so far."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar, TypeVarTuple

from episodic_absa.reader.korean.reading import Reading
from episodic_absa.reader.korean.trained_weights import KoreanWeights

ResultT = TypeVar("ResultT")
Details = TypeVarTuple("Details")


@dataclass(frozen=True)
class WeighedReading(Reading):
    """One text as the engine knows it: what the rules read, and the weights to weigh it by."""

    weights: KoreanWeights = field(kw_only=True, repr=False, compare=False)
    _results: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, reading: Reading, weights: KoreanWeights) -> Self:
        """Join a reading and weights."""
        return cls(**{part.name: getattr(reading, part.name) for part in fields(reading)}, weights=weights)

    def once(self, work: "Callable[[WeighedReading, *Details], ResultT]", *details: *Details) -> ResultT:
        """Return `work(self, *details)`, computed on the first call and kept with the reading.

        Several questions are asked about one text. Two threads may both compute a result; they get equal ones.
        """
        key = (work, *details)
        if key not in self._results:
            self._results[key] = work(self, *details)
        result: ResultT = self._results[key]
        return result

"""A linear model with small integer weights: one row per feature, one column per class."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

Feature: TypeAlias = tuple[str, float]
_DIGITS: Final = 5
"""Probabilities are rounded so that the last bits of a machine's exp() decide nothing."""


class LinearModel(NamedTuple):
    """A multinomial logistic model."""

    classes: tuple[str, ...]
    scale: float
    """What one step of a weight is worth."""
    weights: Mapping[str, Sequence[int]]

    def scores(self, features: Iterable[Feature]) -> list[float]:
        """Return the linear score of each class; unknown features count nothing."""
        row_of = self.weights.get
        rows = [
            row if value == 1.0 else [weight * value for weight in row]
            for name, value in features
            if (row := row_of(name)) is not None
        ]
        return [sum(column) * self.scale for column in zip(*rows, strict=True)] or [0.0] * len(self.classes)

    def probabilities(self, features: Iterable[Feature]) -> dict[str, float]:
        """Return the probability of each class."""
        scores = self.scores(features)
        highest = max(scores)
        shares = [math.exp(score - highest) for score in scores]
        total = sum(shares)
        return {name: round(share / total, _DIGITS) for name, share in zip(self.classes, shares, strict=True)}

"""Reads the weights of the decision: one set for each kind of backend, with where it comes from."""

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from math import log
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, ValidationError, model_validator

from episodic_absa.errors import ConfigError
from episodic_absa.schemas.frozen_model import FrozenModel, Score
from episodic_absa.serialization.yaml_file import read_yaml_file

SHIPPED_WEIGHTS: Final = Path(__file__).with_name("decision_weights.yaml")
READERS_OWN: Final = "reader"
"""The set of answers that are the reader's own: no model was asked."""
CONSERVATIVE: Final = "conservative"
"""The set of every model whose name no pattern matches."""

Probability = Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]
Raises = Annotated[float, Field(strict=True, ge=0.0)]
"""Speaking for a candidate never makes it less likely."""
Lowers = Annotated[float, Field(strict=True, le=0.0)]
"""Speaking against a candidate never makes it likelier."""


class FeatureWeights(FrozenModel):
    """What each voice adds to the log odds of a candidate; who is silent adds nothing."""

    start: float
    stage1_for: Raises
    stage1_other: float
    """Stage1 gives the term another polarity: for the target, against the polarity."""
    confirmed: Raises
    """Of each speaker, and of Stage2, that confirms a pair of Stage1: most confirm nearly everything."""
    speaker_for: Raises
    """Of each speaker, EPM, TAN or CJ, that names a pair which Stage1 lacks; `review_for` likewise."""
    speaker_against: Lowers
    """Of each speaker that doubts a candidate."""
    judge_for: Raises
    judge_against: Lowers
    review_for: Raises
    review_against: Lowers
    reader_for: Raises
    """Per unit of the reader's log odds, where its probability is above one half."""
    reader_against: Lowers
    """Per unit of the reader's log odds, where its probability is below one half."""


class WeightSet(FrozenModel):
    """The weights of one kind of backend."""

    name: str
    models: tuple[str, ...] = ()
    """Patterns of model names in lower case, with `*`."""
    fitted_on: str
    """Which texts and answers the weights come from."""
    tau: Probability
    """A candidate is in from this probability on."""
    unsure_from: Score
    unsure_to: Score
    """A candidate whose probability lies between both is in doubt: an adaptive pipeline asks further."""
    sure: Probability
    """The reader's probability counts as at most this sure, for and against."""
    label_p: Score
    """How likely the model's label of a text without pairs is right."""
    weights: FeatureWeights

    @model_validator(mode="after")
    def _must_keep_what_nobody_doubts(self) -> Self:
        undoubted = self.weights.start + self.weights.stage1_for
        if self.name != READERS_OWN and undoubted < log(self.tau / (1 - self.tau)):
            raise ValueError(f"{self.name}: start + stage1_for must reach tau: a pair that nobody doubts stays")
        return self


class DecisionWeights(FrozenModel):
    """The content of decision_weights.yaml."""

    sets: tuple[WeightSet, ...]

    @model_validator(mode="after")
    def _must_hold_both_defaults(self) -> Self:
        names = [weights.name for weights in self.sets]
        if len(set(names)) < len(names) or not {READERS_OWN, CONSERVATIVE} <= set(names):
            raise ValueError(f"the sets need names of their own, {READERS_OWN} and {CONSERVATIVE} among them")
        return self

    def named(self, name: str) -> WeightSet:
        """Return the set of this name; the conservative one if there is none."""
        sets = {weights.name: weights for weights in self.sets}
        return sets.get(name, sets[CONSERVATIVE])

    def of_models(self, models: Sequence[str]) -> WeightSet:
        """Return the set of the model that answered first; without a model the reader's own."""
        if not models:
            return self.named(READERS_OWN)
        model = models[0].lower()
        fitting = (one for one in self.sets if any(fnmatchcase(model, pattern) for pattern in one.models))
        return next(fitting, self.named(CONSERVATIVE))


@cache
def load_decision_weights(path: Path = SHIPPED_WEIGHTS) -> DecisionWeights:
    """Return the weights of a file, the shipped one by default. A file is read once.

    Raises:
        ConfigError: the file cannot be read, or a key in it is missing, unknown or out of range.
    """
    content = read_yaml_file(path)
    try:
        return DecisionWeights.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{path}: {key + ': ' if key else ''}{first['msg']}; fix the file or run training/decision.py to write it",
            path=path,
            key=key or None,
        ) from error


def decision_sha256(named: Path | None = None) -> str:
    """Return the sha256 of a file of weights, the shipped one by default: runs tell by it what they depend on."""
    path = named or SHIPPED_WEIGHTS
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}", path=path, key="pipeline.decision_weights"
        ) from error

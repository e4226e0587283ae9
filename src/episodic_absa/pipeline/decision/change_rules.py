"""Decides one change by the rules of adoption_rules.yaml, within laws that no file can lift."""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator

from episodic_absa.errors import ConfigError
from episodic_absa.pipeline.decision.changes import ProposedChange
from episodic_absa.pipeline.decision.witnesses import ReaderThresholds
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run_files.change_record import ChangeReason, ChangeRecord, Witness, WitnessName
from episodic_absa.serialization.yaml_file import read_yaml_file
from episodic_absa.vocabulary import SPEAKERS, ChangeKind

SHIPPED_RULES: Final = Path(__file__).with_name("adoption_rules.yaml")
SURE_READER: Final = 0.9
"""From this probability on, a reader that is against blocks a change unless everyone else is for it."""

LAWS: Final[frozenset[ChangeReason]] = frozenset(
    {"no_polarity", "not_in_text", "one_witness", "no_judge_nor_two_speakers", "sure_reader_against"}
)
"""The reasons that `broken_law` gives."""


class TableRow(FrozenModel):
    """One sufficient combination of witnesses."""

    all_for: tuple[WitnessName, ...] = ()
    any_for: tuple[WitnessName, ...] = ()
    any_for_n: Annotated[int, Field(strict=True, ge=1)] = 1
    """How many of `any_for` must be for the change; without `any_for` it says nothing."""
    none_against: tuple[WitnessName, ...] = ()

    @model_validator(mode="after")
    def _must_ask_for_somebody(self) -> Self:
        if not self.all_for and not self.any_for:
            raise ValueError("a row needs all_for or any_for: without them it adopts whatever nobody wants")
        if self.any_for and self.any_for_n > len(self.any_for):
            raise ValueError(f"any_for_n is {self.any_for_n}, but any_for names {len(self.any_for)}")
        return self

    def fits(self, speaking_for: frozenset[WitnessName], against: frozenset[WitnessName]) -> bool:
        """Return whether the witnesses meet the row."""
        enough = not self.any_for or len(speaking_for & set(self.any_for)) >= self.any_for_n
        return enough and speaking_for >= set(self.all_for) and not against & set(self.none_against)


class StanceWeights(FrozenModel):
    """What a witness adds to the score by its stance; a silent one adds nothing."""

    speaks_for: Annotated[float, Field(alias="for")] = 0.0
    against: float = 0.0


class KindWeights(FrozenModel):
    """The weights of one kind of change."""

    threshold: float
    start: float = 0.0
    stances: dict[WitnessName, StanceWeights] = Field(default_factory=dict)


class AdoptionRules(FrozenModel):
    """The content of adoption_rules.yaml. A kind without rows or weights is never adopted."""

    form: Literal["table", "weights"]
    reader: ReaderThresholds
    table: dict[ChangeKind, tuple[TableRow, ...]] = Field(default_factory=dict)
    weights: dict[ChangeKind, KindWeights] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _must_hold_its_form(self) -> Self:
        if not (self.table if self.form == "table" else self.weights):
            raise ValueError(f"form is {self.form}, but {self.form} is empty")
        if self.reader.drop_for_below > self.reader.drop_against_from:
            raise ValueError("reader.drop_for_below must not exceed reader.drop_against_from")
        if self.reader.add_against_below > self.reader.add_for_from:
            raise ValueError("reader.add_against_below must not exceed reader.add_for_from")
        return self


class AdoptDecision(NamedTuple):
    """What became of a change."""

    score: float
    adopted: bool
    reason: ChangeReason


@cache
def load_adoption_rules(path: Path = SHIPPED_RULES) -> AdoptionRules:
    """Return the rules of a file, the shipped one by default. A file is read once.

    Raises:
        ConfigError: the file cannot be read, or a key in it is missing, unknown or contradicts another.
    """
    content = read_yaml_file(path)
    try:
        return AdoptionRules.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(
            f"{path}: {key + ': ' if key else ''}{first['msg']}; fix the file or run training/adoption.py to write it",
            path=path,
            key=key or None,
        ) from error


def adoption_sha256() -> str:
    """Return the sha256 of the shipped rules, by which runs tell on which table their results depend."""
    return hashlib.sha256(SHIPPED_RULES.read_bytes()).hexdigest()


def adopt(change: ProposedChange | ChangeRecord, witnesses: Sequence[Witness], rules: AdoptionRules) -> AdoptDecision:
    """Return whether a change is adopted, its score, and the first reason that refuses it.

    The laws are checked before the rules. Whether the change creates a conflict depends on the other changes:
    `settle` of change_decision.py decides that.
    """
    speaking_for = frozenset(witness.who for witness in witnesses if witness.stance == "for")
    against = frozenset(witness.who for witness in witnesses if witness.stance == "against")
    if rules.form == "table":
        score = float(len(speaking_for) - len(against))
        suffices = any(row.fits(speaking_for, against) for row in rules.table.get(change.kind, ()))
    else:
        weights = rules.weights.get(change.kind)
        score = _weighed(witnesses, weights) if weights else 0.0
        suffices = weights is not None and score >= weights.threshold
    reason = broken_law(change, witnesses) or ("adopted" if suffices else "score_too_low")
    return AdoptDecision(score, reason == "adopted", reason)


def _weighed(witnesses: Sequence[Witness], weights: KindWeights) -> float:
    score = weights.start
    for witness in witnesses:
        stance = weights.stances.get(witness.who)
        if stance is not None and witness.stance != "silent":
            score += stance.speaks_for if witness.stance == "for" else stance.against
    return round(score, 6)


def broken_law(change: ProposedChange | ChangeRecord, witnesses: Sequence[Witness]) -> ChangeReason | None:
    """Return the first law that refuses the change, None if every law allows it."""
    speaking_for = frozenset(witness.who for witness in witnesses if witness.stance == "for")
    if change.kind in ("flip", "add") and change.to_polarity is None:
        return "no_polarity" if change.kind == "flip" or change.to_span is not None else "not_in_text"
    if change.kind == "add" and change.to_span is None:
        return "not_in_text"
    if len(speaking_for) < 2:
        return "one_witness"
    if change.kind == "flip" and "judge" not in speaking_for and len(speaking_for & set(SPEAKERS)) < 2:
        return "no_judge_nor_two_speakers"
    return "sure_reader_against" if _is_blocked_by_reader(witnesses) else None


def _is_blocked_by_reader(witnesses: Sequence[Witness]) -> bool:
    is_sure = any(
        witness.who == "reader" and witness.stance == "against" and (witness.p or 0.0) >= SURE_READER
        for witness in witnesses
    )
    others = [witness for witness in witnesses if witness.who != "reader" and witness.stance != "silent"]
    is_unanimous = all(witness.stance == "for" for witness in others)
    return is_sure and not (is_unanimous and any(witness.quote and witness.at_home for witness in others))

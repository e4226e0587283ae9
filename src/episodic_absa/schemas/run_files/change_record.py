"""One proposed change of Stage1's pairs: who spoke for and against it, and what became of it."""

from typing import Annotated, Literal

from pydantic import Field

from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.vocabulary import ChangeKind, Outcome, Polarity

Stance = Literal["for", "against", "silent"]
WitnessName = Literal["review", "epm", "tan", "cj", "judge", "validator", "reader"]
"""Who can speak about a change: Stage2's verdict, a speaker, the judge, the validator's proposal, the reader."""
ChangeReason = Literal[
    "adopted",
    "one_witness",
    "no_judge_nor_two_speakers",
    "sure_reader_against",
    "creates_conflict",
    "not_in_text",
    "no_polarity",
    "score_too_low",
    "outweighed",
]
"""Why a change was or was not adopted. `outweighed`: another change of the same pair has a higher score."""


class Witness(FrozenModel):
    """One voice about one change."""

    who: WitnessName
    stance: Stance
    quote: str = ""
    """Words that the witness cites and the text holds; empty if it cites none."""
    at_home: Flag = False
    """Whether the quote lies in the aspect's own clause."""
    p: Score | None = None
    """How sure the reader is of its stance; other witnesses state no probability."""


class ChangeRecord(FrozenModel):
    """A change and its decision, as outputs.jsonl holds it."""

    change_id: Annotated[str, Field(pattern=r"^chg_[0-9]{3}$")]
    kind: ChangeKind
    aspect_term: str
    """The Stage1 term, or the term to add."""
    from_polarity: Polarity | None = None
    to_polarity: Polarity | None = None
    to_span: Span | None = None
    """Where an added term stands, or where a revised term stands instead; None if the text does not hold it."""
    to_term: str | None = None
    """For a change of span: the words at the new place."""
    is_polarity_of_reader: Flag = False
    """Whether the reader alone gives an added pair its polarity; no prompt shows such a pair."""
    witnesses: tuple[Witness, ...]
    score: float
    adopted: Flag
    reason: ChangeReason
    outcome: Outcome | None = None
    """Whether the change was right, as the memory stores it; None in outputs of versions that did not ask."""
    outcome_by: Literal["reader", "referee"] | None = None
    """Who decided the outcome; None where it is open."""

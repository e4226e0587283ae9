"""One candidate of the final result: who was for and against it, how likely it is right, and what became of it."""

from typing import Final, Literal, get_args

from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.frozen_model import Flag, FrozenModel, Score
from episodic_absa.vocabulary import Outcome, Polarity, Reach

WitnessName = Literal["stage1", "epm", "tan", "cj", "judge", "review", "reader", "memory"]
"""Who can speak about a candidate: Stage1, a speaker, the judge, Stage2's verdicts, the reader, the memory."""
WITNESSES: Final[tuple[WitnessName, ...]] = get_args(WitnessName)
AGENTS: Final[tuple[WitnessName, ...]] = ("epm", "tan", "cj", "judge", "review")
"""The agents of the model that speak about Stage1's pairs."""
Stance = Literal["for", "against"]
CandidateReason = Literal["likely", "undoubted", "unlikely", "one_agent", "not_in_text", "other_polarity", "overlaps"]
"""Why a candidate is in (the first two) or out.

`undoubted`: of Stage1's pairs at most one agent of the model doubts it, and the reader does not. `one_agent`: Stage1
lacks it, one agent alone names it, and the reader does not. `other_polarity`: the term is in with a likelier polarity.
`overlaps`: a likelier term stands at the same place.
"""


class Witness(FrozenModel):
    """One voice about one candidate. Who is silent is not listed."""

    who: WitnessName
    stance: Stance
    quote: str = ""
    """Words that the witness cites and the text holds; empty if it cites none."""
    p: Score | None = None
    """How likely the reader holds the candidate to be right; other witnesses state no probability."""


class CandidateRecord(FrozenModel):
    """A pair that somebody proposed, and its decision."""

    aspect_term: str
    """In Stage1's words, or in those of the text; "" for an opinion without a target."""
    polarity: Polarity
    span: Span | None = None
    """None: the text does not hold the term, or the opinion names none."""
    witnesses: tuple[Witness, ...]
    p: Score
    """How likely the pair is right; its confidence in the result."""
    is_in: Flag
    reason: CandidateReason
    is_polarity_of_reader: Flag = False
    """Whether the reader alone gives the pair its polarity; no prompt shows such a pair."""
    outcome: Outcome | None = None
    """Whether the change that it stands for was right, as the memory stores it; None if it stands for none."""
    outcome_by: Literal["reader", "referee"] | None = None
    """Who decided the outcome; None where it is open."""

    @property
    def is_of_stage1(self) -> bool:
        """Whether Stage1 holds the pair."""
        return any(witness.who == "stage1" and witness.stance == "for" for witness in self.witnesses)

    def who(self, stance: Stance) -> frozenset[WitnessName]:
        """Return the witnesses that are for or against the candidate."""
        return frozenset(witness.who for witness in self.witnesses if witness.stance == stance)


class DecisionRecord(FrozenModel):
    """The decision about one sample."""

    weights: str
    """The name of the set of weights that decided."""
    tau: Score
    """A candidate is in from this probability on."""
    candidates: tuple[CandidateRecord, ...] = ()
    """In text order; those without a place come last."""
    reach: Reach | None = None
    """How far an adaptive pipeline asked; None for any other effort."""

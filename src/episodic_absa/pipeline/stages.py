"""What the supervisor runs. The default rules are `default_stages.py`, the original ones `seed_stages.py`."""

from typing import Protocol, TypeVar

from episodic_absa.memory import GateSignals
from episodic_absa.pipeline.asking import Asking
from episodic_absa.pipeline.decided import Decided
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage2 import Verdicts
from episodic_absa.schemas.absa import DebateOutput, Sample
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import Language, Reach


class HasRecord(Protocol):
    """A debate under either rules."""

    @property
    def record(self) -> DebateOutput | None:
        """The debate as records hold it; None if there was none."""
        ...


DebatedT = TypeVar("DebatedT", bound=HasRecord)


class Stages(Protocol[DebatedT]):
    """The steps of one analysis, in the order in which they run."""

    async def analyse(self, sample: Sample, language: Language, asking: Asking) -> FirstAnalysis:
        """Return the aspects, sentiments and risks of a sample."""
        ...

    def signals(self, first: FirstAnalysis) -> GateSignals:
        """Return what the memory's gates decide by."""
        ...

    def reach(self, first: FirstAnalysis, asking: Asking) -> Reach:
        """Return how far to ask: debate and Stage2 are heard only if it is `full`."""
        ...

    async def debate(self, first: FirstAnalysis, reach: Reach, slot: MemorySlot | None, asking: Asking) -> DebatedT:
        """Return the debate about a first analysis, or that of nobody."""
        ...

    async def review(
        self, first: FirstAnalysis, reach: Reach, debated: DebatedT, slot: MemorySlot | None, asking: Asking
    ) -> Verdicts:
        """Return Stage2's verdicts."""
        ...

    async def decide(
        self,
        sample: Sample,
        first: FirstAnalysis,
        debated: DebatedT,
        verdicts: Verdicts,
        reach: Reach,
        slot: MemorySlot | None,
        asking: Asking,
    ) -> Decided:
        """Return the decision, after Validator2."""
        ...

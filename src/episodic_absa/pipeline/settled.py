"""How debate and Stage2 end for one sample, under either set of rules."""

from typing import NamedTuple

from episodic_absa.schemas.absa import Validator2Output
from episodic_absa.schemas.run_files.change_record import ChangeRecord
from episodic_absa.seed.decision import Decision
from episodic_absa.seed.patch.patch import PatchResult


class Settled(NamedTuple):
    """The patched result, its risks, and the decision about it."""

    patched: PatchResult
    validator2: Validator2Output
    decision: Decision
    changes: tuple[ChangeRecord, ...] = ()
    """Under rules v2: every proposed change with its witnesses."""

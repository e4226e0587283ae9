"""The patch of Stage1 that Stage2 and the debate ask for, one module per step."""

from episodic_absa.seed.patch.override_gate import OverrideOutcome, apply_override_gate
from episodic_absa.seed.patch.patch import PatchResult, apply_patch

__all__ = [
    "OverrideOutcome",
    "PatchResult",
    "apply_override_gate",
    "apply_patch",
]

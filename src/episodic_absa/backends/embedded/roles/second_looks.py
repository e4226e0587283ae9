"""Reads the memory slot: second looks and caution. It never takes a label."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import AdvisoryType

Look = Literal["negation", "contrast", "irony", "polarity", "evidence", "span", "second_aspect", "conflict", "implicit"]

_LOOK_OF_RISK: Final[dict[str, Look]] = {
    "NEGATION_SCOPE": "negation",
    "CONTRAST_SCOPE": "contrast",
    "IRONY": "irony",
    "POLARITY_MISMATCH": "polarity",
    "EVIDENCE_GAP": "evidence",
    "SPAN_MISMATCH": "span",
    "MISSING_SECOND_ASPECT": "second_aspect",
}
_LOOK_OF_FAMILY: Final[dict[str, Look]] = {
    "NEG": "negation",
    "CON": "contrast",
    "IRO": "irony",
    "POL": "polarity",
    "EVG": "evidence",
    "SPN": "span",
    "MSA": "second_aspect",
    "CFL": "conflict",
    "IMP": "implicit",
}
_PRINCIPLE: Final = re.compile(r"P-([A-Z]{3})-[0-9]{2}")
_WENT_WRONG: Final[AdvisoryType] = "failed_override_warning"
"""The type of an advisory whose case ended badly: the risk rose, or the change that was made failed."""
_MAX_CAUTION: Final = 2
_BASE_STRENGTH: Final = 0.6
_STRENGTH_PER_CAUTION: Final = 0.7


class SecondLooks(NamedTuple):
    """What advice asks for: looks, and the number of cautions."""

    looks: frozenset[Look] = frozenset()
    caution: int = 0

    def has(self, look: Look) -> bool:
        """Whether advice asks for this look."""
        return look in self.looks

    @property
    def strength(self) -> float:
        """How strong the words must be before a judgement is changed or a target added: 0.6 to 2.0 of 3."""
        return _BASE_STRENGTH + _STRENGTH_PER_CAUTION * self.caution


NO_LOOKS: Final = SecondLooks()


def second_looks(memory: MemorySlot | None) -> SecondLooks:
    """Return what a bundle asks for: advice opens looks, warnings and advice that went wrong before add caution.

    Only typed fields count; a reworded message changes nothing.
    """
    if not memory:
        return NO_LOOKS
    opened: set[Look] = set()
    caution = len(_listed(memory.get("warnings")))
    for advisory in _listed(memory.get("retrieved")):
        if not isinstance(advisory, dict):
            continue
        if advisory.get("advisory_type") == _WENT_WRONG:
            caution += 1
        else:
            opened |= _looks_of(advisory.get("evidence"))
    return SecondLooks(frozenset(opened), min(caution, _MAX_CAUTION))


def _looks_of(evidence: Any) -> set[Look]:
    if not isinstance(evidence, dict):
        return set()
    found = {look for tag in _listed(evidence.get("risk_tags")) if (look := _LOOK_OF_RISK.get(str(tag)))}
    principle = _PRINCIPLE.fullmatch(str(evidence.get("principle_id", "")))
    if principle and (look := _LOOK_OF_FAMILY.get(principle[1])):
        found.add(look)
    return found


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()

"""Reads the memory slot: second looks, caution, how changes turned out, familiar targets. It never takes a label."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.vocabulary import AdvisoryType, ChangeKind

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
Record = Literal["mostly_wrong", "undecided", "mostly_right"]
"""How changes of a kind turned out: decided only if the 90 % interval of the confirmed share excludes one half."""
_HALF: Final = 0.5
_STRENGTH_BY_RECORD: Final[dict[Record, float]] = {"mostly_wrong": 0.7, "undecided": 0.0, "mostly_right": -0.2}
_MOST_STRENGTH: Final = 2.0


class KnownTarget(NamedTuple):
    """In how many earlier reviews a target of this analysis was a final target."""

    position: int
    """Counted from 1, in the order of `asked_targets`."""
    seen_in: int
    of: int


class SecondLooks(NamedTuple):
    """What advice asks for: looks, the number of cautions, the records of changes, and the known targets."""

    looks: frozenset[Look] = frozenset()
    caution: int = 0
    records: tuple[tuple[ChangeKind, Record], ...] = ()
    familiar: tuple[KnownTarget, ...] = ()

    def has(self, look: Look) -> bool:
        """Whether advice asks for this look."""
        return look in self.looks

    def record(self, kind: ChangeKind) -> Record:
        """Return how changes of a kind turned out before."""
        return dict(self.records).get(kind, "undecided")

    def strength_for(self, kind: ChangeKind) -> float:
        """Return how strong the words must be before a judgement is changed or a target added: 0.4 to 2.0 of 3."""
        strength = _BASE_STRENGTH + _STRENGTH_PER_CAUTION * self.caution + _STRENGTH_BY_RECORD[self.record(kind)]
        return min(_MOST_STRENGTH, strength)


NO_LOOKS: Final = SecondLooks()


def second_looks(memory: MemorySlot | None) -> SecondLooks:
    """Return what a bundle asks for: advice opens looks, warnings and advice that went wrong before add caution.

    Experience gives the records of changes, familiarity the known targets. Only typed fields count; a reworded message
    changes nothing.
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
    return SecondLooks(
        frozenset(opened),
        min(caution, _MAX_CAUTION),
        tuple(_records(memory.get("experience"))),
        tuple(_known_targets(memory.get("familiarity"))),
    )


def _records(experience: Any) -> Iterator[tuple[ChangeKind, Record]]:
    for advisory in _listed(experience):
        counted = _evidence(advisory).get("experience")
        if not isinstance(counted, dict) or counted.get("kind") not in get_args(ChangeKind):
            continue
        low, high = counted.get("rate_low"), counted.get("rate_high")
        if isinstance(high, float | int) and high < _HALF:
            yield counted["kind"], "mostly_wrong"
        elif isinstance(low, float | int) and low > _HALF:
            yield counted["kind"], "mostly_right"


def _known_targets(familiarity: Any) -> Iterator[KnownTarget]:
    for target in _listed(_evidence(familiarity).get("familiarity")):
        counts = [target.get(key) for key in KnownTarget._fields] if isinstance(target, dict) else []
        match counts:
            case [int(position), int(seen_in), int(of)] if position >= 1 and 0 <= seen_in <= of:
                yield KnownTarget(position, seen_in, of)


def _evidence(advisory: Any) -> dict[str, Any]:
    evidence = advisory.get("evidence") if isinstance(advisory, dict) else None
    return evidence if isinstance(evidence, dict) else {}


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

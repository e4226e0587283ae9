"""Counts how proposed changes turned out in similar cases. The counts are kept, so a question costs no scan.

A case is one proposed change of an episode, adopted or refused. Cases are similar if they share the signature's cell:
language, structures, length and aspect count. A cell with fewer than five decided cases backs off to a wider one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from episodic_absa.memory.advice.chance import drawn_places
from episodic_absa.memory.columns.values_by_source import HeldValues, ValuesBySource
from episodic_absa.memory.retrieval.signature_key import SignatureKey
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import AnyDraft, EpisodeDraftV1_2, VerdictV1_2
from episodic_absa.vocabulary import ChangeKind, ExperienceLevel, Outcome, Structure, Verdict

MIN_DECIDED: Final = 5
"""Confirmed and contradicted cases that a cell needs to speak for itself."""
_PLACE: Final[Mapping[Outcome, int]] = {"confirmed": 0, "contradicted": 1, "open": 2}
_LEVELS_MEMO_SIZE: Final = 1024


class Experience(NamedTuple):
    """How a kind of change turned out in similar cases."""

    kind: ChangeKind
    level: ExperienceLevel
    similar_n: int
    """All cases: confirmed, contradicted and open ones."""
    confirmed: int
    contradicted: int
    open: int


class ProposedCase(NamedTuple):
    """The proposed changes of one episode."""

    signature: SignatureKey
    changes: tuple[tuple[ChangeKind, Outcome, bool], ...]
    """Kind, outcome, and whether the change was adopted."""
    terms: tuple[str, ...]
    """The episode's terms before and after: a verdict about one of them concerns the episode."""


class AspectVerdict(NamedTuple):
    """One verdict of a person on a sample."""

    aspect: str | None
    verdict: Verdict


class CountedCell(NamedTuple):
    """A set of similar signatures; None stands for any value."""

    language: str
    structures: tuple[Structure, ...]
    length_bucket: str | None
    num_aspects: int | None


_Counts = dict[ChangeKind, list[int]]
"""Kind -> the numbers of confirmed, contradicted and open cases."""


class ExperienceState(FrozenModel):
    """What a snapshot keeps of the counts besides the lines of single samples."""

    cells: tuple[tuple[CountedCell, dict[ChangeKind, tuple[int, int, int]]], ...]
    signatures: tuple[SignatureKey, ...]


class ExperienceCounts:
    """The counts of all episodes of a store, pruned ones included, with the verdicts of persons applied.

    Episodes of schema 1.1 have no changes and count nowhere.

    Args:
        cases: where the cases of single samples are found again; by default in memory.
        verdicts: the same for verdicts.

    Example:
        >>> from episodic_absa import SignatureBuilder
        >>> signature = SignatureBuilder().build("The room was clean, but the breakfast was cold.", "en", 2)
        >>> ExperienceCounts().of(signature, "flip") is None
        True
    """

    def __init__(
        self,
        cases: ValuesBySource[ProposedCase] | None = None,
        verdicts: ValuesBySource[AspectVerdict] | None = None,
    ) -> None:
        self._cells: dict[CountedCell, _Counts] = {}
        self._signatures: set[SignatureKey] = set()
        self._cases: ValuesBySource[ProposedCase] = HeldValues() if cases is None else cases
        self._verdicts: ValuesBySource[AspectVerdict] = HeldValues() if verdicts is None else verdicts
        self._levels_memo: dict[SignatureKey, list[tuple[ExperienceLevel, list[_Counts]]]] = {}

    def add(self, episode: AnyDraft) -> None:
        """Count the proposed changes of an episode."""
        case = case_of(episode)
        if case is None:
            return
        source = episode.provenance.source_id
        self._cases.add(source, case)
        self._signatures.add(case.signature)
        self._count(case, self.verdicts_on(source), 1)

    def add_verdict(self, verdict: VerdictV1_2) -> None:
        """Apply a verdict: the last one about a source and an aspect replaces earlier ones.

        A verdict decides the adopted changes of its source; one about an aspect, those of the episodes with that term.
        A right result also contradicts the changes that were refused. Of several that concern an episode, `wrong`
        beats `right`, and `right` beats `unsure`.
        """
        source, before = verdict.source_id, self.verdicts_on(verdict.source_id)
        self._verdicts.add(source, AspectVerdict(verdict.aspect, verdict.verdict))
        for case in self._cases.of(source):
            self._count(case, before, -1)
            self._count(case, {**before, verdict.aspect: verdict.verdict}, 1)

    def verdicts_on(self, source_id: str) -> Mapping[str | None, Verdict]:
        """Return the last verdict per aspect on the result of a sample; the key None is the whole result."""
        return dict(self._verdicts.of(source_id))

    def of(
        self, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of the narrowest cell with at least five decided cases; None if no cell has them.

        Args:
            signature: of the current sample.
            kind: the kind of change.
            exclude_source: the uid of the current sample, whose own cases do not count.
        """
        return self._experience(SignatureKey.of(signature), kind, exclude_source)

    def of_random_cell(
        self, uid: str, signature: InputSignatureV1_1, kind: ChangeKind, *, exclude_source: str | None = None
    ) -> Experience | None:
        """Return the counts of another cell of the language, drawn by uid among those with cases of the kind."""
        own = SignatureKey.of(signature)
        others = sorted(
            key
            for key in self._signatures
            if key != own and key.language == own.language and kind in self._cells[CountedCell(*key)]
        )
        place = next(drawn_places(f"{uid}\0{kind}", len(others)), None)
        return None if place is None else self._experience(others[place], kind, exclude_source)

    def state(self) -> ExperienceState:
        """Return the counts of the cells, as a snapshot keeps them."""
        cells = ((cell, {kind: tuple(held) for kind, held in counts.items()}) for cell, counts in self._cells.items())
        return ExperienceState.model_validate({"cells": tuple(cells), "signatures": tuple(self._signatures)})

    def restore(self, state: ExperienceState) -> None:
        """Load the counts of a snapshot; nothing was counted before."""
        self._cells = {cell: {kind: list(held) for kind, held in counts.items()} for cell, counts in state.cells}
        self._signatures = set(state.signatures)

    def _experience(self, key: SignatureKey, kind: ChangeKind, exclude_source: str | None) -> Experience | None:
        own = list(self._own_cases(exclude_source, kind)) if exclude_source is not None else []
        for level, cells in self._levels(key):
            confirmed = contradicted = still_open = 0
            for counts in cells:
                held = counts.get(kind)
                if held is not None:
                    confirmed, contradicted, still_open = (
                        confirmed + held[0],
                        contradicted + held[1],
                        still_open + held[2],
                    )
            for signature, outcome in own:
                if _is_within(signature, key, level):
                    confirmed -= outcome == "confirmed"
                    contradicted -= outcome == "contradicted"
                    still_open -= outcome == "open"
            if confirmed + contradicted >= MIN_DECIDED:
                similar_n = confirmed + contradicted + still_open
                return Experience(kind, level, similar_n, confirmed, contradicted, still_open)
        return None

    def _own_cases(self, source: str, kind: ChangeKind) -> Iterator[tuple[SignatureKey, Outcome]]:
        cases = self._cases.of(source)
        verdicts = self.verdicts_on(source) if cases else {}
        for case in cases:
            for case_kind, outcome in _decided(case, verdicts):
                if case_kind == kind:
                    yield case.signature, outcome

    def _count(self, case: ProposedCase, verdicts: Mapping[str | None, Verdict], step: int) -> None:
        decided = tuple(_decided(case, verdicts))
        for cell in _cells_of(case.signature):
            counts = self._cells.get(cell)
            if counts is None:
                counts = self._cells[cell] = {}
                self._levels_memo.clear()
            for kind, outcome in decided:
                counts.setdefault(kind, [0, 0, 0])[_PLACE[outcome]] += step

    def _levels(self, key: SignatureKey) -> list[tuple[ExperienceLevel, list[_Counts]]]:
        """Return the counts of each level's cells, the narrowest level first."""
        levels = self._levels_memo.get(key)
        if levels is None:
            exact, no_length, no_aspects = _cells_of(key)
            sharing = [
                cell for cell in self._cells if cell.num_aspects is None and _is_within(cell, key, "any_structure")
            ]
            wanted: list[tuple[ExperienceLevel, list[CountedCell]]] = [
                ("exact", [exact]),
                ("no_length", [no_length]),
                ("no_aspects", [no_aspects]),
                ("any_structure", sharing),
            ]
            levels = [(level, [self._cells[cell] for cell in cells if cell in self._cells]) for level, cells in wanted]
            if len(self._levels_memo) >= _LEVELS_MEMO_SIZE:
                self._levels_memo.clear()
            self._levels_memo[key] = levels
        return levels


def case_of(episode: AnyDraft) -> ProposedCase | None:
    """Return the proposed changes of an episode; None if it has none."""
    if not isinstance(episode, EpisodeDraftV1_2) or not episode.changes:
        return None
    changes = tuple((change.kind, change.outcome, change.adopted) for change in episode.changes)
    before, after = episode.stage_snapshot.stage1.aspects_norm, episode.stage_snapshot.final.aspects_norm
    return ProposedCase(SignatureKey.of(episode.input_signature), changes, tuple(sorted({*before, *after})))


def outcome_of_verdicts(verdicts: Iterable[Verdict]) -> Outcome:
    """Return what one or more verdicts make of an outcome.

    Example:
        >>> outcome_of_verdicts(["right", "wrong"]), outcome_of_verdicts(["unsure"])
        ('contradicted', 'open')
    """
    given = set(verdicts)
    if "wrong" in given:
        return "contradicted"
    return "confirmed" if "right" in given else "open"


def _decided(case: ProposedCase, verdicts: Mapping[str | None, Verdict]) -> Iterator[tuple[ChangeKind, Outcome]]:
    """Yield the changes of a case with the outcomes that count: a person's verdict beats all others."""
    given = {verdict for aspect, verdict in verdicts.items() if aspect is None or aspect in case.terms}
    by_person = outcome_of_verdicts(given) if given else None
    for kind, outcome, adopted in case.changes:
        if by_person is None:
            yield kind, outcome
        elif adopted:
            yield kind, by_person
        else:
            # What was refused would have spoiled a right result; of a wrong one nothing follows.
            yield kind, "contradicted" if by_person == "confirmed" else outcome


def _cells_of(key: SignatureKey) -> tuple[CountedCell, CountedCell, CountedCell]:
    """Return the cells that a case counts in: exact, without length, without length and aspect count."""
    return (
        CountedCell(*key),
        CountedCell(key.language, key.structures, None, key.num_aspects),
        CountedCell(key.language, key.structures, None, None),
    )


def _is_within(case: SignatureKey | CountedCell, query: SignatureKey, level: ExperienceLevel) -> bool:
    if case.language != query.language:
        return False
    if level == "any_structure":
        return any(structure in case.structures for structure in query.structures)
    if case.structures != query.structures:
        return False
    if level == "no_aspects":
        return True
    return case.num_aspects == query.num_aspects and (level == "no_length" or case.length_bucket == query.length_bucket)

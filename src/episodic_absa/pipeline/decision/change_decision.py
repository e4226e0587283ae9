"""Collects changes, hears witnesses, adopts change by change, and refuses new conflicts."""

from collections.abc import Sequence

from episodic_absa.language import norm
from episodic_absa.pipeline.decision.applied_changes import apply_changes
from episodic_absa.pipeline.decision.change_rules import AdoptionRules, adopt
from episodic_absa.pipeline.decision.changes import Reader, changes_of
from episodic_absa.pipeline.decision.claims import Claim
from episodic_absa.pipeline.decision.witnesses import hear
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis, is_pair
from episodic_absa.schemas.absa import SentimentItem, Stage1Result
from episodic_absa.schemas.run_files.change_record import ChangeReason, ChangeRecord
from episodic_absa.vocabulary import Polarity


def decide_changes(
    first: FirstAnalysis, claims: Sequence[Claim], reader: Reader | None, rules: AdoptionRules
) -> tuple[ChangeRecord, ...]:
    """Return every proposed change with its witnesses and its decision; `apply_changes` applies the adopted ones.

    Args:
        first: Stage1's pairs and their text.
        claims: of the debate and of Stage2.
        reader: None leaves the reader out: it is silent about every change.
        rules: the table or the weights that decide.
    """
    text, language = first.text, first.language
    records = []
    for change in changes_of(claims, first, reader=reader):
        term, view = change.aspect_term, None
        if reader and term:
            view = reader.view_of_change(text, language, term, change.from_polarity, change.to_polarity)
        place = change.to_span if change.kind == "add" else first.span(term)
        witnesses = hear(change, claims, view, rules.reader, text=text, language=language, place=place)
        decision = adopt(change, witnesses, rules)
        records.append(ChangeRecord(**change._asdict(), witnesses=witnesses, **decision._asdict()))
    return settle(first.result, records)


def decide_again(
    stage1: Stage1Result, records: Sequence[ChangeRecord], rules: AdoptionRules
) -> tuple[ChangeRecord, ...]:
    """Return recorded changes as other rules decide them. The witnesses stay as recorded."""
    decided = [record.model_copy(update=adopt(record, record.witnesses, rules)._asdict()) for record in records]
    return settle(stage1, decided)


def settle(stage1: Stage1Result, records: Sequence[ChangeRecord]) -> tuple[ChangeRecord, ...]:
    """Return the records with every adopted change refused that contradicts Stage1 or a stronger change.

    Changes are taken by falling score, then in text order. A change of a pair that a stronger change already edits is
    `outweighed`; one after which an aspect has two polarities that Stage1 did not give it `creates_conflict`.
    """
    stage1_polarities = _polarities(stage1.atsa.sentiments)
    accepted: list[ChangeRecord] = []
    refused: dict[str, ChangeReason] = {}
    by_strength = sorted((record for record in records if record.adopted), key=_strength)
    for record in by_strength:
        if any(_is_same_pair(record, stronger) for stronger in accepted):
            refused[record.change_id] = "outweighed"
        elif _creates_conflict(stage1, [*accepted, record], record, stage1_polarities):
            refused[record.change_id] = "creates_conflict"
        else:
            accepted.append(record)
    return tuple(
        record.model_copy(update={"adopted": False, "reason": refused[record.change_id]})
        if record.adopted and record.change_id in refused
        else record
        for record in records
    )


def _strength(record: ChangeRecord) -> tuple[float, str]:
    return (-record.score, record.change_id)


def _is_same_pair(record: ChangeRecord, stronger: ChangeRecord) -> bool:
    """Return whether two changes are about one pair, so that they cannot both hold."""
    if norm(record.aspect_term) != norm(stronger.aspect_term):
        return False
    return record.from_polarity == stronger.from_polarity


def _creates_conflict(
    stage1: Stage1Result,
    adopted: Sequence[ChangeRecord],
    record: ChangeRecord,
    stage1_polarities: dict[str, set[Polarity]],
) -> bool:
    held = stage1_polarities.get(norm(record.aspect_term), set())
    # Checked against Stage1 as it was: dropping a pair and adding its opposite would be a flip without a flip's proof.
    if record.kind == "add" and held - {record.to_polarity}:
        return True
    _, sentiments = apply_changes(stage1, adopted)
    return any(
        len(polarities) > 1 and not polarities <= stage1_polarities.get(aspect, set())
        for aspect, polarities in _polarities(sentiments).items()
    )


def _polarities(sentiments: Sequence[SentimentItem]) -> dict[str, set[Polarity]]:
    polarities: dict[str, set[Polarity]] = {}
    for item in sentiments:
        if is_pair(item) and item.polarity is not None:
            polarities.setdefault(norm(item.aspect_term), set()).add(item.polarity)
    return polarities

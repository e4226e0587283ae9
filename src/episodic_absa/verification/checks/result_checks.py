"""Checks of a cell's results: only adoption changes tuples, labels agree with pairs, terms stand in the text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from episodic_absa.final_tuples import label_of_pairs, pairs
from episodic_absa.language import occurs
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.verification.checks.findings import Check, Findings


def check_not_adopted_is_stage1(cell: CellFiles) -> Findings:
    """The final tuples of a sample whose Stage2 was not adopted are those of Stage1, but for their probabilities."""
    for uid, card in cell.cards.items():
        if card.adoption is not None and not card.adoption.adopt:
            yield (
                None
                if _places(card.final_tuples) == _places(card.stage1_tuples)
                else (f"{uid}: not adopted, and yet the final tuples are not Stage1's")
            )


def check_selected_stage(cell: CellFiles) -> Findings:
    """The stage whose tuples were used is stage2 if and only if it was adopted."""
    for uid, card in cell.cards.items():
        recorded = card.moderator.selected_stage if card.moderator else None
        meant = "stage2" if card.adoption and card.adoption.adopt else "stage1"
        tuples = card.stage2_tuples if meant == "stage2" else card.stage1_tuples
        if recorded != meant:
            yield f"{uid}: selected_stage is {recorded}, adoption says {meant}"
        else:
            yield (
                None
                if _places(card.final_tuples) == _places(tuples)
                else f"{uid}: the final tuples are not those of {meant}"
            )


def check_no_unguided_change(cell: CellFiles) -> Findings:
    """Tuples change only through adoption."""
    for uid, card in cell.cards.items():
        before, after = pairs(card.stage1_tuples), pairs(card.final_tuples)
        adopted = bool(card.adoption and card.adoption.adopt)
        meant = "none" if before == after else "guided" if adopted else "unguided"
        yield f"{uid}: the tuples changed without adoption" if meant == "unguided" else None


def check_label_agrees(cell: CellFiles) -> Findings:
    """Under rules v3 a label agrees with the pairs beside it; seed rules do not promise that."""
    for output in cell.outputs:
        final = output.final_result
        if output.decision is None or final is None:
            continue
        meant = label_of_pairs(final.final_tuples)
        yield (
            None if meant in (None, final.label) else f"{output.uid}: its label is {final.label}, its pairs say {meant}"
        )


def check_terms_in_text(cell: CellFiles) -> Findings:
    """Every explicit final term occurs in the text."""
    for card, trace in zip(cell.scorecards, cell.traces, strict=True):
        for place, final_tuple in enumerate(card.final_tuples, start=1):
            if final_tuple.aspect_term:
                is_there = occurs(final_tuple.aspect_term, trace.text)
                yield None if is_there else f"{card.uid}: final term {place} is not in the text"


def check_calls(cell: CellFiles) -> Findings:
    """A sample that succeeded was asked about, and its calls were answered."""
    for record in cell.records:
        is_answered = record.error is not None or all(call.error is None for call in record.calls)
        yield None if is_answered else f"{record.uid}: it succeeded, and one of its calls has no answer"


def check_no_clock_values(cell: CellFiles) -> Findings:
    """No clock and no cache hit stands in records, store and manifest."""
    named: dict[str, Sequence[Any]] = {
        SAMPLES: [json.loads(line) for line in split_lines((cell.path / SAMPLES).read_bytes()).lines],
        "the store": cell.store.objects,
        MANIFEST: [cell.manifest_object],
    }
    for name, objects in named.items():
        for number, value in enumerate(objects, start=1):
            key = next((key for key in _keys(value) if _CLOCK_KEY.search(key)), None)
            yield None if key is None else f"{name}, line {number}: the key {key} holds a clock value or a cache hit"


RESULT_CHECKS: Final[Mapping[str, Check]] = {
    "not_adopted_is_stage1": check_not_adopted_is_stage1,
    "selected_stage": check_selected_stage,
    "no_unguided_change": check_no_unguided_change,
    "label_agrees": check_label_agrees,
    "terms_in_text": check_terms_in_text,
    "calls": check_calls,
    "no_clock_values": check_no_clock_values,
}

_CLOCK_KEY: Final = re.compile(
    r"(?:^|_)(?:time|timestamp|date|datetime|clock|latency|elapsed|duration|seconds|started|ended|cached|cache_hit)"
    r"(?:$|_)"
)
_TERM_KEYED: Final = ("polarities", "aspect_evidence", "skip_counts")
"""Keys inside these are aspect terms or our own codes; an aspect term may be "time"."""


def _places(tuples: Iterable[FinalTuple]) -> list[FinalTuple]:
    return [final_tuple.model_copy(update={"confidence": 0.0}) for final_tuple in tuples]


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in _TERM_KEYED:
                yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)

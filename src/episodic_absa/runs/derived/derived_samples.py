"""The files of the original requirement about the samples of a cell, derived from its records."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from episodic_absa.runs.derived.sample_facts import SampleFacts
from episodic_absa.runs.derived.scorecards import scorecard_of
from episodic_absa.runs.derived.traces import trace_of
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.schemas.run_files.adoption import OverrideDecisionLine
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.output_line import OutputError, OutputLine, OutputMeta
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SampleTiming, StoreStart
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.csv_text import replace_file
from episodic_absa.serialization.jsonl import json_line, json_lines

OUTPUTS: Final = "outputs.jsonl"
SCORECARDS: Final = "scorecards.jsonl"
TRACES: Final = "traces.jsonl"
OVERRIDE_DEBUG: Final = "override_gate_debug.jsonl"
SAMPLE_FILES: Final = (OUTPUTS, SCORECARDS, TRACES, OVERRIDE_DEBUG)
Labelled = Callable[[SampleRecord], LabelledSample]
"""Looks up the text and the gold of a record in the data."""


class DerivedSample(NamedTuple):
    """What the files of the original requirement hold about one sample."""

    output: OutputLine
    card: Scorecard
    trace: TraceLine
    decisions: tuple[OverrideDecisionLine, ...]


class Deriver:
    """Derives one sample after another, in their order: the size of the store grows with them.

    Args:
        manifest: of the cell.
        start: its store before the first sample; None without one.
        labelled: looks up texts and gold.
        timings: the times that are known, by uid.
    """

    def __init__(
        self,
        manifest: Manifest,
        start: StoreStart | None,
        labelled: Labelled,
        timings: Mapping[str, SampleTiming] | None = None,
    ) -> None:
        self._manifest = manifest
        self._labelled = labelled
        self._timings = timings or {}
        self._episode_n = start.episodes if start else 0

    def card_of(self, record: SampleRecord) -> Scorecard:
        """Return the scorecard of the next sample."""
        return self._card(SampleFacts(record, self._manifest), self._labelled(record))

    def sample_of(self, record: SampleRecord) -> DerivedSample:
        """Return everything about the next sample."""
        facts, labelled = SampleFacts(record, self._manifest), self._labelled(record)
        decisions = record.analysis.override_decisions if record.analysis is not None else ()
        return DerivedSample(
            output=output_of(facts),
            card=self._card(facts, labelled),
            trace=trace_of(facts, text=labelled.sample.text, timing=self._timings.get(record.uid)),
            decisions=tuple(OverrideDecisionLine(uid=record.uid, **dict(decision)) for decision in decisions),
        )

    def _card(self, facts: SampleFacts, labelled: LabelledSample) -> Scorecard:
        analysis = facts.record.analysis
        if analysis is not None:
            self._episode_n += analysis.kept.episode is not None
        size = min(self._episode_n, self._manifest.config.episodic_memory.keep_last_n)
        return scorecard_of(facts, text=labelled.sample.text, gold=labelled.gold, store_size=size)

    def samples_of(self, records: Iterable[SampleRecord]) -> Iterator[DerivedSample]:
        """Yield everything about each of the next samples."""
        return map(self.sample_of, records)


def file_texts(samples: Iterable[DerivedSample]) -> dict[str, str]:
    """Return the content of each file, by its name."""
    texts: dict[str, list[str]] = {name: [] for name in SAMPLE_FILES}
    for sample in samples:
        texts[OUTPUTS].append(json_line(sample.output))
        texts[SCORECARDS].append(json_line(sample.card))
        texts[TRACES].append(json_line(sample.trace))
        texts[OVERRIDE_DEBUG].append(json_lines(sample.decisions))
    return {name: "".join(lines) for name, lines in texts.items()}


def write_sample_files(cell: Path, samples: Iterable[DerivedSample]) -> tuple[Path, ...]:
    """Write the files into the directory of a cell, where they are not there already; return their paths.

    Raises:
        RunDirectoryError: one cannot be written.
    """
    for name, text in file_texts(samples).items():
        replace_file(cell / name, text)
    return tuple(cell / name for name in SAMPLE_FILES)


def output_of(facts: SampleFacts) -> OutputLine:
    """Return the output of a sample."""
    record, condition, source = facts.record, facts.manifest.condition, facts.record.input
    meta: dict[str, Any] = {
        "condition": condition.name,
        "memory_mode": condition.memory_mode,
        "seed": facts.manifest.seed,
        "language_code": source.language,
        "split": source.split,
        "domain_id": source.domain_id,
        "case_type": source.case_type,
    }
    if facts.analysed is None:
        error = record.error
        return OutputLine(
            uid=record.uid,
            sample_index=record.sample_index,
            status="error",
            error=OutputError(type=error.type, stage=error.stage) if error else None,
            meta=OutputMeta(**meta),
        )
    analysis, final = facts.analysed.analysis, facts.analysed.final
    return OutputLine.of_analysis(
        record.uid, analysis, final, sample_index=record.sample_index, memory=facts.memory, **meta
    )

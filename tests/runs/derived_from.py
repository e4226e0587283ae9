"""Derives what the files of a run hold about one sample from its result, as a cell of a toy experiment would."""

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.runs.small_grid import write_experiment

from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.runs.config import ExperimentData, cell_named, load_experiment
from episodic_absa.runs.derived.derived_samples import DerivedSample, Deriver
from episodic_absa.runs.ordered_run import SampleFailure
from episodic_absa.runs.records import Recorder, build_manifest
from episodic_absa.runs.samples_file import read_samples, sealed_samples
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import GoldTuple, LabelledSample
from episodic_absa.schemas.run import Condition
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.schemas.run_files.sample_record import SampleRecord, SamplesHeader


def derived_from(
    outcome: SampleResult | SampleFailure,
    condition: Condition,
    *,
    gold: Sequence[GoldTuple] | None = None,
    empty_slot: object = None,
) -> DerivedSample:
    """Record an outcome, write the record to a file, read it back and derive the rest."""
    if isinstance(outcome, SampleResult):
        recorded = Recorder().of_result(outcome, 0)
    else:
        recorded = Recorder().of_failure(outcome, 0, empty_slot)  # type: ignore[arg-type]
    record = as_read(recorded.record)
    labelled = LabelledSample(sample=_sample(outcome), gold=None if gold is None else tuple(gold))
    deriver = Deriver(manifest_of(condition), None, lambda _: labelled, {record.uid: recorded.timing})
    return deriver.sample_of(record)


def as_read(record: SampleRecord) -> SampleRecord:
    """Return a record as a reader of its file gets it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.jsonl"
        path.write_bytes(sealed_samples(SamplesHeader(cfg_hash="0"), [record]))
        [read] = read_samples(path).records
    return read


def manifest_of(condition: Condition) -> Manifest:
    """Return the manifest of a cell with this condition."""
    manifest = _manifest()
    conditions = manifest.conditions.model_copy(update={"condition": condition.name, "flags": condition})
    return manifest.model_copy(update={"conditions": conditions})


@cache
def _manifest() -> Manifest:
    with tempfile.TemporaryDirectory() as folder:
        config = load_experiment(write_experiment(Path(folder)))
        cell = cell_named(config, "C1__seed42")
        return build_manifest(
            config, cell, ExperimentData(config), start_sha256=None, seed_supported=True, answers_shared=True
        )


def _sample(outcome: SampleResult | SampleFailure) -> Sample:
    return outcome.sample

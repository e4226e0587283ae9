"""Checks of a cell's store: it follows from the records, holds no text of a review, and was read from the past only."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import zip_longest
from typing import Final

from episodic_absa.errors import LeakageError
from episodic_absa.language import effective_language
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.episodes.leak_guard import refuse_open_terms, refuse_open_vocabulary, refuse_text_runs
from episodic_absa.runs.cell_store import episodes_of, export_form
from episodic_absa.runs.config.cfg_hash import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3
from episodic_absa.store.exported_lines import episode_line
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError

_ID: Final = re.compile(rb'"episode_id":"epi_[0-9]+",')


def check_store_follows(cell: CellFiles) -> Findings:
    """The store is what it began with and the episodes of the records, in order; people may have added verdicts."""
    _require_store(cell)
    start = cell.samples.header.store if cell.samples.header else None
    meant = cell.known_manifest.start_store_sha256
    is_same = cell.begins_as_recorded and (meant is None or (start is not None and start.source_sha256 == meant))
    yield None if is_same else "the store does not begin as it did before the first sample"
    form = export_form(cell.known_manifest.condition.rules)
    recorded = [episode_line(episode, form) for episode in episodes_of(cell.records)]
    held = cell.store.episode_lines[len(cell.beginning) :]
    if cell.shares_its_store:
        # Others may have added episodes before and between them, so that ids differ.
        held = tuple(map(_without_id, held))
        for number, line in enumerate(map(_without_id, recorded), start=1):
            yield None if line in held else f"episode {number} of the records is not in the store"
        return
    for number, (stored, due) in enumerate(zip_longest(held, recorded), start=1):
        yield None if stored == due else f"episode {number} that samples added to the store is not what the records say"


def check_store_lines(cell: CellFiles) -> Findings:
    """Every line of the store is a valid episode, verdict or tombstone in the closed vocabulary."""
    _require_store(cell)
    catalogue = load_catalogue()
    yield from cell.store.problems
    for line in cell.store.valid():
        if isinstance(line, VerdictV1_3):
            terms = () if line.aspect is None else (line.aspect,)
            yield _leak(f"verdict on {line.source_id}", partial(refuse_open_terms, "aspect", terms))
        elif isinstance(line, EpisodicMemoryEntryV1_3):
            yield _leak(line.episode_id, partial(refuse_open_vocabulary, line, catalogue))


def check_store_text(cell: CellFiles) -> Findings:
    """No episode repeats a run of its own sample's text, aspect terms apart."""
    _require_store(cell)
    texts = {stored_uid(uid): text for uid, text in cell.texts.items()}
    for entry in cell.store.episodes:
        text = texts.get(entry.provenance.source_id)
        if text is not None:
            for language in {entry.input_signature.language, effective_language(None, text)}:
                yield _leak(entry.episode_id, partial(refuse_text_runs, entry, text, language))


def check_stored_episodes(cell: CellFiles) -> Findings:
    """Only a condition that writes stores episodes, each of its own sample, and the record says whether it did."""
    manifest = cell.known_manifest
    for record in cell.records:
        if record.analysis is None:
            continue
        episode, is_stored = record.analysis.kept.episode, record.analysis.kept.store_decision == "stored"
        holds = is_stored == (episode is not None) and (manifest.condition.store_write or not is_stored)
        if episode is not None:
            provenance = episode.provenance
            is_own = (provenance.source_id, provenance.sample_index) == (stored_uid(record.uid), record.sample_index)
            holds = holds and is_own and provenance.used_in_eval != manifest.is_build
        yield None if holds else f"{record.uid}: its episode is of another sample, or stands against its decision"


def check_retrieved_is_past(cell: CellFiles) -> Findings:
    """Every retrieved episode was in the store before the sample's own commit, and is of another sample."""
    _require_store(cell)
    keep = recorded_experiment(cell.known_manifest).episodic_memory.keep_last_n
    episodes = cell.all_episodes
    for record in cell.records:
        if record.memory.retrieved_ids:
            past = episodes[: cell.episodes_before[record.uid]][-keep:]
            others = {entry.episode_id for entry in past if entry.provenance.source_id != stored_uid(record.uid)}
            unknown = [episode_id for episode_id in record.memory.retrieved_ids if episode_id not in others]
            yield f"{record.uid}: retrieved {unknown[0]}, which no earlier sample had stored" if unknown else None


STORE_CHECKS: Final[Mapping[str, Check]] = {
    "store_follows": check_store_follows,
    "store_lines": check_store_lines,
    "store_text": check_store_text,
    "stored_episodes": check_stored_episodes,
    "retrieved_is_past": check_retrieved_is_past,
}


def _require_store(cell: CellFiles) -> None:
    if not cell.known_manifest.needs_store:
        raise NotApplicableError("the condition neither reads nor writes a store")
    if cell.store_path is None:
        raise NotApplicableError("the store lies outside the run directory and the config file is not reachable")


def _without_id(line: bytes) -> bytes:
    return _ID.sub(b"", line, count=1)


def _leak(name: str, refuse: Callable[[], None]) -> str | None:
    try:
        refuse()
    except LeakageError as error:
        return f"{name}: {error.field} may not stand in a store"
    return None

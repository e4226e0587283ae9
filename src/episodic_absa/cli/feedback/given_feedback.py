"""What `feedback` does: the store that TARGET names (a file, an address or a finished cell), and verdicts of stdin."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from episodic_absa.cli.memory.named_store import existing_store
from episodic_absa.cli.output import print_json, shown_path
from episodic_absa.errors import InputError, RunDirectoryError
from episodic_absa.memory import MemoryStore
from episodic_absa.memory.episodes.episode_builder import answer_of
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.postgres.location import is_postgres
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.stored.memory_v1_3 import AnswerV1_3
from episodic_absa.serialization.quoted_value import reasons_of


def store_of(named: str) -> MemoryStore:
    """Return the store.

    Raises:
        MemoryStoreError: there is no store at the path or address.
        RunDirectoryError: the directory is no cell, its run is not finished or its records are not as the run
            wrote them, or it keeps no store.
    """
    target = Path(named)
    if is_postgres(named) or not target.is_dir():
        return existing_store(named, reads_only=False)
    if not (target / MANIFEST).exists():
        cells = sorted(manifest.parent.name for manifest in target.glob(f"*/{MANIFEST}"))
        which = f"one of its cells: {', '.join(cells)}" if cells else "a store file or the directory of a cell"
        raise RunDirectoryError(f"{shown_path(target)} is no cell; name {which}", path=target)
    cell = CellFiles(target)
    if cell.manifest is None:
        raise RunDirectoryError(f"{shown_path(target)}: {cell.manifest_problem}", path=target)
    if not cell.manifest.condition.decides_changes:
        raise RunDirectoryError(
            f"the run in {shown_path(target)} follows seed rules, which learn from no verdict; give feedback to a run "
            "of rules v3 (conditions v3_0)",
            path=target,
        )
    if not cell.manifest.completed or len(cell.records) < cell.manifest.dataset.processing_count:
        # A resumed run cuts its store back to the last recorded sample.
        raise RunDirectoryError(
            f"the run in {shown_path(target)} is not finished; finish it with `episodic-absa run`, then give feedback",
            path=target,
        )
    if cell.store_path is None or not cell.store_path.exists():
        raise RunDirectoryError(
            f"{shown_path(target)} keeps no store: condition {cell.manifest.condition.name} remembers nothing; "
            "name a cell of a condition that writes memory, such as C2",
            path=target,
        )
    store = MemoryStore(cell.store_path)
    if not store.answered_n():
        # The file of a finished cell holds episodes; its records know the answers to all samples.
        store.append_answers(list(_answers(cell)))
    return store


def _answers(cell: CellFiles) -> Iterator[AnswerV1_3]:
    for record in cell.records:
        if record.analysis is not None:
            text = cell.labelled(record).sample.text
            yield answer_of(record.uid, record.input.language, record.analysis.final_tuples, text)


class FeedbackLine(FrozenModel):
    """One verdict, as a program writes it."""

    uid: str
    verdict: str
    aspect: str | None = None


def read_and_give(store: MemoryStore) -> str:
    """Give every verdict of stdin to the store; return why the first bad line was refused, "" if none was.

    Reading stops at a bad line. Earlier verdicts stand, and giving them again changes nothing.
    """
    given_n = 0
    # Bytes: a line that is not UTF-8 is a bad line like any other.
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            asked = FeedbackLine.model_validate_json(line)
            given = give_feedback(store, asked.uid, asked.verdict, asked.aspect)
        except (ValidationError, InputError) as error:
            reason = reasons_of(error) if isinstance(error, ValidationError) else str(error)
            before = f"{given_n} verdict{' before it stands' if given_n == 1 else 's before it stand'}"
            return f"line {number} of stdin: {reason}. {before}; fix the line and send all lines again"
        given_n += 1
        print_json(given._asdict())
        # The program that reads the answers may wait for this one before it writes the next verdict.
        sys.stdout.flush()
    return ""

"""A store as JSON lines: written in schema 1.3, or 1.1 for the original rules; read in 1.1, 1.2 and 1.3."""

import logging
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from pydantic import ValidationError

from episodic_absa.errors import MemoryStoreError
from episodic_absa.schemas.memory_v1_1 import EpisodicMemoryEntryV1_1, SnapshotV1_1
from episodic_absa.schemas.memory_v1_2 import (
    EpisodicMemoryEntryV1_2,
    TallyV1_2,
    VerdictV1_2,
    store_chain,
    validated_line,
)
from episodic_absa.schemas.stored.memory_v1_3 import (
    MAX_EPISODE_NUMBER,
    EpisodicMemoryEntryV1_3,
    TombstoneV1_3,
    VerdictV1_3,
    parse_episode,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.quoted_value import reasons_of
from episodic_absa.serialization.seals import BrokenLineError
from episodic_absa.store.additions import Additions, Guard
from episodic_absa.store.dialects.dialect import Dialect, Writer
from episodic_absa.store.ranking import Ranked
from episodic_absa.store.sealed_rows import all_proven_rows
from episodic_absa.store.tables import EPISODES, TOMBSTONES, VERDICTS
from episodic_absa.vocabulary import Language

_NOTHING_JUDGED: Final = SnapshotV1_1(aspects_norm=(), confidence=0.0, polarities={})


def from_1_1(episode: EpisodicMemoryEntryV1_1) -> EpisodicMemoryEntryV1_3:
    """Return an episode of 1.1 as one of 1.3. Its type becomes the outcome by risk."""
    fields = episode.model_dump(mode="json", exclude={"episode_type"})
    return _upgraded(fields, {"by": "risk", "value": episode.episode_type})


def from_1_2(episode: EpisodicMemoryEntryV1_2) -> EpisodicMemoryEntryV1_3:
    """Return an episode of 1.2 as one of 1.3.

    What the referee or a person said of it stands; what the reader said, and an open outcome, gives way to the risks.
    """
    fields = episode.model_dump(mode="json", exclude={"episode_type", "outcome", "outcome_by"})
    fields["changes"] = [{"adopted": change.adopted, "kind": change.kind} for change in episode.changes]
    if episode.outcome_by in ("referee", "person"):
        return _upgraded(fields, {"by": episode.outcome_by, "value": episode.episode_type})
    return _upgraded(fields, {"by": "risk", "value": episode.evaluation.episode_type})


def to_1_1(episode: EpisodicMemoryEntryV1_3) -> EpisodicMemoryEntryV1_1:
    """Return an episode as files of the original rules hold it: with its outcome as its type, and nothing else of 1.3.

    Raises:
        ValidationError: its action is none of the original rules.
    """
    fields = episode.model_dump(mode="json", exclude={"changes", "context", "namespace", "outcome"})
    fields |= {"schema_version": "1.1", "episode_type": episode.outcome.value}
    if episode.stage_snapshot is None:
        nothing = _NOTHING_JUDGED.model_dump(mode="json")
        fields["stage_snapshot"] = {"final": nothing, "stage1": nothing}
    return EpisodicMemoryEntryV1_1.model_validate(fields)


def _upgraded(fields: dict[str, Any], outcome: dict[str, Any]) -> EpisodicMemoryEntryV1_3:
    nothing = _NOTHING_JUDGED.model_dump(mode="json")
    if fields["stage_snapshot"] == {"final": nothing, "stage1": nothing}:
        # As `AgentMemory` wrote it, which judges nothing: an empty result would say that everything was dropped.
        fields["stage_snapshot"] = None
    return EpisodicMemoryEntryV1_3.model_validate({**fields, "schema_version": "1.3", "outcome": outcome})


# Quotes inside a JSON string are escaped, so a match is a key with its value.
_VERSION_1_3 = re.compile(rb'"schema_version":\s*"1\.3"')
_KIND = re.compile(rb'"kind":\s*"(verdict|tombstone)"')
logger = logging.getLogger("episodic_absa.memory")
_NEWLINE: Final = b"\n"

ExportForm = Literal["1.1", "1.3"]
Line = EpisodicMemoryEntryV1_3 | VerdictV1_3 | TombstoneV1_3 | TallyV1_2 | VerdictV1_2


class TakenIn(NamedTuple):
    """What was read from lines into a store."""

    episode_n: int = 0
    verdict_n: int = 0
    known_n: int = 0
    """Lines that said nothing new."""


def exported_lines(dialect: Dialect, form: ExportForm = "1.3") -> Iterator[bytes]:
    """Yield the lines of a store, all namespaces, with their line ends: episodes, verdicts, tombstones.

    Args:
        dialect: the database.
        form: the schema of the lines; 1.1 knows episodes alone.

    Raises:
        MemoryStoreError: a row is not what was written.
    """
    for table in (EPISODES, VERDICTS, TOMBSTONES) if form == "1.3" else (EPISODES,):
        for _, body in all_proven_rows(dialect, dialect.shown, table):
            if body:
                yield body + _NEWLINE if form == "1.3" else episode_line(parse_episode(body), form)


def episode_line(episode: EpisodicMemoryEntryV1_3, form: ExportForm) -> bytes:
    """Return the line of an episode, with its line end."""
    return canonical_json(episode if form == "1.3" else to_1_1(episode)).encode() + _NEWLINE


def read_lines(lines: Iterable[bytes], shown: str) -> Iterator[Line]:
    """Yield the values of lines, episodes in schema 1.3; the header of a sealed file is left out.

    Args:
        lines: of one file from its beginning.
        shown: the file, for errors.

    Raises:
        MemoryStoreError: a line is none of a store, is not sealed as it should be, or ids do not ascend.
    """
    seals, last = store_chain(), 0
    for place, line in enumerate(lines, start=1):
        bad = partial(_bad_line, shown, place)
        if not line.endswith(_NEWLINE):
            # What a killed writer of an earlier version left: nobody was told that it is stored.
            logger.warning("%s ends in an unfinished line of %d bytes, which is left out", shown, len(line))
            return
        try:
            body = seals.body_of(line[:-1])
            value = None if body is None else parse_line(body)
        except BrokenLineError as error:
            raise bad(str(error)) from error
        except ValidationError as error:
            raise bad(reasons_of(error)) from error
        if isinstance(value, EpisodicMemoryEntryV1_3):
            number = int(value.episode_id[4:])
            if not last < number <= MAX_EPISODE_NUMBER:
                raise bad(f"epi_{number:06d} does not come after epi_{last:06d}")
            last = number
        if value is not None:
            yield value


def take_in(writer: Writer, lines: Iterable[Line], guard: Guard, shown: str) -> TakenIn:
    """Add the values of lines to a store, within one transaction.

    A store without episodes takes the ids over; in any other they are given anew, and what it holds already is not
    added again. What people said is counted anew.

    Args:
        writer: the transaction.
        lines: the values.
        guard: raises LeakageError for what must not be stored.
        shown: where the store is, for errors.
    """
    additions = Additions(writer, shown)
    keeps_ids = additions.last_number() == 0
    languages: dict[str, Language] = {}
    episode_n = verdict_n = known_n = 0
    for line in lines:
        if isinstance(line, TallyV1_2):
            languages[line.source_id] = line.language
        elif isinstance(line, TombstoneV1_3):
            if keeps_ids:
                additions.bury(line)
        elif isinstance(line, EpisodicMemoryEntryV1_3):
            guard(line)
            languages[line.provenance.source_id] = line.input_signature.language
            is_new = keeps_ids or not additions.holds(line)
            if is_new:
                additions.add_episode(line, Ranked.of(line), number=int(line.episode_id[4:]) if keeps_ids else None)
            episode_n, known_n = episode_n + is_new, known_n + (not is_new)
        else:
            verdict = line if isinstance(line, VerdictV1_3) else _verdict_1_3(line, languages.get(line.source_id))
            guard(verdict)
            is_new = additions.add_verdict(verdict)
            verdict_n, known_n = verdict_n + is_new, known_n + (not is_new)
    additions.finish()
    return TakenIn(episode_n, verdict_n, known_n)


def opened_file(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, read as they are consumed.

    Raises:
        MemoryStoreError: the file cannot be read, or its first line is none of a store.
    """
    try:
        with open(path, "rb") as file:
            first = file.readline()
            if first:
                _refuse_other_file(path, first)
            yield from chain([first] if first else [], file)
    except OSError as error:
        raise MemoryStoreError(f"cannot read {path}: {error.strerror}; check the path", path=path) from error


def _refuse_other_file(path: Path, first: bytes) -> None:
    try:
        seals = store_chain()
        body = seals.body_of(first.removesuffix(_NEWLINE))
        if body is not None:
            parse_line(body)
    except (BrokenLineError, ValidationError) as error:
        raise MemoryStoreError(
            f"{path} is no store of episodes: its first line is none of a store; it stays as it is; name another file",
            path=path,
            line=1,
        ) from error


def parse_line(body: bytes) -> Line:
    """Return the value of a line without its seal, an episode in schema 1.3.

    Raises:
        ValidationError: it is no line of a store.
    """
    if _VERSION_1_3.search(body):
        kind = _KIND.search(body)
        if kind is None:
            return parse_episode(body)
        model = VerdictV1_3 if kind[1] == b"verdict" else TombstoneV1_3
        return model.model_validate_json(body)
    value = validated_line(body)
    if isinstance(value, EpisodicMemoryEntryV1_1):
        return from_1_1(value)
    return from_1_2(value) if isinstance(value, EpisodicMemoryEntryV1_2) else value


def _verdict_1_3(verdict: VerdictV1_2, language: Language | None) -> VerdictV1_3:
    return VerdictV1_3(source_id=verdict.source_id, aspect=verdict.aspect, verdict=verdict.verdict, language=language)


def _bad_line(shown: str, place: int, reason: str) -> MemoryStoreError:
    return MemoryStoreError(
        f"{shown}, line {place}: {reason}; nothing was read. Restore the file from a copy, or take the line out",
        path=Path(shown),
        line=place,
    )

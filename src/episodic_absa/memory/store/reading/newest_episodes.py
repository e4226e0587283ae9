"""Reads a store file from its end: the newest episodes of a million cost no more than those of a hundred."""

import os
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.memory.episodes.judged_episode import with_verdicts
from episodic_absa.memory.store.episode_line import parse_episode
from episodic_absa.memory.store.reading.line_search import bad_line_at, checked_body, search_lines
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import (
    AnyEpisode,
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    is_episode_line,
    is_header_line,
)
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import EpisodeType, Language, RiskId, Verdict

_CHUNK: Final = 1 << 20
_ANY_LINE = re.compile(rb"[^\n]+")
_VERDICT = re.compile(rb'"kind":\s*"verdict"')


class EpisodeFilter(NamedTuple):
    """Which episodes are wanted; None admits any value."""

    language: Language | None = None
    episode_type: EpisodeType | None = None
    risk: RiskId | None = None
    """Among the risks before or after the decision."""

    def admits(self, episode: AnyEpisode) -> bool:
        """Return whether the episode passes every filter."""
        evaluation = episode.evaluation
        return (
            self.language in (None, episode.input_signature.language)
            and self.episode_type in (None, episode.episode_type)
            and (self.risk is None or self.risk in (*evaluation.risk_before.tags, *evaluation.risk_after.tags))
        )


def newest_episodes(path: Path) -> Iterator[AnyEpisode]:
    """Yield the episodes of a store file, newest first, as persons judged them.

    Only the part of the file that is consumed is read: a verdict stands behind the episode that it concerns.

    Raises:
        MemoryStoreError: a line is bad, or the id of an episode is not higher than that of the episode before it.
    """
    newer: AnyEpisode | None = None
    newer_offset = 0
    verdicts: dict[str, dict[str | None, Verdict]] = {}
    for (offset, line), (_, previous) in pairwise(chain(_lines_backwards(path), [(0, b"")])):
        body = checked_body(path, offset, line, previous if offset else None)
        if is_header_line(body):
            continue
        episode = _parsed(path, offset, body)
        if isinstance(episode, VerdictV1_2):
            # The last verdict about a sample and an aspect comes first here.
            verdicts.setdefault(episode.source_id, {}).setdefault(episode.aspect, episode.verdict)
            continue
        if isinstance(episode, TallyV1_2):
            continue
        if newer and _number(newer) <= _number(episode):
            reason = f"{newer.episode_id} does not come after {episode.episode_id}"
            raise bad_line_at(path, newer_offset, reason)
        yield with_verdicts(episode, verdicts.get(episode.provenance.source_id, {}))
        newer, newer_offset = episode, offset


def oldest_episode(path: Path) -> AnyEpisode | None:
    """Return the first episode of a store file, None if the file holds none."""
    for offset, body in search_lines(path, _ANY_LINE):
        if is_episode_line(body):
            return _parsed_episode(path, offset, body)
    return None


def verdicts_on(path: Path, source_id: str) -> tuple[VerdictV1_2, ...]:
    """Return the last verdict per aspect that persons gave on the result of a sample, in the order of the file."""
    last: dict[str | None, VerdictV1_2] = {}
    for offset, body in search_lines(path, _VERDICT):
        verdict = None if is_episode_line(body) else _parsed(path, offset, body)
        if isinstance(verdict, VerdictV1_2) and verdict.source_id == source_id:
            last.pop(verdict.aspect, None)
            last[verdict.aspect] = verdict
    return tuple(last.values())


def lines_of_sample(path: Path, source_id: str) -> Iterator[StoreLine]:
    """Yield the lines of one sample; a store that was not created has none. The others are searched, not parsed."""
    # Unescaped quotes cannot stand inside a JSON string, so a match is the key with its value.
    wanted = re.compile(re.escape(b'"source_id":' + canonical_json(source_id).encode()))
    if path.exists():
        for offset, body in search_lines(path, wanted):
            yield _parsed(path, offset, body)


def find_episode(path: Path, number: int) -> AnyEpisode | None:
    """Return the episode with that number, without parsing the others."""
    # Unescaped quotes cannot stand inside a JSON string, so a match is the key itself.
    id_pattern = re.compile(rb'"episode_id":\s*"epi_0*%d"' % number)
    return next((_parsed_episode(path, offset, body) for offset, body in search_lines(path, id_pattern)), None)


def _lines_backwards(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines with their offsets, the last one first; an unfinished end is not a line."""
    with open(path, "rb") as file:
        start = file.seek(0, os.SEEK_END)
        pending, behind_last_line = b"", True
        while start:
            length = min(_CHUNK, start)
            start = file.seek(start - length)
            pending, *lines = (file.read(length) + pending).split(b"\n")
            offset = start + len(pending) + sum(len(line) + 1 for line in lines) + 1
            for line in reversed(lines):
                offset -= len(line) + 1
                if not behind_last_line:
                    yield offset, line
                behind_last_line = False
        if not behind_last_line:
            yield 0, pending


def _parsed(path: Path, offset: int, body: bytes) -> StoreLine:
    return parse_line(body, partial(bad_line_at, path, offset))


def _parsed_episode(path: Path, offset: int, body: bytes) -> AnyEpisode:
    return parse_episode(body, partial(bad_line_at, path, offset))


def _number(episode: AnyEpisode) -> int:
    return int(episode.episode_id[4:])

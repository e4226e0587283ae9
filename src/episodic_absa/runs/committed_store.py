"""The store of a cell beyond what its journal commits: cut back when a run resumes, verdicts of persons kept."""

import hashlib
from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from episodic_absa.schemas.memory_v1_2 import (
    StoreLine,
    TallyV1_2,
    VerdictV1_2,
    is_header_line,
    store_chain,
    validated_line,
)
from episodic_absa.serialization.acknowledged_end import forget_end
from episodic_absa.serialization.durable_file import DurableFile, replace_durably
from episodic_absa.serialization.jsonl import split_lines
from episodic_absa.serialization.sealed_lines import SealChain, opened


def cut_store(store: Path, size: int, redone: Collection[str]) -> None:
    """Cut a store to a journalled size. Verdicts stay, except those on samples that run again.

    Args:
        store: the file; it is at least as long.
        size: where the last committed sample ends.
        redone: the uids of samples that run again.
    """
    content = store.read_bytes()
    verdicts = [opened(line).body for line in split_lines(content[size:]).lines if _is_verdict(line, redone)]
    # The lines before them may be others now, so they are sealed anew.
    kept = content[:size] + b"".join(_chain_after(content[:size]).lines_of(verdicts) if verdicts else [])
    if kept == content:
        return
    forget_end(store)
    if verdicts:
        # The file is replaced at once: cut first and appended to afterwards, a kill would lose the verdicts.
        replace_durably(store, kept)
        return
    file = DurableFile(store)
    try:
        file.cut(size)
    finally:
        file.close()


def ends_in_one_sample(store: Path, end: int) -> bool:
    """Return whether a store holds no more beyond an offset than one sample leaves that is not journalled yet.

    That is an episode, a tally or both, the last of them perhaps unfinished. Verdicts may stand among them.
    """
    if not store.exists():
        return True
    with open(store, "rb") as file:
        file.seek(end)
        lines, torn = split_lines(file.read())
    values = [_value(line) for line in lines if not is_header_line(line)]
    values = [value for value in values if not isinstance(value, VerdictV1_2)]
    tally_n = sum(isinstance(value, TallyV1_2) for value in values)
    return tally_n <= 1 and len(values) - tally_n <= 1 and len(values) + bool(torn) <= 2


def last_line_sha256(store: Path, *, end: int | None = None) -> str | None:
    """Return the sha256 of the last line of a store, None for an empty one.

    Args:
        store: the file; it may be missing.
        end: where the line ends; by default the end of the file.
    """
    size = end if end is not None else store.stat().st_size if store.exists() else 0
    if not size:
        return None
    with open(store, "rb") as file:
        step, data = 4096, b""
        start = size
        while start > 0 and b"\n" not in data[:-1]:
            start = max(0, start - step)
            file.seek(start)
            data = file.read(size - start)
    return hashlib.sha256(data[data[:-1].rfind(b"\n") + 1 :]).hexdigest()


def _chain_after(content: bytes) -> SealChain:
    """Return the chain behind the last of some whole lines; that they fit together is not checked."""
    chain = store_chain()
    lines = split_lines(content).lines
    if lines:
        chain.continue_behind(lines[-1])
    return chain


def _is_verdict(line: bytes, redone: Collection[str]) -> bool:
    value = _value(line)
    return isinstance(value, VerdictV1_2) and value.source_id not in redone


def _value(line: bytes) -> StoreLine | None:
    try:
        return validated_line(opened(line).body)
    except ValidationError:
        return None

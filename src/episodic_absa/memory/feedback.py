"""A person's verdict on the result of one sample: checked, then written to the store. It is no label and no text."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, get_args

from episodic_absa.errors import InputError
from episodic_absa.language import norm
from episodic_absa.memory.episodes.leak_guard import stored_term
from episodic_absa.memory.store.line_search import bad_line_at, search_lines
from episodic_absa.memory.store.memory_store import MemoryStore
from episodic_absa.memory.store.store_line import parse_line
from episodic_absa.schemas.memory_v1_2 import StoreLine, TallyV1_2, VerdictV1_2
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.serialization.quoted_value import listed, quoted
from episodic_absa.vocabulary import Verdict


class GivenFeedback(NamedTuple):
    """A verdict that stands in the store."""

    uid: str
    verdict: Verdict
    aspect: str | None
    """The target as the store spells it; None for the whole result."""
    is_new: bool
    """False: the same verdict stood there already, and nothing was written."""


def give_feedback(store: MemoryStore, uid: str, verdict: str, aspect: str | None = None) -> GivenFeedback:
    """Write what a person says about the result of a sample; return once it is on disk.

    A repeated verdict changes nothing; another one about the same uid and aspect replaces it. Only samples that are
    analysed later see it.

    Args:
        store: where the sample was remembered.
        uid: of the sample.
        verdict: `right`, `wrong` or `unsure`.
        aspect: one target of the result; None for the whole result.

    Raises:
        InputError: the verdict is no such word, or the store knows no such sample or no such target of it.
        MemoryStoreError: the store cannot be read or written.
    """
    for argument, value in (("uid", uid), ("verdict", verdict), ("aspect", aspect or "")):
        if not isinstance(value, str):
            raise InputError(f"{argument} must be a string, got {type(value).__name__}", argument=argument)
    word = _verdict(verdict)
    term = None if aspect is None else _known_target(store, uid, aspect)
    if term is None and uid not in store.load().episode_index.familiarity.sources:
        _terms_of(store.path, uid)
    given = VerdictV1_2(source_id=uid, verdict=word, aspect=term)
    return GivenFeedback(uid, word, term, is_new=store.append_verdict(given))


def _verdict(word: str) -> Verdict:
    words: tuple[Verdict, ...] = get_args(Verdict)
    for known in words:
        if word == known:
            return known
    raise InputError(f"the verdict must be one of {', '.join(words)}, got {quoted(word)}", argument="verdict")


def _known_target(store: MemoryStore, uid: str, aspect: str) -> str:
    terms = _terms_of(store.path, uid)
    term = stored_term(norm(aspect))
    if term not in terms:
        known = listed(sorted(filter(None, terms))) or "none"
        raise InputError(
            f"the result of {quoted(uid)} has no such target; its targets in the store: {known}. Name one of them, or "
            "leave the aspect out to judge the whole result",
            argument="aspect",
        )
    return term


def _terms_of(path: Path, uid: str) -> frozenset[str]:
    """Return the targets of a sample, before and after its changes.

    Raises:
        InputError: the store knows no such sample.
    """
    terms: set[str] = set()
    is_known = False
    for line in _lines_of(path, uid):
        if isinstance(line, VerdictV1_2):
            continue
        is_known = True
        if isinstance(line, TallyV1_2):
            terms.update(line.terms)
        else:
            terms.update(line.stage_snapshot.stage1.aspects_norm, line.stage_snapshot.final.aspects_norm)
    if not is_known:
        raise InputError(
            f"{path.name} knows no sample {quoted(uid)}; give the uid of a sample that was analysed with this store",
            argument="uid",
        )
    return frozenset(terms)


def _lines_of(path: Path, uid: str) -> Iterator[StoreLine]:
    """Yield the lines of one sample. The others are searched, not parsed."""
    # Unescaped quotes cannot stand inside a JSON string, so a match is the key with its value.
    wanted = re.compile(re.escape(b'"source_id":' + canonical_json(uid).encode()))
    if path.exists():
        for offset, body in search_lines(path, wanted):
            yield parse_line(body, partial(bad_line_at, path, offset))

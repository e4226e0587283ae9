"""A person's verdict on the result of one sample: checked, then written to the store. It is no label and no text."""

from typing import NamedTuple, get_args

from episodic_absa.errors import InputError
from episodic_absa.language import norm
from episodic_absa.memory.episodes.leak_guard import stored_term
from episodic_absa.memory.store.episode_store import EpisodeStore
from episodic_absa.schemas.memory_v1_2 import TallyV1_2, VerdictV1_2
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


def give_feedback(store: EpisodeStore, uid: str, verdict: str, aspect: str | None = None) -> GivenFeedback:
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
    if term is None and not store.load().episode_index.samples.is_tallied(uid):
        _terms_of(store, uid)
    given = VerdictV1_2(source_id=uid, verdict=word, aspect=term)
    return GivenFeedback(uid, word, term, is_new=store.append_verdict(given))


def _verdict(word: str) -> Verdict:
    words: tuple[Verdict, ...] = get_args(Verdict)
    for known in words:
        if word == known:
            return known
    raise InputError(f"the verdict must be one of {', '.join(words)}, got {quoted(word)}", argument="verdict")


def _known_target(store: EpisodeStore, uid: str, aspect: str) -> str:
    terms = _terms_of(store, uid)
    term = stored_term(norm(aspect))
    if term not in terms:
        known = listed(sorted(filter(None, terms))) or "none"
        raise InputError(
            f"the result of {quoted(uid)} has no such target; its targets in the store: {known}. Name one of them, or "
            "leave the aspect out to judge the whole result",
            argument="aspect",
        )
    return term


def _terms_of(store: EpisodeStore, uid: str) -> frozenset[str]:
    """Return the targets of a sample, before and after its changes.

    Raises:
        InputError: the store knows no such sample.
    """
    terms: set[str] = set()
    is_known = False
    for line in store.lines_of(uid):
        if isinstance(line, VerdictV1_2):
            continue
        is_known = True
        if isinstance(line, TallyV1_2):
            terms.update(line.terms)
        else:
            terms.update(line.stage_snapshot.stage1.aspects_norm, line.stage_snapshot.final.aspects_norm)
    if not is_known:
        raise InputError(
            f"{store.name} knows no sample {quoted(uid)}; give the uid of a sample that was analysed with this store",
            argument="uid",
        )
    return frozenset(terms)

"""A person's verdict on the result of one sample: checked, then written to the store. It is no label and no text."""

from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

from episodic_absa.errors import InputError
from episodic_absa.language import norm
from episodic_absa.memory.advice.dangerous_advice import final_pairs
from episodic_absa.memory.episodes.judged_episode import judged_snapshots
from episodic_absa.memory.episodes.leak_guard import stored_term
from episodic_absa.memory.memory_store import MemoryStore
from episodic_absa.schemas.stored.memory_v1_3 import VerdictV1_3
from episodic_absa.serialization.quoted_value import listed, quoted
from episodic_absa.vocabulary import Language, Polarity, Verdict

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


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
    if verdict not in VERDICTS:
        raise InputError(f"the verdict must be one of {', '.join(VERDICTS)}, got {quoted(verdict)}", argument="verdict")
    known = _known_result(store, uid)
    term = None if aspect is None else _known_target(known, uid, aspect)
    given = VerdictV1_3(
        source_id=uid,
        namespace=store.namespace,
        language=known.language,
        aspect=term,
        polarity=None if term is None else known.polarities.get(term),
        verdict=verdict,
    )
    return GivenFeedback(uid, verdict, term, is_new=store.append_verdict(given))


class _KnownResult(NamedTuple):
    """What a store knows of the result of a sample."""

    language: Language
    terms: frozenset[str]
    """Its targets before and after its changes."""
    polarities: Mapping[str, Polarity]
    """Of its final pairs."""


def _known_target(known: _KnownResult, uid: str, aspect: str) -> str:
    term = stored_term(norm(aspect))
    if term not in known.terms:
        targets = listed(sorted(filter(None, known.terms))) or "none"
        raise InputError(
            f"the result of {quoted(uid)} has no such target; its targets in the store: {targets}. Name one of them, "
            "or leave the aspect out to judge the whole result",
            argument="aspect",
        )
    return term


def _known_result(store: MemoryStore, uid: str) -> _KnownResult:
    """Return what the store knows of a sample.

    Raises:
        InputError: the store knows no such sample.
    """
    answers, episodes = store.answers_of(uid), store.episodes_of(uid)
    languages = [answer.language for answer in answers] + [entry.input_signature.language for entry in episodes]
    if not languages:
        raise InputError(
            f"{store.name} knows no sample {quoted(uid)}; give the uid of a sample that was analysed with this store",
            argument="uid",
        )
    polarities: dict[str, Polarity] = {}
    terms: set[str] = set()
    for episode in episodes:
        terms.update(*(snapshot.aspects_norm for snapshot in judged_snapshots(episode)))
        polarities |= dict(final_pairs(episode))
    for answer in answers:
        polarities |= {pair.aspect: pair.polarity for pair in answer.pairs}
    return _KnownResult(languages[-1], frozenset(terms | polarities.keys()), polarities)

"""Every probe of the certificate: what it reads of a review, and what chance keeps."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from episodic_absa.contrib.certificate.probe_methods import Figure, Matching, probe_polarity
from episodic_absa.contrib.certificate.review_evidence import Leaf, ReviewEvidence, leaves_of, ngrams_of
from episodic_absa.schemas.run_files.certificate import ProbeScope, ProbeSource, ProbeTarget

_PLANTED: Final = "planted="
_SHARED: Final = 3
"""An n-gram that memory holds of more reviews is no word of one review."""
_MOST_ASPECTS: Final = 3


@dataclass(frozen=True)
class PreparedProbe:
    """A probe with its reviews, ready to be run."""

    target: ProbeTarget
    source: ProbeSource
    scope: ProbeScope
    n: int
    run: Callable[[int], Figure]
    """Takes the number of shuffles."""
    run_control: Callable[[int], Figure]
    """The same with a leak planted in every review."""


def prepared_probes(reviews: Sequence[ReviewEvidence]) -> Iterator[PreparedProbe]:
    """Yield the probes of a run in the order of the certificate."""
    shown = [review for review in reviews if review.shown]
    stored = [review for review in reviews if review.stored]
    passed_on = [review for review in reviews if review.passed_on]
    yield _polarity("advisories_shown", "allowed", shown, _nothing)
    yield _polarity("advisories_shown", "beyond", shown, _query)
    yield _polarity("store", "allowed", stored, _nothing)
    yield _polarity("store", "beyond", stored, _record)
    for target in ("identity", "text"):
        yield _matching(target, "store", "allowed", stored)
        yield _matching(target, "store", "beyond", stored)
        yield _matching(target, "advisories_passed_on", "beyond", passed_on)
    yield _matching("text", "advisories_shown", "beyond", shown)


def _nothing(_: ReviewEvidence) -> Hashable:
    """Return the same for all reviews: chance keeps nothing."""
    return ()


def _query(review: ReviewEvidence) -> Hashable:
    """Return what memory is asked with: what it shows may follow from this."""
    signature = review.signature
    aspects = min(signature.num_aspects, _MOST_ASPECTS)
    return (*review.kind, aspects, review.predicted.risks if review.predicted else ())


def _record(review: ReviewEvidence) -> Hashable:
    """Return what the analysis itself found out about a review: what is stored may follow from this."""
    outcomes = sorted({str((line.get("outcome"), line.get("episode_type"))) for line in review.stored})
    return (review.kind[:2], review.predicted, tuple(outcomes))


def _held(review: ReviewEvidence, source: ProbeSource) -> Sequence[Mapping[str, Any]]:
    return {"store": review.stored, "advisories_shown": review.shown, "advisories_passed_on": review.passed_on}[source]


def _leaves(review: ReviewEvidence, source: ProbeSource, scope: ProbeScope) -> Iterator[Leaf]:
    """Yield the values that a probe reads; beyond the allowed no terms."""
    for leaf in leaves_of(_held(review, source)):
        is_term = isinstance(leaf.value, str) and review.may_hold(leaf.value)
        if scope == "allowed" or not is_term:
            yield leaf


def _features(leaves: Iterable[Leaf]) -> set[str]:
    features: set[str] = set()
    for leaf in leaves:
        features.add(leaf.field)
        if isinstance(leaf.value, str):
            features |= ngrams_of(leaf.value)
    return features


def _grams(leaves: Iterable[Leaf]) -> set[str]:
    grams: set[str] = set()
    return grams.union(*(ngrams_of(leaf.value) for leaf in leaves if isinstance(leaf.value, str)))


def _polarity(
    source: ProbeSource,
    scope: ProbeScope,
    reviews: Sequence[ReviewEvidence],
    kept: Callable[[ReviewEvidence], Hashable],
) -> PreparedProbe:
    with_gold = [review for review in reviews if review.gold is not None]
    golds: dict[Hashable, set[str | None]] = {}
    for review in with_gold:
        golds.setdefault(kept(review), set()).add(review.gold)
    # In a group with one polarity there is nothing to shuffle.
    used = [review for review in with_gold if len(golds[kept(review)]) > 1]
    documents = [_features(_leaves(review, source, scope)) for review in used]
    answers = [review.gold or "" for review in used]
    groups = [kept(review) for review in used]
    planted = [document | {f"{_PLANTED}{answer}"} for document, answer in zip(documents, answers, strict=True)]
    return PreparedProbe(
        target="gold_polarity",
        source=source,
        scope=scope,
        n=len(used),
        run=lambda shuffles: probe_polarity(documents, answers, groups, shuffles=shuffles),
        run_control=lambda shuffles: probe_polarity(planted, answers, groups, shuffles=shuffles),
    )


def _matching(
    target: ProbeTarget, source: ProbeSource, scope: ProbeScope, reviews: Sequence[ReviewEvidence]
) -> PreparedProbe:
    rivals = Counter(review.kind for review in reviews)
    used = [review for review in reviews if rivals[review.kind] > 1]
    held = [_grams(_leaves(review, source, scope)) for review in used]
    if scope == "beyond":
        held = _own_words(held)
    texts = [ngrams_of(review.text) for review in used]
    groups = [review.kind for review in used]

    def run(grams: Sequence[set[str]], shuffles: int) -> Figure:
        matching = Matching(grams, texts, groups)
        return matching.identity(shuffles) if target == "identity" else matching.overlap(shuffles)

    return PreparedProbe(
        target=target,
        source=source,
        scope=scope,
        n=len(used),
        run=lambda shuffles: run(held, shuffles),
        run_control=lambda shuffles: run(_with_planted_words(held, used, texts), shuffles),
    )


def _own_words(held: Sequence[set[str]]) -> list[set[str]]:
    """Return the n-grams without those that memory holds of several reviews: these are its own vocabulary."""
    counts = Counter(gram for grams in held for gram in grams)
    return [{gram for gram in grams if counts[gram] <= _SHARED} for grams in held]


def _with_planted_words(
    held: Sequence[set[str]], reviews: Sequence[ReviewEvidence], texts: Sequence[set[str]]
) -> list[set[str]]:
    """Return the same with one word of each review that is no term: the rarest, the first in the alphabet."""
    counts = Counter(gram for text in texts for gram in text)
    planted = []
    for grams, review, text in zip(held, reviews, texts, strict=True):
        allowed = set().union(*map(ngrams_of, review.allowed))
        words = sorted(gram for gram in text - allowed if not gram.startswith("~"))
        planted.append(grams | (ngrams_of(min(words, key=counts.__getitem__)) if words else set()))
    return planted

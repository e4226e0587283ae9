"""The error taxonomy: every gold pair and every predicted pair of a sample falls into one class."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from episodic_absa.language import norm
from episodic_absa.metrics.per_sample.gold_and_predictions import predictions, valid_gold
from episodic_absa.schemas.absa import Span
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.vocabulary import Polarity

PairError = Literal["missed", "spurious", "boundary", "polarity"]
PAIR_ERRORS: Final[tuple[PairError, ...]] = get_args(PairError)


class PairErrors(NamedTuple):
    """Counts of pairs by class.

    `right`, `polarity` and `boundary` join one gold pair and one predicted pair. Gold pairs are therefore
    right + polarity + boundary + missed, predicted pairs right + polarity + boundary + spurious.
    """

    right: int = 0
    """Equal term, equal polarity."""
    missed: int = 0
    """Gold pairs without a partner."""
    spurious: int = 0
    """Predicted pairs without a partner."""
    boundary: int = 0
    """Terms that overlap and differ, whatever their polarities."""
    polarity: int = 0
    """Equal term, other polarity."""

    @property
    def gold(self) -> int:
        """All gold pairs."""
        return self.right + self.polarity + self.boundary + self.missed

    @property
    def predicted(self) -> int:
        """All predicted pairs."""
        return self.right + self.polarity + self.boundary + self.spurious


class _Placed(NamedTuple):
    """A pair and the places of its term in the text, as far as they are known."""

    term: str
    polarity: Polarity
    spans: tuple[Span, ...]


def pair_errors(card: Scorecard, *, count_backfilled: bool = False) -> PairErrors | None:
    """Return the classes of a sample's pairs; None if the sample failed or has no valid gold.

    Pairs are joined one to one: first equal pairs, then equal terms, then overlapping terms, and of these first the
    pairs of equal polarity and the longest overlap. Two terms overlap if their spans do. If a span is unknown, they
    overlap if one normalised term occurs in the other, in Latin script from the start of a word. An implicit pair,
    whose term is empty, overlaps no other term.

    Example:
        >>> card = Scorecard.model_validate({
        ...     "run_id": "toy", "uid": "r1", "sample_index": 0, "status": "ok", "condition": "C1",
        ...     "memory_mode": "off", "seed": 42, "language_code": "en", "split": "valid", "domain_id": "cafe",
        ...     "case_type": "plain", "cfg_hash": "0" * 64,
        ...     "final_tuples": [{"aspect_term": "coffee", "polarity": "negative", "confidence": 0.9,
        ...                       "grounding": "explicit"}],
        ...     "gold_tuples": [{"aspect_term": "iced coffee", "polarity": "negative"},
        ...                     {"aspect_term": "queue", "polarity": "negative"}],
        ... })
        >>> pair_errors(card)
        PairErrors(right=0, missed=1, spurious=0, boundary=1, polarity=0)
    """
    if card.status == "error" or valid_gold(card) is None or card.gold_tuples is None:
        return None
    gold = _placed((known.aspect_term, known.polarity, known.span) for known in card.gold_tuples)
    final = predictions(card, count_backfilled=count_backfilled)
    predicted = _placed((known.aspect_term, known.polarity, known.span) for known in final)
    right = gold.keys() & predicted.keys()
    left = [gold[key] for key in sorted(gold.keys() - right)]
    other = [predicted[key] for key in sorted(predicted.keys() - right)]
    polarity_n = _join(left, other, _same_term(left, other))
    boundary_n = _join(left, other, _overlapping(left, other))
    return PairErrors(len(right), len(left), len(other), boundary_n, polarity_n)


def summed(errors: Iterable[PairErrors]) -> PairErrors:
    """Return the sums over samples."""
    counts = [sum(column) for column in zip(*errors, strict=True)]
    return PairErrors(*counts)


def _placed(tuples: Iterable[tuple[str, Polarity | None, Span | None]]) -> dict[tuple[str, Polarity], _Placed]:
    pairs: dict[tuple[str, Polarity], _Placed] = {}
    for term, polarity, span in tuples:
        if polarity is None:
            continue
        key = (norm(term), polarity)
        spans = pairs[key].spans if key in pairs else ()
        pairs[key] = _Placed(*key, (*spans, span) if span is not None else spans)
    return pairs


def _same_term(gold: Sequence[_Placed], predicted: Sequence[_Placed]) -> list[tuple[_Placed, _Placed]]:
    return [(known, guess) for known in gold for guess in predicted if known.term == guess.term]


def _overlapping(gold: Sequence[_Placed], predicted: Sequence[_Placed]) -> list[tuple[_Placed, _Placed]]:
    shared = [(known, guess, _overlap(known, guess)) for known in gold for guess in predicted]
    shared = [candidate for candidate in shared if candidate[2]]
    shared.sort(key=lambda candidate: (candidate[0].polarity != candidate[1].polarity, -candidate[2]))
    return [(known, guess) for known, guess, _ in shared]


def _join(gold: list[_Placed], predicted: list[_Placed], candidates: Iterable[tuple[_Placed, _Placed]]) -> int:
    """Remove the joined pairs from both lists and return their number."""
    joined = 0
    for known, guess in candidates:
        if known in gold and guess in predicted:
            gold.remove(known)
            predicted.remove(guess)
            joined += 1
    return joined


def _overlap(gold: _Placed, predicted: _Placed) -> int:
    """Return how many characters two terms share."""
    if not gold.term or not predicted.term:
        return 0
    if gold.spans and predicted.spans:
        return max(_shared_lengths(gold.spans, predicted.spans))
    short, long = sorted((gold.term, predicted.term), key=len)
    # Without this "pen" would overlap "open"; Korean compounds are written without a space.
    start = r"(?<![^\W_가-힣])" if short[0].isascii() else ""
    return len(short) if re.search(start + re.escape(short), long) else 0


def _shared_lengths(gold: Iterable[Span], predicted: Sequence[Span]) -> Iterator[int]:
    for known in gold:
        for guess in predicted:
            yield max(0, min(known.end, guess.end) - max(known.start, guess.start))

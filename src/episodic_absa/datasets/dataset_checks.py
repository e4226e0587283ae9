"""Checks datasets before a run: unique uids, no text in two splits, valid gold. Pure functions."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from episodic_absa.errors import DatasetError
from episodic_absa.language import occurs
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.serialization.quoted_value import quoted
from episodic_absa.vocabulary import POLARITIES, Polarity

_FEWEST_TERMS: Final = 20
"""With fewer gold terms a shift is no safe conclusion."""


class PlacedTerms(NamedTuple):
    """The gold terms that a split names, and the uids of those that do not stand in their text."""

    named_n: int
    absent: tuple[str, ...]

    @property
    def shift(self) -> str | None:
        """What is wrong if more than half of the terms stand in no text of theirs; None if that is not so."""
        if self.named_n < _FEWEST_TERMS or 2 * len(self.absent) <= self.named_n:
            return None
        return (
            f"{len(self.absent)} of {self.named_n} gold terms are not in their text, first in {self.absent[0]!r}: the "
            "gold is shifted, or belongs to other texts; give each text its own gold, and leave a term empty if the "
            "text does not name the target"
        )


class SharedText(NamedTuple):
    """A text that occurs in two splits: its uid in each."""

    first_uid: str
    second_uid: str


def require_unique_uids(splits: Mapping[Path, Sequence[LabelledSample]]) -> None:
    """Raise a DatasetError if a uid occurs twice in all files together."""
    places: dict[str, str] = {}
    for path, samples in splits.items():
        for number, labelled in enumerate(samples, start=1):
            uid, place = labelled.sample.uid, f"{path} (text {number})"
            if uid in places:
                raise DatasetError(
                    f"uid {quoted(uid)} stands in {places[uid]} and in {place}; give every text of all splits "
                    "its own uid",
                    path=path,
                )
            places[uid] = place


def find_shared_texts(first: Iterable[LabelledSample], second: Iterable[LabelledSample]) -> tuple[SharedText, ...]:
    """Return the texts that occur in both splits; differences in white space do not count."""
    known: dict[str, str] = {}
    for labelled in first:
        known.setdefault(text_sha256(labelled.sample.text), labelled.sample.uid)
    hashed = ((text_sha256(labelled.sample.text), labelled.sample.uid) for labelled in second)
    return tuple(SharedText(known[sha256], uid) for sha256, uid in hashed if sha256 in known)


def text_sha256(text: str) -> str:
    """Return the hash of a text in which every run of white space counts as one space."""
    return hashlib.sha256(" ".join(unicodedata.normalize("NFC", text).split()).encode("utf-8")).hexdigest()


def has_valid_gold(labelled: LabelledSample) -> bool:
    """Return whether the sample is annotated and all its polarities are valid."""
    return labelled.gold is not None and all(gold_tuple.polarity is not None for gold_tuple in labelled.gold)


def count_invalid_gold(samples: Iterable[LabelledSample]) -> int:
    """Return how many annotated samples quality metrics must leave out."""
    return sum(labelled.gold is not None and not has_valid_gold(labelled) for labelled in samples)


def placed_terms(samples: Iterable[LabelledSample]) -> PlacedTerms:
    """Return how many gold terms there are, and which do not stand in their text."""
    named = [
        (labelled.sample.uid, occurs(gold_tuple.aspect_term, labelled.sample.text))
        for labelled in samples
        for gold_tuple in labelled.gold or ()
        if gold_tuple.aspect_term
    ]
    return PlacedTerms(len(named), tuple(uid for uid, is_there in named if not is_there))


def majority_polarity(samples: Iterable[LabelledSample]) -> Polarity | None:
    """Return the commonest valid polarity of all gold tuples; a tie goes to positive, then negative, then neutral."""
    gold_tuples = (gold_tuple for labelled in samples for gold_tuple in labelled.gold or ())
    polarities = [gold_tuple.polarity for gold_tuple in gold_tuples if gold_tuple.polarity is not None]
    if not polarities:
        return None
    commonest: Polarity = max(POLARITIES, key=polarities.count)  # max keeps the first of a tie
    return commonest

"""What must hold of datasets before a run: unique uids, no text in two splits, valid gold. Pure functions."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from episodic_absa.errors import DatasetError
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.vocabulary import POLARITIES, Polarity


class SharedText(NamedTuple):
    """A text that stands in two splits, by the uid it has in each."""

    first_uid: str
    second_uid: str


def require_unique_uids(splits: Mapping[Path, Sequence[LabelledSample]]) -> None:
    """Refuse a uid that occurs twice over all files."""
    places: dict[str, str] = {}
    for path, samples in splits.items():
        for number, labelled in enumerate(samples, start=1):
            uid, place = labelled.sample.uid, f"{path} (text {number})"
            if uid in places:
                raise DatasetError(
                    f"uid {uid!r} stands both in {places[uid]} and in {place}; give every text of all splits its own",
                    path=path,
                )
            places[uid] = place


def find_shared_texts(first: Iterable[LabelledSample], second: Iterable[LabelledSample]) -> tuple[SharedText, ...]:
    """Return the texts of the second split that the first one has too, whatever their white space."""
    known: dict[str, str] = {}
    for labelled in first:
        known.setdefault(text_sha256(labelled.sample.text), labelled.sample.uid)
    hashed = ((text_sha256(labelled.sample.text), labelled.sample.uid) for labelled in second)
    return tuple(SharedText(known[sha256], uid) for sha256, uid in hashed if sha256 in known)


def text_sha256(text: str) -> str:
    """Hash a text with every run of white space as one space."""
    return hashlib.sha256(" ".join(unicodedata.normalize("NFC", text).split()).encode("utf-8")).hexdigest()


def has_valid_gold(labelled: LabelledSample) -> bool:
    """Whether the sample is annotated, and with valid polarities only."""
    return labelled.gold is not None and all(one.polarity is not None for one in labelled.gold)


def count_invalid_gold(samples: Iterable[LabelledSample]) -> int:
    """Count the annotated samples that quality metrics must leave out."""
    return sum(labelled.gold is not None and not has_valid_gold(labelled) for labelled in samples)


def majority_polarity(samples: Iterable[LabelledSample]) -> Polarity | None:
    """Return the commonest valid polarity of all gold tuples; of equals the first of positive, negative, neutral."""
    found = [one.polarity for labelled in samples for one in labelled.gold or () if one.polarity is not None]
    if not found:
        return None
    commonest: Polarity = max(POLARITIES, key=found.count)  # max keeps the first of equals
    return commonest

"""Which samples of two conditions belong together: those of one uid and one seed."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from episodic_absa.errors import ContractError
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS, sample_values
from episodic_absa.schemas.scorecard import Scorecard

SampleKey = tuple[str, int]
"""uid and seed."""
Values = Mapping[SampleKey, float]


class PairedValues(NamedTuple):
    """One metric of two conditions, by uid in ascending order, with a value per seed that both have."""

    a: dict[str, tuple[float, ...]]
    b: dict[str, tuple[float, ...]]
    n_pairs: int
    unpaired_a: int
    """Samples that have a value under A and no partner under B, or one that failed."""
    unpaired_b: int


def by_uid_and_seed(cards: Iterable[Scorecard], name: str) -> dict[SampleKey, Scorecard]:
    """Index cards; a sample that stands there twice would be counted twice."""
    indexed: dict[SampleKey, Scorecard] = {}
    for card in cards:
        key = (card.uid, card.seed)
        if key in indexed:
            raise ContractError(
                f"{name} holds sample {card.uid} of seed {card.seed} twice; give each side one run per seed",
                uid=card.uid,
                field="uid",
            )
        indexed[key] = card
    return indexed


def values_of(
    cards: Mapping[SampleKey, Scorecard], *, count_backfilled: bool = False
) -> dict[str, dict[SampleKey, float]]:
    """Return the values of every metric, each for the samples that take part in it."""
    found: dict[str, dict[SampleKey, float]] = {metric: {} for metric in PAIRED_METRICS}
    for key, card in cards.items():
        for metric, value in sample_values(card, count_backfilled=count_backfilled).items():
            if value is not None:
                found[metric][key] = value
    return found


def pair_values(values_a: Values, values_b: Values) -> PairedValues:
    """Keep what both sides have, and count the rest."""
    shared = sorted(values_a.keys() & values_b.keys())
    a: dict[str, tuple[float, ...]] = {}
    b: dict[str, tuple[float, ...]] = {}
    for uid, seed in shared:
        a[uid] = (*a.get(uid, ()), values_a[uid, seed])
        b[uid] = (*b.get(uid, ()), values_b[uid, seed])
    return PairedValues(a, b, len(shared), len(values_a) - len(shared), len(values_b) - len(shared))

"""Pairs the samples of two conditions by uid, order and seed."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from episodic_absa.errors import ContractError
from episodic_absa.metrics.per_sample.sample_values import PAIRED_METRICS, sample_values
from episodic_absa.schemas.run_files.scorecard import Scorecard

SampleKey = tuple[str, int, int]
"""uid, order and seed."""
Values = Mapping[SampleKey, float]


class PairedValues(NamedTuple):
    """The values of one metric under two conditions: by uid in ascending order, one value per shared order and seed."""

    a: dict[str, tuple[float, ...]]
    b: dict[str, tuple[float, ...]]
    n_pairs: int
    unpaired_a: int
    """Samples with a value under A whose partner under B is missing, failed or has no value."""
    unpaired_b: int


def by_uid_and_seed(cards: Iterable[Scorecard], name: str) -> dict[SampleKey, Scorecard]:
    """Return the scorecards by uid, order and seed.

    Raises:
        ContractError: two scorecards have the same uid, order and seed.
    """
    indexed: dict[SampleKey, Scorecard] = {}
    for card in cards:
        key = card.pair_key
        if key in indexed:
            raise ContractError(
                f"{name} has sample {card.uid} with seed {card.seed} twice; give each side one run per seed",
                uid=card.uid,
                field="uid",
            )
        indexed[key] = card
    return indexed


def values_of(
    cards: Mapping[SampleKey, Scorecard], *, count_backfilled: bool = False
) -> dict[str, dict[SampleKey, float]]:
    """Return the values of every paired metric; samples without a value are left out."""
    values: dict[str, dict[SampleKey, float]] = {metric: {} for metric in PAIRED_METRICS}
    for key, card in cards.items():
        for metric, value in sample_values(card, count_backfilled=count_backfilled).items():
            if value is not None:
                values[metric][key] = value
    return values


def pair_values(values_a: Values, values_b: Values) -> PairedValues:
    """Return the values of the samples that both sides have, and the number of samples that only one side has."""
    shared = sorted(values_a.keys() & values_b.keys())
    a: dict[str, tuple[float, ...]] = {}
    b: dict[str, tuple[float, ...]] = {}
    for key in shared:
        uid = key[0]
        a[uid] = (*a.get(uid, ()), values_a[key])
        b[uid] = (*b.get(uid, ()), values_b[key])
    return PairedValues(a, b, len(shared), len(values_a) - len(shared), len(values_b) - len(shared))

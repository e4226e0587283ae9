"""The samples that two conditions answer differently, one by one, as a CSV file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

from episodic_absa.final_tuples import pairs
from episodic_absa.metrics.per_sample.gold_and_predictions import Pairs, predictions, valid_gold
from episodic_absa.metrics.per_sample.sample_values import sample_value
from episodic_absa.schemas.frozen_model import FrozenModel
from episodic_absa.schemas.run_files.scorecard import Scorecard
from episodic_absa.serialization.csv_text import csv_text, replace_file

CHANGED_SAMPLES: Final = "changed_samples.csv"
_F1: Final = "tuple_f1_overall"
_NO_PAIRS: Final = "-"
Status = Literal["better", "worse", "different"]


class ChangedSample(FrozenModel):
    """One sample whose final pairs differ between A and B: a row of the file, whose columns are these fields."""

    uid: str
    order: int
    seed: int
    status: Status
    """Of A against B, by the two F1 (by exact match where the gold holds no opinion); different: equal, or no gold."""
    pairs_a: str
    pairs_b: str
    pairs_gold: str | None
    """None without valid gold."""
    f1_a: float | None
    """tuple_f1_overall, since explicit and implicit pairs are shown."""
    f1_b: float | None


def find_changed_samples(
    cards_a: Iterable[Scorecard], cards_b: Iterable[Scorecard], *, count_backfilled: bool = False
) -> tuple[ChangedSample, ...]:
    """Return the changed samples among those that succeeded on both sides, by uid, order and seed."""
    others = {card.pair_key: card for card in cards_b if card.status == "ok"}
    samples = []
    for card in sorted(cards_a, key=lambda card: card.pair_key):
        other = others.get(card.pair_key)
        if other is None or card.status != "ok":
            continue
        under_a, under_b = (pairs(predictions(side, count_backfilled=count_backfilled)) for side in (card, other))
        if under_a == under_b:
            continue
        f1_a, f1_b = (sample_value(_F1, side, count_backfilled=count_backfilled) for side in (card, other))
        samples.append(
            ChangedSample(
                uid=card.uid,
                order=card.order,
                seed=card.seed,
                status=_status(card, other, count_backfilled=count_backfilled),
                pairs_a=pairs_text(under_a),
                pairs_b=pairs_text(under_b),
                pairs_gold=None if (gold := valid_gold(card)) is None else pairs_text(gold),
                f1_a=f1_a,
                f1_b=f1_b,
            )
        )
    return tuple(samples)


def write_changed_samples(directory: Path, changed: Sequence[ChangedSample], *, is_private: bool = True) -> Path:
    """Write the file, replacing an earlier one at once; return its path.

    Args:
        directory: is made if it does not exist.
        changed: one row each.
        is_private: only the user may read the file; False leaves that to the umask, for a place that the user named.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / CHANGED_SAMPLES
    rows = (tuple(sample.model_dump().values()) for sample in changed)
    replace_file(path, csv_text(tuple(ChangedSample.model_fields), rows, quote_text=True), is_private=is_private)
    return path


def pairs_text(shown: Pairs) -> str:
    """Render pairs as triptych.csv does, in the order of their terms: `:negative | 배송:positive`."""
    return " | ".join(f"{term}:{polarity}" for term, polarity in sorted(shown)) or _NO_PAIRS


def _status(card: Scorecard, other: Scorecard, *, count_backfilled: bool) -> Status:
    for metric in (_F1, "exact_match"):
        here, there = (sample_value(metric, side, count_backfilled=count_backfilled) for side in (card, other))
        if here is not None and there is not None and here != there:
            return "better" if here > there else "worse"
    return "different"

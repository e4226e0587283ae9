"""Measures whether a statement "confirmed k of n" predicts the next change better than a base rate does.

python benchmarks/experience.py --store STORE [STORE ...] --run CELL_DIR [CELL_DIR ...] [--name NAME]

The stores hold earlier episodes (schema 1.2), the cells the outcomes of other samples: a sample whose uid stands in a
store is left out. Every confirmed or contradicted change whose signature and kind have an experience counts. The
prediction is (k + 1) / (n + 2), n being the decided cases. Two base rates of the stores' decided changes are predicted
in the same way: that of the language, and that of the kind within the language, which is stricter. A negative
difference of Brier scores favours experience; its 95 % interval comes from a bootstrap over samples. No gold is read.
With --name the figures are written to latest.json.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from accuracy import LATEST, read_rows
from reliability import JudgedPair, reliability_table

from episodic_absa import MemoryStore
from episodic_absa.memory.retrieval.experience_counts import ExperienceCounts
from episodic_absa.runs.derived.derived_samples import OUTPUTS, TRACES
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.memory_v1_2 import EpisodeDraftV1_2
from episodic_absa.vocabulary import ChangeKind

BINS: Final = 4
MIN_SAMPLES: Final = 20
"""A bootstrap over fewer samples gives intervals that are too narrow, so there is none."""
_DRAWS: Final = 10_000
_SEED: Final = 7


class Prediction(NamedTuple):
    """What experience and both base rates say of one change, and how it turned out."""

    uid: str
    language: str
    kind: ChangeKind
    level: str
    experience: float
    base: float
    base_of_kind: float
    is_confirmed: bool


class Rate:
    """Confirmed cases among decided ones."""

    def __init__(self, confirmed: int = 0, decided: int = 0) -> None:
        self.confirmed, self.decided = confirmed, decided

    def add(self, is_confirmed: bool) -> None:  # noqa: FBT001 - a count of outcomes takes an outcome
        """Count one decided case."""
        self.confirmed += is_confirmed
        self.decided += 1

    @property
    def predicted(self) -> float:
        """The probability that the next case is confirmed, by the rule of succession."""
        return (self.confirmed + 1) / (self.decided + 2)


class Past:
    """Experience and base rates of the episodes of one or more stores."""

    def __init__(self, episodes: Iterable[EpisodeDraftV1_2]) -> None:
        self.counts = ExperienceCounts()
        self.sources: set[str] = set()
        self._rates: dict[tuple[str, ChangeKind | None], Rate] = {}
        for episode in episodes:
            self.counts.add(episode)
            self.sources.add(episode.provenance.source_id)
            for change in episode.changes:
                if change.outcome != "open":
                    for kind in (None, change.kind):
                        rate = self._rates.setdefault((episode.input_signature.language, kind), Rate())
                        rate.add(change.outcome == "confirmed")

    def rate(self, language: str, kind: ChangeKind | None = None) -> Rate:
        """Return the base rate of a language, or of one kind of change within it."""
        return self._rates.get((language, kind), Rate())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write down; return the exit code."""
    parser = argparse.ArgumentParser(description="Brier scores of experience statements.")
    parser.add_argument("--store", nargs="+", type=Path, required=True, help="stores of earlier samples")
    parser.add_argument("--run", nargs="+", type=Path, required=True, metavar="CELL_DIR", help="cells of other samples")
    parser.add_argument("--name", help="write the figures under this name")
    parser.add_argument("--latest", type=Path, default=LATEST, help="where figures with a name go")
    given = parser.parse_args(arguments)
    missing = [path for path in given.store if not path.is_file()]
    missing += [cell / file for cell in given.run for file in (OUTPUTS, TRACES) if not (cell / file).is_file()]
    if missing:
        print(f"experience: there is no {missing[0]}; name store files, and folders of finished cells")
        return 1
    past = Past(episode for path in given.store for episode in episodes_of(path))
    predictions: list[Prediction] = []
    skipped = Counter[str]()
    for cell in given.run:
        predictions += predictions_of(cell, past, skipped)
    figures = {"skipped": dict(sorted(skipped.items())), **measured(predictions)}
    if given.name:
        known = json.loads(given.latest.read_text()) if given.latest.exists() else {}
        known["experience"] = {**known.get("experience", {}), given.name: figures}
        given.latest.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


def episodes_of(path: Path) -> Iterator[EpisodeDraftV1_2]:
    """Yield the episodes of schema 1.2; a store with verdicts is refused, as the base rates do not apply them."""
    with MemoryStore(path) as store:
        stored = store.load()
        for episode in stored:
            if stored.episode_index.experience.verdicts_on(episode.provenance.source_id):
                sys.exit(f"experience: {path} holds verdicts of persons; use a store of a run without feedback")
            if isinstance(episode, EpisodeDraftV1_2):
                yield episode


def predictions_of(cell: Path, past: Past, skipped: Counter[str]) -> Iterator[Prediction]:
    """Yield the predictions of a cell's decided changes, and count those that get none."""
    traces = [row["case_trace"] for row in read_rows(cell / TRACES)]
    signatures = {trace["case_id"]: InputSignatureV1_1.model_validate(trace["input_signature"]) for trace in traces}
    for row in read_rows(cell / OUTPUTS):
        uid = str(row["uid"])
        for change in row.get("changes") or ():
            if change.get("outcome") not in {"confirmed", "contradicted"}:
                skipped["open"] += 1
            elif uid in past.sources:
                skipped["in_store"] += 1
            elif (prediction := predicted(uid, signatures[uid], change, past)) is None:
                skipped["no_experience"] += 1
            else:
                yield prediction


def predicted(uid: str, signature: InputSignatureV1_1, change: dict[str, Any], past: Past) -> Prediction | None:
    """Return what the past says of a decided change; None if it has no experience of such changes."""
    kind: ChangeKind = change["kind"]
    experience = past.counts.of(signature, kind)
    if experience is None:
        return None
    language = signature.language
    return Prediction(
        uid,
        language,
        kind,
        experience.level,
        Rate(experience.confirmed, experience.confirmed + experience.contradicted).predicted,
        past.rate(language).predicted,
        past.rate(language, kind).predicted,
        change["outcome"] == "confirmed",
    )


def measured(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Print and return the figures of all predictions, and of each language, kind and level."""
    figures: dict[str, Any] = {"all": show("all", predictions)}
    for place, name in ((1, "language"), (2, "kind"), (3, "level")):
        groups: dict[str, list[Prediction]] = {}
        for prediction in predictions:
            groups.setdefault(str(prediction[place]), []).append(prediction)
        figures[f"by_{name}"] = {group: show(group, groups[group]) for group in sorted(groups)}
    figures["reliability"] = show_bins(predictions)
    return figures


def show(name: str, predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Print the figures of a group and return them."""
    figures = summary(predictions)
    print(json.dumps({"changes": name, **figures}), flush=True)
    return figures


def summary(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Return the Brier scores of a group, and what experience has over both base rates."""
    if not predictions:
        return {"n": 0, "samples": 0}
    outcomes = np.array([prediction.is_confirmed for prediction in predictions], dtype=float)
    of_experience = (np.array([prediction.experience for prediction in predictions]) - outcomes) ** 2
    of_base = (np.array([prediction.base for prediction in predictions]) - outcomes) ** 2
    of_kind = (np.array([prediction.base_of_kind for prediction in predictions]) - outcomes) ** 2
    uids = [prediction.uid for prediction in predictions]
    return {
        "n": len(predictions),
        "samples": len(set(uids)),
        "share_confirmed": _rounded(outcomes.mean()),
        "brier_experience": _rounded(of_experience.mean()),
        "brier_base": _rounded(of_base.mean()),
        "brier_base_of_kind": _rounded(of_kind.mean()),
        "minus_base": difference(uids, of_experience - of_base),
        "minus_base_of_kind": difference(uids, of_experience - of_kind),
    }


def difference(uids: Sequence[str], differences: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Return the mean of paired differences and its 95 % interval, drawn over samples and not over changes."""
    mean = _rounded(differences.mean())
    place_of = {uid: place for place, uid in enumerate(dict.fromkeys(uids))}
    if len(place_of) < MIN_SAMPLES:
        return {"mean": mean, "interval": None}
    places = [place_of[uid] for uid in uids]
    sums, sizes = np.bincount(places, weights=differences), np.bincount(places)
    drawn = np.random.default_rng(_SEED).integers(len(place_of), size=(_DRAWS, len(place_of)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return {"mean": mean, "interval": [_rounded(low), _rounded(high)]}


def show_bins(predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """Print how often changes were confirmed per bin of the predicted probability, and return it."""
    table = [
        {
            "bin": f"{place.low:.2f}-{place.high:.2f}",
            "n": place.n,
            "mean_predicted": _rounded(place.mean_confidence),
            "share_confirmed": _rounded(place.share_right),
            "interval": [_rounded(end) for end in place.interval],
        }
        for place in reliability_table(
            [JudgedPair(prediction.experience, prediction.is_confirmed) for prediction in predictions], BINS
        )
    ]
    for row in table:
        print(json.dumps(row))
    return table


def _rounded(value: float) -> float:
    return round(float(value), 4)


if __name__ == "__main__":
    sys.exit(main())

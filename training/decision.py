"""Fits a set of decision_weights.yaml on recorded answers to dev texts.

python training/decision.py                         # prints what was measured, and the fitted set
python training/decision.py --set small --out set.yaml

Features, laws and threshold are those of the package. A logistic model of right against wrong candidates is shrunk to
the set that stands in the file and bound by the laws: voices for a candidate never lower it, and a pair that nobody
doubts stays. A set is fitted on one language and measured on the other, and where such readings are committed
(English) with readers that never saw the domain.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from recorded_answers import RECORDINGS, Pair, Recorded, RecordedText, dev_texts, left_out_reader, replayed
from scipy.optimize import LinearConstraint, minimize

from episodic_absa.language import norm
from episodic_absa.pipeline.decision import Candidate, WeightSet, load_decision_weights, weigh
from episodic_absa.pipeline.decision.weighing import features
from episodic_absa.schemas.run_files.candidate_record import CandidateRecord

SHRINKAGE: Final = 8.0
"""How much a unit of distance from the prior weights costs, in candidates that are wrong by a unit."""
TAUS: Final = tuple(round(0.2 + 0.02 * step, 2) for step in range(16))
RESAMPLES: Final = 2000
RANDOM_SEED: Final = 20_261_120
_FREE: Final = frozenset({"start", "stage1_other"})
Floats = NDArray[np.float64]


class Score(NamedTuple):
    """Micro F1 over texts, with a bootstrap interval over texts."""

    f1: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.f1:.3f} [{self.low:.3f}, {self.high:.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print, and write the set if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--recording", type=Path, action="append", help="recorded answers; by default all committed ones"
    )
    parser.add_argument("--data", type=Path, help="the folder of the dev files")
    parser.add_argument("--set", default="small", help="the set to fit: where the fit starts, and what it shrinks to")
    parser.add_argument("--out", type=Path, help="where the fitted set goes, to be put in its place by hand")
    given = parser.parse_args(arguments)
    texts = recorded_texts(given.recording or sorted(RECORDINGS.glob("*.jsonl.gz")), given.data)
    if not texts:
        raise SystemExit("no dev text has recorded answers; name recordings with --recording and dev files with --data")
    prior = load_decision_weights().named(given.set)
    for language in ("en", "ko"):
        own = [text for text in texts if text.source.language == language]
        others = [text for text in texts if text.source.language != language]
        for title, fitted in (("as shipped", prior), ("fitted on the other language", fit(others, prior))):
            print(f"{language}, {len(own)} texts, {title}: {told(own, fitted)}")
    chosen = yaml.safe_dump(fit(texts, prior).model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)
    print(chosen)
    if given.out is not None:
        given.out.write_text(chosen, "utf-8")


def recorded_texts(recordings: Iterable[Path], data: Path | None = None) -> list[RecordedText]:
    """Return the recorded dev texts, read without knowing their domain where such readings are committed (English)."""
    sources = list(dev_texts(data))
    english = [source for source in sources if source.language == "en"]
    korean = [source for source in sources if source.language == "ko"]
    unknowing = left_out_reader(english)
    found = []
    for recording in recordings:
        found += [*replayed(recording, english, unknowing), *replayed(recording, korean)]
    return found


def told(texts: Sequence[RecordedText], weights: WeightSet) -> str:
    """Return the F1 and the error of p of each effort that was recorded."""
    own = load_decision_weights().named("reader")
    decided = {
        "reader": [(text.reader, own) for text in texts],
        "one call": [(text.one_call, weights) for text in texts],
        "full": [(text.full, weights) for text in texts if text.full is not None],
    }
    return "; ".join(
        f"{effort} {f1_of(rows)}, error of p {calibration_error(rows):.3f}" for effort, rows in decided.items() if rows
    )


def fit(texts: Sequence[RecordedText], prior: WeightSet) -> WeightSet:
    """Return the weights that these texts fit, shrunk to a prior, with the threshold of the best F1."""
    parts = [part for text in texts for part in text.parts]
    names = list(type(prior.weights).model_fields)
    start = np.array([getattr(prior.weights, name) for name in names])
    rows = [features(pair.witnesses, prior.sure) for part in parts for pair in part.candidates]
    values = np.array([[row[name] for name in names] for row in rows]).reshape(-1, len(names))
    signs = np.array([1.0 if is_right(pair, part) else -1.0 for part in parts for pair in part.candidates])

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = signs * (values @ weights)
        distance = weights - start
        slopes = -signs / (1 + np.exp(np.clip(margins, -500, 500)))
        total = float(np.logaddexp(0, -margins).sum() + SHRINKAGE / 2 * (distance**2).sum())
        return total, values.T @ slopes + SHRINKAGE * distance

    bounds = [_bounds(name) for name in names]
    fitted = minimize(loss, start, jac=True, method="SLSQP", bounds=bounds, constraints=[_laws(names)]).x
    weights = {name: round(float(value), 3) + 0.0 for name, value in zip(names, fitted, strict=True)}
    undoubted = 1 / (1 + np.exp(-(weights["start"] + weights["stage1_for"])))
    sets = [
        WeightSet.model_validate(prior.model_dump() | {"weights": weights, "tau": tau})
        for tau in TAUS
        if tau <= undoubted
    ]
    return max(sets, key=lambda own: f1_of((part, own) for part in parts).f1)


def _bounds(name: str) -> tuple[float | None, float | None]:
    if name in _FREE:
        return None, None
    return (None, 0.0) if name.endswith("against") else (0.0, None)


def _laws(names: Sequence[str]) -> LinearConstraint:
    """Return: Stage1's voice outweighs all agents, and a pair that nobody doubts reaches the least threshold."""
    outweighs = {"stage1_for": 1.0, "speaker_for": -3.0, "review_for": -1.0, "confirmed": 4.0}
    reaches = {"start": 1.0, "stage1_for": 1.0}
    rows = [[row.get(name, 0.0) for name in names] for row in (outweighs, reaches)]
    least = float(np.log(TAUS[0] / (1 - TAUS[0])))
    return LinearConstraint(rows, [0.01, least + 0.01], [np.inf, np.inf])


def is_right(candidate: Candidate | CandidateRecord, recorded: Recorded) -> bool:
    """Return whether gold holds a candidate."""
    return (norm(candidate.aspect_term), candidate.polarity) in recorded.source.gold


def pairs_in(recorded: Recorded, weights: WeightSet) -> set[Pair]:
    """Return the pairs that are in."""
    return {(norm(pair.aspect_term), pair.polarity) for pair in weigh(recorded.candidates, weights) if pair.is_in}


def f1_of(decided: Iterable[tuple[Recorded, WeightSet]]) -> Score:
    """Return micro F1 with its 95 % bootstrap interval, resampled by text."""
    counts = _counts(decided)
    draws = np.random.default_rng(RANDOM_SEED).integers(0, len(counts), (RESAMPLES, len(counts)))
    totals = counts[draws].sum(axis=1)
    low, high = np.quantile(2 * totals[:, 0] / np.maximum(1, totals[:, 1] + totals[:, 2]), (0.025, 0.975))
    return Score(_counts_f1(counts), float(low), float(high))


def _counts(decided: Iterable[tuple[Recorded, WeightSet]]) -> NDArray[np.int64]:
    """Return hits, found and gold pairs of each text."""
    rows = []
    for recorded, weights in decided:
        found = pairs_in(recorded, weights)
        rows.append((len(found & recorded.source.gold), len(found), len(recorded.source.gold)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _counts_f1(counts: NDArray[np.int64]) -> float:
    hits, found, gold = counts.sum(axis=0)
    return float(2 * hits / max(1, found + gold))


def calibration_error(decided: Iterable[tuple[Recorded, WeightSet]]) -> float:
    """Return the expected calibration error of p over the pairs that are in, ten bins."""
    judged = [
        (pair.p, is_right(pair, recorded))
        for recorded, weights in decided
        for pair in weigh(recorded.candidates, weights)
        if pair.is_in
    ]
    bins: dict[int, list[tuple[float, bool]]] = {}
    for p, right in judged:
        bins.setdefault(min(9, int(p * 10)), []).append((p, right))
    return sum(abs(sum(p - right for p, right in held)) for held in bins.values()) / max(1, len(judged))


if __name__ == "__main__":
    main()

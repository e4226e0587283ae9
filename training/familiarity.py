"""Fits how likely a pair is right, given its confidence and how familiar its target is, and checks that on other files.

python training/familiarity.py [--data FOLDER] [--check-only]

Earlier reviews are the other half of the same dev file (by the hash of the uid), analysed without memory: counts of
final targets, no gold. Gold says only whether a pair is right. The curve is fitted on the dev files of two domains and
checked on those of the others: the Brier score with and without familiarity. Train and calibrate the reader first.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from corpora import public_data
from numpy.typing import NDArray
from reader_calibration import DEV_FILES, gold_of
from scipy.optimize import minimize

from episodic_absa import Analyzer
from episodic_absa.backends.embedded.judgement.familiarity import FAMILIARITY_FILE, FamiliarityCurve, curve_features
from episodic_absa.language import norm

FIT_FILES: Final = tuple(file for file in DEV_FILES if "coursera" in file or "sight" in file)
RIDGE: Final = 0.001
_DIGITS: Final = 4


class SeenPair(NamedTuple):
    """A pair of Stage1 with its confidence, its familiarity, and whether it is a gold pair."""

    confidence: float
    seen_in: int
    of: int
    is_right: bool


class AnalysedText(NamedTuple):
    """The pairs of a text, and the final targets that it adds to the memory of later texts."""

    half: int
    pairs: tuple[tuple[str, float, bool], ...]
    targets: frozenset[str]


def main() -> None:
    """Fit, check, write."""
    parser = argparse.ArgumentParser(description="Fit the weight of familiarity.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--check-only", action="store_true", help="print the figures and write nothing")
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no data at {options.data}; see training/README.md for what is needed")
    seen = {file: seen_pairs(analysed(options.data, file)) for file in DEV_FILES}
    fitted = [pair for file in FIT_FILES for pair in seen[file]]
    curve = fit(fitted)
    alone = fit(fitted, with_rate=False)
    checks = [check(file, pairs, curve, alone) for file, pairs in seen.items() if file not in FIT_FILES]
    for line in checks:
        print(json.dumps(line))
    stored = curve._asdict() | {"fitted_on": [f"{file}.dev" for file in FIT_FILES], "checks": checks}
    print(json.dumps(curve._asdict()))
    if not options.check_only:
        FAMILIARITY_FILE.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


def analysed(data: Path, file: str) -> list[AnalysedText]:
    """Analyse the texts of a dev file without memory."""
    texts = []
    with Analyzer(condition="C1") as analyzer:
        for line in (data / f"{file}.dev.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            result = analyzer.analyze(row["text"], uid=row["uid"], language_code=DEV_FILES[file])
            gold = gold_of(row["gold_tuples"])
            pairs = tuple(
                (norm(item.aspect_term), item.confidence, item.polarity in gold.get(norm(item.aspect_term), ()))
                for item in result.stage1.atsa.sentiments
                if item.aspect_term and item.polarity is not None and not item.is_backfilled
            )
            final = result.final_result.final_tuples
            targets = frozenset(norm(item.aspect_term) for item in final if item.aspect_term and not item.is_backfilled)
            texts.append(AnalysedText(half_of(row["uid"]), pairs, targets))
    return texts


def half_of(uid: str) -> int:
    """Return the half of a text: another one than the reader's calibration takes."""
    return hashlib.sha256(f"familiarity {uid}".encode()).digest()[0] % 2


def seen_pairs(texts: Sequence[AnalysedText]) -> list[SeenPair]:
    """Return the pairs of all texts; each text has the other half as its earlier reviews."""
    return list(_seen_pairs(texts))


def _seen_pairs(texts: Sequence[AnalysedText]) -> Iterator[SeenPair]:
    counts = {half: Counter(term for text in texts if text.half == half for term in text.targets) for half in (0, 1)}
    sizes = Counter(text.half for text in texts)
    for text in texts:
        other = 1 - text.half
        for term, confidence, is_right in text.pairs:
            yield SeenPair(confidence, counts[other][term], sizes[other], is_right)


def fit(pairs: Sequence[SeenPair], *, with_rate: bool = True) -> FamiliarityCurve:
    """Return the logistic curve of right against wrong; without the rate, by confidence alone."""
    features = np.array([(1.0, *curve_features(pair.confidence, pair.seen_in, pair.of)) for pair in pairs])
    if not with_rate:
        features[:, 2] = 0.0
    is_right = np.array([float(pair.is_right) for pair in pairs])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = features @ weights
        penalty = np.r_[0.0, weights[1:]]
        total = np.logaddexp(0, odds).sum() - is_right @ odds + RIDGE * (penalty**2).sum()
        return float(total), features.T @ (1 / (1 + np.exp(-odds)) - is_right) + 2 * RIDGE * penalty

    fitted = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B").x
    return FamiliarityCurve(*(round(float(weight), _DIGITS) for weight in fitted))


def check(file: str, pairs: Sequence[SeenPair], curve: FamiliarityCurve, alone: FamiliarityCurve) -> dict[str, Any]:
    """Return the Brier scores on a file that fitted nothing."""
    return {
        "file": f"{file}.dev",
        "pairs": len(pairs),
        "brier": round(_brier(pairs, curve), _DIGITS),
        "brier_by_confidence_alone": round(_brier(pairs, alone), _DIGITS),
    }


def _brier(pairs: Sequence[SeenPair], curve: FamiliarityCurve) -> float:
    errors = [curve.probability(pair.confidence, seen_in=pair.seen_in, of=pair.of) - pair.is_right for pair in pairs]
    return float(np.mean(np.square(errors)))


if __name__ == "__main__":
    main()

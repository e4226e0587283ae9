"""Fits the tables that turn the embedded reader's scores into probabilities, and checks them on texts left out.

python training/reader_calibration.py --left-out-weights DIR [--data FOLDER] [--check-only | --on-test]

The tables are fitted with the shipped weights on one half of the dev texts (by the hash of their uid) and checked on
the other half; a second check fits on all dev files but one and takes the error on that one. Train the weights first.
The shipped weights know the domains of all dev files. What a named target of another domain is worth is learnt from the
same texts as read by weights that were trained without their domain; `benchmarks/accuracy.py` keeps them in DIR.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from corpora import public_data

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.embedded_reader import (
    RawView,
    joined_views,
    place_of_named,
    place_of_term,
    rules_view,
    weights_view,
)
from episodic_absa.backends.embedded.judgement.target_union import named_targets
from episodic_absa.backends.embedded.model.trained_weights import TrainedWeights
from episodic_absa.backends.embedded.reader_calibration import (
    CALIBRATION_FILE,
    SCORES,
    UNCALIBRATED,
    MonotoneMap,
    ReaderCalibration,
    Score,
    shipped_calibration,
)
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import norm
from episodic_absa.vocabulary import Language

DEV_FILES: Final[dict[str, Language]] = {
    "mams_atsa": "en",
    **{f"mabsa_{domain}_en": "en" for domain in ("hotel", "phone", "coursera", "sight")},
    **{f"mabsa_{domain}_ko": "ko" for domain in ("hotel", "phone", "coursera", "sight")},
}
Gold: TypeAlias = dict[str, set[str]]
"""Normalised term -> its polarities."""
_BINS: Final = 10
_TABLE_BINS: Final = 25
_LEAST_PER_BIN: Final = 20
_LEAST_RISE: Final = 0.005
_DIGITS: Final = 4


class Observation(NamedTuple):
    """One score and whether what it stands for is right."""

    kind: Score
    score: float
    is_right: bool


class Block(NamedTuple):
    """Some cases with neighbouring scores."""

    number: int
    score_sum: float
    right: int

    @property
    def mean_score(self) -> float:
        """The mean of their scores."""
        return round(self.score_sum / self.number, _DIGITS)

    @property
    def share_right(self) -> float:
        """The share that is right; half a case on either side keeps it off 0 and 1."""
        return round((self.right + 0.5) / (self.number + 1.0), _DIGITS)

    def joined(self, other: "Block") -> "Block":
        """Return both together."""
        return Block(self.number + other.number, self.score_sum + other.score_sum, self.right + other.right)


class Pair(NamedTuple):
    """A pair that the reader finds by itself, and whether it is a gold pair."""

    view: RawView
    is_right: bool


class ReadText(NamedTuple):
    """Everything one dev text teaches."""

    file: str
    language: Language
    is_fitted: bool
    """Whether it belongs to the half that tables are fitted on."""
    observations: tuple[Observation, ...]
    pairs: tuple[Pair, ...]


Measure: TypeAlias = Callable[[Sequence[ReadText], ReaderCalibration], list[tuple[float, bool]]]


def main() -> None:
    """Fit, check, write."""
    parser = argparse.ArgumentParser(description="Calibrate the embedded reader.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--left-out-weights", type=Path, metavar="DIR", help="weights without each domain")
    parser.add_argument("--check-only", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--on-test", action="store_true", help="print the errors of the shipped tables on test files")
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no data at {options.data}; see training/README.md for what is needed")
    if options.on_test:
        unseen = [text for file in DEV_FILES for text in read_file(options.data, file, "test")]
        by_file = [(file, [text for text in unseen if text.file == file]) for file in DEV_FILES]
        for name, chosen in (*_by_language(unseen), *by_file):
            print(json.dumps(_errors(name, chosen, shipped_calibration())))
        return
    if options.left_out_weights is None:
        parser.error("name the weights without each domain: --left-out-weights DIR")
    texts = [text for file in DEV_FILES for text in read_file(options.data, file)]
    elsewhere = list(read_elsewhere(options.data, options.left_out_weights))
    figures = check(texts, elsewhere)
    for line in figures:
        print(json.dumps(line))
    if not options.check_only:
        calibration = fit([text for text in (*texts, *map(taught_elsewhere, elsewhere)) if text.is_fitted])
        CALIBRATION_FILE.write_text(stored(calibration, figures), encoding="utf-8")


def read_elsewhere(data: Path, weights: Path) -> Iterator[ReadText]:
    """Read the texts of each file with weights that were trained without its domain."""
    for file, language in DEV_FILES.items():
        domain = "restaurant" if file == "mams_atsa" else file.split("_")[1]
        yield from read_file(data, file, engine=EmbeddedEngine(TrainedWeights(weights / f"{language}_{domain}")))


def taught_elsewhere(text: ReadText) -> ReadText:
    """Return what a text teaches about targets outside the trained domains."""
    taught = tuple(observation for observation in text.observations if observation.kind == "named_elsewhere")
    return text._replace(observations=taught, pairs=())


def read_file(data: Path, file: str, split: str = "dev", *, engine: EmbeddedEngine | None = None) -> Iterator[ReadText]:
    """Read the texts of a file; with the shipped weights unless an engine is given."""
    engine = engine or EmbeddedEngine()
    language = DEV_FILES[file]
    for line in (data / f"{file}.{split}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        gold = gold_of(row["gold_tuples"])
        reading = engine.read(row["text"], language)
        is_fitted = hashlib.sha256(row["uid"].encode()).digest()[0] % 2 == 0
        pairs = tuple(
            Pair(view, view.polarity in gold.get(norm(place.term), ()))
            for place in map(place_of_named, named_targets(reading))
            for view in joined_views(reading, place)
        )
        yield ReadText(file, language, is_fitted, tuple(observed(reading, gold)), pairs)


def gold_of(tuples: Iterable[dict[str, Any]]) -> Gold:
    """Return the explicit gold pairs by term."""
    gold: Gold = {}
    for item in tuples:
        if norm(item["aspect_term"]):
            gold.setdefault(norm(item["aspect_term"]), set()).add(item["polarity"])
    return gold


def observed(reading: WeighedReading, gold: Gold) -> Iterator[Observation]:
    """Ask about every term that somebody could name: the reader's targets, the noun phrases, the gold terms."""
    phrases = [target.term for target in reading.targets]
    terms = [named.target.term for named in named_targets(reading)]
    places = {place: None for term in (*terms, *phrases, *gold) if (place := place_of_term(reading, term)) is not None}
    for place in places:
        joined = max(joined_views(reading, place), key=lambda view: view.confidence)
        for view in (joined, rules_view(reading, place), weights_view(reading, place)):
            if view is not None:
                yield from _observations(view, gold.get(norm(place.term)))


def _observations(view: RawView, polarities: set[str] | None) -> Iterator[Observation]:
    yield Observation(view.target_kind, view.target, polarities is not None)
    if polarities is not None:
        yield Observation(view.polarity_kind, view.confidence, view.polarity in polarities)


def fit(texts: Sequence[ReadText]) -> ReaderCalibration:
    """Return one table per language and kind of score."""
    maps: dict[tuple[Language, Score], MonotoneMap] = {}
    for language in sorted({text.language for text in texts}):
        spoken = [text for text in texts if text.language == language]
        for kind in SCORES:
            scores = [
                (observation.score, observation.is_right)
                for text in spoken
                for observation in text.observations
                if observation.kind == kind
            ]
            maps[language, kind] = isotonic(scores)
    return ReaderCalibration(maps)


def isotonic(scores: Sequence[tuple[float, bool]]) -> MonotoneMap:
    """Return a short rising table: equal numbers per bin, bins pooled until their shares rise."""
    blocks: list[Block] = []
    for block in _bins(scores):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-1].share_right - blocks[-2].share_right < _LEAST_RISE:
            blocks[-2:] = [blocks[-2].joined(blocks[-1])]
    return MonotoneMap(tuple(block.mean_score for block in blocks), tuple(block.share_right for block in blocks))


def _bins(scores: Sequence[tuple[float, bool]]) -> list[Block]:
    """Return the scores in bins of about equal size; equal scores share a bin."""
    by_score: dict[float, Block] = {}
    for score, is_right in sorted(scores):
        case = Block(1, score, int(is_right))
        key = round(score, _DIGITS)
        by_score[key] = by_score[key].joined(case) if key in by_score else case
    size = max(_LEAST_PER_BIN, len(scores) // _TABLE_BINS)
    bins: list[Block] = []
    for block in by_score.values():
        if bins and (bins[-1].number < size):
            bins[-1] = bins[-1].joined(block)
        else:
            bins.append(block)
    if len(bins) > 1 and bins[-1].number < _LEAST_PER_BIN:
        bins[-2:] = [bins[-2].joined(bins[-1])]
    return bins


def check(texts: Sequence[ReadText], elsewhere: Sequence[ReadText]) -> list[dict[str, Any]]:
    """Return the calibration errors before and after, on the half left out, on each file left out, and elsewhere."""
    lessons = [*texts, *map(taught_elsewhere, elsewhere)]
    fitted = fit([text for text in lessons if text.is_fitted])
    figures = [
        _errors(name, chosen, fitted) for name, chosen in _by_language([text for text in texts if not text.is_fitted])
    ]
    for file in DEV_FILES:
        rest = fit([text for text in lessons if text.file != file])
        figures.append(_errors(f"left out: {file}", [text for text in texts if text.file == file], rest))
        unknown = [text for text in elsewhere if text.file == file]
        figures.append(_errors(f"left out of the weights as well: {file}", unknown, rest))
    return figures


def _by_language(texts: Sequence[ReadText]) -> list[tuple[str, list[ReadText]]]:
    languages = [(name, [text for text in texts if text.language == name]) for name in ("en", "ko")]
    return [("all", list(texts)), *languages]


def _errors(name: str, texts: Sequence[ReadText], after: ReaderCalibration) -> dict[str, Any]:
    return {
        "texts": name,
        "n": len(texts),
        **{
            f"{question}_{when}": calibration_error(measure(texts, calibration))
            for question, measure in MEASURES.items()
            for when, calibration in (("before", UNCALIBRATED), ("after", after))
        },
    }


def pair_scores(texts: Sequence[ReadText], calibration: ReaderCalibration) -> list[tuple[float, bool]]:
    """Return how likely each pair of the reader is, and whether it is a gold pair."""
    return [
        (
            calibration.probability(text.language, pair.view.target_kind, pair.view.target)
            * calibration.probability(text.language, pair.view.polarity_kind, pair.view.confidence),
            pair.is_right,
        )
        for text in texts
        for pair in text.pairs
    ]


def scores_of(*kinds: Score) -> Measure:
    """Return the measure of some kinds of scores."""

    def measure(texts: Sequence[ReadText], calibration: ReaderCalibration) -> list[tuple[float, bool]]:
        return [
            (calibration.probability(text.language, observation.kind, observation.score), observation.is_right)
            for text in texts
            for observation in text.observations
            if observation.kind in kinds
        ]

    return measure


MEASURES: Final[dict[str, Measure]] = {
    "pair": pair_scores,
    "polarity_of_gold_term": scores_of("polarity"),
    "target": scores_of("named_target", "named_elsewhere", "overlapping_target", "other_target"),
    "rules_polarity": scores_of("rules_polarity"),
    "weights_polarity": scores_of("weights_polarity"),
}


def calibration_error(scores: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for probability, is_right in scores:
        bins.setdefault(min(_BINS - 1, int(probability * _BINS)), []).append((probability, is_right))
    gaps = (abs(sum(probability - is_right for probability, is_right in members)) for members in bins.values())
    return round(sum(gaps) / max(1, len(scores)), _DIGITS)


def stored(calibration: ReaderCalibration, figures: Sequence[dict[str, Any]]) -> str:
    """Return the file's content: the tables, what they were fitted on, and the errors found."""
    maps: dict[str, dict[str, Any]] = {"en": {}, "ko": {}}
    for (language, kind), table in calibration.maps.items():
        maps[language][kind] = {"scores": table.scores, "probabilities": table.probabilities}
    content = {
        "fitted_on": "the half of the dev texts whose uid has an even first byte of sha256",
        "files": [f"{file}.dev.jsonl" for file in DEV_FILES],
        "expected_calibration_error": figures,
        "maps": maps,
    }
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    main()

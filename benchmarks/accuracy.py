"""Measures the reader: strict scores of its pairs beside a plain baseline, and how often the label of a text is right.

python benchmarks/accuracy.py [--split test|dev] [--only mams_atsa] [--limit N]

Test files neither trained the weights nor decided a choice; dev files decided some. On the embedded backend nobody
changes what the reader says, so these are the scores of a whole analysis as well. Without the public datasets nothing
is measured. Only figures of all test files are written to latest.json.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from strict_score import Pair, explicit_pairs, strict_score

from episodic_absa.reader.reader import Reader, default_reader
from episodic_absa.reader.readings import Reading
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.vocabulary import Language

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "training"))
from corpora import public_data

ROOT: Final = Path(__file__).resolve().parent.parent
LATEST: Final = Path(__file__).with_name("latest.json")
KEY: Final = "accuracy"
Split = Literal["test", "dev"]


class Dataset(NamedTuple):
    """One corpus in one language."""

    name: str
    language: Language

    def path(self, data: Path, split: Literal["train", "dev", "test"]) -> Path:
        """Return the file of a split."""
        return data / f"{self.name}.{split}.jsonl"


DOMAINS: Final = ("coursera", "food", "hotel", "phone", "sight")
ASPECTS: Final = (
    Dataset("mams_atsa", "en"),
    *(Dataset(f"mabsa_{domain}_en", "en") for domain in DOMAINS),
    *(Dataset(f"mabsa_{domain}_ko", "ko") for domain in DOMAINS),
)
LABELS: Final = (Dataset("nsmc_raw_docpol", "ko"), Dataset("ko_kr3_kpccf", "ko"), Dataset("mams_acsa", "en"))
"""Polarity without terms: measured by the label of the text."""


class MajorityBaseline:
    """Every term of the training file that stands in the text, with the training file's commonest polarity."""

    def __init__(self, training: Iterable[Mapping[str, Any]]) -> None:
        gold = [gold_tuple for row in training for gold_tuple in row["gold_tuples"] if gold_tuple["aspect_term"]]
        self._terms = sorted({term for term, _ in explicit_pairs(gold)})
        counts = Counter(gold_tuple["polarity"] for gold_tuple in gold)
        self._polarity = max(sorted(counts), key=lambda polarity: counts[polarity]) if counts else "positive"

    def pairs(self, text: str, language: Language) -> set[Pair]:
        """Return the pairs of one text; a Korean term may be followed by its particle."""
        padded, end = f" {' '.join(_words(text))} ", " " if language == "en" else ""
        return {(term, self._polarity) for term in self._terms if f" {' '.join(_words(term))}{end}" in padded}


def _words(text: str) -> Sequence[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.lower()).split()


def read_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def pairs_of(tuples: Iterable[FinalTuple]) -> set[Pair]:
    return explicit_pairs(final_tuple.model_dump() for final_tuple in tuples if not final_tuple.is_backfilled)


def read_pairs(reading: Reading) -> set[Pair]:
    return explicit_pairs({"aspect_term": pair.term, "polarity": pair.polarity} for pair in reading.pairs)


def score_dataset(rows: Sequence[dict[str, Any]], language: Language, reader: Reader) -> dict[str, Any]:
    """Return the scores of the reader on the texts of one file."""
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    found = [read_pairs(reading) for reading in reader.read_many((row["text"] for row in rows), language)]
    return {"texts": len(rows), "reader": strict_score(gold, found).rounded()}


def score_majority(rows: Sequence[dict[str, Any]], dataset: Dataset, data: Path) -> dict[str, Any]:
    """Return the scores of the baseline."""
    majority = MajorityBaseline(read_rows(dataset.path(data, "train")))
    gold = [explicit_pairs(row["gold_tuples"]) for row in rows]
    found = [majority.pairs(row["text"], dataset.language) for row in rows]
    return {"majority": strict_score(gold, found).rounded()}


def score_labels(rows: Sequence[dict[str, Any]], language: Language, reader: Reader) -> dict[str, Any]:
    """Score the label of each text that has an opinion; a text with both polarities is mixed."""
    judged = [row for row in rows if _polarities(row)]
    wanted = [_label(_polarities(row)) for row in judged]
    labels = [reading.label or "none" for reading in reader.read_many((row["text"] for row in judged), language)]
    return {
        "texts": len(judged),
        "label_accuracy": round(sum(map(str.__eq__, wanted, labels)) / len(judged), 4),
        "commonest": round(max(map(wanted.count, set(wanted))) / len(judged), 4),
    }


def _polarities(row: dict[str, Any]) -> set[str]:
    return (
        {row["document_polarity"]}
        if "document_polarity" in row
        else {gold_tuple["polarity"] for gold_tuple in row["gold_tuples"]}
    )


def _label(polarities: set[str]) -> str:
    sides = polarities - {"neutral"}
    return "mixed" if len(sides) > 1 else next(iter(sides), "neutral")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write down; return the exit code."""
    parser = argparse.ArgumentParser(description="Strict scores of the reader.")
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--split", choices=get_args(Split), default="test")
    parser.add_argument("--only", action="append", metavar="DATASET", help="measure these; nothing is written down")
    parser.add_argument("--limit", type=int, help="texts per file; nothing is written down")
    given = parser.parse_args(arguments)
    if not given.data.is_dir():
        print(f"accuracy: skipped, there is no data at {given.data}")
        return 0
    reader = default_reader()
    report: dict[str, Any] = {"weights_sha256": reader.fingerprint, "datasets": {}, "labels": {}}
    for dataset in (*ASPECTS, *LABELS):
        path = dataset.path(given.data, given.split)
        if given.only and dataset.name not in given.only:
            continue
        if not path.exists():
            print(f"{dataset.name}: skipped, it has no {given.split} split", flush=True)
            continue
        rows = read_rows(path)[: given.limit]
        if dataset in LABELS:
            scores = report["labels"][dataset.name] = score_labels(rows, dataset.language, reader)
        else:
            scores = score_dataset(rows, dataset.language, reader) | score_majority(rows, dataset, given.data)
            report["datasets"][dataset.name] = scores
        print(json.dumps({"dataset": dataset.name, **scores}), flush=True)
    if given.split == "test" and not (given.only or given.limit):
        known = json.loads(LATEST.read_text()) if LATEST.exists() else {}
        LATEST.write_text(json.dumps({**known, KEY: report}, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

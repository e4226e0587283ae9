"""What each effort of a recorded model reaches, with and without the reader: F1 with intervals, and tokens.

python benchmarks/efforts.py                                     # the committed recordings (training/recordings)
python benchmarks/efforts.py --recording FILE.jsonl.gz [--recording ...] [--set conservative]

The texts are dev texts; the answers of debate and Stage2 are measured where they were recorded. English is read by
networks that never saw the domain of the text, Korean by the shipped reader.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from accuracy import ROOT

from episodic_absa.pipeline.decision import WeightSet, load_decision_weights

sys.path.insert(0, str(ROOT / "training"))
from decision import f1_of, recorded_texts
from recorded_answers import RECORDINGS, Recorded, RecordedText


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each language."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--recording", type=Path, action="append", help="recorded answers; default: committed ones")
    parser.add_argument("--data", type=Path, help="the folder of the dev files")
    parser.add_argument("--set", default="small", help="the set of weights that decides")
    given = parser.parse_args(arguments)
    texts = recorded_texts(given.recording or sorted(RECORDINGS.glob("*.jsonl.gz")), given.data)
    weights = load_decision_weights()
    for language in sorted({text.source.language for text in texts}):
        of_language = [text for text in texts if text.source.language == language]
        print(f"{language}: {len(of_language)} texts")
        print_efforts(of_language, weights.named(given.set), weights.named("reader"))
        with_votes = [text for text in of_language if text.votes is not None]
        if len(with_votes) < len(of_language):
            print(f"{language}: the {len(with_votes)} of them whose votes were recorded")
            print_efforts(with_votes, weights.named(given.set), weights.named("reader"))


def print_efforts(texts: Sequence[RecordedText], weights: WeightSet, own: WeightSet) -> None:
    """Print one row for each effort that every text has."""
    print_row("reader", [text.reader for text in texts], own)
    efforts: dict[str, list[Recorded | None]] = {
        "one call": [text.one_call for text in texts],
        "five votes": [text.votes for text in texts],
        "full": [text.full for text in texts],
    }
    for name, parts in efforts.items():
        recorded = [part for part in parts if part is not None]
        if texts and len(recorded) == len(texts):
            print_row(f"{name}, without the reader", [part.without("reader") for part in recorded], weights)
            print_row(f"{name}, with the reader", recorded, weights)


def print_row(name: str, parts: Sequence[Recorded], weights: WeightSet) -> None:
    """Print F1 and tokens of one effort."""
    tokens = sum(part.tokens for part in parts) / max(1, len(parts))
    print(f"  {name:32} F1 {f1_of((part, weights) for part in parts)}  {tokens:6,.0f} tokens")


if __name__ == "__main__":
    main()

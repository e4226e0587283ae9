"""Lets the embedded engine that is shipped today read the dev texts, to weigh it against a new reader, or with it.

python training/reader/today.py PACK.json.xz LANGUAGE OUT.jsonl.gz [--engine-weights FOLDER] [--corpus CORPUS]

It knows no tags: the same answers stand under each. --engine-weights names weights that `train.py --leave-out` wrote.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluate import read_pack, tags_of
from reading import DIGITS, write_lines

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.backends.embedded.embedded_reader import EmbeddedReader
from episodic_absa.backends.embedded.model.trained_weights import TrainedWeights


def main() -> None:
    """Write the engine's readings."""
    parser = argparse.ArgumentParser(description="Let today's embedded engine read the dev texts.")
    parser.add_argument("pack", type=Path)
    parser.add_argument("language", choices=("en", "ko"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--engine-weights", type=Path)
    parser.add_argument("--corpus", help="read the texts of this corpus alone")
    given = parser.parse_args()
    engine = EmbeddedEngine(TrainedWeights(given.engine_weights)) if given.engine_weights else EmbeddedEngine()
    rows = read_pack(given.pack)[given.language]["dev"]
    chosen = [row for row in rows if given.corpus in (None, row["corpus"])]
    write_lines(engine_lines(chosen, given.language, EmbeddedReader(engine)), given.out)


def engine_lines(rows: list[dict[str, Any]], language: Any, reader: EmbeddedReader) -> Iterator[dict[str, Any]]:
    """Yield each text under every tag. The engine's label is not asked for: no score rests on it."""
    for row in rows:
        pairs = [
            [pair.start, pair.end, pair.view.polarity, round(pair.view.p_target * pair.view.p_polarity, DIGITS)]
            for pair in reader.pairs(row["text"], language)
        ]
        for tag in tags_of(row["corpus"]):
            yield {"corpus": row["corpus"], "uid": row["uid"], "tag": tag, "pairs": pairs}


if __name__ == "__main__":
    main()

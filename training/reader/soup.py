"""Averages the weights of readers that differ in the order of their texts alone, and reads the dev texts with the mean.

python training/reader/soup.py PACK.json.xz LANGUAGE TOKENIZER.json OUT READER.safetensors [MORE.safetensors ...]
    [--leave-out CORPUS]

The mean reads better than each of its parts and costs what one costs. Writes OUT.safetensors and OUT.readings.jsonl.gz.
"""

import argparse
from pathlib import Path

from evaluate import read_pack
from finetune import read_dev
from network import Reader, device_here, load_weights, save_weights
from tokenizers import Tokenizer


def main() -> None:
    """Write the mean of some readers and what it reads."""
    parser = argparse.ArgumentParser(description="Average the weights of readers.")
    for name in ("pack", "language", "tokenizer", "out"):
        parser.add_argument(name, type=str if name == "language" else Path)
    parser.add_argument("readers", type=Path, nargs="+")
    parser.add_argument("--leave-out", metavar="CORPUS", help="what none of them was trained on")
    given = parser.parse_args()
    parts, shapes = zip(*map(load_weights, given.readers), strict=True)
    reader = Reader(shapes[0])
    reader.load_state_dict({name: sum(part[name] for part in parts) / len(parts) for name in parts[0]})
    reader.to(device_here())
    save_weights(reader, shapes[0], given.out.with_suffix(".safetensors"))
    rows = read_pack(given.pack)[given.language]["dev"]
    read_dev(reader, Tokenizer.from_file(str(given.tokenizer)), rows, given.out, given.leave_out)


if __name__ == "__main__":
    main()

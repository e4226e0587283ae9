"""Reads with an exported reader by ONNX Runtime. A text's answer depends on it alone: windows are run one by one.

python training/reader/exported.py MODEL_FOLDER PACK.json.xz LANGUAGE OUT.jsonl.gz     reads the dev texts
"""

import argparse
import gzip
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from evaluate import dev_lines, read_pack
from reading import Answers, Output, Window, write_lines
from tokenizers import Tokenizer

NETWORK: Final = "reader.onnx.gz"
TOKENIZER: Final = "tokenizer.json"


def main() -> None:
    """Read the dev texts of a pack."""
    parser = argparse.ArgumentParser(description="Let an exported reader read the dev texts.")
    for name in ("model", "pack", "language", "out"):
        parser.add_argument(name, type=str if name == "language" else Path)
    given = parser.parse_args()
    rows = read_pack(given.pack)[given.language]["dev"]
    write_lines(dev_lines(rows, *load_exported(given.model)), given.out)


def load_exported(folder: Path, *, threads: int = 1) -> tuple[Tokenizer, Answers]:
    """Return the tokeniser and the network of an exported reader.

    Args:
        threads: windows that are run at the same time. Each is computed by one thread, so that no answer depends on it.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    network = gzip.decompress((folder / NETWORK).read_bytes())
    session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])

    def answer(window: Window) -> Output:
        given = {"ids": np.array([window], dtype=np.int64)}
        marks, topics, label = session.run(["marks", "topics", "label"], given)
        return Output(marks[0], topics[0], label[0])

    def answers(asked: Sequence[Window]) -> list[Output]:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(answer, asked))

    return Tokenizer.from_file(str(folder / TOKENIZER)), answers


if __name__ == "__main__":
    main()

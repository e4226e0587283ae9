"""Counts the everyday sentences (experiments/everyday) that the embedded engine reads exactly right.

python benchmarks/everyday.py [--language en|ko] [--split dev|extra|fresh|test] [--misses]

A sentence is right if its pairs of term and polarity are those that a person marked: none missing, none added, and an
opinion without a target counts as a pair without a term. What is shown to a user is compared, guesses too. The test and
the fresh sentences are counted and never tuned to: `--misses` does not list them.
"""

import argparse
import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from accuracy import analyse
from strict_score import trimmed_term

from episodic_absa.backends.embedded import EmbeddedEngine
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.vocabulary import Language

FOLDER: Final = Path(__file__).resolve().parent.parent / "experiments" / "everyday"
LATEST: Final = Path(__file__).with_name("latest.json")
Split = Literal["dev", "extra", "fresh", "test"]
ShownPair: TypeAlias = tuple[str, str]
"""A term, empty for an opinion without a target, and its polarity."""


def marked_pairs(row: dict[str, Any]) -> set[ShownPair]:
    """Return the pairs that a person marked in a sentence."""
    return {(trimmed_term(pair["term"]), pair["polarity"]) for pair in row["pairs"]}


def shown_pairs(result: SampleResult) -> set[ShownPair]:
    """Return the pairs that a user is shown."""
    return {(trimmed_term(pair.aspect_term), pair.polarity) for pair in result.final_result.final_tuples}


def score_everyday(language: Language, split: Split) -> tuple[dict[str, Any], list[str]]:
    """Return the counts of a file, and its misses as lines of text."""
    rows = [json.loads(line) for line in (FOLDER / f"{language}_{split}.jsonl").open(encoding="utf-8")]
    results, _ = asyncio.run(analyse(rows, language, EmbeddedEngine(), "v3"))
    right: Counter[str] = Counter()
    misses = []
    for row, result in zip(rows, results, strict=True):
        wanted, shown = marked_pairs(row), shown_pairs(result)
        if wanted == shown:
            right[row["phenomenon"]] += 1
        else:
            misses.append(
                f"{row['uid']} [{row['phenomenon']}] {row['text']}\n    {_words(wanted)}  ->  {_words(shown)}"
            )
    of_phenomenon = Counter(row["phenomenon"] for row in rows)
    counts = {
        "sentences": len(rows),
        "right": right.total(),
        "share": round(right.total() / len(rows), 4),
        "by_phenomenon": {name: f"{right[name]} of {n}" for name, n in sorted(of_phenomenon.items())},
    }
    return counts, misses


def _words(pairs: set[ShownPair]) -> str:
    return ", ".join(f"{term or '(no target)'} {polarity}" for term, polarity in sorted(pairs)) or "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--language", choices=get_args(Language), action="append")
    parser.add_argument("--split", choices=get_args(Split), default="dev")
    parser.add_argument("--misses", action="store_true", help="list the sentences that are not exactly right")
    given = parser.parse_args()
    if given.misses and given.split in ("fresh", "test"):
        parser.error("--misses lists dev and extra sentences only: rules must not be fitted to the others")
    figures = {}
    for language in given.language or ("en", "ko"):
        figures[language], misses = score_everyday(language, given.split)
        counts = figures[language]
        right_n = f"{counts['right']} of {counts['sentences']}"
        print(f"{language} {given.split}: {right_n} exactly right ({counts['share']:.0%})")
        for name, right in counts["by_phenomenon"].items():
            print(f"  {name:<14} {right}")
        if given.misses:
            print("\n".join(misses))
    if given.split == "test" and not given.language:
        latest = json.loads(LATEST.read_text()) | {"everyday": figures}
        LATEST.write_text(json.dumps(latest, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()

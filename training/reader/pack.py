"""Gathers what the reader is trained and measured on into one compressed file, small enough to carry elsewhere.

python training/reader/pack.py OUT.json.xz [--data FOLDER] [--documents 15000] [--most N]

The file holds `{language: {"train": [row], "dev": [row]}}`. Test files are in neither part, and no training text
resembles a held-out one.
"""

import argparse
import json
import lzma
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpora import (
    CORPORA,
    EVERYDAY,
    EVERYDAY_SENTENCES,
    HELD_OUT,
    HELD_OUT_TABLE,
    OWN_SENTENCES,
    TRAINING_TABLES,
    Row,
    public_data,
    read_everyday,
    read_marked_sentences,
    read_own_rows,
    read_rows,
    read_table,
)
from near_copies import HeldOut

from episodic_absa.language.korean_analyser import morphemes
from episodic_absa.vocabulary import Language

LANGUAGES: Final[tuple[Language, ...]] = ("en", "ko")
HERE: Final = Path(__file__).resolve().parent
OWN: Final = "everyday"
"""The corpus of every text written for this project."""
DEV_EVERYDAY: Final = ("dev", "extra")
"""The parts of the everyday set that may be tuned to."""
NO_OPINION: Final = "none"
CLASSES: Final = {"N": "n", "J": "j", "V": "v", "E": "e", "X": "x", "M": "m", "I": "m", "S": "s"}
"""A letter for the first letter of a morpheme's tag; upper case where the morpheme begins, "-" where none is."""


class Span(NamedTuple):
    """A judged term in its text."""

    start: int
    end: int
    polarity: str
    topic: str | None
    """None: the source does not say what the term is about."""


def main() -> None:
    """Write the file and say how much is in it."""
    parser = argparse.ArgumentParser(description="Gather the reader's training and dev texts into one file.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=public_data())
    parser.add_argument("--documents", type=int, default=15_000, help="texts of whole-text corpora")
    parser.add_argument("--most", type=int, help="texts of any corpus or dev file, to try things out")
    given = parser.parse_args()
    if not given.data.is_dir():
        raise SystemExit(f"no data at {given.data}; see training/README.md for what is needed")
    packed = pack(given.data, documents=given.documents, most=given.most)
    write_pack(packed, given.out)
    for language, parts in packed.items():
        for part, rows in parts.items():
            sizes = {name: sum(row["corpus"] == name for row in rows) for name in {row["corpus"]: 0 for row in rows}}
            print(language, part, json.dumps(sizes))
    print(given.out, given.out.stat().st_size, "bytes")


def write_pack(packed: dict[str, Any], path: Path) -> None:
    """Write a packed file; the same content gives the same bytes."""
    content = json.dumps(packed, ensure_ascii=False, separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content, preset=6))


def pack(data: Path, *, documents: int = 15_000, most: int | None = None) -> dict[str, Any]:
    """Return the training and dev rows of both languages."""
    held_out = HeldOut(
        [
            *(row.text for name in HELD_OUT if (data / name).exists() for row in read_rows(data / name)),
            *(
                row.text
                for language in LANGUAGES
                for rows in (
                    read_own_rows(language, "valid"),
                    read_table(HELD_OUT_TABLE, language),
                    read_everyday(language),
                )
                for row in rows
            ),
        ]
    )
    return {
        language: {
            "train": list(_training_rows(data, language, held_out, documents, most)),
            "dev": list(_dev_rows(data, language, most)),
        }
        for language in LANGUAGES
    }


def _training_rows(
    data: Path, language: Language, held_out: HeldOut, documents: int, most: int | None
) -> Iterator[dict[str, Any]]:
    for corpus in CORPORA:
        path = data / corpus.file
        if corpus.language == language and path.exists():
            rows = evenly(list(read_rows(path)), documents if corpus.kind == "documents" else None)
            name = corpus.domain or "film"
            yield from packed_rows(evenly(rows, most), language, name, held_out, has_terms=corpus.kind == "aspects")
    yield from packed_rows(evenly(list(own_rows(language)), most), language, OWN, held_out)


def own_rows(language: Language) -> Iterator[Row]:
    """Yield every text that was written for this project."""
    yield from read_own_rows(language)
    for name in TRAINING_TABLES:
        yield from read_table(name, language)
    for folder in (OWN_SENTENCES, EVERYDAY_SENTENCES, HERE / "no_opinion", HERE / "hard"):
        for path in sorted((*folder.glob(f"{language}.txt"), *folder.glob(f"{language}_*.txt"))):
            yield from read_marked_sentences(path)


def packed_rows(
    rows: Iterable[Row], language: Language, corpus: str, held_out: HeldOut, *, has_terms: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield training rows of a corpus without those that resemble a held-out text.

    Args:
        has_terms: False for a corpus that marks whole texts alone; it teaches the reader nothing about terms.
    """
    for row in rows:
        if row.text.strip() and not held_out.resembles(row.text):
            packed: dict[str, Any] = {"corpus": corpus, "text": row.text, "label": label_of(row, is_own=corpus == OWN)}
            if has_terms:
                packed["spans"] = spans_of(row)
            if language == "ko":
                packed["classes"] = morpheme_classes(row.text)
            yield packed


def _dev_rows(data: Path, language: Language, most: int | None) -> Iterator[dict[str, Any]]:
    named = [
        (corpus.domain or "", data / corpus.file.replace(".train.", ".dev."))
        for corpus in CORPORA
        if corpus.language == language and corpus.kind == "aspects"
    ]
    named += [(f"{OWN}_{part}", EVERYDAY / f"{language}_{part}.jsonl") for part in DEV_EVERYDAY]
    for name, path in named:
        if not path.exists():
            continue
        for line in evenly(path.read_text(encoding="utf-8").splitlines(), most):
            row = json.loads(line)
            pairs = row.get("gold_tuples", row.get("pairs", ()))
            terms = [[pair.get("aspect_term", pair.get("term")) or "", pair["polarity"]] for pair in pairs]
            packed = {"corpus": name, "uid": row["uid"], "text": row["text"], "pairs": terms}
            if language == "ko":
                packed["classes"] = morpheme_classes(row["text"])
            yield packed


def spans_of(row: Row) -> list[Span]:
    """Return the judged terms from left to right. Of two that overlap the shorter one is more exact."""
    found = set()
    for gold in row.gold:
        term, span = gold["aspect_term"], gold.get("span")
        start = span["start"] if span else row.text.find(term)
        if term and start >= 0:
            found.add(Span(start, start + len(term), gold["polarity"], topic_of(gold.get("aspect_ref"))))
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span.end - span.start, span.start, span.polarity, span.topic or "")):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)


def label_of(row: Row, *, is_own: bool) -> str | None:
    """Return what the whole text amounts to; None if its source does not say.

    A text of ours without a mark judges nothing; a corpus may have left an opinion unmarked.
    """
    known = {gold["polarity"] for gold in row.gold} or ({row.document_polarity} - {""})
    sides = known - {"neutral"}
    if not known:
        return NO_OPINION if is_own else None
    return "mixed" if len(sides) > 1 else next(iter(sides), "neutral")


def topic_of(aspect_ref: str | None) -> str | None:
    """Return the topic of a corpus's aspect; None if there is no aspect."""
    if not aspect_ref or aspect_ref.startswith("polarity "):  # a slip of one corpus: the polarity stands in its place
        return None
    topics = (topic for pattern, topic in _topics() if re.search(pattern, aspect_ref.lower()))
    return next(topics, "other")


@cache
def _topics() -> list[tuple[str, str]]:
    return list(yaml.safe_load((HERE / "topics.yaml").read_text(encoding="utf-8")).items())


def morpheme_classes(text: str) -> str:
    """Return one letter for each character: the class of its Korean morpheme, upper case where the morpheme begins."""
    classes = ["-"] * len(text)
    for morpheme in morphemes(text) or ():
        letter = CLASSES.get(morpheme.tag[:1], "s")
        for at in range(morpheme.start, min(morpheme.end, len(text))):
            classes[at] = letter.upper() if at == morpheme.start else letter
    return "".join(classes)


def evenly(rows: Sequence[Any], most: int | None) -> Sequence[Any]:
    """Return at most so many rows, evenly spaced."""
    if most is None or len(rows) <= most:
        return rows
    return [rows[at * len(rows) // most] for at in range(most)]


if __name__ == "__main__":
    main()

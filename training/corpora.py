"""The public datasets: where they lie, which files may train shipped weights, whose, under which licence."""

import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from episodic_absa.vocabulary import Language

ROOT: Final = Path(__file__).resolve().parent.parent
DATA_VARIABLE: Final = "EPISODIC_ABSA_DATA"
OWN_DATA: Final = ROOT / "experiments" / "data"
OWN_TABLES: Final = ROOT / "training" / "own_tables"
TRAINING_TABLES: Final = ("sentence_table.yaml", "second_table.yaml")
HELD_OUT_TABLE: Final = "held_out_table.yaml"
OWN_SENTENCES: Final = ROOT / "training" / "own_sentences"
EVERYDAY_SENTENCES: Final = ROOT / "training" / "everyday_sentences"
EVERYDAY: Final = ROOT / "experiments" / "everyday"
_MARKED: Final = re.compile(r"\{([^{}]+)([+=-])\}")
_IMPLICIT_MARK: Final = re.compile(r" \|\| ([+=-])$")
_POLARITY_OF_MARK: Final = {"+": "positive", "-": "negative", "=": "neutral"}
_MABSA_DOMAINS: Final = ("coursera", "food", "hotel", "phone", "sight")


def public_data() -> Path:
    """Return the folder of the public datasets: the one that EPISODIC_ABSA_DATA names, else ../shared/data.

    Training, benchmarks and tests all ask here; `--data FOLDER` of a script stands above it. The folder may be absent.
    """
    return Path(os.environ.get(DATA_VARIABLE) or ROOT.parent / "shared" / "data")


class Corpus(NamedTuple):
    """One training file and what its source says about it."""

    file: str
    language: Language
    domain: str | None
    """None: the corpus has no single domain."""
    licence: str
    source: str
    kind: str = "aspects"
    """aspects: targets with polarities; documents: one polarity per text."""


class Row(NamedTuple):
    """One text with its annotation."""

    text: str
    gold: tuple[dict[str, Any], ...] = ()
    document_polarity: str = ""


CORPORA: Final[tuple[Corpus, ...]] = (
    Corpus("mams_atsa.train.jsonl", "en", "restaurant", "Apache-2.0", "MAMS, github.com/siat-nlp/MAMS-for-ABSA"),
    *(
        Corpus(
            f"mabsa_{domain}_{language}.train.jsonl",
            language,
            domain,
            "Apache-2.0",
            "M-ABSA (licence of its data card)",
        )
        for language in ("en", "ko")
        for domain in _MABSA_DOMAINS
    ),
    Corpus("nsmc_raw_docpol.train.jsonl", "ko", None, "CC0-1.0", "NSMC, github.com/e9t/nsmc", "documents"),
)
HELD_OUT: Final = (
    *(f"mams_{kind}.test.jsonl" for kind in ("atsa", "acsa")),
    "mams_atsa.dev.jsonl",
    *(
        f"mabsa_{domain}_{language}.{split}.jsonl"
        for language in ("en", "ko")
        for domain in _MABSA_DOMAINS
        for split in ("dev", "test")
    ),
    "nsmc_raw_docpol.test.jsonl",
    "ko_kr3_kpccf.test.jsonl",
)
"""Files that figures are reported on or choices are made with. No similar text may be trained on."""


def read_rows(path: Path) -> Iterator[Row]:
    """Read one JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Row(row["text"], tuple(row.get("gold_tuples", ())), row.get("document_polarity", ""))


def read_own_rows(language: Language, split: str = "train") -> list[Row]:
    """Read the sentences that were written for this project."""
    with (OWN_DATA / f"{split}.gold.jsonl").open(encoding="utf-8") as lines:
        gold = {row["uid"]: tuple(row["gold_tuples"]) for row in map(json.loads, lines)}
    with (OWN_DATA / f"{split}.csv").open(encoding="utf-8", newline="") as lines:
        return [Row(row["text"], gold[row["uid"]]) for row in csv.DictReader(lines) if row["language_code"] == language]


def read_table(name: str, language: Language) -> list[Row]:
    """Read a table of own sentences; one of them is held out."""
    rows = []
    for number, text, judged in yaml.safe_load((OWN_TABLES / name).read_text(encoding="utf-8")):
        if number.startswith(language):
            gold = ({"aspect_term": term, "polarity": polarity} for term, polarity in judged.items())
            rows.append(Row(text, tuple(_placed(gold_tuple, text) for gold_tuple in gold)))
    return rows


def read_marked_sentences(path: Path) -> list[Row]:
    """Read sentences with marked targets ("The {soup-} was cold."); lines that begin with # are remarks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_marked_row(line) for line in lines if line and not line.startswith("#")]


def _marked_row(line: str) -> Row:
    gold: list[dict[str, Any]] = []
    implicit = _IMPLICIT_MARK.search(line)
    if implicit is not None:
        gold.append({"aspect_term": "", "polarity": _POLARITY_OF_MARK[implicit.group(1)]})
        line = line[: implicit.start()]
    text, end = "", 0
    for mark in _MARKED.finditer(line):
        term, polarity = mark.groups()
        text += line[end : mark.start()]
        span = {"start": len(text), "end": len(text) + len(term)}
        gold.append({"aspect_term": term, "polarity": _POLARITY_OF_MARK[polarity], "span": span})
        text, end = text + term, mark.end()
    return Row(text + line[end:], tuple(gold))


def read_everyday(language: Language) -> list[Row]:
    """Read the sentences of the everyday set, whose near copies may not train.

    The marks of real reviews hold no texts: those stand in files of `HELD_OUT`.
    """
    paths = sorted(EVERYDAY.glob(f"{language}_*.jsonl"))
    return [row for path in paths if path.name != f"{language}_real.jsonl" for row in read_rows(path)]


def _placed(gold: dict[str, Any], text: str) -> dict[str, Any]:
    start = text.find(gold["aspect_term"])
    if not gold["aspect_term"] or start < 0:
        return gold
    return {**gold, "span": {"start": start, "end": start + len(gold["aspect_term"])}}

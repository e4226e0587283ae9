"""experiments/everyday holds what its README says, and its test half is kept apart from its dev half."""

import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "experiments" / "everyday"
LANGUAGES = ("en", "ko")
SPLITS = ("dev", "fresh", "test")
DOMAINS = {
    "restaurant",
    "delivery_food",
    "hotel",
    "laptop_phone",
    "home_appliance",
    "clothes_shoes",
    "cosmetics",
    "travel",
    "services",
    "apps_games_streaming",
}
FIELDS = ["uid", "language", "domain", "phenomenon", "text", "pairs"]
POLARITIES = {"positive", "negative", "neutral"}
FEWEST_PER_FILE = 85
FEWEST_PER_LANGUAGE = 150

every_file = pytest.mark.parametrize(
    ("language", "split"), [(language, split) for language in LANGUAGES for split in SPLITS]
)
every_language = pytest.mark.parametrize("language", LANGUAGES)


def rows_of(language: str, split: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{language}_{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def texts_of(language: str, split: str) -> set[str]:
    return {" ".join(row["text"].casefold().split()) for row in rows_of(language, split)}


def terms_of(language: str, split: str) -> set[str]:
    pairs = (pair for row in rows_of(language, split) for pair in row["pairs"])
    return {pair["term"].casefold() for pair in pairs if pair["term"] is not None}


@every_file
def test_a_file_is_long_enough_and_has_as_many_of_each_domain(language: str, split: str) -> None:
    rows = rows_of(language, split)
    assert len(rows) >= FEWEST_PER_FILE
    assert Counter(row["domain"] for row in rows) == dict.fromkeys(DOMAINS, len(rows) // len(DOMAINS))


@every_language
def test_a_language_has_enough_sentences(language: str) -> None:
    assert sum(len(rows_of(language, split)) for split in SPLITS) >= FEWEST_PER_LANGUAGE


@every_file
def test_every_line_has_the_fields_of_the_readme(language: str, split: str) -> None:
    for number, row in enumerate(rows_of(language, split), start=1):
        assert list(row) == FIELDS
        assert row["uid"] == f"everyday_{language}_{split}_{number:03d}"
        assert row["language"] == language
        assert row["text"] == unicodedata.normalize("NFC", row["text"]).strip() != ""
        assert all(list(pair) == ["term", "polarity"] for pair in row["pairs"])
        assert {pair["polarity"] for pair in row["pairs"]} <= POLARITIES


@every_file
def test_every_term_occurs_in_its_text(language: str, split: str) -> None:
    for row in rows_of(language, split):
        text = row["text"]
        for term in (pair["term"] for pair in row["pairs"]):
            if term is None:
                continue
            assert term == term.strip() != ""
            assert text.count(term) == 1, row["uid"]
            before, _, after = text.partition(term)
            # A Korean particle follows without a space, so only English ends at a word's end.
            assert not before[-1:].isalnum(), row["uid"]
            assert language == "ko" or not after[:1].isalnum(), row["uid"]


@every_file
def test_an_implicit_pair_stands_alone_and_no_term_is_marked_twice(language: str, split: str) -> None:
    for row in rows_of(language, split):
        terms = [pair["term"] for pair in row["pairs"]]
        assert len(terms) == len(set(terms)), row["uid"]
        assert None not in terms or terms == [None], row["uid"]
        assert (row["phenomenon"] == "implicit") == (terms == [None]), row["uid"]
        assert (row["phenomenon"] == "no_opinion") == (terms == []), row["uid"]


@every_file
def test_no_sentence_stands_twice_in_a_file(language: str, split: str) -> None:
    assert len(texts_of(language, split)) == len(rows_of(language, split))


@every_language
def test_dev_and_test_share_no_sentence_and_no_target(language: str) -> None:
    assert texts_of(language, "dev") & texts_of(language, "test") == set()
    assert terms_of(language, "dev") & terms_of(language, "test") == set()


@every_language
def test_dev_and_test_have_the_same_mixture(language: str) -> None:
    mixtures = [
        Counter((row["domain"], row["phenomenon"]) for row in rows_of(language, split)) for split in ("dev", "test")
    ]
    assert mixtures[0] == mixtures[1]

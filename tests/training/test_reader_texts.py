"""The texts in training/reader are well marked, say what they are, and copy no evaluated text."""

import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TRAINING = ROOT / "training"
sys.path.insert(0, str(TRAINING))

from corpora import (  # noqa: E402 - the folder is no package: it is run, not installed
    EVERYDAY_SENTENCES,
    HELD_OUT,
    Row,
    public_data,
    read_everyday,
    read_marked_sentences,
    read_rows,
)
from near_copies import HeldOut  # noqa: E402

from episodic_absa.vocabulary import Language  # noqa: E402

FOLDER = TRAINING / "reader"
DATA = public_data()
LANGUAGES: tuple[Language, ...] = ("en", "ko")
FEWEST_OF_A_KIND = {"facts": 300, "questions": 120, "plans": 120, "fillers": 120}
FEWEST_HARD = 200

every_language = pytest.mark.parametrize("language", LANGUAGES)
every_file = pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in sorted(FOLDER.glob("*/*.txt"))]
)


def rows_of(kind: str, language: Language) -> list[Row]:
    return [row for path in sorted((FOLDER / kind).glob(f"{language}_*.txt")) for row in read_marked_sentences(path)]


def as_typed(text: str) -> str:
    """Fillers differ by case and punctuation alone ("N/A", "n/a"): both are typed, so both may stand."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@every_language
def test_there_are_enough_texts_of_each_kind(language: Language) -> None:
    for kind, fewest in FEWEST_OF_A_KIND.items():
        assert len(read_marked_sentences(FOLDER / "no_opinion" / f"{language}_{kind}.txt")) >= fewest, kind
    assert len(rows_of("hard", language)) >= FEWEST_HARD


@every_file
def test_a_file_begins_with_what_it_is_and_its_licence(path: Path) -> None:
    head = path.read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith("# ")
    assert "MIT" in head


@every_language
def test_texts_without_an_opinion_carry_no_mark(language: Language) -> None:
    assert [row.text for row in rows_of("no_opinion", language) if row.gold] == []


@every_language
def test_hard_texts_name_their_targets_or_one_opinion_without_a_target(language: Language) -> None:
    for row in rows_of("hard", language):
        terms = [gold["aspect_term"] for gold in row.gold]
        assert terms, row.text
        assert "" not in terms or terms == [""], row.text


@every_file
def test_marks_are_whole_and_terms_stand_trimmed_in_the_text(path: Path) -> None:
    for row in read_marked_sentences(path):
        assert not set("{}|") & set(row.text), row.text
        assert row.text == row.text.strip()
        for gold in row.gold:
            term = gold["aspect_term"]
            assert term == term.strip()
            if term:
                assert row.text[gold["span"]["start"] : gold["span"]["end"]] == term, row.text


@every_language
def test_no_text_stands_twice(language: Language) -> None:
    typed = [as_typed(row.text) for kind in ("no_opinion", "hard") for row in rows_of(kind, language)]
    assert [text for text, count in Counter(typed).items() if count > 1] == []
    earlier = {
        as_typed(row.text).casefold()
        for path in EVERYDAY_SENTENCES.glob(f"{language}_*.txt")
        for row in read_marked_sentences(path)
    }
    assert [text for text in typed if text.casefold() in earlier] == []


@every_language
def test_no_text_is_a_near_copy_of_the_everyday_set(language: Language) -> None:
    evaluated = HeldOut(row.text for row in read_everyday(language))
    assert [text for text in _texts(language) if evaluated.resembles(text)] == []


@every_language
@pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no public datasets at {DATA}")
def test_no_text_is_a_near_copy_of_a_held_out_file(language: Language) -> None:
    files = [DATA / name for name in HELD_OUT if (DATA / name).exists()]
    evaluated = HeldOut(row.text for path in files for row in read_rows(path))
    assert [text for text in _texts(language) if evaluated.resembles(text)] == []


def _texts(language: Language) -> list[str]:
    return [row.text for kind in ("no_opinion", "hard") for row in rows_of(kind, language)]

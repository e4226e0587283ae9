"""Larger public datasets, where their files are at hand: every line of them loads."""

import sys
from pathlib import Path

import pytest

from episodic_absa.datasets import load_gold, load_split
from episodic_absa.schemas.gold import LabelledSample

sys.path.insert(0, str(Path(__file__).parents[2] / "training"))

from corpora import public_data

DATA = public_data()
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no public datasets at {DATA}")


def load(name: str) -> tuple[LabelledSample, ...]:
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    return load_split(path, "jsonl", "test")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("mams_atsa.dev", "en"),
        ("mams_acsa.dev", "en"),
        ("mabsa_hotel_ko.dev", "ko"),
        ("mabsa_phone_en.dev", "en"),
        ("ko_kr3_kpccf.test", "ko"),
    ],
)
def test_a_public_dataset_loads_with_valid_gold_whose_spans_hold(name: str, language: str) -> None:
    samples = load(name)
    assert {labelled.sample.language_code for labelled in samples} == {language}
    for labelled in samples:
        assert labelled.gold is not None
        for gold_tuple in labelled.gold:
            assert gold_tuple.polarity is not None
            if gold_tuple.span is not None:
                found = labelled.sample.text[gold_tuple.span.start : gold_tuple.span.end]
                assert found.lower() == gold_tuple.aspect_term.lower()
    assert len(load_gold(DATA / f"{name}.jsonl")) == len(samples)


def test_a_dataset_without_tuples_has_no_gold_and_keeps_its_labels_as_metadata() -> None:
    samples = load("nsmc_raw_docpol.test")
    assert all(labelled.gold is None for labelled in samples)
    assert all("document_polarity" in labelled.metadata for labelled in samples)

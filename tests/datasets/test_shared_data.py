"""Larger public datasets, where they lie beside the checkout: every line of them loads."""

from pathlib import Path

import pytest

from episodic_absa.datasets.dataset_loading import load_split
from episodic_absa.datasets.gold_files import load_gold
from episodic_absa.schemas.gold import LabelledSample

SHARED = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not beside this checkout")


def load(name: str) -> tuple[LabelledSample, ...]:
    path = SHARED / f"{name}.jsonl"
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
    assert len(load_gold(SHARED / f"{name}.jsonl")) == len(samples)


def test_a_dataset_without_tuples_has_no_gold_and_keeps_its_labels_as_metadata() -> None:
    samples = load("nsmc_raw_docpol.test")

    assert all(labelled.gold is None for labelled in samples)
    assert all("document_polarity" in labelled.metadata for labelled in samples)

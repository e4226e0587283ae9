"""Our own dataset keeps what its README says."""

import difflib
import itertools
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from episodic_absa.datasets import (
    attach_gold,
    count_invalid_gold,
    find_shared_texts,
    load_annotations,
    load_gold,
    load_split,
    majority_polarity,
    require_unique_uids,
)
from episodic_absa.language import effective_language, ends_with_particle
from episodic_absa.schemas.gold import LabelledSample
from episodic_absa.vocabulary import Split

DATA = Path(__file__).parents[2] / "experiments" / "data"
SPLITS: tuple[Split, ...] = ("train", "valid")
SHARES = {"plain": 0.40, "contrast": 0.20, "negation": 0.15, "multi": 0.10, "implicit": 0.10, "irony": 0.05}
DOMAINS = {"restaurant", "hotel", "phone", "course", "sight", "delivery"}


def load(split: Split) -> tuple[LabelledSample, ...]:
    samples = load_split(DATA / f"{split}.csv", "csv", split)
    attached, unknown = attach_gold(samples, load_annotations(DATA / f"{split}.gold.jsonl"))
    assert unknown == ()
    return attached


LOADED = {split: load(split) for split in SPLITS}
ALL = [labelled for samples in LOADED.values() for labelled in samples]


@pytest.mark.parametrize(("split", "least"), [("train", 60), ("valid", 72)])
def test_a_split_is_large_enough_and_half_korean_half_english_in_every_domain(split: Split, least: int) -> None:
    samples = LOADED[split]
    counts = Counter((labelled.sample.domain_id, labelled.sample.language_code) for labelled in samples)
    assert len(samples) >= least
    assert counts.keys() == set(itertools.product(DOMAINS, ["ko", "en"]))
    assert len(set(counts.values())) == 1


def test_the_language_that_is_named_is_the_language_of_the_text() -> None:
    for labelled in ALL:
        sample = labelled.sample
        assert effective_language(None, sample.text) == sample.language_code, sample.uid


@pytest.mark.parametrize("split", SPLITS)
def test_case_types_have_the_shares_that_the_readme_names(split: Split) -> None:
    counts = Counter(labelled.sample.case_type for labelled in LOADED[split])
    assert counts.keys() == SHARES.keys()
    for case_type, share in SHARES.items():
        assert counts[case_type] / len(LOADED[split]) == pytest.approx(share, abs=0.02), case_type


def test_every_sample_has_valid_gold_and_at_most_four_tuples() -> None:
    assert all(labelled.gold is not None and len(labelled.gold) <= 4 for labelled in ALL)
    assert count_invalid_gold(ALL) == 0
    assert [labelled.sample.case_type for labelled in ALL if not labelled.gold] == ["plain"] * 4


@pytest.mark.parametrize("split", SPLITS)
def test_every_span_in_the_gold_file_is_where_its_term_stands(split: Split) -> None:
    texts = {labelled.sample.uid: labelled.sample.text for labelled in LOADED[split]}
    gold = load_gold(DATA / f"{split}.gold.jsonl")
    assert gold.keys() == texts.keys()
    for uid, tuples in gold.items():
        for gold_tuple in tuples:
            if gold_tuple.aspect_term:
                assert gold_tuple.span is not None, uid
                assert texts[uid][gold_tuple.span.start : gold_tuple.span.end] == gold_tuple.aspect_term, uid
            else:
                assert gold_tuple.span is None, uid
        assert len(tuples) == len({(gold_tuple.aspect_term, gold_tuple.polarity) for gold_tuple in tuples}), uid


def test_no_korean_term_ends_in_a_particle_or_the_plural() -> None:
    for labelled in ALL:
        for gold_tuple in labelled.gold or ():
            assert not gold_tuple.aspect_term.endswith(("들", "분")), labelled.sample.uid
            assert gold_tuple.span is None or not ends_with_particle(labelled.sample.text, gold_tuple.span.end), (
                labelled.sample.uid
            )


def test_implicit_cases_name_no_target_and_multi_cases_have_three_or_more() -> None:
    for labelled in ALL:
        terms = [gold_tuple.aspect_term for gold_tuple in labelled.gold or ()]
        assert (set(terms) == {""}) == (labelled.sample.case_type == "implicit"), labelled.sample.uid
        if labelled.sample.case_type == "multi":
            assert len(terms) >= 3, labelled.sample.uid


def test_uids_are_unique_and_no_text_is_shared_or_nearly_equal() -> None:
    require_unique_uids({DATA / f"{split}.csv": samples for split, samples in LOADED.items()})
    assert find_shared_texts(LOADED["train"], LOADED["valid"]) == ()
    for text, other in itertools.combinations([labelled.sample.text for labelled in ALL], 2):
        compared = difflib.SequenceMatcher(None, text, other)
        assert compared.quick_ratio() < 0.6 or compared.ratio() < 0.6, (text, other)


def test_files_are_utf8_in_nfc_without_a_mark_and_with_plain_line_ends() -> None:
    for path in DATA.iterdir():
        content = path.read_bytes().decode("utf-8")
        assert unicodedata.is_normalized("NFC", content)
        assert not content.startswith("\ufeff")
        assert "\r" not in content


def test_the_readme_states_the_true_counts() -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for split, samples in LOADED.items():
        tuples = [gold_tuple for labelled in samples for gold_tuple in labelled.gold or ()]
        polarities = Counter(gold_tuple.polarity for gold_tuple in tuples)
        implicit = sum(gold_tuple.aspect_term == "" for gold_tuple in tuples)
        counts = ", ".join(str(polarities[polarity]) for polarity in ("positive", "negative", "neutral"))
        half = len(samples) // 2
        row = f"| `{split}.csv`, `{split}.gold.jsonl` | {len(samples)} | {half} / {half} | {counts} | {implicit} |"
        assert row in readme


def test_the_majority_of_train_is_positive() -> None:
    assert majority_polarity(LOADED["train"]) == "positive"

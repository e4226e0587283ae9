import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.datasets import Annotation, attach_gold, load_gold
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.gold import GoldTuple, LabelledSample


def write_gold(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sample(uid: str, text: str = "국물이 진해요", gold: tuple[GoldTuple, ...] | None = None) -> LabelledSample:
    return LabelledSample(sample=Sample(uid=uid, text=text), gold=gold)


GOOD = GoldTuple(aspect_term="국물", polarity="positive", span=Span(start=0, end=2))


def test_a_gold_file_gives_the_tuples_of_each_uid(tmp_path: Path) -> None:
    one = {"aspect_term": "국물", "polarity": "positive", "span": {"start": 0, "end": 2}}
    path = write_gold(
        tmp_path,
        {"uid": "a", "gold_tuples": [one]},
        {"text_id": "b", "gold_tuples": [], "text": "is not read"},
        {"id": 3, "gold_tuples": [{"aspect_term": None, "polarity": "neu", "aspect_ref": "food", "span": None}]},
        {"id": 4, "gold_tuples": [{"aspect_term": "x"}]},
    )
    assert load_gold(path) == {
        "a": (GOOD,),
        "b": (),
        "3": (GoldTuple(aspect_ref="food", aspect_term="", polarity="neutral"),),
        "4": (GoldTuple(aspect_term="x", polarity=None),),
    }


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("positive", "positive"),
        ("NEG", "negative"),
        (" Neutral ", "neutral"),
        ("negatve", "negative"),
        ("mixed", None),
        ("conflict", None),
        ("", None),
        (None, None),
        ("좋음", None),
    ],
)
def test_a_tuple_whose_polarity_cannot_be_read_is_kept_without_one(
    tmp_path: Path, written: str | None, read: str | None
) -> None:
    path = write_gold(tmp_path, {"uid": "a", "gold_tuples": [{"aspect_term": "x", "polarity": written}]})
    (one,) = load_gold(path)["a"]
    assert (one.aspect_term, one.polarity) == ("x", read)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"gold_tuples": []}, "no uid"),
        ({"uid": " ", "gold_tuples": []}, "no uid"),
        ({"uid": ["a"], "gold_tuples": []}, "uid must be"),
        ({"uid": "a"}, "no gold_tuples"),
        ({"uid": "a", "gold_tuples": None}, "must be a list"),
        ({"uid": "first", "gold_tuples": []}, "already used in line 1"),
        ({"text_id": "first", "gold_tuples": []}, "already used in line 1"),
        ({"uid": "a", "gold_tuples": ["x"]}, "must be an object"),
        ({"uid": "a", "gold_tuples": [{"aspect": "x", "polarity": "positive"}]}, "unknown key 'aspect'"),
        ({"uid": "a", "gold_tuples": [{"polarity": "positive"}]}, "no aspect_term"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": 5, "polarity": "positive"}]}, "aspect_term of"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "polarity": 1}]}, "polarity of"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "span": [0, 1]}]}, "a span must be"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "span": {"start": 2, "end": 2}}]}, "a span must be"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "span": {"start": "0", "end": 1}}]}, "a span must be"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "span": {"start": -1, "end": 1}}]}, "a span must be"),
        ({"uid": "a", "gold_tuples": [{"aspect_term": "x", "span": {"start": 0}}]}, "a span must be"),
    ],
)
def test_a_bad_gold_line_is_refused_with_its_file_and_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = write_gold(tmp_path, {"uid": "first", "gold_tuples": []}, row)
    with pytest.raises(DatasetError, match=said) as caught:
        load_gold(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_a_gold_file_without_a_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="holds no gold"):
        load_gold(write_gold(tmp_path))


def test_gold_is_attached_by_uid_and_what_fits_no_sample_is_reported() -> None:
    inline = (GoldTuple(aspect_term="", polarity="neutral"),)
    samples = (sample("a"), sample("b", gold=inline), sample("c"))
    attached, unknown = attach_gold(
        samples, {"z": Annotation((GOOD,)), "a": Annotation((GOOD,)), "c": Annotation(()), "y": Annotation(())}
    )
    assert [labelled.gold for labelled in attached] == [(GOOD,), inline, ()]
    assert [labelled.sample for labelled in attached] == [labelled.sample for labelled in samples]
    assert unknown == ("z", "y")


def test_a_gold_file_takes_precedence_over_inline_gold() -> None:
    inline = (GoldTuple(aspect_term="", polarity="neutral"),)
    ((attached,), _) = attach_gold([sample("a", gold=inline)], {"a": Annotation((GOOD,))})
    assert attached.gold == (GOOD,)


def grounded(term: str, span: Span, text: str) -> Span | None:
    """Return the span that a gold tuple has once it has met its text."""
    gold = GoldTuple(aspect_term=term, polarity="positive", span=span)
    ((attached,), _) = attach_gold([sample("a", text)], {"a": Annotation((gold,))})
    (met,) = attached.gold or ()
    assert met == gold.model_copy(update={"span": met.span})
    return met.span


@pytest.mark.parametrize(
    ("term", "start", "end", "text", "expected"),
    [
        ("soup", 4, 8, "The soup", (4, 8)),
        ("soup", 0, 4, "The soup", (4, 8)),
        ("soup", 5, 9, "soup or soup", (8, 12)),
        ("soup", 3, 7, "soup or soup", (0, 4)),
        ("soup", 90, 94, "soup or soup", (8, 12)),
        ("Soup", 4, 8, "The soup", (4, 8)),
        ("tea", 4, 8, "The soup", None),
        ("Café", 0, 5, "Café is nice", (0, 4)),
    ],
)
def test_a_span_that_misses_its_term_moves_to_the_nearest_one_or_is_dropped(
    term: str, start: int, end: int, text: str, expected: tuple[int, int] | None
) -> None:
    found = grounded(term, Span(start=start, end=end), text)
    assert (found and (found.start, found.end)) == expected


@given(
    words=st.lists(st.sampled_from(["국물", "wifi", "Café", "떡볶이", "ñ", "a"]), min_size=1, max_size=8),
    data=st.data(),
)
def test_a_span_counted_in_decomposed_text_finds_the_same_occurrence(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    text, before = " ".join(words), " ".join([*words[:at], ""])
    raw_start = len(unicodedata.normalize("NFD", before))
    raw = Span(start=raw_start, end=raw_start + len(unicodedata.normalize("NFD", words[at])))
    found = grounded(words[at], raw, text)
    assert found is not None
    assert text[found.start : found.end] == words[at]
    if text[raw.start : raw.end] != words[at]:
        assert found.start == len(before)

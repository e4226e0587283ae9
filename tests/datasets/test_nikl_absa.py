import json
from pathlib import Path
from typing import Any

import pytest

from episodic_absa.datasets import load_split
from episodic_absa.errors import DatasetError
from episodic_absa.schemas.absa import Sample, Span
from episodic_absa.schemas.gold import GoldTuple, LabelledSample


def load(folder: Path, *rows: dict[str, Any]) -> tuple[LabelledSample, ...]:
    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return load_split(path, "nikl_absa_2022", "train")


def test_a_line_of_the_corpus_becomes_a_sample_with_its_gold(tmp_path: Path) -> None:
    annotation = [
        ["본품#품질", ["뚜껑", 0, 2], "negative"],
        ["제품 전체#일반", [None, 0, 0], "positive"],
        ["패키지#디자인", ["상자", 9, 11], "???"],
    ]
    row = {
        "id": "c-1",
        "sentence_form": "뚜껑은 헐거운데 상자는 그대로, 그래도 잘 샀다",
        "annotation": annotation,
        "x": 1,
    }
    (labelled,) = load(tmp_path, row)
    text = row["sentence_form"]
    assert labelled.sample == Sample(uid="c-1", text=str(text), split="train", language_code="ko")
    assert labelled.gold == (
        GoldTuple(aspect_ref="본품#품질", aspect_term="뚜껑", polarity="negative", span=Span(start=0, end=2)),
        GoldTuple(aspect_ref="제품 전체#일반", aspect_term="", polarity="positive"),
        GoldTuple(aspect_ref="패키지#디자인", aspect_term="상자", polarity=None, span=Span(start=9, end=11)),
    )
    assert labelled.metadata == {"x": 1}


def test_without_annotation_there_is_no_gold_and_an_empty_one_has_no_opinion(tmp_path: Path) -> None:
    bare, empty = load(tmp_path, {"sentence_form": "가"}, {"sentence_form": "나", "annotation": []})
    assert (bare.gold, empty.gold) == (None, ())
    assert (bare.sample.uid, empty.sample.uid) == ("corpus:1", "corpus:2")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "가"}, "sentence_form"),
        ({"sentence_form": "가", "annotation": "x"}, "annotation must be"),
        ({"sentence_form": "가", "annotation": [["a#b", "가", "positive"]]}, "an annotation must be"),
        ({"sentence_form": "가", "annotation": [["a#b", ["가", "0", "1"], "positive"]]}, "an annotation must be"),
        ({"sentence_form": "가", "annotation": [["a#b", ["가", 0, 1]]]}, "an annotation must be"),
        ({"sentence_form": "가", "annotation": [[None, ["가", 0, 1], "positive"]]}, "an annotation must be"),
    ],
)
def test_a_bad_line_is_refused_with_its_file_and_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError, match=said) as caught:
        load(tmp_path, {"sentence_form": "가"}, row)
    assert (caught.value.path, caught.value.line) == (tmp_path / "corpus.jsonl", 2)

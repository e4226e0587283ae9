"""What a caller reads of a result: aspects, label, JSON, notebook HTML, short reprs, a pandas table."""

import json
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.extras import require_extra
from tests.pipeline import builders as b

from episodic_absa import results_frame
from episodic_absa.pipeline.sample_result import SampleResult
from episodic_absa.schemas.absa import FinalTuple, Sample, Span

HOSTILE = '<script>alert("x")</script> food & <b>service</b>'


class Shown(HTMLParser):
    """Collects what a browser would show, and the tags it would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert all(name in ("class", "dir", "style", "title") for name, _ in attrs)
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> SampleResult:
    pairs = [
        {"term": "food", "quote": "great", "polarity": "positive"},
        {"term": "service", "quote": "the service was slow", "polarity": "negative"},
        {"term": "", "quote": "fair", "polarity": "positive"},
    ]
    backend = b.default_backend({"joint": {"pairs": pairs}})
    return b.run_default_sample(backend, tmp_path_factory.mktemp("views") / "store.jsonl")


def shown_as(result: SampleResult, text: str, *terms: tuple[str, Any]) -> SampleResult:
    """Return the result as if it were of another text."""
    tuples = tuple(
        FinalTuple(
            aspect_term=term, polarity=polarity, confidence=0.5, grounding="explicit", span=b.span_of(term, text)
        )
        for term, polarity in terms
    )
    final = result.final_result.model_copy(update={"final_tuples": tuples})
    return replace(result, sample=Sample(uid="u", text=text), final_result=final)


def test_aspects_have_term_polarity_evidence_and_place(result: SampleResult) -> None:
    assert [(aspect.term, aspect.polarity, aspect.evidence) for aspect in result.aspects] == [
        ("food", "positive", "great"),
        ("service", "negative", "the service was slow"),
        ("", "positive", "fair"),
    ]
    food, _, implicit = result.aspects
    assert food.span is not None
    assert result.text[slice(*food.span)] == "food"
    assert implicit.span is None
    assert result.label == result.final_result.label
    with pytest.raises(FrozenInstanceError):
        food.term = "other"  # type: ignore[misc]


def test_a_backfill_is_no_aspect(result: SampleResult) -> None:
    backfill = FinalTuple(
        aspect_term="food", polarity="neutral", confidence=0.5, grounding="explicit", is_backfilled=True
    )
    final = result.final_result.model_copy(update={"final_tuples": (backfill,)})
    assert replace(result, final_result=final).aspects == ()


def test_the_dictionary_is_json_and_small(result: SampleResult) -> None:
    small = result.to_dict()
    assert list(small) == ["text", "language", "label", "aspects"]
    assert json.loads(result.to_json()) == json.loads(json.dumps(small)) == small
    assert "\n" not in result.to_json()


def test_a_notebook_shows_the_whole_text_with_its_marks(result: SampleResult) -> None:
    page = Shown(result._repr_html_())
    unsigned = re.sub("[+\N{MINUS SIGN}○±]", "", page.text)
    assert unsigned.startswith(result.text)
    assert {"span", "sup", "ul"} <= page.tags
    assert "(implicit)" in page.text


def test_a_notebook_runs_nothing_that_a_review_holds(result: SampleResult) -> None:
    hostile = shown_as(result, HOSTILE, ("food", "positive"), ("<b>service</b>", "negative"))
    page = Shown(hostile._repr_html_())
    assert page.tags <= {"div", "span", "sup", "ul", "li", "b", "i", "bdi"}
    assert HOSTILE in re.sub("[+\N{MINUS SIGN}]", "", page.text)


def test_marks_that_overlap_repeat_no_character(result: SampleResult) -> None:
    overlapping = shown_as(result, "food service", ("food", "positive"), ("food service", "negative"))
    assert re.sub("[+\N{MINUS SIGN}]", "", Shown(overlapping._repr_html_()).text).startswith("food servicelabel:")


def test_printed_forms_are_short_and_small_values_stay_whole(result: SampleResult) -> None:
    parts = (result, result.stage1, result.debate, result.stage2, result.final_result, result.moderator)
    assert all(len(repr(part)) < 400 for part in parts)
    assert (
        str(result.stage1)
        == repr(result.stage1)
        == ("Stage1Result(ate=Stage1Ate(...), atsa=Stage1Atsa(...), validator=ValidatorOutput(...))")
    )
    assert repr(Span(start=1, end=2)) == "Span(start=1, end=2)"
    many = shown_as(result, " ".join(f"t{n}" for n in range(20)), *((f"t{n}", "positive") for n in range(20)))
    assert repr(many).endswith("t7 positive, 12 more)")


def test_a_table_has_a_row_per_aspect_and_keeps_a_review_without_any(result: SampleResult) -> None:
    require_extra("pandas")
    frame = results_frame([result, shown_as(result, "nothing said")])
    assert list(frame["term"].fillna("(none)")) == ["food", "service", "", "(none)"]
    assert frame.loc[0, "text"][frame.loc[0, "start"] : frame.loc[0, "end"]] == "food"
    assert list(frame["label"][:3]) == [result.label] * 3
    assert frame[["confidence", "start"]].isna().sum().tolist() == [1, 2]
    assert results_frame([]).columns.tolist() == frame.columns.tolist()


def test_without_pandas_the_error_says_both_pip_lines(tmp_path: Path) -> None:
    look = "import sys; sys.modules['pandas'] = None; import episodic_absa; episodic_absa.results_frame([])"
    done = subprocess.run([sys.executable, "-c", look], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "pip install 'episodic-absa[pandas]'" in done.stderr
    assert "pip install -e '.[pandas]'" in done.stderr

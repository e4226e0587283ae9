"""Numbers, axes, pictures and embedded data, each on its own."""

import base64
import gzip
import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.card_making import make_card

from episodic_absa.reports import number_format
from episodic_absa.reports.data.report_data import CellSample, Explorer, ExplorerCell, IndexRow, ReviewEntry
from episodic_absa.reports.data.report_samples import index_row
from episodic_absa.reports.page.embedded_data import packed
from episodic_absa.reports.page.explorer_blocks import REVIEWS_PER_BLOCK, build_blocks
from episodic_absa.reports.page.html_report import page_script
from episodic_absa.reports.plots import svg
from episodic_absa.reports.plots.axis import Axis
from episodic_absa.reports.plots.growth_plot import thinned
from episodic_absa.vocabulary import AdoptReason, InjectionSkip, ModeratorRule, OverrideSkip


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (number_format.plain(None), "–"),
        (number_format.plain(-0.1234), "−0.123"),
        (number_format.plain(-0.0001), "0.000"),
        (number_format.plain(12345.6, 1), "12,345.6"),
        (number_format.signed(0.5), "+0.500"),
        (number_format.signed(0.0001), "0.000"),
        (number_format.signed(-2), "−2.000"),
        (number_format.amount(1234), "1,234"),
        (number_format.amount(2.5), "2.50"),
        (number_format.amount(0.00123), "0.0012"),
        (number_format.p_value(0.0004), "< .001"),
        (number_format.p_value(0.0312), ".031"),
        (number_format.p_value(1.0), "1.000"),
        (number_format.percent(1, 0), "–"),
    ],
)
def test_numbers_read_as_one_writes_them(shown: str, expected: str) -> None:
    assert shown == expected


@given(low=st.floats(-1e6, 1e6), size=st.floats(1e-3, 1e6), value=st.floats(-1e7, 1e7), is_log=st.booleans())
def test_every_value_is_drawn_within_the_axis(low: float, size: float, value: float, is_log: bool) -> None:
    low = abs(low) + 1e-3 if is_log else low
    axis = Axis(low, low + size, 10, 90, is_log=is_log)
    assert 10 <= axis.at(value) <= 90
    assert all(low - 1e-6 <= tick <= low + size + 1e-6 or abs(tick) < 1e-6 for tick in axis.ticks())
    assert len(axis.ticks()) < 12


def test_markup_in_a_label_stays_a_label() -> None:
    drawn = svg.text(0, 0, "<script>", 'a"b')
    assert drawn == '<text x="0" y="0" class="a&#34;b">&lt;script&gt;</text>'


@given(st.integers(1, 5000))
def test_long_curves_keep_their_ends(n: int) -> None:
    points = tuple((place, float(place)) for place in range(n))
    kept = thinned(points)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert len(kept) <= min(n, 120)


@given(st.text())
def test_packed_text_comes_back(text: str) -> None:
    data = packed(text)
    assert data == packed(text)
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", data)
    assert gzip.decompress(base64.b64decode(data)).decode("utf-8", "surrogatepass") == text


def unpack(block: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(block)))


def test_equal_analyses_of_a_review_are_written_once() -> None:
    sample = CellSample(
        index=IndexRow(changed=True, answer="x"), analysis='{"a":1}', memory="null", cost=(1, 2, 3, None)
    )
    review = ReviewEntry(
        uid="u", text="t", language="ko", domain="d", case_type="c", gold="null", cells=(sample, None, sample)
    )
    cells = tuple(ExplorerCell(condition=name, seed=1) for name in "abc")
    blocks = build_blocks(
        Explorer(cells=cells, reviews=(review,) * (REVIEWS_PER_BLOCK + 1), first=("a", "")), with_text=True
    )
    assert len(blocks.details) == 2
    detail = unpack(blocks.details[1])[0]
    assert detail["analyses"] == [{"a": 1}]
    assert detail["cells"] == [[0, 0, [1, 2, 3, None]], None, [0, 0, [1, 2, 3, None]]]
    uid, _, _, _, _, flags, answers = unpack(blocks.search)["rows"][0]
    assert (uid, flags, answers) == ("u", [2, -1, 2], [0, -1, 0])


@pytest.mark.parametrize("codes", [AdoptReason, InjectionSkip, ModeratorRule, OverrideSkip])
def test_the_page_has_words_for_every_code(codes: Any) -> None:
    for code in get_args(codes):
        assert not code or re.search(rf"^\s+{code}: \"", page_script(), re.MULTILINE), code


def test_the_script_leaves_no_name_in_the_window_and_sets_no_markup() -> None:
    script = page_script()
    assert script.startswith('(() => {\n"use strict";')
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert forbidden not in script, forbidden
    assert "</script" not in script.lower()
    assert "<!--" not in script


def test_a_condition_differs_by_its_final_pairs_and_not_by_its_label() -> None:
    card = make_card([("food", "positive")], None)
    other = card.model_copy(update={"label": "negative" if card.label != "negative" else "positive"})
    assert index_row(card, count_backfilled=False).answer == index_row(other, count_backfilled=False).answer

"""The data within a page: packed text, and blocks in which equal analyses are written once."""

import base64
import gzip
import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from episodic_absa.reports.data import CellSample, Explorer, ExplorerCell, ReviewEntry, ReviewFacts
from episodic_absa.reports.page import REVIEWS_PER_BLOCK, build_blocks, packed


@given(st.text())
def test_packed_text_comes_back(text: str) -> None:
    data = packed(text)
    assert data == packed(text)
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", data)
    assert gzip.decompress(base64.b64decode(data)).decode("utf-8", "surrogatepass") == text


def unpack(block: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(block)))


def test_equal_analyses_of_a_review_are_written_once() -> None:
    sample = CellSample(frozenset({"changed"}), "x", '{"a":1}', "null", (1, 2, 3, None, None))
    review = ReviewEntry("u", ReviewFacts("t", "ko", "d", "c", "null"), (sample, None, sample))
    cells = tuple(ExplorerCell(name, 1) for name in "abc")
    blocks = build_blocks(
        Explorer(cells=cells, reviews=(review,) * (REVIEWS_PER_BLOCK + 1), first=("a", "")), with_text=True
    )
    assert len(blocks.details) == 2
    detail = unpack(blocks.details[1])[0]
    assert detail["analyses"] == [{"a": 1}]
    assert detail["cells"] == [[0, 0, [1, 2, 3, None, None]], None, [0, 0, [1, 2, 3, None, None]]]
    uid, _, _, _, _, flags, answers = unpack(blocks.search)["rows"][0]
    assert (uid, flags, answers) == ("u", [2, -1, 2], [0, -1, 0])

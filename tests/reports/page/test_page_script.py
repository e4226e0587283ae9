"""The script of a page."""

import re
from typing import Any, get_args

import pytest

from episodic_absa.reports.page import page_script
from episodic_absa.vocabulary import AdoptReason, InjectionSkip, ModeratorRule, OverrideSkip


@pytest.mark.parametrize("codes", [AdoptReason, InjectionSkip, ModeratorRule, OverrideSkip])
def test_the_page_has_english_and_korean_words_for_every_code(codes: Any) -> None:
    for code in get_args(codes):
        assert not code or re.search(rf'^\s+{code}: \["[^"]+", "[^"]*[가-힣]', page_script(), re.MULTILINE), code


def test_the_script_leaves_no_name_in_the_window_and_sets_no_markup() -> None:
    script = page_script()
    assert script.startswith('(() => {\n"use strict";')
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert forbidden not in script, forbidden
    assert "</script" not in script.lower()
    assert "<!--" not in script

"""What cannot be analysed is refused with a ValueError that never quotes the review."""

import math
from typing import Any

import pytest

from episodic_absa import Analyzer, EpisodicAbsaError, InputError
from episodic_absa.analyzer import make_sample

REVIEW = "my secret review"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "None, not a string; leave rows without text out"),
        (math.nan, "missing value (NaN)"),
        (5, "must be a string, got int"),
        (2.5, "must be a string, got float"),
        ([REVIEW], "must be a string, got list"),
        (REVIEW.encode(), "is bytes, not a string; decode it first"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("\u200b\ufeff", "empty"),
        (f"{REVIEW} \ud83d", "half of a surrogate pair at character 18"),
    ],
)
def test_what_is_no_review_is_refused(text: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_sample(text)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.argument == "text"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, EpisodicAbsaError)


@pytest.mark.parametrize(
    ("code", "hint"),
    [("english", "'en'"), ("kr", "'ko'"), ("Korean", "'ko'"), ("xx", "ISO 639-1"), (7, "got int"), (REVIEW, "None")],
)
def test_an_unknown_language_is_refused_with_the_codes_that_are_known(code: Any, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        make_sample("Great.", language_code=code)
    assert hint in str(caught.value)
    assert "'ko', 'en'" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("code", [None, "", "ko", "en", "EN", "ko-KR", "en_US", "ja", "other", "unknown"])
def test_known_languages_are_taken_as_they_are_given(code: str | None) -> None:
    assert make_sample("Great.", language_code=code).language_code == code


@pytest.mark.parametrize("argument", ["uid", "domain_id"])
def test_a_name_that_is_no_string_is_refused(argument: str) -> None:
    arguments: dict[str, Any] = {argument: 7}
    with pytest.raises(InputError, match=f"{argument} must be a string, got int"):
        make_sample("Great.", **arguments)


def test_settings_are_models_and_not_dictionaries() -> None:
    wrong: dict[str, Any] = {"pipeline": {"enable_debate": False}}
    with pytest.raises(InputError, match="pipeline must be PipelineSettings, got dict"):
        Analyzer(**wrong)

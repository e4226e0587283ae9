"""What cannot be analysed is refused with a ValueError that never quotes the review."""

import math
import re
from typing import Any

import pytest
from pydantic import ValidationError

from episodic_absa import AgentMemory, Analyzer, ConfigError, EpisodicAbsaError, InputError, MemoryStoreError, Sample
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


def test_a_name_that_no_file_can_hold_is_refused() -> None:
    for names in ({"uid": "r\ud83d"}, {"domain_id": "d\ud83d"}):
        with pytest.raises(InputError, match="half of a surrogate pair") as caught:
            make_sample(REVIEW, **names)
        assert caught.value.argument in names


@pytest.mark.parametrize("fields", [{"text": f"{REVIEW} \ud83d"}, {"text": [REVIEW]}, {"domain_id": f"{REVIEW}\ud83d"}])
def test_a_sample_that_is_refused_does_not_repeat_its_review(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        Sample(**{"uid": "r1", "text": "Great.", **fields})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("", "None to detect"),
        ("english", "'en'"),
        ("kr", "'ko'"),
        ("Korean", "'ko'"),
        ("xx", "ISO 639-1"),
        (7, "got int"),
        (REVIEW, "None"),
    ],
)
def test_an_unknown_language_is_refused_with_the_codes_that_are_known(code: Any, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        make_sample("Great.", language_code=code)
    assert hint in str(caught.value)
    assert "'ko', 'en'" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("code", [None, "ko", "en", "EN", "ko-KR", "en_US", "ja", "other", "unknown"])
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


@pytest.mark.parametrize(
    ("texts", "hint"),
    [
        (REVIEW, "got one str; write [text], or use analyze"),
        (REVIEW.encode(), "got one bytes"),
        ({"review": REVIEW}, "got a dict; give its values"),
        (None, "got NoneType; give a list"),
        (5, "got int; give a list"),
    ],
)
def test_what_is_no_series_of_reviews_is_refused(texts: Any, hint: str) -> None:
    with Analyzer() as analyzer, pytest.raises(InputError) as caught:
        analyzer.analyze_many(texts)
    assert hint in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_batch_says_of_a_text_what_analyze_says() -> None:
    texts: list[Any] = [None, math.nan, 5, REVIEW.encode(), "", f"{REVIEW} \ud83d"]
    messages: list[str] = []
    for text in texts:
        with pytest.raises(InputError) as caught:
            make_sample(text)
        messages.append(str(caught.value))
    with Analyzer() as analyzer:
        assert [getattr(outcome, "message", "") for outcome in analyzer.analyze_many(texts)] == messages


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"backend": None}, "backend must be a name such as 'embedded'"),
        ({"base_url": 5}, "base_url must be a string, got int"),
        ({"seed": "a"}, "seed must be an integer, got str"),
        ({"store": 5}, "the store must be a path, got int"),
        ({"store": "."}, " is a directory; a store is one .jsonl or .sqlite file"),
    ],
)
def test_an_argument_of_another_type_is_refused(arguments: Any, hint: str) -> None:
    with pytest.raises((InputError, MemoryStoreError), match=re.escape(hint)):
        Analyzer(**arguments)


def test_a_number_of_another_type_and_a_directory_as_memory_are_refused() -> None:
    concurrency: Any = "a"
    with Analyzer() as analyzer, pytest.raises(ConfigError, match="concurrency must be an integer, got str"):
        analyzer.analyze_many(["good"], concurrency=concurrency)
    with pytest.raises(MemoryStoreError, match="is a directory"):
        AgentMemory(".")

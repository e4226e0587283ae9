"""Prompts v3 show examples in the sample's language, as many that keep as change, in both directions."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.pipeline.prompt_files import PROMPT_FILES, prompt_versions
from episodic_absa.pipeline.roles import ROLE_SPECS
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JointAnswer,
    JudgementsAnswer,
    PairVerdictsAnswer,
    RefereeAnswer,
    RisksAnswer,
    TargetsAnswer,
    TargetVerdictsAnswer,
    TermsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.vocabulary import POLARITIES, Role

ANSWERS: dict[str, type[BaseModel]] = {
    "joint": JointAnswer,
    "ate": TermsAnswer,
    "atsa": JudgementsAnswer,
    "validator": RisksAnswer,
    "epm": JudgementsAnswer,
    "tan": TargetsAnswer,
    "cj": WrongPairsAnswer,
    "judge": DecisionsAnswer,
    "stage2_ate": TargetVerdictsAnswer,
    "stage2_atsa": PairVerdictsAnswer,
    "stage2_validator": RisksAnswer,
    "referee": RefereeAnswer,
}
HEADS = {"en": "Examples", "ko": "예시"}
PROMPTS = [(role, language) for role in ANSWERS for language in HEADS]
HANGUL = re.compile(r"[가-힣]")
ANSWER_FORM = re.compile(r"JSON.*: (\{.*\})$", re.MULTILINE)
FIELD = re.compile(r'"(\w+)":')
COMPUTED = {
    "span",
    "start",
    "end",
    "id",
    "change_id",
    "aspect_ref",
    "distribution",
    "polarity_distribution",
    "confidence",
}
"""What the program fills in."""
Example = tuple[dict[str, Any], dict[str, Any]]


def examples_of(role: str, language: str) -> list[Example]:
    """Read the pairs of JSON lines behind the head of the examples."""
    prompt = (files("episodic_absa") / "pipeline" / "prompts" / f"{role}.{language}.md").read_text("utf-8")
    lines = prompt.strip().splitlines()
    shown = [json.loads(line) for line in lines[lines.index(HEADS[language]) + 1 :]]
    assert len(shown) % 2 == 0
    return list(zip(shown[::2], shown[1::2], strict=True))


def test_there_is_one_file_per_role_and_language_and_no_other() -> None:
    folder = files("episodic_absa") / "pipeline" / "prompts"
    names = {f"{role}.{language}.md" for role, language in PROMPTS}
    assert {file.name for file in folder.iterdir()} == names
    assert set(ANSWERS) == set(get_args(Role)) == set(ROLE_SPECS)
    assert set(prompt_versions("v3")) == {f"v3/{role}.{language}" for role, language in PROMPTS}


def test_a_language_without_prompts_of_its_own_is_asked_in_english() -> None:
    prompts = PROMPT_FILES["v3"]
    assert prompts.name("tan", "other") == prompts.name("tan", "en") == "v3/tan.en"
    assert prompts.instructions("tan", "ko") != prompts.instructions("tan", "en")


@pytest.mark.parametrize(("role", "language"), PROMPTS)
def test_every_example_is_in_the_language_of_the_prompt(role: str, language: str) -> None:
    examples = examples_of(role, language)
    assert len(examples) >= 3
    for given, answer in examples:
        assert bool(HANGUL.search(given["text"])) is (language == "ko")
        words = json.dumps([given, answer], ensure_ascii=False)
        assert language == "ko" or not HANGUL.search(words)


@pytest.mark.parametrize(("role", "language"), PROMPTS)
def test_the_answer_of_every_example_is_read_whole_and_quotes_its_text(role: str, language: str) -> None:
    for given, answer in examples_of(role, language):
        read = ANSWERS[role].model_validate(answer).model_dump(mode="json", exclude_unset=True)
        assert read == answer
        for item in items_of(answer):
            assert item.get("quote", "") in given["text"]
            assert item.get("target", item.get("term", "")) in given["text"]


@pytest.mark.parametrize(("role", "language"), PROMPTS)
def test_the_form_that_a_prompt_asks_for_names_the_fields_that_are_read(role: Any, language: Any) -> None:
    asked = ANSWER_FORM.findall(PROMPT_FILES["v3"].instructions(role, language))
    assert len(asked) == 1
    assert set(FIELD.findall(asked[0])) == set(property_names(json_schema(ANSWERS[role])))


def items_of(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in answer.values():
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, dict))


def changes_of(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the targets that an answer changes, each with the change: a polarity, drop or add."""
    words = [
        (item["target"], item.get("should_be") or item.get("decision") or item.get("verdict") or "add")
        for item in items_of(answer)
    ]
    return [(target, change) for target, change in words if change != "keep"]


@pytest.mark.parametrize("language", HEADS)
@pytest.mark.parametrize("role", ["cj", "stage2_ate", "stage2_atsa"])
def test_as_many_examples_keep_everything_as_change_something(role: str, language: str) -> None:
    keeps = Counter(not changes_of(answer) for _, answer in examples_of(role, language))
    assert keeps[True] == keeps[False] > 0


@pytest.mark.parametrize("language", HEADS)
def test_the_judge_of_the_examples_keeps_as_many_claimed_pairs_as_it_changes(language: str) -> None:
    decisions = [item["decision"] for _, answer in examples_of("judge", language) for item in answer["decisions"]]
    assert decisions.count("keep") * 2 == len(decisions) > 0


@pytest.mark.parametrize("language", HEADS)
@pytest.mark.parametrize("role", ["cj", "judge", "stage2_ate", "stage2_atsa"])
def test_examples_change_in_both_directions(role: str, language: str) -> None:
    changes = [
        (pairs_of(given).get(target), change)
        for given, answer in examples_of(role, language)
        for target, change in changes_of(answer)
    ]
    if role == "stage2_ate":
        assert {change for _, change in changes} == {"drop", "add"}
        return
    flips = {(old, new) for old, new in changes if new in POLARITIES}
    assert flips == {("positive", "negative"), ("negative", "positive")}


def pairs_of(given: dict[str, Any]) -> dict[str, str]:
    return dict(pair.rsplit(": ", 1) for pair in given.get("pairs", ()))


@pytest.mark.parametrize("role", ANSWERS)
def test_no_requested_schema_holds_what_the_program_computes(role: str) -> None:
    names = set(property_names(json_schema(ANSWERS[role])))
    assert names
    assert not {name.lower() for name in names} & COMPUTED


def property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from property_names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from property_names(value)

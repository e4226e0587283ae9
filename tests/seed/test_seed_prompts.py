"""A prompt names no field and no value that the schema of its answer does not read."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from episodic_absa.backends.answer_schemas import json_schema
from episodic_absa.pipeline.prompt_files import PROMPT_FILES
from episodic_absa.pipeline.roles import ROLE_SPECS, SEED_ROLES
from episodic_absa.vocabulary import POLARITIES, Role

FIELD = re.compile(r'"(\w+)":')
CHOICE = re.compile(r'"(\w+)":\s*((?:"\w+"\|)+"\w+")')
"""A field with the words that it may hold: "severity": "low"|"mid"|"high"."""


def fields_of(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield every field of a schema, at any depth, with its own schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from fields_of(value)


def form_of(role: Role) -> str:
    """Return the line of a prompt that says what the answer looks like."""
    (form,) = (
        line
        for line in PROMPT_FILES["seed"].instructions(role, "en").splitlines()
        if line.startswith("Output: one JSON object")
    )
    return form


@pytest.mark.parametrize("role", SEED_ROLES)
def test_the_form_that_a_prompt_asks_for_names_the_fields_that_are_read(role: Role) -> None:
    named = set(FIELD.findall(form_of(role))) - set(POLARITIES)  # the keys of a distribution
    assert named
    assert named <= {name for name, _ in fields_of(json_schema(ROLE_SPECS[role].answer))}


@pytest.mark.parametrize("role", SEED_ROLES)
def test_the_form_that_a_prompt_asks_for_offers_the_words_that_are_read(role: Role) -> None:
    fields = list(fields_of(json_schema(ROLE_SPECS[role].answer)))
    for name, words in CHOICE.findall(form_of(role)):
        read = [set(field["enum"]) - {None} for known, field in fields if known == name and "enum" in field]
        assert {word.strip('"') for word in words.split("|")} in read, name


@pytest.mark.parametrize("role", SEED_ROLES)
def test_the_answer_of_every_example_is_read_whole(role: Role) -> None:
    examples = PROMPT_FILES["seed"].instructions(role, "en").partition("\nExamples\n")[2].splitlines()
    answers = [json.loads(line) for line in examples if line.startswith("{") and not line.startswith('{"text":')]
    assert len(answers) >= 2
    for answer in answers:
        read = ROLE_SPECS[role].answer.model_validate(answer).model_dump(mode="json", exclude_unset=True)
        assert read == answer

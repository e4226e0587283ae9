"""The annotated template loads, and leaves no key out."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from episodic_absa.runs.config import ExperimentFile, load_experiment

FOLDER = Path(__file__).parents[3] / "experiments"


def keys_of(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        options: list[Any] = [field.annotation, *get_args(field.annotation)]
        for option in options:
            if isinstance(option, type) and issubclass(option, BaseModel):
                yield from keys_of(option)


@pytest.mark.parametrize("name", ["paper.yaml", "quickstart.yaml"])
def test_shipped_experiments_are_valid(name: str) -> None:
    assert load_experiment(FOLDER / name).conditions


def test_the_template_names_every_key() -> None:
    text = (FOLDER / "paper.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"\b([a-z][a-z0-9_]*)\b(?=[:,\n])", text))
    assert set(keys_of(ExperimentFile)) - named == set()

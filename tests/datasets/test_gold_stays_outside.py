"""Leakage as a type error: what agents, backends and memory accept has no place for gold or metadata."""

import ast
from pathlib import Path

import pytest
from pydantic import ValidationError

import episodic_absa
from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample

PACKAGE = Path(episodic_absa.__file__).parent


@pytest.mark.parametrize("field", ["gold", "gold_tuples", "metadata"])
def test_a_sample_refuses_gold_and_metadata(field: str) -> None:
    assert field not in Sample.model_fields
    with pytest.raises(ValidationError, match=field):
        Sample.model_validate({"uid": "a", "text": "ok", field: []})


def test_a_labelled_sample_is_no_sample_but_holds_one() -> None:
    assert not issubclass(LabelledSample, Sample)
    assert LabelledSample.model_fields["sample"].annotation is Sample


@pytest.mark.parametrize("folder", ["pipeline", "seed", "backends", "language", "memory"])
def test_nothing_that_sees_a_sample_knows_of_gold(folder: str) -> None:
    modules = list((PACKAGE / folder).rglob("*.py"))
    assert modules
    for module in modules:
        imported = [
            node.module
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module
        ]
        assert "episodic_absa.schemas.gold" not in imported, module
        assert not any(name.startswith(("episodic_absa.datasets", "episodic_absa.runs")) for name in imported), module

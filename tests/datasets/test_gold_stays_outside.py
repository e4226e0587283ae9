"""Leakage as a type error: what agents, backends and memory accept has no place for gold or metadata.

The import contracts in pyproject.toml keep the types of gold out of these packages.
"""

import pytest
from pydantic import ValidationError

from episodic_absa.schemas.absa import Sample
from episodic_absa.schemas.gold import LabelledSample


@pytest.mark.parametrize("field", ["gold", "gold_tuples", "metadata"])
def test_a_sample_refuses_gold_and_metadata(field: str) -> None:
    assert field not in Sample.model_fields
    with pytest.raises(ValidationError, match=field):
        Sample.model_validate({"uid": "a", "text": "ok", field: []})


def test_a_labelled_sample_is_no_sample_but_holds_one() -> None:
    assert not issubclass(LabelledSample, Sample)
    assert LabelledSample.model_fields["sample"].annotation is Sample

"""The file of weights: what it may hold, and which set a model has."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa.errors import ConfigError
from episodic_absa.pipeline.decision import SHIPPED_WEIGHTS, load_decision_weights

SHIPPED = yaml.safe_load(SHIPPED_WEIGHTS.read_text("utf-8"))


def changed(tmp_path: Path, **values: Any) -> Path:
    """Write the shipped file with other values of the conservative set."""
    sets = []
    for held in SHIPPED["sets"]:
        own = {name: value for name, value in values.items() if name in held}
        weights = held["weights"] | {name: value for name, value in values.items() if name in held["weights"]}
        sets.append(held | {"weights": weights} | own if held["name"] == "conservative" else held)
    path = tmp_path / "weights.yaml"
    path.write_text(yaml.safe_dump({"sets": sets}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"judge_for": -0.1}, "judge_for"),
        ({"speaker_against": 0.1}, "speaker_against"),
        ({"tau": 1.0}, "tau"),
        ({"start": -5.0}, "a pair that nobody doubts stays"),
        ({"name": "other"}, "conservative among them"),
    ],
)
def test_a_file_that_breaks_a_law_is_refused_with_its_key(tmp_path: Path, values: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_decision_weights(changed(tmp_path, **values))


def test_a_model_has_the_set_whose_pattern_fits_else_the_conservative_one(tmp_path: Path) -> None:
    weights = load_decision_weights(changed(tmp_path, models=["*-13b*"]))
    assert weights.of_models(["Llama-13B-chat"]).name == "conservative"
    assert weights.of_models(["gpt-unheard-of", "llama-13b"]).name == "conservative"
    assert weights.of_models([]).name == "reader"
    assert weights.named("gone").name == "conservative"


def test_every_shipped_set_says_where_it_comes_from() -> None:
    assert all(held.fitted_on for held in load_decision_weights().sets)

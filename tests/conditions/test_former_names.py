"""Names of version 0.2 resolve to the new ones for one version; what a file leaves out has defaults."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa import ConfigError, load_condition, load_conditions


def written(folder: Path, **conditions: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"conditions": conditions}), encoding="utf-8")
    return path


def test_conditions_v2_0_are_those_of_v3_0_and_the_new_name_is_told() -> None:
    with pytest.warns(FutureWarning, match=r"^conditions v2_0 is called conditions v3_0 now"):
        former = load_conditions("v2_0")
    assert former == load_conditions("v3_0")
    assert {condition.rules for condition in former.conditions.values()} == {"v3"}


def test_rules_v2_of_a_file_are_rules_v3_and_the_new_name_is_told(tmp_path: Path) -> None:
    with pytest.warns(FutureWarning, match=r"^rules v2 is called rules v3 now"):
        assert load_condition("mine", written(tmp_path, mine={"rules": "v2"})).rules == "v3"


@pytest.mark.parametrize(("mode", "same_as"), [(None, "C1"), ("off", "C1"), ("on", "C2"), ("silent", "C2_silent")])
def test_flags_that_are_left_out_are_those_of_the_condition_with_that_mode(
    tmp_path: Path, mode: str | None, same_as: str
) -> None:
    given = {"rules": "v3"} | ({} if mode is None else {"memory_mode": mode})
    condition = load_condition("mine", written(tmp_path, mine=given))
    assert condition.model_copy(update={"name": same_as}) == load_condition(same_as)


def test_a_flag_that_contradicts_the_defaults_of_its_mode_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="set retrieval_execute: true"):
        load_condition("mine", written(tmp_path, mine={"exposed_to_debate": True, "injection_mask": False}))

"""What a conditions file says, what its loader refuses, and how a config names a condition."""

import ast
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

import episodic_absa
from episodic_absa.conditions import FLAG_NAMES, load_condition, load_conditions, resolve_conditions
from episodic_absa.errors import ConfigError

FLAGS = ("memory_mode", "retrieval_execute", "injection_mask", "store_write", "exposed_to_debate", "exposed_to_stage2")
TABLE: dict[str, tuple[str, bool, bool, bool, bool, bool]] = {
    "C1": ("off", False, True, False, False, False),
    "C2": ("on", True, False, True, True, True),
    "C2_silent": ("silent", True, True, True, False, False),
    "C2_eval_only": ("silent", True, True, False, False, False),
    "C2_frozen": ("on", True, False, False, True, True),
}
EFFORTS: dict[str, dict[str, Any]] = {
    "reader_only": {"effort": "reader"},
    "adaptive": {"effort": "adaptive"},
    "stage1_only": {"effort": "stage1"},
    "one_call": {"effort": "one_call"},
    "one_call_votes": {"effort": "one_call", "votes": 5},
}
"""The conditions of v3_0 that have the flags of C1 and ask less."""
ARMS: dict[str, dict[str, Any]] = {
    "C2_random": {"from": "random"},
    "C2_placebo": {"from": "placebo"},
    "C2_trial": {"withhold": 0.5},
}
"""The conditions of v3_0 that have the flags of C2 and other advice."""
FILES: dict[str, tuple[str, ...]] = {
    "v1_1": ("C1", "C2", "C2_silent"),
    "v1_2": ("C1", "C2", "C2_silent", "C2_eval_only"),
    "v1_3": ("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen"),
    "v3_0": (
        *("C1", "C2", "C2_silent", "C2_eval_only", "C2_frozen"),
        *ARMS,
        *EFFORTS,
    ),
}
SHIPPED = [(version, name) for version, names in FILES.items() for name in names]

Document = dict[str, Any]


def valid_document() -> Document:
    return {
        "version": load_conditions("v1_2").version,
        "dangerous_advice": "block",
        "use_lexical": True,
        "conditions": {name: dict(zip(FLAGS, flags, strict=True)) for name, flags in TABLE.items()},
        "aliases": {"C3": "C2_silent", "C2_eval": "C2_eval_only"},
    }


def write(folder: Path, document: Document) -> Path:
    path = folder / "conditions.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")  # safe_dump quotes "on" and "off"
    return path


@pytest.mark.parametrize(("version", "name"), SHIPPED)
def test_each_shipped_file_gives_each_condition_the_flags_of_the_table(version: str, name: str) -> None:
    condition = load_condition(name, version)
    assert condition.name == name
    assert (
        tuple(getattr(condition, flag) for flag in FLAGS)
        == TABLE["C1" if name in EFFORTS else "C2" if name in ARMS else name]
    )
    assert condition.rules == ("v3" if version == "v3_0" else "seed")
    assert condition.pipeline.model_dump() == EFFORTS.get(name, {})
    assert condition.advice.model_dump() == ARMS.get(name, {})


def test_no_code_compares_a_condition_with_a_name() -> None:
    names = {*FILES["v1_3"], "C3", "C2_eval", "stage1_only", "one_call_votes", *ARMS}  # the others of v3_0 are efforts
    comparing = []
    for module in Path(episodic_absa.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(node, ast.Compare | ast.match_case):
                continue
            compared = node.pattern if isinstance(node, ast.match_case) else node
            if names & {part.value for part in ast.walk(compared) if isinstance(part, ast.Constant)}:
                comparing.append(f"{module.name}: {ast.unparse(compared)}")
    assert comparing == []


def test_the_flags_of_a_condition_are_exactly_the_six() -> None:
    assert set(FLAG_NAMES) == set(FLAGS)


@pytest.mark.parametrize(("version", "names"), FILES.items())
def test_a_shipped_file_defines_its_conditions_and_no_other(version: str, names: tuple[str, ...]) -> None:
    assert set(load_conditions(version).conditions) == set(names)


@pytest.mark.parametrize(
    ("version", "dangerous_advice", "use_lexical"),
    [("v1_1", "demote", False), ("v1_2", "block", True), ("v1_3", "block", True), ("v3_0", "block", True)],
)
def test_the_head_of_a_shipped_file_sets_dangerous_advice_and_use_lexical(
    version: str, dangerous_advice: str, use_lexical: bool
) -> None:
    file = load_conditions(version)
    assert (file.dangerous_advice, file.use_lexical) == (dangerous_advice, use_lexical)
    for condition in file.conditions.values():
        assert (condition.dangerous_advice, condition.use_lexical) == (dangerous_advice, use_lexical)


def test_without_a_source_the_file_of_rules_v2_is_read() -> None:
    assert load_conditions(None).sha256 == load_conditions("v3_0").sha256
    assert load_condition("C2") == load_condition("C2", "v3_0")


def test_a_conditions_file_of_ones_own_is_read_by_path(tmp_path: Path) -> None:
    document = valid_document()
    document["dangerous_advice"] = "demote"
    document["conditions"]["Mine"] = document["conditions"]["C2"] | {"store_write": False, "exposed_to_stage2": False}
    condition = load_condition("Mine", write(tmp_path, document))
    assert tuple(getattr(condition, flag) for flag in FLAGS) == ("on", True, False, False, True, False)
    assert condition.dangerous_advice == "demote"


@pytest.mark.parametrize(("version", "name"), SHIPPED)
def test_the_first_files_mean_seed_rules_and_the_last_one_rules_v3(version: str, name: str) -> None:
    assert load_condition(name, version).rules == ("v3" if version == "v3_0" else "seed")


def test_a_condition_may_name_its_rules_and_its_flags_stay_as_they_are(tmp_path: Path) -> None:
    document = valid_document()
    document["conditions"]["C2_v3"] = document["conditions"]["C2"] | {"rules": "v3"}
    document["conditions"]["C2_seed"] = document["conditions"]["C2"] | {"rules": "seed"}
    conditions = load_conditions(write(tmp_path, document)).conditions
    assert {name: conditions[name].rules for name in ("C2", "C2_v3", "C2_seed")} == {
        "C2": "seed",
        "C2_v3": "v3",
        "C2_seed": "seed",
    }
    assert conditions["C2_v3"].model_copy(update={"name": "C2", "rules": "seed"}) == conditions["C2"]


@pytest.mark.parametrize("rules", ["v4", "", None, True, 2, "V3"])
def test_unknown_rules_are_refused_by_name(tmp_path: Path, rules: Any) -> None:
    document = valid_document()
    document["conditions"]["C2"]["rules"] = rules
    with pytest.raises(ConfigError, match=r"conditions\.C2\.rules must be one of seed, v3, got") as caught:
        load_conditions(write(tmp_path, document))
    assert repr(rules) in str(caught.value)
    assert caught.value.key == "conditions.C2.rules"


def test_an_unknown_overlay_is_refused_by_name(tmp_path: Path) -> None:
    document = valid_document()
    document["conditions"]["C2"]["ruleset"] = "v3"
    with pytest.raises(ConfigError, match=r"unknown key conditions\.C2\.ruleset; choose one of .*rules"):
        load_conditions(write(tmp_path, document))


@pytest.mark.parametrize(
    ("version", "alias", "target"),
    [
        ("v1_1", "C3", "C2_silent"),
        ("v1_2", "C3", "C2_silent"),
        ("v1_3", "C3", "C2_silent"),
        ("v1_2", "C2_eval", "C2_eval_only"),
        ("v1_3", "C2_eval", "C2_eval_only"),
        ("v3_0", "C3", "C2_silent"),
        ("v3_0", "C2_eval", "C2_eval_only"),
    ],
)
def test_an_alias_is_reported_under_its_target_name(version: str, alias: str, target: str) -> None:
    assert load_condition(alias, version) == load_condition(target, version)
    assert load_conditions(version).resolve(alias).name == target
    assert [c.name for c in resolve_conditions(load_conditions(version), condition=alias)] == [target]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("v1_1", "C2_eval"),
        ("v1_1", "C2_eval_only"),
        ("v1_1", "C2_frozen"),
        ("v1_2", "C2_frozen"),
        ("v1_2", "c2"),
        ("v1_2", "C4"),
        ("v1_3", "C2 "),
        ("v1_3", ""),
    ],
)
def test_an_unknown_condition_is_refused_and_the_defined_names_are_listed(version: str, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_condition(name, version)
    for defined in FILES[version]:
        assert defined in str(caught.value)
    with pytest.raises(ConfigError):
        resolve_conditions(load_conditions(version), condition=name)
    with pytest.raises(ConfigError):
        resolve_conditions(load_conditions(version), conditions=["C1", name])


def test_the_document_all_refusals_start_from_is_itself_accepted(tmp_path: Path) -> None:
    assert set(load_conditions(write(tmp_path, valid_document())).conditions) == set(TABLE)


@pytest.mark.parametrize("flag", FLAGS[1:])
@pytest.mark.parametrize("value", ["true", "yes", 1, 0, None, [True]])
def test_a_flag_that_is_no_boolean_is_refused(tmp_path: Path, flag: str, value: object) -> None:
    document = valid_document()
    document["conditions"]["C2"][flag] = value
    with pytest.raises(ConfigError, match=flag):
        load_conditions(write(tmp_path, document))


@pytest.mark.parametrize("word", ["on", "off"])
def test_the_bare_yaml_word_is_refused_where_the_quoted_one_is_read(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, valid_document())
    quoted = path.read_text(encoding="utf-8")
    load_conditions(path)
    assert f"memory_mode: '{word}'" in quoted
    path.write_text(quoted.replace(f"memory_mode: '{word}'", f"memory_mode: {word}"), encoding="utf-8")
    with pytest.raises(ConfigError, match="memory_mode") as caught:
        load_conditions(path)
    for choice in ("off", "on", "silent"):
        assert choice in str(caught.value)


@pytest.mark.parametrize("mode", ["On", "OFF", "loud", "", "advisory", None, 1])
def test_an_unknown_memory_mode_in_the_file_is_refused(tmp_path: Path, mode: object) -> None:
    document = valid_document()
    document["conditions"]["C2"]["memory_mode"] = mode
    with pytest.raises(ConfigError, match="memory_mode"):
        load_conditions(write(tmp_path, document))


@pytest.mark.parametrize(
    "name",
    [
        "C2\x1b[31m",
        "C2\u202e",
        "C2\u200b",
        "C2\x9b",
        "C2\n",
        "..",
        "../C2",
        "C2\\x",
        "a__b",
        "-C2",
        "C2 ",
        "build",
        "가" * 70,
    ],
)
def test_a_name_that_deceives_or_names_another_directory_is_refused(tmp_path: Path, name: str) -> None:
    for key, value in (("conditions", valid_document()["conditions"]["C2"]), ("aliases", "C2")):
        document = valid_document()
        document[key][name] = value
        with pytest.raises(ConfigError, match="a name is plain text") as refused:
            load_conditions(write(tmp_path, document))
        assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("changes", "removed"),
    [
        ({"topk": 3}, ()),
        ({"dangerous_advice": "delete"}, ()),
        ({"use_lexical": "yes"}, ()),
        ({"aliases": {"C9": "C2_gone"}}, ()),
        ({}, ("conditions",)),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, changes: Document, removed: tuple[str, ...]) -> None:
    document = {key: value for key, value in (valid_document() | changes).items() if key not in removed}
    with pytest.raises(ConfigError):
        load_conditions(write(tmp_path, document))


def test_an_unknown_flag_is_refused_and_the_known_ones_are_listed(tmp_path: Path) -> None:
    document = valid_document()
    document["conditions"]["C2"]["inject"] = True
    with pytest.raises(ConfigError, match="inject") as caught:
        load_conditions(write(tmp_path, document))
    for flag in FLAGS:
        assert flag in str(caught.value)


@pytest.mark.parametrize("mode", ["off", "on", "silent"])
def test_of_all_flag_combinations_exactly_the_consistent_ones_load(tmp_path: Path, mode: str) -> None:
    accepted: set[tuple[bool, ...]] = set()
    refusals: list[str] = []
    for flags in product([False, True], repeat=5):
        document = valid_document()
        document["conditions"]["Odd"] = dict(zip(FLAGS, (mode, *flags), strict=True))
        try:
            load_conditions(write(tmp_path, document))
        except ConfigError as error:
            refusals.append(str(error))
            continue
        accepted.add(flags)
    either = (False, True)
    expected: dict[str, set[tuple[bool, ...]]] = {
        "off": {(False, True, False, False, False)},
        "on": {(True, False, w, d, s) for w, d, s in product(either, repeat=3) if d or s},
        "silent": {(True, True, w, False, False) for w in either},
    }
    assert accepted == expected[mode]
    assert all("conditions.Odd" in refusal for refusal in refusals)


@pytest.mark.parametrize(
    ("memory", "name"),
    [
        ({"enable": False}, "C1"),
        ({"enable": False, "mode": "advisory"}, "C1"),
        ({"enable": False, "mode": "silent"}, "C1"),
        ({"enable": True}, "C2"),
        ({"enable": True, "mode": "advisory"}, "C2"),
        ({"enable": True, "mode": "silent"}, "C2_silent"),
    ],
)
@pytest.mark.parametrize("version", ["v1_1", "v1_2", "v1_3"])
def test_the_memory_block_maps_to_a_condition(version: str, memory: Mapping[str, object], name: str) -> None:
    file = load_conditions(version)
    assert resolve_conditions(file, memory=memory) == (file.resolve(name),)


@pytest.mark.parametrize("mode", ["loud", "on", "Advisory", "", None, True])
def test_an_unknown_memory_block_mode_is_refused_and_the_choices_are_listed(mode: object) -> None:
    with pytest.raises(ConfigError, match="mode") as caught:
        resolve_conditions(load_conditions(None), memory={"enable": True, "mode": mode})
    assert "advisory" in str(caught.value)
    assert "silent" in str(caught.value)


@pytest.mark.parametrize("memory", [{"enable": True, "Mode": "silent"}, {"enabled": True}, {"enable": "yes"}])
def test_a_memory_block_of_another_shape_is_refused(memory: Mapping[str, object]) -> None:
    with pytest.raises(ConfigError):
        resolve_conditions(load_conditions(None), memory=memory)


def test_a_config_that_names_no_condition_runs_the_first_one() -> None:
    file = load_conditions(None)
    assert resolve_conditions(file) == (file.resolve("C1"),)


@pytest.mark.parametrize("name", FILES["v1_3"])
def test_a_condition_may_be_named_directly(name: str) -> None:
    assert [c.name for c in resolve_conditions(load_conditions("v1_3"), condition=name)] == [name]


def test_a_list_of_conditions_keeps_its_order() -> None:
    resolved = resolve_conditions(load_conditions(None), conditions=["C2", "C1", "C3"])
    assert [c.name for c in resolved] == ["C2", "C1", "C2_silent"]


@pytest.mark.parametrize(
    ("memory", "condition", "conditions"),
    [
        ({"enable": False}, "C2", None),
        ({"enable": True}, "C1", None),
        ({"enable": True, "mode": "silent"}, "C2", None),
        ({"enable": True}, None, ["C1", "C2"]),
        (None, "C2", ["C1", "C2"]),
        (None, "C2", ["C1"]),
        ({"enable": True}, "C2", ["C2_silent"]),
    ],
)
def test_places_that_name_different_sets_are_refused(
    memory: Mapping[str, object] | None, condition: str | None, conditions: Sequence[str] | None
) -> None:
    with pytest.raises(ConfigError):
        resolve_conditions(load_conditions(None), memory=memory, condition=condition, conditions=conditions)


@pytest.mark.parametrize(
    ("memory", "condition", "conditions", "name"),
    [
        ({"enable": True}, "C2", ["C2"], "C2"),
        ({"enable": False, "mode": "silent"}, "C1", None, "C1"),
        ({"enable": True, "mode": "silent"}, "C3", ["C2_silent"], "C2_silent"),
        (None, "C2_silent", ["C3"], "C2_silent"),
    ],
)
def test_places_that_agree_are_accepted(
    memory: Mapping[str, object] | None, condition: str | None, conditions: Sequence[str] | None, name: str
) -> None:
    resolved = resolve_conditions(load_conditions(None), memory=memory, condition=condition, conditions=conditions)
    assert [c.name for c in resolved] == [name]


@pytest.mark.parametrize("source", ["v1_4", "V1_2", "no/such/file.yaml"])
def test_a_source_that_does_not_exist_is_refused(source: str) -> None:
    with pytest.raises(ConfigError):
        load_conditions(source)

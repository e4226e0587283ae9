"""YAML that users give is read within limits: a hostile document is an error of one line, never a crash."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from episodic_absa.conditions import load_conditions
from episodic_absa.errors import ConfigError
from episodic_absa.memory.advice.opened_advice import load_catalogue_overlay
from episodic_absa.runs.config import load_experiment
from episodic_absa.serialization.yaml_file import MAX_BYTES, MAX_DEPTH, parse_yaml

READERS: tuple[Callable[[Path], Any], ...] = (load_experiment, load_conditions, load_catalogue_overlay)
HOSTILE = {
    "brackets": ("[" * 100_000, "nested more than 32 deep"),
    "braces": ("{a: " * 100_000, "nested more than 32 deep"),
    "dashes": ("- " * 100_000 + "x", "nested more than 32 deep"),
    "an alias": ("a: &a [x]\nb: *a\n", "the alias *a is not supported; write its value out"),
    "a long alias": (f"a: *{'n' * 5000}\n", "is not supported"),
    "many values": ("[" + "1," * 200_000 + "]", "more than 100,000 values"),
    "a large file": ("#" * (MAX_BYTES + 1), "more than 1,000,000 bytes"),
    "a huge integer": ("run_id: 0x" + "f" * 100_000, "a number of more than 400 characters"),
    "a huge float": ("run_id: " + "59:" * 5000 + "59.5", "a number of more than 400 characters"),
    "a date that is none": ("run_id: 9999-99-99", "month must be in 1..12"),
    "a time zone that is none": ("run_id: 2020-01-01T00:00:00+99:99", "offset must be"),
    "merge keys": ("b: {<<: {x: 1}}", "merge key"),
    "a key given twice": (f"? {'k' * 5000}\n: 1\n? {'k' * 5000}\n: 2", "is given twice"),
    "one number given twice": ("{1: a, 1.0: b}", "is given twice"),
    "a list as a key": ("? [a]\n: 1", "unhashable key"),
    "a tag": ("a: !!python/object/apply:os.system [id]", "is not supported"),
    "a binary": ("a: !!binary '####'", "is not supported"),
    "a boolean that is none": ("a: !!bool maybe", "is not supported"),
    "a NUL": ("a: 'x\0y'", "control characters"),
    "two documents": ("a: 1\n---\nb: 2", "another document"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_in_one_short_line_whatever_it_is_given_as(name: str, tmp_path: Path) -> None:
    document, reason = HOSTILE[name]
    path = tmp_path / "hostile.yaml"
    path.write_text(document, "utf-8")
    for read in READERS:
        with pytest.raises(ConfigError) as caught:
            read(path)
        message = str(caught.value)
        assert reason in message
        assert len(message.replace(str(path), "")) < 400
        assert "\n" not in message


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for read in READERS:
        for path in (tmp_path / "pipe.yaml", Path("/dev/zero")):
            with pytest.raises(ConfigError, match="no regular file"):
                read(path)
        with pytest.raises(ConfigError, match="cannot read"):
            read(tmp_path)


def test_a_document_within_the_limits_is_read() -> None:
    document = b"a: &a {b: [1, {c: 2}]}\nf: !!str 1\n"
    assert parse_yaml(document, Path("x")) == {"a": {"b": [1, {"c": 2}]}, "f": "1"}
    assert parse_yaml(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, Path("x"))


@pytest.mark.parametrize(
    "document",
    [
        f"run_purpose: {'v' * 100_000}",
        f"? {'k' * 100_000}\n: 1",
        f"memory: {{enable: [{'x, ' * 30_000}]}}",
        f"memory: {{? {'k' * 100_000}\n: 1}}",
        f"episodic_memory: {{condition: {'C' * 100_000}}}",
        f"experiment: {{conditions: [{'C' * 100_000}]}}",
        f"experiment: {{primary_metric: {'m' * 100_000}}}",
        f"backbone: {{model: {'m' * 100_000}}}",
        "experiment: {orders: 100000000000}",
    ],
)
def test_an_error_about_a_long_value_stays_short(document: str, tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(f"run_id: long\ndata: {{allowed_roots: [.], valid_file: v.csv}}\n{document}\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_experiment(path)
    assert len(str(caught.value).replace(str(path), "")) < 900

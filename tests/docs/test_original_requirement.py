"""docs/original_requirement.md names every identifier of the requirement, and files and tests that exist."""

import ast
import re

import pytest
from tests.docs.page_blocks import ROOT

PAGE = (ROOT / "docs" / "original_requirement.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "episodic_absa"
NAMES = (ROOT / "tests" / "docs" / "requirement_names.txt").read_text(encoding="utf-8").split()
"""Every name of the requirement that is written as an identifier."""


def test_every_identifier_of_the_requirement_stands_on_the_page() -> None:
    assert len(NAMES) > 80
    assert [name for name in NAMES if name not in PAGE] == []


def test_every_file_on_the_page_exists() -> None:
    held = re.findall(r"`((?:agents|analysis|conditions|language|memory|metrics|runs|schemas)/[\w/.]*)`", PAGE)
    gone = {"memory/episodic_store.jsonl", "memory/advisory_injection_gate.py"}
    assert [name for name in sorted({*held} - gone) if not (PACKAGE / name).exists()] == []
    shipped = re.findall(r"`(experiments/\w+\.yaml)`", PAGE)
    assert [name for name in shipped if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("proof", sorted(set(re.findall(r"`(tests/[\w/.]+\.py(?:::\w+)?)`", PAGE))))
def test_every_test_on_the_page_exists(proof: str) -> None:
    path, _, name = proof.partition("::")
    module = ast.parse((ROOT / path).read_text("utf-8"))
    functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not name or name in functions


def test_every_row_of_the_page_names_a_proof() -> None:
    tables = [table.split("\n\n")[0] for table in PAGE.split("Proved by |\n|---|---|---|\n")[1:]]
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) > 50
    assert [row for row in rows if "`tests/" not in row] == []

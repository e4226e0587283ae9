"""What must never happen is noticed: each mutant is applied in a copy of the package, and its test must fail there."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.prohibitions.mutant import Mutant
from tests.prohibitions.mutant_run import (
    PACKAGE,
    ROOT,
    TESTS_FAILED,
    Noticed,
    StaleMutantError,
    place_of,
    run_mutant,
    run_tests,
)
from tests.prohibitions.mutant_table import RULE_PROPERTY, mutant_table
from tests.prohibitions.other_rules import OTHER_RULES
from tests.prohibitions.prohibitions import ENTRIES, PROHIBITIONS, UNCOVERED

MUTANTS = (*PROHIBITIONS, *OTHER_RULES)
QUICK = (
    "a vote to drop weighs against its polarity",
    "an unreadable polarity is missing",
    "attempts are those of all calls",
    "the examples of a prompt answer in the fields of the schema",
)
"""Run with every build; `make prohibitions` runs all."""
LEAST_ENTRIES = 30


def id_of(mutant: Mutant) -> str:
    return mutant.rule if mutant.entry is None else f"{mutant.entry}: {mutant.rule}"


def test_the_entries_of_the_specification_are_covered() -> None:
    covered = {mutant.entry for mutant in PROHIBITIONS}
    assert list(ENTRIES) == list(range(1, 36))
    assert covered <= set(ENTRIES)
    assert len(covered) >= LEAST_ENTRIES
    assert set(UNCOVERED) == set(ENTRIES) - covered
    assert all(UNCOVERED.values()), "an entry without a mutant has a reason"
    assert all(mutant.entry is None for mutant in OTHER_RULES)


def test_every_rule_has_a_name_of_its_own() -> None:
    rules = [mutant.rule for mutant in MUTANTS]
    assert len(set(rules)) == len(rules)
    assert set(QUICK) <= set(rules)


@pytest.mark.parametrize("mutant", MUTANTS, ids=id_of)
def test_a_mutant_breaks_what_stands_once_in_the_package_and_names_a_test_that_exists(mutant: Mutant) -> None:
    assert (PACKAGE / place_of(mutant)).is_file()
    assert mutant.old != mutant.new
    path, _, name = mutant.test.partition("::")
    assert (ROOT / path).exists(), f"{path} is gone: name the test of {mutant.rule!r} anew"
    assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{mutant.test} is gone"


def test_a_stale_mutant_is_refused_with_its_rule_and_snippet(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("one = 1\ntwo = 1\n", "utf-8")
    for snippet, count in (("three", 0), ("= 1", 2)):
        stale = Mutant("a rule", snippet, "new", "")
        with pytest.raises(StaleMutantError, match=f"'a rule' is stale.*occurs {count} times"):
            place_of(stale, tmp_path)
    assert place_of(Mutant("a rule", "two = 1", "new", ""), tmp_path) == Path("module.py")


@pytest.mark.parametrize(
    ("noticed", "problem"),
    [
        (Noticed(TESTS_FAILED, ("test_it",), ("assert 1 == 2",), (), ""), None),
        (Noticed(0, (), (), (), ""), "no test failed"),
        (Noticed(2, (), (), (), ""), "no test failed"),
        (Noticed(TESTS_FAILED, ("test_other",), ("assert 1 == 2",), (), ""), "test_other failed, not test_it"),
        (Noticed(TESTS_FAILED, (), (), ("test_it",), ""), "test_it could not run"),
        (Noticed(TESTS_FAILED, ("test_it",), ("NameError: name 'x'",), (), ""), "the mutant does not run"),
    ],
)
def test_only_a_failure_of_the_named_test_counts(noticed: Noticed, problem: str | None) -> None:
    said = noticed.problem(Mutant("a rule", "old", "new", "tests/test_module.py::test_it"))
    assert said is None if problem is None else problem in str(said)


def test_the_table_says_which_test_noticed_which_broken_rule() -> None:
    mutants = [
        Mutant("a rule", "old", "new", "tests/test_module.py::test_it", entry=1),
        Mutant("another rule", "old", "new", "tests/test_module.py::test_more"),
    ]
    assert list(mutant_table(mutants, {"a rule"})) == [
        f"  1 {ENTRIES[1]}",
        "      red   a rule  ->  test_module.py::test_it",
        "  - Rules outside the list",
        "      OPEN  another rule  ->  test_module.py::test_more",
        "1 of 35 entries; 1 of 2 broken rules were noticed",
    ]


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.rule in QUICK], ids=id_of)
def test_a_broken_rule_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    assert_noticed(mutant, tmp_path)


@pytest.mark.prohibition
@pytest.mark.parametrize("mutant", MUTANTS, ids=id_of)
def test_every_broken_rule_is_noticed(
    mutant: Mutant, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property(RULE_PROPERTY, mutant.rule)
    assert_noticed(mutant, tmp_path)


@pytest.mark.prohibition
def test_the_same_tests_pass_on_the_package_as_it_is(tmp_path: Path) -> None:
    done = run_tests(sorted({mutant.test for mutant in MUTANTS}), PACKAGE.parent, tmp_path / "result.xml")
    assert done.returncode == 0, done.output


def assert_noticed(mutant: Mutant, folder: Path) -> None:
    noticed = run_mutant(mutant, folder)
    problem = noticed.problem(mutant)
    assert problem is None, f"{mutant.rule!r} is broken, and {problem}\n{noticed.output}"

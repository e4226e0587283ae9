"""Broken rules are noticed: each mutant is applied in a copy of the sources, and its tests must fail there."""

from pathlib import Path

import pytest
from tests.prohibitions.mutant_run import PACKAGE, ROOT, TESTS_FAILED, StaleMutantError, place_of, run_mutant, run_tests
from tests.prohibitions.mutants import QUICK, SLOW, Mutant


def id_of(mutant: Mutant) -> str:
    return mutant.rule


@pytest.mark.parametrize("mutant", [*QUICK, *SLOW], ids=id_of)
def test_a_mutant_names_a_rule_that_stands_once_in_the_sources_and_tests_that_exist(mutant: Mutant) -> None:
    assert (PACKAGE / place_of(mutant)).is_file()
    assert mutant.old != mutant.new
    for test in mutant.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), f"{path} is gone: name the tests of {mutant.rule!r} anew"
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{test} is gone"


def test_a_stale_mutant_is_refused_with_its_rule_and_snippet(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("one = 1\ntwo = 1\n", "utf-8")
    for snippet, count in (("three", 0), ("= 1", 2)):
        stale = Mutant("a rule", snippet, "new", ())
        with pytest.raises(StaleMutantError, match=f"'a rule' is stale.*occurs {count} times"):
            place_of(stale, tmp_path)
    assert place_of(Mutant("a rule", "two = 1", "new", ()), tmp_path) == Path("module.py")


@pytest.mark.parametrize("mutant", QUICK, ids=id_of)
def test_a_broken_rule_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    assert_killed(mutant, tmp_path)


@pytest.mark.torture
@pytest.mark.parametrize("mutant", SLOW, ids=id_of)
def test_every_broken_rule_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    assert_killed(mutant, tmp_path)


@pytest.mark.torture
def test_the_same_tests_pass_on_the_sources_as_they_are() -> None:
    tests = sorted({test for mutant in (*QUICK, *SLOW) for test in mutant.tests})
    done = run_tests(tests, PACKAGE.parent)
    assert done.returncode == 0, done.stdout[-3000:]


def assert_killed(mutant: Mutant, folder: Path) -> None:
    done = run_mutant(mutant, folder)
    assert done.returncode == TESTS_FAILED, f"{mutant.rule!r} broken, and no test failed:\n{done.stdout[-3000:]}"

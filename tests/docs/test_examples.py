"""The examples that write files run, and print results."""

from pathlib import Path

from tests.warm_python import run_warm

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines_of(example: str, folder: Path) -> list[str]:
    done = run_warm([EXAMPLES / example, folder], cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_ablation_prints_scores_claims_and_the_report(tmp_path: Path) -> None:
    *scores, against_c1, against_silent, report = lines_of("ablation.py", tmp_path)
    assert [line.split("\t")[:2] for line in scores] == [[name, "24 samples"] for name in ("C1", "C2_silent", "C2")]
    assert against_c1.startswith("tuple_f1_explicit, C2 minus C1: ")
    assert against_silent.startswith("tuple_f1_explicit, C2 minus C2_silent: ")
    assert Path(report).resolve() == (tmp_path / "ablation" / "report.html").resolve()
    assert Path(report).is_file()


def test_a_condition_of_ones_own_shows_memory_to_the_debate_alone(tmp_path: Path) -> None:
    first, second = (line.split("\t") for line in lines_of("custom_condition.py", tmp_path))
    assert first == ["retrieved 0", "debate: nobody", "not_exposed"]
    assert second == ["retrieved 1", "debate: epm, tan, cj, judge", "not_exposed"]

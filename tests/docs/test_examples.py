"""The examples that write files run, and print results."""

import importlib.util
from pathlib import Path

import pytest
from tests.warm_python import run_warm

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines_of(example: str, folder: Path, *, store: str | None = None) -> list[str]:
    argument = folder if store is None else folder / store
    done = run_warm([EXAMPLES / example, argument], cwd=folder)
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


@pytest.mark.parametrize("example", ["memory_in_a_loop.py", "memory_in_a_graph.py"])
def test_an_agent_of_another_task_learns_from_its_first_mistake(example: str, tmp_path: Path) -> None:
    if example == "memory_in_a_graph.py":
        pytest.importorskip("langgraph", reason="langgraph is not installed; the example of a plain loop runs")
    first, second, third, *_ = (line.split(" | ") for line in lines_of(example, tmp_path, store="store.jsonl"))
    assert first == ["t1", "cancel"]
    assert second[:2] == ["t2", "question"]
    assert third[:2] == ["t3", "question"]
    assert "the answer was changed; that turned out better" in third[2]


def test_the_demo_ends_in_five_lines_and_deletes_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    assert module is not None
    assert module.loader is not None
    demo = importlib.util.module_from_spec(module)
    module.loader.exec_module(demo)
    experiment = tmp_path / "tiny.yaml"
    (tmp_path / "reviews.csv").write_text("text,gold\nThe soup was rich.,soup:positive\nCold tea.,tea:negative\n")
    settings = "data: {allowed_roots: [.], valid_file: reviews.csv}\neval: {gold_column: gold}\n"
    grid = "run_id: tiny\nexperiment: {conditions: [C1, C2], seeds: [1], shuffle: %s}\n"
    monkeypatch.chdir(tmp_path)

    for shuffle, folder in (("true", "demo"), ("true", "demo"), ("false", "demo-2")):
        experiment.write_text(grid % shuffle + settings)
        kept = {path: path.read_bytes() for path in tmp_path.glob("demo*/tiny/*/*.jsonl")}
        demo.main(experiment, Path("demo"))
        ran, came_out, report, own_text, own_csv = capsys.readouterr().out.splitlines()
        assert "2 reviews under 2 conditions (C1, C2), 1 order each; no key, no network" in ran
        assert "n = 2 reviews: too close to claim a difference." in came_out
        assert report.split()[-1] == f"{folder}/tiny/report.html"
        assert 'analyze "서비스는 친절했지만 음식은 별로였어"' in own_text
        assert own_csv.endswith("analyze reviews.csv --summary page.html")
        assert {path: path.read_bytes() for path in kept} == kept
    assert sorted(path.name for path in tmp_path.glob("demo*")) == ["demo", "demo-2"]

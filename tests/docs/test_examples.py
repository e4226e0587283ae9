"""The examples that write files run, and print results."""

import importlib.util
import os
from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.warm_python import run_warm

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines_of(example: str, folder: Path, *, store: str | None = None) -> list[str]:
    argument = folder if store is None else folder / store
    done = run_warm([EXAMPLES / example, argument], cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_ablation_ends_in_a_table_two_claims_a_figure_and_the_report(tmp_path: Path) -> None:
    head, rule, *scores, against_c1, against_silent, figure, report = lines_of("ablation.py", tmp_path)
    columns = [line.count("|") for line in (head, rule, *scores)]
    assert columns == [6, 6, 6, 6, 6]
    assert [line.split()[1:4:2] for line in scores] == [[name, "24"] for name in ("C1", "C2_silent", "C2")]
    assert Path(figure).read_text(encoding="utf-8").startswith("<svg")
    assert against_c1.startswith("Whether C2 changes mean F1 (tuple_f1_explicit) compared with C1 cannot be told")
    assert against_silent.startswith("Whether C2 changes mean F1 (tuple_f1_explicit) compared with C2_silent cannot be")
    assert Path(report).resolve() == (tmp_path / "ablation" / "report.html").resolve()
    assert Path(report).is_file()


def test_the_example_of_a_table_counts_terms_and_writes_a_row_per_aspect(tmp_path: Path) -> None:
    reviews = tmp_path / "reviews.csv"
    reviews.write_text(
        "text\nThe soup was rich.\nThe soup was cold.\nThe soup was tasty.\n국물이 진해요.\n", encoding="utf-8"
    )
    done = run_warm([EXAMPLES / "analyze_table.py", reviews, tmp_path / "aspects.csv"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    number, praised, criticised, path = done.stdout.splitlines()
    assert (number, path) == ("4 reviews", str(tmp_path / "aspects.csv"))
    assert praised.startswith("positive: soup 2")
    assert criticised == "negative: soup 1"
    _, first, *_ = Path(path).read_text(encoding="utf-8").splitlines()
    assert first.startswith("1,soup,positive,0.")


def test_every_cell_of_the_notebook_runs_and_the_last_one_shows_the_figure(tmp_path: Path) -> None:
    require_extra("examples")
    import nbclient
    import nbformat

    notebook = nbformat.read(EXAMPLES / "first_look.ipynb", as_version=4)
    assert [cell for cell in notebook.cells if cell.get("outputs")] == [], "commit the notebook without its outputs"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}})
    client.execute(env={**os.environ, "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path), "TMPDIR": str(tmp_path)})
    first, second, *_, last = (cell.outputs[0].get("data", {}) for cell in notebook.cells if cell.cell_type == "code")
    assert "image/svg+xml" in last
    assert "breakfast" in first["text/html"]
    assert "조식" in second["text/html"]


def test_a_condition_of_ones_own_shows_memory_to_the_debate_alone(tmp_path: Path) -> None:
    first, second = (line.split("\t") for line in lines_of("custom_condition.py", tmp_path))
    assert first == ["retrieved 0", "debate: nobody", "not_exposed"]
    assert second == ["retrieved 1", "debate: epm, tan, cj, judge", "not_exposed"]


@pytest.mark.parametrize("example", ["memory_in_a_loop.py", "memory_in_a_graph.py"])
def test_an_agent_of_another_task_learns_from_its_first_mistake(example: str, tmp_path: Path) -> None:
    if example == "memory_in_a_graph.py":
        require_extra("examples")
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
        assert "n = 2 reviews: too close to claim a difference" in came_out
        assert report.split()[-1] == f"{folder}/tiny/report.html"
        assert 'analyze "서비스는 친절했지만 음식은 별로였어"' in own_text
        assert own_csv.endswith("analyze reviews.csv --summary page.html")
        assert {path: path.read_bytes() for path in kept} == kept
    assert sorted(path.name for path in tmp_path.glob("demo*")) == ["demo", "demo-2"]

"""The public names of the package: sorted, documented, and with examples that run."""

import ast
import asyncio
import csv
import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.extras import require_extra
from tests.warm_python import run_warm

import episodic_absa
from episodic_absa import ConfigError, Run, RunDirectoryError, load_experiment, run_experiment
from episodic_absa.experiment import run_grid
from episodic_absa.serialization.canonical_json import canonical_json

SHIPPED = Path(__file__).resolve().parents[1] / "experiments"
KEPT_SAMPLES = 3
EXTRA_OF = {"results_frame": "pandas"}
"""Names whose example needs an extra."""


def lay_out_quickstart(folder: Path, **experiment: Any) -> Path:
    """Copy the shipped experiment with its first samples only: the examples then take seconds."""
    data = folder / "experiments" / "data"
    data.mkdir(parents=True)
    kept: set[str] = set()
    for split in ("train", "valid"):
        with open(SHIPPED / "data" / f"{split}.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))[:KEPT_SAMPLES]
        with open(data / f"{split}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        kept |= {row["uid"] for row in rows}
    gold = (SHIPPED / "data" / "valid.gold.jsonl").read_text("utf-8").splitlines(keepends=True)
    (data / "valid.gold.jsonl").write_text("".join(line for line in gold if any(f'"{uid}"' in line for uid in kept)))
    config = yaml.safe_load((SHIPPED / "quickstart.yaml").read_text("utf-8"))
    config["experiment"] |= experiment
    path = folder / "experiments" / "quickstart.yaml"
    path.write_text(json.dumps(config), "utf-8")  # JSON is YAML
    return path


def lay_out_two_cells(folder: Path) -> Path:
    return lay_out_quickstart(folder, conditions=["C1", "C2"], seeds=[42], comparisons=[["C2", "C1"]])


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small quickstart, finished once for all examples."""
    folder = tmp_path_factory.mktemp("public_api")
    run_experiment(lay_out_quickstart(folder))
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    """The finished run; a test that takes something away from it puts it back."""
    return run_experiment(folder / "experiments" / "quickstart.yaml")


def test_the_names_are_sorted_and_few() -> None:
    names = episodic_absa.__all__
    assert names == sorted(names)
    assert 16 <= len(names) <= 34


def test_a_star_import_gives_every_name_and_nothing_else() -> None:
    names: dict[str, Any] = {}
    exec("from episodic_absa import *", names)  # noqa: S102 - the statement that users write
    assert sorted(names.keys() - {"__builtins__"}) == episodic_absa.__all__
    assert set(episodic_absa.__all__) <= set(dir(episodic_absa))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        _ = episodic_absa.analyse


@pytest.mark.parametrize("name", episodic_absa.__all__)
def test_the_example_of_every_public_name_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docstring = inspect.getdoc(getattr(episodic_absa, name)) or ""
    assert "Example:" in docstring
    if name in EXTRA_OF:
        require_extra(EXTRA_OF[name])
    example = doctest.DocTestParser().get_doctest(docstring, {}, name, None, None)
    assert example.examples
    monkeypatch.chdir(folder)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert results.failed == 0, "".join(report)


@pytest.mark.parametrize("name", ["Analyzer", "analyze", "run_experiment"])
def test_every_argument_has_a_type_and_is_explained(name: str) -> None:
    function = getattr(episodic_absa, name)
    docstring = inspect.getdoc(function) or ""
    for argument in inspect.signature(function).parameters.values():
        assert argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
        assert argument.annotation is not argument.empty
        assert f"    {argument.name}: " in docstring


def test_analyze_takes_every_argument_of_the_analyzer() -> None:
    of_analyzer = inspect.signature(episodic_absa.Analyzer).parameters
    of_analyze = inspect.signature(episodic_absa.analyze).parameters
    assert {name: of_analyze[name] for name in of_analyzer} == dict(of_analyzer)


def test_an_experiment_runs_inside_a_running_event_loop(folder: Path) -> None:
    async def notebook() -> Run:
        return run_experiment(folder / "experiments" / "quickstart.yaml")

    assert len(asyncio.run(notebook()).cells) == 15


def test_a_run_compares_as_the_command_does(run: Run) -> None:
    printed = run_warm(["-m", "episodic_absa", "compare", run.path, "C2", "C1", "--json"], loads_engine=False).stdout
    expected = json.loads(canonical_json(run.compare("C2", "C1")))
    assert {key: json.loads(printed)[key] for key in expected} == expected


def test_a_condition_is_not_compared_with_itself(run: Run) -> None:
    with pytest.raises(RunDirectoryError, match="C2 and C2 are the same condition"):
        run.compare("C2", "C2")


def test_a_comparison_prints_its_primary_difference(run: Run) -> None:
    comparison = run.compare("C2", "C1")
    assert repr(comparison) == f"Comparison(C2 minus C1: {comparison.metrics[0].metric} +0.0000)"


def test_a_run_leaves_tables_and_report_behind_and_never_restores_review_text(tmp_path: Path) -> None:
    experiment = lay_out_two_cells(tmp_path)
    run = run_experiment(experiment)
    assert {"comparisons.csv", "grid_metrics.csv", "report.html"} <= {path.name for path in run.path.iterdir()}
    with_text = run.report().read_bytes()
    assert run_warm(["-m", "episodic_absa", "report", run.path, "--no-text"], loads_engine=False).returncode == 0
    without_text = run.report().read_bytes()
    assert without_text != with_text
    assert run_experiment(experiment).report().read_bytes() == without_text


def test_a_report_that_was_deleted_is_written_anew(run: Run) -> None:
    before = run.report().read_bytes()
    run.report().unlink()
    assert run.report().read_bytes() == before


def test_progress_is_told_after_every_sample(tmp_path: Path) -> None:
    done: list[int] = []
    run = run_experiment(
        lay_out_two_cells(tmp_path),
        progress=lambda grid: done.append(sum(cell.done for cell in grid.cells.values())),
    )
    assert done[-1] == KEPT_SAMPLES * (len(run.cells) + 1)
    assert len(set(done)) == done[-1] + 1


def test_an_interrupt_ends_the_report_at_its_next_step(run: Run) -> None:
    steps: list[str] = []

    async def interrupted() -> None:
        task = asyncio.current_task()
        assert task is not None

        def tell(step: str) -> None:
            steps.append(step)
            task.cancel()

        await run_grid(load_experiment(run.path.parents[1] / "experiments" / "quickstart.yaml"), tell=tell)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    assert len(steps) == 1


def test_a_base_url_that_would_be_ignored_is_refused() -> None:
    backbone = episodic_absa.BackboneSettings()
    with pytest.raises(ConfigError, match="base_url"):
        episodic_absa.Analyzer(backend=backbone, base_url="http://127.0.0.1:9/v1")


def test_importing_the_package_loads_no_heavy_library() -> None:
    look = "import sys, episodic_absa; print(*{'pydantic', 'onnxruntime', 'numpy', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_no_module_of_the_library_prints() -> None:
    package = Path(episodic_absa.__file__).parent
    modules = [module for module in package.rglob("*.py") if not module.is_relative_to(package / "cli")]
    assert len(modules) > 100
    sources = {module: module.read_text("utf-8") for module in modules}
    # A docstring's example may print; most modules hold none of these words at all.
    printing = [
        f"{module.relative_to(package)}: {ast.unparse(node)}"
        for module, source in sources.items()
        if "print(" in source or "sys.std" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Name | ast.Attribute)
        and ast.unparse(node) in ("print", "pprint.pprint", "sys.stdout", "sys.stderr")
    ]
    assert printing == []

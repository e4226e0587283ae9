"""`run --watch`: the difference of the first pair with its confidence sequence, from committed samples only."""

import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.conftest import Cli
from tests.cli.run.test_run import write_experiment
from tests.runs.sealed_files import write_sealed

from episodic_absa.cli.run.run_progress import Pace, progress_view
from episodic_absa.cli.run.run_work import Invocation
from episodic_absa.contrib.watch import WatchLine
from episodic_absa.contrib.watch.watched_pair import WatchedPair
from episodic_absa.errors import ConfigError
from episodic_absa.metrics.per_sample.sample_values import sample_value
from episodic_absa.runs.config import ExperimentConfig, evaluated_cells, load_experiment
from episodic_absa.runs.fixed_question import refresh_question
from episodic_absa.runs.progress import CellProgress, GridProgress
from episodic_absa.runs.reading.cell_files import CellFiles

SAMPLES = 9
CELLS = ("C2__seed1", "C1__seed1", "C2__seed2", "C1__seed2")


def progress_of(config: ExperimentConfig, done: int = SAMPLES) -> GridProgress:
    cells = [cell.name for cell in evaluated_cells(config)]
    return GridProgress(cells={name: CellProgress(name, total=SAMPLES, done=done) for name in cells})


def keep_first(cell: Path, samples: int) -> None:
    lines = (cell / "samples.jsonl").read_text("utf-8").splitlines(keepends=True)
    (cell / "samples.jsonl").write_text("".join(lines[: samples + 1]), "utf-8")


def test_a_watched_run_shows_the_difference_over_the_samples_that_are_committed(cli: Cli, tmp_path: Path) -> None:
    experiment = {"conditions": ["C1", "C2"], "seeds": [1, 2], "shuffle": True, "comparisons": [["C2", "C1"]]}
    path = write_experiment(tmp_path, samples=SAMPLES, experiment=experiment)
    watched = cli("run", path, "--watch", "--json")
    assert watched.returncode == 0
    [line] = [line for line in watched.stderr.splitlines() if line.startswith("watch: ")][-1:]
    shown = re.fullmatch(
        r"watch: tuple_f1_explicit, C2 minus C1: (\S+), 95 % confidence sequence \[(\S+), (\S+)\], 9 reviews; "
        r"it includes 0",
        line,
    )
    assert shown is not None
    grid = tmp_path / "results" / "toy"
    assert {path.name for path in grid.iterdir() if path.is_dir()} == set(CELLS)

    config = load_experiment(path)
    assert WatchLine(config, progress_of(config)).now() == line
    assert WatchedPair(config, progress_of(config, done=0)).look().mean is None  # no cell has begun

    # A review counts once, in the order in which it comes first; the order of both seeds is read side by side.
    cards = {name: CellFiles(grid / name).scorecards for name in CELLS}
    values = {
        name: [(card.uid, sample_value("tuple_f1_explicit", card)) for card in of_cell]
        for name, of_cell in cards.items()
    }
    first: dict[str, float] = {}
    for position in range(SAMPLES):
        for seed in (1, 2):
            (uid, of_a), (_, of_b) = (values[f"{side}__seed{seed}"][position] for side in ("C2", "C1"))
            assert of_a is not None
            assert of_b is not None
            first.setdefault(uid, of_a - of_b)
    look = WatchedPair(config, progress_of(config)).look()
    assert look.n == SAMPLES
    assert look.mean == pytest.approx(sum(first.values()) / SAMPLES)

    # A later look adds what was recorded since.
    samples = (grid / "C1__seed2" / "samples.jsonl").read_bytes()
    manifest = grid / "C1__seed2" / "manifest.json"
    finished = manifest.read_bytes()
    write_sealed(manifest, {**json.loads(finished), "completed": False})
    keep_first(grid / "C1__seed2", 3)
    pair = WatchedPair(config, progress_of(config))
    early = len({uid for cell in CELLS for uid, _ in values[cell][:3]})
    assert pair.look().n == early < SAMPLES
    assert pair.look().n == early
    (grid / "C1__seed2" / "samples.jsonl").write_bytes(samples)
    manifest.write_bytes(finished)
    assert pair.look() == look
    assert json.loads(watched.stdout)["was_finished"] is False

    later = write_experiment(tmp_path, samples=SAMPLES, experiment={**experiment, "primary_metric": "exact_match"})
    config = load_experiment(later)
    refresh_question(grid)
    assert WatchLine(config, progress_of(config)).now().endswith("; it includes 0; exploratory")


def test_a_pair_to_watch_is_required_and_an_unbounded_metric_is_not_watched(tmp_path: Path) -> None:
    for primary, watched in (("tuple_f1_explicit_micro", "tuple_f1_explicit"), ("exact_match", "exact_match")):
        experiment = {"conditions": ["C1", "C2"], "primary_metric": primary}
        config = load_experiment(write_experiment(tmp_path, experiment=experiment))
        assert WatchedPair(config, GridProgress()).metric == watched
    alone = write_experiment(tmp_path / "alone", experiment={"conditions": ["C1"], "seeds": [1]})
    with pytest.raises(ConfigError, match=r"nothing to watch; name a pair in experiment\.comparisons"):
        WatchedPair(load_experiment(alone), GridProgress())


def test_the_live_table_ends_with_the_watched_line_and_resuming_goes_on_watching(tmp_path: Path) -> None:
    config = load_experiment(write_experiment(tmp_path))
    progress = progress_of(config, done=0)
    watch = WatchLine(config, progress)
    console = Console(width=120)
    with console.capture() as captured:
        console.print(progress_view(config, progress, Pace(progress), watch))
    assert captured.get().splitlines()[-1] == (
        "watch: tuple_f1_explicit, C2 minus C1: no review is scored under both yet"
    )
    assert Invocation(Path("a.yaml"), watch=True).command == "episodic-absa run a.yaml --watch"


@pytest.mark.parametrize(
    ("conditions", "more", "hangs"),
    [
        (["C1", "C2"], {"seeds": [1, 2]}, True),
        (["C1", "C2"], {"orders": 2, "seeds": [1]}, False),
        (["C1", "C2_silent"], {"seeds": [1]}, False),
    ],
)
def test_one_order_of_a_memory_that_grows_is_not_enough(
    tmp_path: Path, conditions: list[str], more: dict[str, object], hangs: bool
) -> None:
    pair = [conditions[1], conditions[0]]
    path = write_experiment(tmp_path, experiment={"conditions": conditions, "comparisons": [pair], **more})
    assert WatchedPair(load_experiment(path), GridProgress(cells={})).hangs_on_one_order == hangs

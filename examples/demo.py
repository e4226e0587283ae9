"""Runs a small experiment and says in five lines what ran, what came out, what to open and what to type next.

    python examples/demo.py [EXPERIMENT.yaml] [FOLDER]

No key, no network. A run that is already there is never deleted: one of the same configuration is used again, beside
any other one a new folder is begun.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from episodic_absa import load_experiment, run_experiment
from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiment import Run
from episodic_absa.metrics.statistics import PairedDifference
from episodic_absa.runs.progress import GridProgress

QUICKSTART = Path(__file__).resolve().parents[1] / "experiments" / "quickstart.yaml"
MOST_FOLDERS = 99


def main(experiment: Path, folder: Path) -> None:
    """Run the experiment and print the five lines."""
    run = run_beside_others(experiment, folder)
    print(*five_lines(run), sep="\n")


def run_beside_others(experiment: Path, folder: Path) -> Run:
    """Run, or use again, in the first of the folders that holds no run of another configuration."""
    config = load_experiment(experiment)
    for place in folders(folder):
        taken = (place / config.file.run_id).is_dir()
        try:
            return run_experiment(config.writing_to(place), use_cache_file=False, progress=show_progress)
        except RunDirectoryError:
            if not taken:
                raise
            print(f"{place} holds a run of another configuration, which stays as it is", file=sys.stderr)
    raise RunDirectoryError(f"{MOST_FOLDERS} folders beside {folder} hold other runs; move some away", path=folder)


def folders(first: Path) -> Iterator[Path]:
    """Yield demo, demo-2, demo-3 and so on."""
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in range(2, MOST_FOLDERS + 1))


def show_progress(grid: GridProgress) -> None:
    """Show how many samples are done, on one line."""
    done_n = sum(cell.done for cell in grid.cells.values())
    total = sum(cell.total for cell in grid.cells.values())
    if sys.stderr.isatty() or done_n == total:
        print(f"\r{done_n:,} of {total:,} samples", end="\n" if done_n == total else "", file=sys.stderr, flush=True)


def five_lines(run: Run) -> list[str]:
    """Return what ran, what came out, what to open, and what to type for a text and for a file of one's own."""
    conditions = list(dict.fromkeys(cell.condition for cell in run.cells))
    seed_n = len(run.cells) // len(conditions)
    size = f"{run.cells[0].samples} reviews under {len(conditions)} conditions ({', '.join(conditions)})"
    compared = run.compare("C2", "C1").of("tuple_f1_explicit")
    command = shown(Path(sys.executable).parent / "episodic-absa")
    return [
        f"ran · 실행          {size}, {seed_n} order{'s' if seed_n > 1 else ''} each; no key, no network",
        f"came out · 결과     {outcome(compared)}",
        f"open · 열기         {shown(run.report())}",
        f'your text · 내 글   {command} analyze "서비스는 친절했지만 음식은 별로였어"   (--explain: every step)',
        f"your CSV · 내 CSV   {command} analyze reviews.csv --summary page.html",
    ]


def outcome(paired: PairedDifference) -> str:
    """Return in one sentence whether memory helped, with its numbers."""
    if paired.difference is None or paired.mean_a is None or paired.mean_b is None:
        return "No review has gold, so nothing can be said about quality. · 정답이 없어 품질을 말할 수 없습니다."
    numbers = (
        f"F1 {paired.mean_a:.3f} with memory (C2) and {paired.mean_b:.3f} without (C1), n = {paired.n_uids} reviews"
    )
    if paired.claim == "none":
        return f"{numbers}: too close to claim a difference · 차이가 있다고 말할 수 없습니다."
    if paired.difference > 0:
        return f"{numbers}: memory helps here · 메모리가 도움이 됩니다."
    return f"{numbers}: memory harms here · 메모리가 해가 됩니다."


def shown(path: Path) -> str:
    """Return a path as short as it can be typed from here."""
    plain, here = Path(os.path.normpath(path)), Path.cwd()
    return str(plain.relative_to(here) if plain.is_relative_to(here) else plain)


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*(given + [QUICKSTART, Path("demo")][len(given) :]))

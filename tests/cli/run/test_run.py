"""The real command on tiny grids of English reviews; what can be looked at without a process is."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console
from tests.warm_python import WarmProcess

from episodic_absa.backends.backend import Usage
from episodic_absa.cli.amounts import mean_text, money_text, short_number
from episodic_absa.cli.run.run_progress import Pace, clock_text, progress_view
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.progress import CellProgress, GridProgress, RequestCounts

Cli = Callable[..., subprocess.CompletedProcess[str]]
REVIEWS = (
    "The food was not good at all.",
    "Great screen, but the battery is awful.",
    "Lovely staff.",
)
GOLD = ("food", "negative"), ("screen", "positive"), ("staff", "positive")


def write_experiment(folder: Path, *, samples: int = len(REVIEWS), **blocks: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f'r{number},"{REVIEWS[number % len(REVIEWS)]}"' for number in range(samples)]
    (folder / "valid.csv").write_text("\n".join(["uid,text", *rows]) + "\n", encoding="utf-8")
    gold = [
        {"uid": f"r{number}", "gold_tuples": [dict(zip(("aspect_term", "polarity"), GOLD[number % 3], strict=True))]}
        for number in range(samples)
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in gold), encoding="utf-8")
    document = {
        "run_id": "toy",
        "data": {"allowed_roots": ["."], "valid_file": "valid.csv"},
        "eval": {"gold_jsonl": "gold.jsonl"},
        "experiment": {"conditions": ["C1", "C2"], "seeds": [1, 2]},
        **blocks,
    }
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def test_a_run_tells_of_its_cells_prints_a_summary_and_is_not_run_twice(cli: Cli, tmp_path: Path) -> None:
    config = write_experiment(tmp_path)
    first = cli("run", config, env={"COLUMNS": "80"})
    assert first.returncode == 0
    ended = re.findall(r"(?m)^(\S+): done, 3 samples, 0 failed, .*$", first.stderr)
    assert sorted(ended) == ["C1__seed1", "C1__seed2", "C2__seed1", "C2__seed2"]
    lines = first.stdout.splitlines()
    assert lines[0] == "toy  embedded:reader-1  mean of 2 seeds"
    assert [line.split()[:3] for line in lines if line.startswith("C")] == [["C1", "3", "0"], ["C2", "3", "0"]]
    in_cell = "structural_metrics.csv, triptych.csv, memory_growth.jsonl"
    assert lines[-3:] == [
        f"results  {tmp_path}/results/toy",
        f"tables   grid_metrics.csv, comparisons.csv; in each cell {in_cell}",
        f"report   {tmp_path}/results/toy/report.html",
    ]
    assert (tmp_path / "results" / "toy" / "report.html").is_file()
    assert re.search(r"baseline_\nmajority +0\.\d{3} +3$", first.stdout, re.MULTILINE)
    assert "\x1b" not in first.stdout + first.stderr
    assert max(map(len, lines[:-3])) <= 80

    files = sorted((tmp_path / "results").rglob("*.json*"))
    written = [path.read_bytes() for path in files]
    again = cli("run", config, "--json")
    # On a busy machine the report takes long enough to say what it is doing.
    said = [line for line in again.stderr.splitlines() if not line.startswith("report: ")]
    assert (again.returncode, said) == (0, ["toy was finished before; nothing was run"])
    assert [path.read_bytes() for path in files] == written
    summary = json.loads(again.stdout)
    assert summary["was_finished"] is True
    assert summary["results"] == str(tmp_path / "results" / "toy")
    assert [row["condition"] for row in summary["conditions"]] == ["C1", "C2"]
    assert [(cell["condition"], cell["seed"]) for cell in summary["cells"]][:2] == [("C1", 1), ("C1", 2)]
    assert all(cell["calls"] == 3 * 8 and 0 < cell["tuple_f1_explicit"] <= 1 for cell in summary["cells"])
    assert {cell["tuple_f1_explicit_n"] for cell in summary["cells"]} == {3}
    assert summary["baseline_majority"].keys() == {"tuple_f1_explicit", "tuple_f1_explicit_n", "polarity", "source"}
    assert summary["this_invocation"] == {
        "sent": 0,
        "from_cache": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "cost_usd": 0.0,
    }


def test_a_limit_is_a_run_of_its_own(cli: Cli, tmp_path: Path) -> None:
    config = write_experiment(tmp_path, experiment={"conditions": ["C1"], "seeds": [1]})
    done = cli("run", config, "--limit", 2, "--no-cache", "--json")
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert (summary["run_id"], summary["was_finished"], summary["cells"][0]["samples"]) == ("toy-limit2", False, 2)
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["toy-limit2"]
    assert not (tmp_path / ".episodic_absa").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(
    cli: Cli, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    config = write_experiment(tmp_path, samples=240, experiment={"conditions": ["C2"], "seeds": [1], "concurrency": 1})
    cell = tmp_path / "results" / "toy" / "C2__seed1"
    samples = cell / "samples.jsonl"
    with WarmProcess(["-m", "episodic_absa", "run", config]) as process:
        deadline = time.monotonic() + 60
        while (not samples.exists() or samples.read_bytes().count(b"\n") < 2) and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(number)
        out, complaints = process.communicate(timeout=60)
    told = complaints.decode()
    assert (process.returncode, out) == (code, b"")
    assert "Traceback" not in told
    stopping, stopped, resume = told.splitlines()[-3:]
    assert stopping == "stopping ..."
    kept = re.fullmatch(r"stopped; (\d+) of 240 samples are done and kept", stopped)
    assert kept is not None
    assert 0 < int(kept[1]) < 240
    for name in ("outputs.jsonl", "scorecards.jsonl", "traces.jsonl"):
        assert len((cell / name).read_text().splitlines()) == int(kept[1])
    assert len(samples.read_text().splitlines()) == int(kept[1]) + 1
    assert resume == f"resume with: episodic-absa run {config}"

    rest = cli("run", config)
    assert rest.returncode == 0
    assert f"C2__seed1: resumed, {kept[1]} of 240 samples were done\n" in rest.stderr
    assert len(samples.read_text().splitlines()) == 241


def test_an_interrupt_that_was_ignored_from_the_start_stays_ignored(tmp_path: Path) -> None:
    config = write_experiment(tmp_path, experiment={"conditions": ["C1"], "seeds": [1]})
    with subprocess.Popen(
        [sys.executable, "-m", "episodic_absa", "run", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # as a shell does for a job of a script
    ) as process:
        assert process.stderr is not None
        begun = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "stopping" not in begun + told


def test_too_many_failures_end_the_run_resumably_and_a_dry_run_sends_nothing(cli: Cli, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    backbone = {"provider": "openai", "model": "nobody", "base_url": url}
    experiment = {"conditions": ["C1"], "seeds": [1], "max_failures": 0}
    config = write_experiment(tmp_path, backbone=backbone, experiment=experiment)
    before = sorted(tmp_path.rglob("*"))
    dry = cli("run", config, "--dry-run", "--json", env={"OPENAI_API_KEY": "dummy"})
    assert (dry.returncode, dry.stderr) == (0, "")
    estimate = json.loads(dry.stdout)
    assert (estimate["upper"]["sent"], estimate["upper"]["cost_usd"]) == (27, None)  # nine calls, if all adopt a change
    assert "no listed price for nobody" in estimate["no_price"]
    assert sorted(tmp_path.rglob("*")) == before

    failed = cli("run", config, env={"OPENAI_API_KEY": "dummy"})
    assert (failed.returncode, failed.stdout) == (1, "")
    told = failed.stderr.splitlines()
    [error] = [line for line in told if line.startswith("error: ")]
    assert "more than 0 samples failed (experiment.max_failures), 1 of them alike: openai:nobody could not be" in error
    assert f"nothing listens on {url}; start a server, for example `llama-server -m model.gguf --port " in error
    assert "retry" not in failed.stderr
    assert "C1__seed1/traces.jsonl for the reasons; 0 of 3 samples are done and kept, 1 failed" in failed.stderr
    assert told[-1] == f"resume with: episodic-absa run {config}"
    assert "Traceback" not in failed.stderr


def test_a_bad_file_is_one_line(cli: Cli, tmp_path: Path) -> None:
    config = write_experiment(tmp_path, surprise=1)
    done = cli("run", config)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "surprise" in done.stderr
    assert done.stderr.count("\n") == 1


def test_on_a_terminal_progress_is_a_table_that_goes_away(tmp_path: Path) -> None:
    config = write_experiment(tmp_path, samples=30)
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    environment |= {"TERM": "xterm", "COLUMNS": "80"}
    with WarmProcess(["-m", "episodic_absa", "run", config], stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not chunk:
                break
            shown += chunk
        out = process.stdout.read() if process.stdout else b""
    os.close(ours)
    assert process.returncode == 0
    assert b"all cells" in shown
    assert b"of 4 cells" in shown
    assert b"done," not in shown
    assert shown.endswith(b"\x1b[2K") or b"\x1b[2K" in shown[-200:]
    assert out.decode().startswith("toy  embedded:reader-1")


def make_progress() -> GridProgress:
    progress = GridProgress(
        requests=lambda: RequestCounts(
            sent_n=45,
            answered_n=37,
            in_flight_n=8,
            cached_n=34_567,
            usage=Usage(tokens_in=1_000_000, tokens_out=234_567, cost_usd=0.25),
        )
    )
    for name, done, failed in (("build__seed1", 4, 0), ("C1__seed1", 1, 1), ("C2__seed1", 0, 0)):
        progress.cells[name] = CellProgress(name, total=4, done=done, failed=failed)
    return progress


@pytest.mark.parametrize("width", [30, 80, 120])
def test_the_live_table_fits_the_terminal(tmp_path: Path, width: int) -> None:
    config = load_experiment(write_experiment(tmp_path, experiment={"conditions": ["C1", "C2"], "seeds": [1]}))
    progress = make_progress()
    console = Console(width=width, record=True, force_terminal=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(progress_view(config, progress, Pace(progress), is_stopping=True))
    text = console.export_text()
    console.file.close()
    assert "1/4 !1" in text
    assert "stopping ..." in text
    assert width < 80 or "37 requests answered" in text
    assert max(map(len, text.splitlines())) <= width


def test_the_live_table_sums_a_condition_over_its_orders_and_seeds(tmp_path: Path) -> None:
    experiment = {"conditions": ["C1"], "orders": [3, 0], "seeds": [1]}
    config = load_experiment(write_experiment(tmp_path, experiment=experiment))
    progress = GridProgress()
    for name, done in (("C1__order3__seed1", 1), ("C1__seed1", 2)):
        progress.cells[name] = CellProgress(name, total=4, done=done)
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(progress_view(config, progress, Pace(progress)))
    assert "3/8" in console.export_text()
    console.file.close()


def test_numbers_are_short_and_honest() -> None:
    assert [short_number(n) for n in (0, 9_999, 10_000, 999_949, 999_950, 12_345_678)] == [
        "0", "9,999", "10.0k", "999.9k", "1.0M", "12.3M",
    ]  # fmt: skip
    assert [mean_text(n) for n in (3.0, 7.666)] == ["3", "7.7"]
    assert [money_text(n) for n in (None, 0.0, 0.00001, 0.0123, 0.998, 12.5)] == [
        "unknown", "$0", "<$0.0001", "$0.012", "$1.00", "$12.50",
    ]  # fmt: skip
    assert [clock_text(n) for n in (5, 75, 3700)] == ["0:05", "1:15", "1:01:40"]

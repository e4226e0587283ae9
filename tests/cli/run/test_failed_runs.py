"""A run of failures, the same kept, and the same once the server is well."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.backends.llm.loopback_model import Behaviour, LoopbackModel, answer, failure
from tests.cli.run.test_run import write_experiment
from tests.runs.small_grid import Remembering, pairs_of, prompt_key

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.grid_run import run_cells

Cli = Callable[..., subprocess.CompletedProcess[str]]
EXPERIMENT = {"conditions": ["C1"], "seeds": [1]}


def test_a_run_of_failures_names_its_cause_and_the_next_run_makes_it_good(cli: Cli, tmp_path: Path) -> None:
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", experiment=EXPERIMENT))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    is_ill = True

    def entry(body: dict[str, Any]) -> Behaviour:
        system, user = (message["content"] for message in body["messages"])
        return failure(500, "out of memory") if is_ill else answer(engine.texts[prompt_key(system, user)])

    with LoopbackModel(entry) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url, "retry_base_s": 0}
        config = write_experiment(tmp_path / "served", backbone=backbone, experiment=EXPERIMENT)
        cell = tmp_path / "served" / "results" / "toy" / "C1__seed1"
        failed = cli("run", config)
        sent_n, page = server.count, (cell.parent / "report.html").read_text("utf-8")
        kept = cli("run", config, "--keep-failures", "--json")
        assert server.count == sent_n == 18
        is_ill = False
        mended = cli("run", config)

    cause = "openai:m answered with status 500: out of memory (after 5 retries)"
    error = f"3 of 3 samples failed, more than half of those of C1__seed1; the commonest cause, 3 samples: {cause}"
    assert (failed.returncode, kept.returncode, mended.returncode) == (1, 1, 0)
    told = failed.stderr.splitlines()
    assert [line for line in told if line.startswith("warning: ")] == [
        "warning: openai:m answered with status 500; retry 1 of 5 in 0 s",
        "warning: openai:m answered with status 500: 15 retries in all",
    ]
    assert told[-2:] == [f"error: {error}", f"run the failed samples again with: episodic-absa run {config}"]
    assert failed.stderr.count("status 500") == 3, "a cause is told once, however often it came"
    assert f"The commonest cause (3 samples): {cause}" in page
    assert failed.stdout.startswith("toy  openai:m")
    assert json.loads(kept.stdout)["failures"] == {
        "samples": 3,
        "mostly_failed_cells": ["C1__seed1"],
        "causes": [{"message": cause, "samples": 3}],
    }
    assert "C1__seed1: resumed, 0 of 3 samples were done; 3 that failed are run again\n" in mended.stderr
    assert "failed:" not in mended.stderr
    # How sure a pair is depends on the kind of the backend; which pairs there are does not.
    assert pairs_of(cell) == pairs_of(offline.out_dir / "C1__seed1")


def test_a_stopped_run_leaves_a_report_with_the_cause_and_verify_says_first_how_far_it_came(
    cli: Cli, tmp_path: Path
) -> None:
    with LoopbackModel(failure(400, "no such model")) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        config = write_experiment(tmp_path, backbone=backbone, experiment={**EXPERIMENT, "max_failures": 1})
        stopped = cli("run", config)
    out = tmp_path / "results" / "toy"
    page = (out / "report.html").read_text("utf-8")
    verified = cli("verify", out)
    cause = "openai:m answered with status 400: no such model"
    assert stopped.returncode == 1
    assert f"error: more than 1 sample failed (experiment.max_failures), 2 of them alike: {cause}" in stopped.stderr
    assert "the report of what is done: " in stopped.stderr
    assert "The run is not finished. 2 of 2 samples failed, more than half of those of C1__seed1." in page
    assert f"The commonest cause (2 samples): {cause}" in page
    assert "실행이 끝나지 않았습니다. 샘플 2개 중 2개가 실패했습니다." in page
    assert f"가장 흔한 원인(2개): {cause}" in page
    assert verified.returncode == 1
    first, *rest = verified.stdout.splitlines()
    assert first == "this run is not finished: 2 of 3 samples of C1__seed1"
    assert ", 0 failed," in rest[0], verified.stdout
    assert "no check of what is there failed; finish the run, then verify it again" in rest

"""Efforts beside each other in one grid of the embedded engine. One real run, looked at from many sides."""

import asyncio
import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.changing_replier import ChangingReplier, erring
from tests.runs.small_grid import Around, exact_bytes, outputs_of, write_experiment

from episodic_absa.analysis import derive_tables, load_run
from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.cache.caching_replier import CachingReplier
from episodic_absa.backends.cache.response_cache import ResponseCache
from episodic_absa.conditions import load_conditions
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.progress import GridProgress
from episodic_absa.runs.reading.manifest_file import MANIFEST
from episodic_absa.schemas.run_files.manifest import Manifest
from episodic_absa.verification import verify

SAMPLES_N = 7
CHANGED = "등본 한 통 떼려는데 보안 프로그램을 다섯 개나 깔라고 해서 포기하고 주민센터로 걸어갔습니다"
"""A review of which the debate drops a target that Stage1 should not have named."""
CONDITIONS = ("C1", "adaptive", "stage1_only", "one_call", "one_call_votes", "C2", "C2_silent", "C2_adaptive", "seed")
CUT_AFTER = 17
"""So many commits of any cells into the first run it is cancelled."""


class Counting(Around):
    """The embedded engine with one error, and every request that the cache could not answer."""

    def __init__(self) -> None:
        super().__init__(ChangingReplier(erring({CHANGED: "주민센터"})))
        self.sent: list[Request] = []

    async def reply(self, request: Request) -> Reply:
        self.sent.append(request)
        return await super().reply(request)


class EffortGrid(NamedTuple):
    """A finished grid, and the requests that it sent."""

    out: Path
    path: Path
    sent: list[Request]

    def calls(self, condition: str) -> dict[str, list[dict[str, Any]]]:
        """Return the recorded calls of a cell by uid."""
        lines = (self.out / f"{condition}__seed42" / TRACES).read_text("utf-8").splitlines()
        traces = [json.loads(line) for line in lines]
        return {trace["case_trace"]["case_id"]: trace["calls"] for trace in traces}


def write_grid(folder: Path) -> Path:
    """Lay out a grid of the shipped conditions, of C2 with an adaptive overlay, and of one condition of seed rules."""
    shipped = load_conditions("v3_0").path.read_text("utf-8")
    document = yaml.safe_load(shipped)
    document["conditions"]["C2_adaptive"] = {**document["conditions"]["C2"], "pipeline": {"effort": "adaptive"}}
    document["conditions"]["seed"] = {**document["conditions"]["C1"], "rules": "seed"}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arms.yaml").write_text(yaml.safe_dump(document), "utf-8")
    path = write_experiment(
        folder,
        episodic_memory={"conditions_path": "arms.yaml", "build": None},
        experiment={"conditions": list(CONDITIONS), "seeds": [42]},
        data={"limit": SAMPLES_N, "train_file": None},
    )
    reviews = folder / "data" / "valid.csv"
    header, rest = reviews.read_text("utf-8").split("\n", 1)
    reviews.write_text(f'{header}\nchanged,"{CHANGED}",ko,course,plain\n{rest}', "utf-8")
    return path


def run(path: Path, cache: ResponseCache, *, cut_after: int | None = None) -> list[Request]:
    """Run a grid, or cancel it after some commits; return what was sent."""
    counting = Counting()
    identity: dict[str, Any] = {"provider": "embedded", "model": "reader-1", "base_url": None, "parameters": {}}
    backend = RepairingBackend(CachingReplier(counting, cache, **identity, share="all"))
    commits_n = 0

    async def run_or_cancel() -> None:
        def count(_: GridProgress) -> None:
            nonlocal commits_n
            commits_n += 1
            if commits_n == cut_after:
                task.cancel()

        progress = GridProgress(on_change=count)
        task = asyncio.ensure_future(run_cells(load_experiment(path), progress=progress, backend=backend))
        await asyncio.wait([task])
        assert task.cancelled() is (cut_after is not None)

    asyncio.run(run_or_cancel())
    return counting.sent


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> EffortGrid:
    path = write_grid(tmp_path_factory.mktemp("efforts"))
    with closing(ResponseCache.in_memory()) as cache:
        sent = run(path, cache)
    return EffortGrid(load_experiment(path).out_dir, path, sent)


def test_a_grid_of_efforts_and_rules_verifies(grid: EffortGrid) -> None:
    derive_tables(load_run(grid.out))
    verified = verify(grid.out)
    assert verified.failures == ()
    assert set(verified.cells) == {f"{condition}__seed42" for condition in CONDITIONS}
    (agree,) = [result for result in verified.grid if result.check == "never_shown_agree"]
    assert (agree.result, agree.detail) == ("pass", f"looked at {SAMPLES_N}")
    # C1 and C2_silent are compared; the others ask other questions and may answer otherwise, which some do.
    answers = {
        condition: [output["final_result"]["final_tuples"] for output in outputs_of(grid.out / f"{condition}__seed42")]
        for condition in CONDITIONS
    }
    assert answers["C1"] == answers["C2_silent"]
    assert answers["C1"] != answers["stage1_only"] == answers["one_call"]


def test_every_sample_has_the_calls_of_its_effort(grid: EffortGrid) -> None:
    calls_n = {condition: {len(calls) for calls in grid.calls(condition).values()} for condition in CONDITIONS}
    assert calls_n["one_call"] == {1}
    assert calls_n["one_call_votes"] == {5}
    assert calls_n["stage1_only"] == {2}
    assert calls_n["seed"] == {10}
    assert calls_n["C1"] == {8, 9}
    reaches = {output["uid"]: output["decision"]["reach"] for output in outputs_of(grid.out / "adaptive__seed42")}
    calls_of = {"reader": 0, "stage1": 2, "full": 8}
    for uid, calls in grid.calls("adaptive").items():
        assert len(calls) == calls_of[reaches[uid]]
    assert len(set(reaches.values())) > 1
    assert {output["decision"]["reach"] for output in outputs_of(grid.out / "C1__seed42")} == {None}


def test_the_manifest_names_the_rules_and_the_overlay(grid: EffortGrid) -> None:
    named = {}
    for condition in CONDITIONS:
        content = (grid.out / f"{condition}__seed42" / MANIFEST).read_bytes()
        arm = Manifest.model_validate_json(content).condition
        named[condition] = (arm.rules, arm.pipeline.effort, arm.pipeline.votes)
    assert named["C1"] == named["C2"] == ("v3", None, None)
    assert named["adaptive"] == named["C2_adaptive"] == ("v3", "adaptive", None)
    assert named["stage1_only"] == ("v3", "stage1", None)
    assert named["one_call_votes"] == ("v3", "one_call", 5)
    assert named["seed"] == ("seed", None, None)


def test_equal_questions_of_all_efforts_are_sent_once(grid: EffortGrid) -> None:
    sent = grid.sent
    first = Counter((request.ask.role, request.ask.temperature, request.ask.seed) for request in sent)
    # The ask of one_call is the first ask of every other condition of the same rules.
    assert first["joint", None, 42] == SAMPLES_N
    assert {first["joint", 0.7, seed] for seed in range(5)} == {SAMPLES_N}
    short = [request for request in sent if request.ask.prompt.states_form]
    assert Counter(request.ask.role for request in short)["validator"] == SAMPLES_N
    prompts = Counter((request.ask.prompt, request.ask.seed, request.ask.temperature) for request in sent)
    assert set(prompts.values()) == {1}


def test_memory_is_read_by_an_adaptive_condition_only_where_it_debates(grid: EffortGrid) -> None:
    outputs = outputs_of(grid.out / "C2_adaptive__seed42")
    for output in outputs:
        assert output["meta"]["memory"]["retrieval_calls"] == int(output["decision"]["reach"] == "full")
    assert "reader" in {output["decision"]["reach"] for output in outputs}


def test_a_grid_of_efforts_that_is_interrupted_ends_like_one_that_ran_through(grid: EffortGrid, tmp_path: Path) -> None:
    path = write_grid(tmp_path)
    with closing(ResponseCache.in_memory()) as cache:
        run(path, cache, cut_after=CUT_AFTER)
        assert exact_bytes(tmp_path / "results" / "grid") != exact_bytes(grid.out)
        run(path, cache)
    assert exact_bytes(tmp_path / "results" / "grid") == exact_bytes(grid.out)
    with closing(ResponseCache.in_memory()) as cache:
        assert run(path, cache) == []

"""How many requests a grid sends, and how many at once."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.runs.served_model import Served
from tests.runs.small_grid import Remembering, exact_bytes, run_here, write_experiment

from episodic_absa.backends.backend import RepairingBackend, Reply, Request
from episodic_absa.backends.backend_facts import RemoteFacts
from episodic_absa.backends.embedded import EmbeddedReplier
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.derived.derived_samples import TRACES
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.runs.reading.manifest_file import MANIFEST


@pytest.mark.parametrize(("share", "times"), [("all", 1), ("condition", 2)])
def test_equal_prompts_are_one_request_over_all_conditions_that_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str, times: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-needed")
    changes: dict[str, Any] = {
        "experiment": {"conditions": ["C1", "C2_silent"], "concurrency": 5},
        "episodic_memory": {"build": None},
        "data": {"limit": 5},
    }
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", **changes))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    with Served(engine.texts, delay_s=0.02) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        path = write_experiment(tmp_path / "served", backbone=backbone, cache={"share": share}, **changes)
        config = load_experiment(path)
        asyncio.run(run_cells(config))
        assert server.count == times * len(engine.texts)
        assert server.most_under_way() <= 5
    calls = [
        call
        for traces in config.out_dir.glob(f"*/{TRACES}")
        for line in traces.read_text("utf-8").splitlines()
        for call in json.loads(line)["calls"]
    ]
    assert len(calls) == 2 * 5 * 10
    for manifest in config.out_dir.glob(f"*/{MANIFEST}"):
        assert json.loads(manifest.read_text())["answers_shared"] is (share == "all")


class _Crowd(RemoteFacts):
    """Counts the asks under way."""

    def __init__(self) -> None:
        self._engine = EmbeddedReplier()
        self.name, self.honours_seed = self._engine.name, False
        self.under_way = self.most = 0

    async def reply(self, request: Request) -> Reply:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.002)
        self.under_way -= 1
        return await self._engine.reply(request)

    async def close(self) -> None:
        await self._engine.close()


def test_no_ask_spends_its_time_limit_in_a_long_queue(tmp_path: Path) -> None:
    crowd = _Crowd()
    experiment = {"conditions": ["C1", "C2_silent"], "concurrency": 2, "seeds": [1, 2, 3]}
    path = write_experiment(tmp_path, experiment=experiment, episodic_memory={"build": None}, data={"limit": 5})
    config = run_here(path, crowd)
    assert 2 <= crowd.most <= 2 * 2  # concurrency x conditions, however many seeds
    assert exact_bytes(config.out_dir)


def test_recordings_lie_beside_the_config_wherever_the_command_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    few: dict[str, Any] = {
        "experiment": {"conditions": ["C1"]},
        "episodic_memory": {"build": None},
        "data": {"limit": 1},
    }
    said = write_experiment(tmp_path / "said", backbone={"record": "said.jsonl"}, **few)
    asyncio.run(run_cells(load_experiment(said)))
    assert (said.parent / "said.jsonl").stat().st_size
    assert not list(elsewhere.iterdir())
    replayed = {"provider": "replay", "model": "m", "recording": "../said/said.jsonl"}
    again = write_experiment(tmp_path / "again", backbone=replayed, **few)
    assert asyncio.run(run_cells(load_experiment(again))).failed == 0

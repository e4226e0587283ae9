"""A run of unusable answers is made good by a mended model or a mended configuration, and by nothing else."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.backends.llm.loopback_model import Behaviour, LoopbackModel, answer
from tests.cli.run.test_run import write_experiment
from tests.runs.small_grid import Remembering, outputs_of, pairs_of, prompt_key

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.errors import RunDirectoryError
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.failure_causes import read_failures
from episodic_absa.runs.grid_run import run_cells

EXPERIMENT = {"conditions": ["C1", "C2_silent"], "seeds": [1]}


class Served(LoopbackModel):
    """Says what the embedded engine would, or while it is ill, words that nobody can use."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__(self._entry)
        self._texts = texts
        self.is_ill = True

    def _entry(self, body: dict[str, Any]) -> Behaviour:
        system, user = (message["content"] for message in body["messages"])
        return answer("I would rather not." if self.is_ill else self._texts[prompt_key(system, user)])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", experiment=EXPERIMENT))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))
    server = Served(engine.texts)
    with server:
        yield server


def run(folder: Path, server: Served, model: str = "m") -> list[str]:
    """Run the experiment with this model; return the status of each sample of both cells."""
    backbone = {"provider": "openai", "model": model, "base_url": server.base_url, "retry_base_s": 0}
    path = write_experiment(folder / "served", backbone=backbone, experiment=EXPERIMENT)
    asyncio.run(run_cells(load_experiment(path)))
    cells = sorted((folder / "served" / "results" / "toy").glob("*__seed1"))
    return [line["status"] for cell in cells for line in outputs_of(cell)]


def test_unusable_answers_are_shared_within_a_run_and_asked_again_by_the_next_one(
    served: Served, tmp_path: Path
) -> None:
    assert run(tmp_path, served) == ["error"] * 6
    assert served.count == 9, "three attempts for each of three samples; the second cell shares them"
    [message] = {*read_failures(tmp_path / "served" / "results" / "toy" / "C1__seed1")}
    assert "did not answer the question for aspects (" in message
    assert "in the asked form after 3 attempts" in message
    served.is_ill = False
    assert run(tmp_path, served) == ["ok"] * 6
    answered_n = served.count
    for cell in ("C1__seed1", "C2_silent__seed1"):
        offline, mended = (tmp_path / place / "results" / "toy" / cell for place in ("offline", "served"))
        assert pairs_of(mended) == pairs_of(offline)
    for file in (tmp_path / "served" / "results").rglob("samples.jsonl"):
        file.write_bytes(b"")
    assert run(tmp_path, served) == ["ok"] * 6
    assert served.count == answered_n, "usable answers come from the cache"


def test_a_run_without_a_usable_sample_is_restarted_with_another_model_and_one_with_results_is_refused(
    served: Served, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(tmp_path, served, model="mistyped")
    served.is_ill = False
    with caplog.at_level(logging.WARNING, "episodic_absa.runs"):
        assert run(tmp_path, served, model="m") == ["ok"] * 6
    assert "C1__seed1 is run again from its first sample: no sample of it was usable" in caplog.text
    sent_n = served.count
    with pytest.raises(RunDirectoryError, match=r"backbone\.model \(was 'm', now 'other'\)\. .*`run --out DIR`"):
        run(tmp_path, served, model="other")
    assert served.count == sent_n

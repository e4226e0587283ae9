"""`cache.path: postgresql://...`: runs share their answers through a database and write what a file gives."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.backends.llm.loopback_model import Behaviour, LoopbackModel, answer
from tests.cli.run.test_run import write_experiment
from tests.postgres_server import PostgresServer
from tests.runs.small_grid import Remembering, exact_bytes, prompt_key

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.runs.config import load_experiment
from episodic_absa.runs.grid_run import run_cells
from episodic_absa.verification import check_experiment

EXPERIMENT = {"conditions": ["C1", "C2"], "seeds": [1]}


def test_two_runs_share_one_database_and_write_what_a_file_gives(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    engine = Remembering()
    offline = load_experiment(write_experiment(tmp_path / "offline", experiment=EXPERIMENT))
    asyncio.run(run_cells(offline, backend=RepairingBackend(engine)))

    def entry(body: dict[str, Any]) -> Behaviour:
        system, user = (message["content"] for message in body["messages"])
        return answer(engine.texts[prompt_key(system, user)])

    address = postgres_server.new_database()
    sent: dict[str, int] = {}
    written: dict[str, dict[str, bytes]] = {}
    with LoopbackModel(entry) as server:
        backbone = {"provider": "openai", "model": "m", "base_url": server.base_url}
        for name, place in (("file", "cache.sqlite"), ("first", address), ("second", address)):
            path = write_experiment(
                tmp_path / name, backbone=backbone, experiment=EXPERIMENT, cache={"path": place}, run_purpose="paper"
            )
            before = server.count
            asyncio.run(run_cells(load_experiment(path)))
            sent[name] = server.count - before
            written[name] = exact_bytes(tmp_path / name / "results" / "toy")
    assert sent["first"] == sent["file"] > 0
    assert sent["second"] == 0, "nothing but the database is shared, as on two machines"
    assert written["first"] == written["file"]
    assert written["second"] == written["file"]

    manifest = json.loads((tmp_path / "second" / "results" / "toy" / "C1__seed1" / "manifest.json").read_text("utf-8"))
    assert address in json.dumps(manifest), "a manifest says where the answers are"
    answers = next(line for line in check_experiment(path).lines if line.check == "paper_answers")
    assert (answers.level, answers.message) == ("ok", f"answers are kept in {address}")


def test_a_paper_whose_database_cannot_keep_answers_is_told_before_it_runs(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    address = postgres_server.new_database()
    backbone = {"provider": "openai", "model": "m"}
    path = write_experiment(tmp_path, backbone=backbone, cache={"path": address}, run_purpose="paper")
    assert [line.level for line in check_experiment(path).lines if line.check == "paper_answers"] == ["ok"]
    schemas = "SELECT nspname FROM pg_namespace WHERE nspname = 'episodic_absa'"
    assert postgres_server.execute(schemas, url=address) == [], "a check writes nothing"
    postgres_server.execute("CREATE SCHEMA episodic_absa; CREATE TABLE episodic_absa.cars (wheels int)", url=address)
    [line] = [line for line in check_experiment(path).lines if line.check == "paper_answers"]
    assert line.level == "error"
    assert "of something else" in line.message

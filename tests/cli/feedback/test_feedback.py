"""A person's verdict, by command, by JSON lines and by Analyzer."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.pipeline import builders
from tests.stored_lines import entries_of
from tests.warm_python import plain_environment

from episodic_absa import Analyzer, ConfigError, InputError, MemoryStore
from episodic_absa.cli.feedback.given_feedback import store_of
from episodic_absa.errors import MemoryStoreError, RunDirectoryError
from episodic_absa.memory.advice.dangerous_advice import failed
from episodic_absa.memory.feedback import give_feedback
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3

b: Any = builders


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two samples: u1 has an adopted change, u2 is plain."""
    path = tmp_path / "store.jsonl"
    b.run_default_sample(b.default_backend(b.DEFAULT_FLIP), path, condition="C2", uid="u1")
    b.run_default_sample(b.default_backend(), path, condition="C2", uid="u2")
    return path


def only_episode(store: MemoryStore) -> EpisodicMemoryEntryV1_3:
    (episode,) = store.load()
    return episode


def test_a_verdict_beats_the_reader_changes_nothing_when_repeated_and_holds_no_label(store: Path) -> None:
    before = store.read_bytes()
    with MemoryStore(store) as opened:
        episode = only_episode(opened)
        assert (episode.outcome.value, failed(episode)) == ("neutral", False)
        assert give_feedback(opened, "u1", "wrong").is_new
        assert not give_feedback(opened, "u1", "wrong").is_new
        episode = only_episode(opened)
        assert (episode.outcome.value, episode.outcome.by) == ("harm", "person")
        assert failed(episode)
        assert give_feedback(opened, "u1", "right", "  Service ").aspect == "service"
        assert give_feedback(opened, "u1", "unsure").is_new
        episode = only_episode(opened)
        assert (episode.outcome.value, episode.outcome.by) == ("success", "person")
        assert give_feedback(opened, "u2", "wrong").is_new
    assert store.read_bytes().startswith(before)
    added = [json.loads(line) for line in entries_of(store)[before.count(b"\n") :]]
    assert [(line["source_id"], line["aspect"], line["verdict"]) for line in added] == [
        ("u1", None, "wrong"),
        ("u1", "service", "right"),
        ("u1", None, "unsure"),
        ("u2", None, "wrong"),
    ]
    fields = {"aspect", "kind", "language", "namespace", "person", "polarity", "schema_version", "source_id", "verdict"}
    assert {key for line in added for key in line} == fields


@pytest.mark.parametrize(
    ("uid", "verdict", "aspect", "argument", "says"),
    [
        ("u9", "right", None, "uid", "store.jsonl knows no sample 'u9'"),
        ("u1", "positive", None, "verdict", "right, wrong, unsure"),
        ("u1", "right", "price", "aspect", "food, service"),
        ("u1", "right", b.TEXT, "aspect", "food, service"),
    ],
)
def test_a_verdict_that_fits_no_result_is_refused_and_nothing_is_written(
    store: Path, uid: str, verdict: str, aspect: str | None, argument: str, says: str
) -> None:
    before = store.read_bytes()
    with MemoryStore(store) as opened, pytest.raises(InputError, match=says) as refused:
        give_feedback(opened, uid, verdict, aspect)
    assert refused.value.argument == argument
    assert b.TEXT not in str(refused.value)
    assert store.read_bytes() == before


def test_a_verdict_reaches_only_later_samples(store: Path) -> None:
    def advised(uid: str) -> Any:
        return b.run_default_sample(b.default_backend(b.DEFAULT_RISKY), store, condition="C2", uid=uid).memory

    earlier = advised("u3")
    with MemoryStore(store) as opened:
        give_feedback(opened, "u1", "wrong")
    later = advised("u4")
    assert (earlier.memory_blocked_episode_n, later.memory_blocked_episode_n) == (0, 1)


def test_the_command_writes_a_verdict_and_memory_show_shows_it(cli: Cli, store: Path) -> None:
    first = cli("feedback", store, "u1", "wrong", "--aspect", "service")
    assert (first.returncode, first.stdout) == (0, "wrong: target service of u1\n")
    again = cli("feedback", store, "u1", "wrong", "--aspect", "service")
    assert (again.returncode, again.stdout) == (0, "wrong: target service of u1 (it stood there already)\n")
    page = cli("memory", "show", "1", "--store", store).stdout
    assert "harm by a person" in page
    assert "wrong (target service)" in page
    shown = json.loads(cli("memory", "show", "1", "--store", store, "--json").stdout)
    assert shown["verdicts"] == [{"aspect": "service", "verdict": "wrong"}]
    unknown = cli("feedback", store, "nobody", "right")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "knows no sample 'nobody'" in unknown.stderr
    assert cli("feedback", store, "u1").returncode == 2


def test_every_answered_verdict_survives_kill_9(store: Path) -> None:
    command = [sys.executable, "-m", "episodic_absa", "feedback", str(store), "--json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=plain_environment(), text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given = [("u1", "wrong"), ("u2", "right"), ("u1", "right")]
        for uid, verdict in given:
            process.stdin.write(json.dumps({"uid": uid, "verdict": verdict}) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert (answer["uid"], answer["verdict"], answer["is_new"]) == (uid, verdict, True)
        os.kill(process.pid, signal.SIGKILL)
    with MemoryStore(store) as opened:
        assert [verdict.verdict for verdict in opened.verdicts_on("u1")] == ["right"]
        assert [verdict.verdict for verdict in opened.verdicts_on("u2")] == ["right"]
        assert not give_feedback(opened, "u2", "right").is_new


def test_a_bad_line_is_named_and_earlier_verdicts_stand(store: Path) -> None:
    lines = ['{"uid": "u1", "verdict": "right"}', '{"uid": "u1", "label": "positive"}', '{"uid": "u2"}']
    done = subprocess.run(
        [sys.executable, "-m", "episodic_absa", "feedback", str(store), "--json"],
        input="\n".join(lines),
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert [json.loads(line)["uid"] for line in done.stdout.splitlines()] == ["u1"]
    assert "line 2 of stdin" in done.stderr
    assert "positive" not in done.stderr


def test_a_condition_without_memory_keeps_no_feedback(tmp_path: Path) -> None:
    store = tmp_path / "none.jsonl"
    with Analyzer(condition="C1", store=store) as analyzer, pytest.raises(ConfigError, match="C1 writes no memory"):
        analyzer.feedback("u1", "right")
    assert not store.exists()


def test_a_folder_must_be_a_finished_cell(tmp_path: Path) -> None:
    (tmp_path / "C2__order1__seed42").mkdir()
    (tmp_path / "C2__order1__seed42" / "manifest.json").touch()
    with pytest.raises(RunDirectoryError, match="name one of its cells: C2__order1__seed42"):
        store_of(str(tmp_path))
    with pytest.raises(RunDirectoryError, match=r"manifest\.json"):
        store_of(str(tmp_path / "C2__order1__seed42"))
    with pytest.raises(MemoryStoreError, match="there is no store"):
        store_of(str(tmp_path / "missing.jsonl"))

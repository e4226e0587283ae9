"""No key leaves the program: random keys in every place that takes one, and a server that repeats them all."""

import base64
import json
import random
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from tests.backends.llm.loopback_model import Behaviour, LoopbackModel, answer, failure, page
from tests.cli.run.test_run import REVIEWS, write_experiment
from tests.warm_python import plain_environment, run_warm

# One answer to every question about the last review.
ANSWER = {
    "pairs": [{"term": "staff", "polarity": "positive", "quote": "Lovely"}],
    "judgements": [{"target": "staff", "polarity": "positive", "quote": "Lovely"}],
    "targets": [{"target": "staff", "quote": "Lovely"}],
    "verdicts": [{"target": "staff", "verdict": "keep"}],
    **{key: [] for key in ("risks", "wrong", "decisions", "label_quotes", "add")},
    "label": "positive",
}
_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz0123456789"
_CHANCE = random.Random()  # other keys in every run of the test


def _secret(prefix: str) -> str:
    return prefix + "".join(_CHANCE.choices(_ALPHABET, k=24))


class Left(NamedTuple):
    """What all commands left behind."""

    folder: Path
    runs: Mapping[str, subprocess.CompletedProcess[str]]
    secrets: tuple[str, ...]
    authorizations: frozenset[str]


def _experiment(folder: Path, **backbone: Any) -> Path:
    backbone = {"provider": "openai", "model": "m", "retry_base_s": 0, **backbone}
    return write_experiment(folder, backbone=backbone, experiment={"conditions": ["C1", "C2"], "seeds": [1]})


def _echoing(secrets: tuple[str, ...], address: str) -> LoopbackModel:
    """Return a server that answers one review, and repeats all credentials in each of its responses."""
    said = " ".join(secrets) + f" to {address} with Authorization: Bearer {secrets[0]}"

    def entry(body: dict[str, Any]) -> Behaviour:
        prompt = body["messages"][1]["content"]
        if REVIEWS[0] in prompt:
            return failure(400, f"bad request {said}", Set_Cookie=f"s={secrets[0]}")
        if REVIEWS[1] in prompt:
            return page(f"<title>{said}</title>")
        completion = json.loads(answer(json.dumps(ANSWER | {"note": said})).body) | {"model": f"served-by-{secrets[0]}"}
        return Behaviour(json.dumps(completion).encode())

    return LoopbackModel(entry)


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Left:
    """Run every command that shows or writes something about a backend, with secrets in all of its inputs."""
    folder = tmp_path_factory.mktemp("leak")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    key, login, proxy, database, header = map(_secret, ("sk-", "login", "proxy", "db", "head"))
    secrets = (key, login, proxy, database, header)
    with _echoing(secrets, f"http://ann:{login}@h/v1?api_key={key}") as server:
        address = server.base_url.replace("://", f"://ann:{login}@")
        environment = plain_environment() | {
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": address,
            "HTTP_PROXY": f"http://ann:{proxy}@127.0.0.1:1",
            "DATABASE_URL": f"postgresql://ann:{database}@db.example/absa",
            "OPENAI_CUSTOM_HEADERS": f"X-Tenant: {header}",
            "OPENAI_LOG": "debug",
        }

        def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
            return run_warm(["-m", "episodic_absa", *map(str, arguments)], cwd=elsewhere, env=environment)

        config = _experiment(folder / "served", record="said.jsonl")
        refused = _experiment(folder / "refused", base_url=address)
        out = folder / "served" / "results" / "toy"
        analyze = ("analyze", REVIEWS[2], "--backend", "openai:m")
        runs = {
            "dry run": cli("run", config, "--dry-run", "--json"),
            "run": cli("--verbose", "run", config),
            "check": cli("check", config),
            "report": cli("report", out),
            "verify": cli("verify", out, "--json"),
            "failing analyze": cli("analyze", REVIEWS[0], "--backend", "openai:m"),
            "refused": cli("run", refused),
            "query": cli(*analyze, "--base-url", f"{server.base_url}?api_key={key}"),
            "a key as backend": cli("analyze", REVIEWS[2], "--backend", key),
            "store": cli("analyze", REVIEWS[2], "--condition", "C2", "--store", f"postgresql://ann:{database}@h/db"),
            "out": cli("analyze", REVIEWS[2], "--out", f"https://ann:{database}@h/rows.csv"),
        }
        sent = frozenset(headers.get("authorization", "") for headers in server.headers)
    refused.unlink()
    return Left(folder, runs, secrets, sent)


def test_no_output_of_any_command_holds_a_credential(left: Left) -> None:
    for name, run in left.runs.items():
        for secret in _forms(left.secrets):
            assert secret not in run.stdout + run.stderr, name
    assert "bad request [key] [key] [key] [key] [key] to http://[credentials]@h" in left.runs["failing analyze"].stderr
    assert "OPENAI_BASE_URL" in left.runs["refused"].stderr
    assert "OPENAI_API_KEY" in left.runs["query"].stderr
    for name in ("refused", "query", "store", "out"):
        assert left.runs[name].returncode == 2, name
        assert "Traceback" not in left.runs[name].stderr


def test_no_file_or_name_of_a_file_holds_a_credential(left: Left) -> None:
    paths = [path for path in left.folder.rglob("*") if path.is_file()]
    assert {"manifest.json", "traces.jsonl", "report.html", "integrity.json", "cache.sqlite"} <= {
        path.name for path in paths
    }
    for path in left.folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for secret in _forms(left.secrets):
            assert secret not in str(path)
            assert secret.encode() not in content, path.name
    with sqlite3.connect(next(path for path in paths if path.name == "cache.sqlite")) as cache:
        cached = cache.execute("SELECT CAST(text AS TEXT), model FROM answers").fetchall()
    assert cached
    assert all("[key]" in text and model == "served-by-[key]" for text, model in cached)


def test_the_login_of_the_environment_reaches_the_server_and_no_address(left: Left) -> None:
    login = base64.b64encode(f"ann:{left.secrets[1]}".encode()).decode()
    assert f"Basic {login}" in left.authorizations
    manifest = json.loads(next(left.folder.rglob("manifest.json")).read_text("utf-8"))
    assert manifest["backbone"]["base_url"] is None


def _forms(secrets: tuple[str, ...]) -> list[str]:
    logins = [base64.b64encode(f"ann:{secret}".encode()).decode() for secret in secrets]
    return [*secrets, *(quote(secret, safe="") for secret in secrets), *logins]

"""The researcher's path from an empty folder, by the real commands: init, check, dry run, run, compare, verify."""

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from tests.warm_python import run_warm

# One interpreter for all commands: each start costs as much as the command itself.
_COMMANDS = """
import json, os, sys
import episodic_absa.cli as cli

folder, results = os.getcwd(), []
for place, *arguments in json.loads(sys.argv[1]):
    os.chdir(os.path.join(folder, place))
    sys.argv = ["episodic-absa", *arguments]
    print("\\0", end="")
    try:
        cli.main()
        code = 0
    except SystemExit as error:
        code = error.code
    results.append(code)
print("\\0" + json.dumps(results))
"""


class Session(NamedTuple):
    folder: Path
    codes: dict[str, int]
    shown: dict[str, str]
    told: str


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("empty")
    commands = {
        "init": [".", "init", "my-study"],
        "init again": [".", "init", "my-study"],
        "check": ["my-study", "check", "study.yaml"],
        "dry run": ["my-study", "run", "study.yaml", "--dry-run"],
        "run": ["my-study", "run", "study.yaml", "--out", "elsewhere"],
        "compare": ["my-study", "compare", "elsewhere/my-study", "C2", "C1"],
        "verify": ["my-study", "verify", "elsewhere/my-study"],
    }
    done = run_warm(["-c", _COMMANDS, json.dumps(list(commands.values()))], cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    _, *shown, codes = done.stdout.split("\0")
    names = list(commands)
    return Session(
        folder / "my-study",
        dict(zip(names, json.loads(codes), strict=True)),
        dict(zip(names, shown, strict=True)),
        done.stderr,
    )


def test_every_command_ends_well_and_a_second_init_changes_nothing(session: Session) -> None:
    assert session.codes == {name: 2 if name == "init again" else 0 for name in session.codes}
    assert session.shown["init again"] == ""
    assert "error: my-study holds files already; name a new folder or an empty one\n" in session.told
    assert "Traceback" not in session.told


def test_the_study_has_a_config_a_dataset_and_the_next_commands(session: Session) -> None:
    assert {path.name for path in session.folder.iterdir()} >= {"study.yaml", "reviews.csv", "README.md"}
    for command in ("check study.yaml", "run study.yaml", "compare results/my-study C2 C1"):
        assert f"episodic-absa {command}" in (session.folder / "README.md").read_text("utf-8")
        assert f"episodic-absa {command}" in session.shown["init"]
    config = (session.folder / "study.yaml").read_text("utf-8")
    settings = re.findall(r"(?m)^ *(?:# )?\w+: .+$", config)
    assert len(settings) > 10
    assert [line for line in settings if not re.search(r"  # \w", line)] == []
    assert yaml.safe_load(config)["run_id"] == "my-study"


def test_the_study_passes_the_check_and_is_warned_of_its_few_reviews_alone(session: Session) -> None:
    *lines, verdict = session.shown["check"].splitlines()
    [warning] = [line for line in lines if line.split()[0] != "ok"]
    assert warning.split()[0] == "warning"
    assert "16 reviews" in warning
    assert "all 16 samples have gold: 21 pairs (10 positive, 9 negative, 2 neutral)" in session.shown["check"]
    assert verdict == "my-study (dev) can be run; 1 warning"


def test_the_results_lie_where_the_option_says_and_their_scores_have_an_n(session: Session) -> None:
    assert not (session.folder / "results").exists()
    assert (session.folder / "elsewhere" / "my-study" / "report.html").is_file()
    assert f"results  elsewhere{os.sep}my-study\n" in session.shown["run"]
    rows = {line.split()[0]: line.split() for line in session.shown["run"].splitlines() if line.startswith("C")}
    assert {name: cells[7] for name, cells in rows.items()} == {"C1": "13", "C2": "13"}
    assert "13 reviews" in session.shown["compare"]


def test_verify_finds_data_and_gold_again_from_the_other_folder(session: Session) -> None:
    assert "no check failed" in session.shown["verify"]
    cell = session.folder / "elsewhere" / "my-study" / "C2__order1__seed42"
    results = {entry["check"]: entry["result"] for entry in json.loads((cell / "integrity.json").read_text("utf-8"))}
    assert {results[check] for check in ("data_hashes", "samples", "resources", "cfg_hash")} == {"pass"}


def test_the_manifest_names_the_column_of_the_gold_and_no_text_holds_it(session: Session) -> None:
    cell = session.folder / "elsewhere" / "my-study" / "C2__order1__seed42"
    manifest = json.loads((cell / "manifest.json").read_text("utf-8"))
    assert manifest["gold"]["columns"] == ["gold"]
    assert manifest["gold"]["sha256"] == manifest["dataset"]["sha256"]["valid"]
    assert manifest["cfg_canonical"]["out"] == "elsewhere"
    for name in ("outputs.jsonl", "traces.jsonl", "episodic_store.jsonl"):
        assert "soup:positive" not in (cell / name).read_text("utf-8")

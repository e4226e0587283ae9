import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from episodic_absa.conditions import FLAG_NAMES, load_conditions

Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("source", ["v1_1", "v1_2", "v1_3", "v3_0"])
def test_json_holds_every_flag_of_every_condition(cli: Cli, source: str) -> None:
    told = json.loads(cli("conditions", source, "--json").stdout)
    loaded = load_conditions(source)
    assert told["conditions"] == {
        name: {flag: getattr(condition, flag) for flag in (*FLAG_NAMES, "rules")}
        | {"advice": condition.advice.model_dump(), "pipeline": condition.pipeline.model_dump()}
        for name, condition in loaded.conditions.items()
    }
    assert told["aliases"] == loaded.aliases
    assert told["sha256"] == hashlib.sha256(loaded.path.read_bytes()).hexdigest()


def test_the_default_is_the_default_of_the_library(cli: Cli) -> None:
    assert json.loads(cli("conditions", "--json").stdout)["version"] == load_conditions().version


def test_the_former_name_of_a_file_is_told_in_one_line(cli: Cli) -> None:
    told = cli("conditions", "v2_0", "--json")
    assert (
        told.stderr
        == "warning: conditions v2_0 is called conditions v3_0 now; version 0.4 will not know the old name\n"
    )
    assert json.loads(told.stdout)["version"] == load_conditions("v3_0").version


def test_the_table_is_readable_without_colour_in_80_columns(cli: Cli) -> None:
    shown = cli("conditions", env={"COLUMNS": "80"}).stdout
    lines = shown.splitlines()
    assert max(cell_len(line) for line in lines) <= 80
    table, settings = shown.split("\n\n")[1:3]
    assert "…" not in table
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()[3:]}
    assert list(rows) == list(load_conditions().conditions)
    assert rows["C1"] == ["off", "·", "✓", "·", "·", "·"]
    assert rows["C2"] == ["on", "✓", "·", "✓", "✓", "✓"]
    assert rows["C2_silent"] == ["silent", "✓", "✓", "✓", "·", "·"]
    assert rows["C2_eval_only"] == ["silent", "✓", "✓", "·", "·", "·"]
    assert rows["C2_frozen"] == ["on", "✓", "·", "·", "✓", "✓"]
    assert [row for name, row in rows.items() if not name.startswith("C")] == [rows["C1"]] * 5
    assert [line.split(maxsplit=1)[1] for line in settings.splitlines()] == [
        "conditions  rules v3",
        "advice from random",
        "advice from placebo",
        "advice withhold 0.5",
        "pipeline effort reader",
        "pipeline effort adaptive",
        "pipeline effort stage1",
        "pipeline effort one_call",
        "pipeline effort one_call, votes 5",
    ]
    assert "C3 = C2_silent" in shown
    assert load_conditions().sha256[:12] in shown


def test_the_file_of_a_user_is_shown(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    text = load_conditions("v1_1").path.read_text(encoding="utf-8")
    mine.write_text(text.replace("C2_silent", "quiet"), encoding="utf-8")
    shown = cli("conditions", mine).stdout
    assert "mine.yaml" in shown
    assert "quiet" in shown


def test_a_contradiction_is_one_line_on_stderr(cli: Cli, tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    text = load_conditions("v1_2").path.read_text(encoding="utf-8")
    mine.write_text(text.replace("exposed_to_debate: false", "exposed_to_debate: true"), encoding="utf-8")
    done = cli("conditions", mine)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_the_error_for_a_missing_file_lists_the_shipped_versions(cli: Cli) -> None:
    done = cli("conditions", "v9_9")
    assert done.returncode == 2
    assert "v1_1, v1_2, v1_3" in done.stderr

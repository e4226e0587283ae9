"""A real trial from the run to the commands: tables, `verify`, `compare --by` and `principles`."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.principles.conftest import STRATA, Command
from tests.reports.grid_making import read_lines
from tests.run_copies import change_samples, copied

from episodic_absa.analysis import load_run
from episodic_absa.metrics.statistics import find_unsupported_claims
from episodic_absa.schemas.run_files.question import Question
from episodic_absa.verification import verify

C2_TRIAL = "C2_trial__seed42"
SHADOW = "C1__seed42"


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def helping(trial: Path, tmp_path: Path) -> Path:
    """A copy in which every review has a coin and an open gate, and is right if it saw the principle."""
    grid = copied(trial, tmp_path)
    shadows = {line["uid"]: line for line in read_lines(grid / SHADOW / "scorecards.jsonl")}

    def toss(record: dict[str, Any], card: dict[str, Any]) -> None:
        withheld = record["sample_index"] % 2 == 0
        coins = [{"principle_id": "P-NEG-01", "withheld": withheld}]
        record.setdefault("memory", {}).update(coins=coins, injection_trigger_reasons=["conflict"])
        right = [
            {"aspect_term": pair["aspect_term"], "polarity": pair["polarity"], "confidence": 1.0, "grounding": kind}
            for pair in card["gold_tuples"]
            for kind in ("explicit" if pair["aspect_term"] else "implicit",)
        ]
        record["analysis"]["final_tuples"] = shadows[record["uid"]]["final_tuples"] if withheld else right

    change_samples(grid / C2_TRIAL, toss)
    return grid


def test_a_trial_ends_with_its_tables_and_verify_recomputes_them(trial: Path) -> None:
    strata = rows_of(trial / "strata.csv")
    assert list(dict.fromkeys(row["by"] for row in strata)) == STRATA
    assert {row["exploratory"] for row in strata} == {"false"}
    assert {row["condition"] for row in rows_of(trial / "principles.csv")} == {"C2_trial"}
    verified = verify(trial)
    checks = {result.check: result.result for result in verified.grid}
    assert checks["tables_recomputed"] == "pass"


@pytest.mark.parametrize("by", STRATA)
def test_compare_by_has_the_rows_of_the_table(command: Command, trial: Path, by: str) -> None:
    ended = json.loads(command("compare", trial, "C2_trial", "C1", "--by", by, "--json").stdout)
    table = [row for row in rows_of(trial / "strata.csv") if row["by"] == by]
    assert [(row["stratum"], row["n_uids"]) for row in table] == [
        (row["stratum"], str(row["n_uids"])) for row in ended["strata"]
    ]
    assert (ended["by"], ended["metric"], ended["exploratory"]) == (by, "tuple_f1_explicit", False)
    assert not (trial / "comparisons").exists()


def test_compare_by_says_in_words_whether_the_difference_varies(command: Command, helping: Path) -> None:
    ended = command("compare", helping, "C2_trial", "C1", "--by", "risk")
    assert ended.returncode == 0
    assert ended.stdout.startswith("tuple_f1_explicit, C2_trial minus C1, by risk: ")
    assert "A review may be in several strata" in ended.stdout
    assert "too few" in ended.stdout
    assert find_unsupported_claims(ended.stdout) == ()
    refused = command("compare", helping, "C2_trial", "C1", "--by", "risk", "--detect", "0.1")
    assert (refused.returncode, "do not go with --by" in refused.stderr.replace("\n", " ")) == (2, True)
    unknown = command("compare", helping, "C2_trial", "C1", "--by", "colour")
    assert (unknown.returncode, "language" in unknown.stderr) == (2, True)


def test_a_breakdown_that_nobody_asked_for_is_exploratory(command: Command, helping: Path) -> None:
    question = json.loads((helping / "question.json").read_text("utf-8"))
    question["asked"]["strata"] = ["language"]
    sha256 = Question.model_validate(question).asked.sha256
    for path in helping.glob("*__seed*/manifest.json"):
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "question_sha256": sha256}), "utf-8")
    (helping / "question.json").write_text(json.dumps(question), "utf-8")
    assert "exploratory" not in command("compare", helping, "C2_trial", "C1", "--by", "language").stdout
    ended = command("compare", helping, "C2_trial", "C1", "--by", "domain").stdout
    assert "exploratory: the question names no breakdown by domain" in ended


def test_principles_lists_what_helps(command: Command, helping: Path) -> None:
    ended = command("principles", helping)
    assert ended.stdout.startswith("C2_trial, tuple_f1_explicit. Helps: P-NEG-01. Harms: none. ")
    assert "each minus the same sample under C1" in ended.stdout
    assert find_unsupported_claims(ended.stdout) == ()
    [effect] = json.loads(command("principles", "--json", helping).stdout)["principles"]
    assert (effect["verdict"], effect["shadow"]) == ("helps", "C1")
    assert effect["n_shown"] + effect["n_withheld"] <= 32
    assert effect["ci_low"] > 0
    assert effect["mean_withheld"] == 0
    [alone] = load_run(helping / C2_TRIAL).principle_effects
    assert alone.shadow is None


def test_a_run_without_a_trial_is_refused_with_what_to_do(command: Command, trial: Path) -> None:
    ended = command("principles", trial / SHADOW)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "holds no trial" in ended.stderr
    assert "advice.withhold" in ended.stderr

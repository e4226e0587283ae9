"""Rules v3: `verify` finds every candidate that its witnesses do not carry, and every result that is another one."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.changing_replier import ChangingReplier, erring
from tests.pipeline.decision.test_weighing import voices
from tests.runs.sealed_files import change_records, write_sealed

from episodic_absa.backends.backend import RepairingBackend
from episodic_absa.experiment import run_grid
from episodic_absa.final_tuples import extract_tuples
from episodic_absa.runs.config import load_experiment
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.schemas.run_files.check_result import CheckResult
from episodic_absa.verification import verify

CELL = "C1__seed42"
CONFIG = """
run_id: decided
data: {allowed_roots: [data], valid_file: data/valid.csv}
episodic_memory: {conditions_path: v3_0}
experiment: {conditions: [C1], seeds: [42]}
"""
DROPPED = "The developer is a two-person studio from Ghent."
REFUSED = "화장실이 건물 밖에 있는데 열쇠 받아서 가야 함. 한겨울엔 진짜 비추"
REVIEWS = f"uid,text\ndropped,{DROPPED}\nrefused,{REFUSED}\n"
Line = dict[str, Any]


def drop_twice(role: str, answer: Line, inputs: Any) -> None:
    """Let everybody drop the pair of the first review, which is no target, and one voice alone that of the other."""
    erring({DROPPED: "developer"})(role, answer, inputs)
    if inputs.text == REFUSED and role == "tan" and "targets" in answer:
        answer["targets"] = []


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run under rules v3. The first sample has one made change, which drops its only pair."""
    folder = tmp_path_factory.mktemp("decided")
    (folder / "data").mkdir()
    (folder / "data" / "valid.csv").write_text(REVIEWS, "utf-8")
    (folder / "decided.yaml").write_text(CONFIG, "utf-8")
    backend = RepairingBackend(ChangingReplier(drop_twice))
    asyncio.run(run_grid(load_experiment(folder / "decided.yaml"), use_cache_file=False, backend=backend))
    return folder


@pytest.fixture
def cell(decided: Path, tmp_path: Path) -> Path:
    """A copy of the cell, to be damaged."""
    shutil.copytree(decided, tmp_path / "copy")
    return tmp_path / "copy" / "results" / "decided" / CELL


def checked(cell: Path, change: Callable[[Line], object]) -> dict[str, CheckResult]:
    """Change the analysis of the first sample, and return what `verify` says, by check."""
    change_records(cell, lambda lines: change(lines[1]["analysis"]))
    return {result.check: result for result in verify(cell).cells[CELL]}


def test_a_run_passes_and_has_a_made_and_a_refused_change(cell: Path) -> None:
    outputs = [json.loads(line) for line in (cell / "outputs.jsonl").read_text("utf-8").splitlines()]
    assert [[entry["applied"] for entry in output["patch_log"]] for output in outputs] == [[True], [False]]
    verified = verify(cell)
    assert verified.failures == ()
    results = {result.check: result.result for result in verified.cells[CELL]}
    assert {results[check] for check in ("candidates_decided", "candidates_applied", "label_agrees")} == {"pass"}


def first_of(line: Line) -> Line:
    candidate: Line = line["decision"]["candidates"][0]
    return candidate


def witnessed(words: str, **more: Any) -> Callable[[Line], None]:
    """Let these witnesses alone speak about the first candidate, and give its record other values."""

    def change(line: Line) -> None:
        said = [witness.model_dump(mode="json", exclude_defaults=True) for witness in voices(words)]
        first_of(line).update({"witnesses": said, **more})

    return change


def candidates_of(change: Callable[[list[Line]], object]) -> Callable[[Line], object]:
    return lambda line: change(line["decision"]["candidates"])


class Damage(NamedTuple):
    name: str
    change: Callable[[Line], object]
    found: str
    is_law: bool = True
    """Whether a run with other weights is found wrong, too."""


OTHER: Line = {"polarity": "neutral", "p": 0.99, "is_in": True, "reason": "likely"}
UNDECIDED = [
    Damage("a candidate stands twice", candidates_of(lambda held: held.extend(held)), "a candidate stands twice"),
    Damage(
        "a witness stands twice",
        lambda line: first_of(line)["witnesses"].extend(first_of(line)["witnesses"]),
        "a witness of candidate 1 stands twice",
    ),
    Damage("the record of the candidates is gone", lambda line: line.pop("decision"), "no record of its candidates"),
    Damage("one agent adds a pair", witnessed("tan+", is_in=True, reason="likely", p=0.9), "one_agent"),
    Damage(
        "an added term has no place",
        lambda line: (witnessed("tan+ review+", is_in=True, reason="likely", p=0.9)(line), first_of(line).pop("span")),
        "not_in_text",
    ),
    Damage(
        "a term has two polarities",
        lambda line: (
            witnessed("stage1+", is_in=True, reason="likely", p=0.9)(line),
            line["decision"]["candidates"].append({**first_of(line), **OTHER}),
        ),
        "other_polarity",
    ),
    Damage("what nobody doubts is out", witnessed("stage1+", p=0.9), "its witnesses say in"),
    Damage("an unlikely pair is in", lambda line: first_of(line).update(is_in=True, reason="likely"), "say out"),
    Damage("the probability is another one", lambda line: first_of(line).update(p=0.001), "p 0.001", is_law=False),
]


@pytest.mark.parametrize("damage", UNDECIDED, ids=[damage.name for damage in UNDECIDED])
def test_a_decision_that_does_not_follow_from_its_witnesses_is_found_when(damage: Damage, cell: Path) -> None:
    result = checked(cell, damage.change)["candidates_decided"]
    assert result.result == "fail"
    assert damage.found in result.detail
    manifest = json.loads((cell / "manifest.json").read_bytes())
    write_sealed(cell / "manifest.json", {**manifest, "decision_sha256": "0" * 64})
    by_laws = {result.check: result for result in verify(cell).cells[CELL]}
    assert by_laws["resources"].result == "fail"
    assert by_laws["candidates_decided"].result == ("fail" if damage.is_law else "pass")


@pytest.mark.parametrize(
    "said",
    [
        {"outcome": "contradicted", "outcome_by": "reader"},
        {"outcome": "confirmed", "outcome_by": "referee"},
        {"outcome": "confirmed", "outcome_by": None},
    ],
)
def test_an_outcome_that_nobody_gave_is_found(said: Line, cell: Path) -> None:
    assert {result.result for result in verify(cell).cells[CELL] if result.check == "outcomes_decided"} == {"pass"}
    assert checked(cell, lambda line: first_of(line).update(said))["outcomes_decided"].result == "fail"


def keep_pair(line: Line) -> None:
    sentiments = (SentimentItem.model_validate(item) for item in line["stage1"]["atsa"]["sentiments"])
    line["final_tuples"] = [pair.model_dump(mode="json", exclude_defaults=True) for pair in extract_tuples(sentiments)]


UNAPPLIED = [
    Damage("a made change is not applied", keep_pair, "final tuples"),
    Damage("a pair changed without a candidate", lambda line: line["decision"].update(candidates=[]), "selected_stage"),
    Damage(
        "stage1 is selected", lambda line: line["moderator"].update(selected_stage="stage1"), "candidates say stage2"
    ),
]


@pytest.mark.parametrize("damage", UNAPPLIED, ids=[damage.name for damage in UNAPPLIED])
def test_pairs_that_the_candidates_do_not_explain_are_found_when(damage: Damage, cell: Path) -> None:
    result = checked(cell, damage.change)["candidates_applied"]
    assert result.result == "fail"
    assert damage.found in result.detail


def test_a_label_beside_pairs_must_be_theirs(cell: Path) -> None:
    def label(line: Line) -> None:
        keep_pair(line)
        line["moderator"].update(final_label="mixed")

    result = checked(cell, label)["label_agrees"]
    assert (result.result, "its pairs say" in result.detail) == ("fail", True)


@pytest.mark.parametrize("found", ["decision", "reader"])
def test_a_manifest_with_other_weights_or_another_reader_is_found(found: str, cell: Path) -> None:
    manifest = json.loads((cell / "manifest.json").read_bytes())
    write_sealed(cell / "manifest.json", {**manifest, f"{found}_sha256": "0" * 64})
    failed = {result.check: result.detail for _, result in verify(cell).failures}
    assert failed == {"resources": f"{found}: not as in the run"}

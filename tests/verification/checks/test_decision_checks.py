"""Rules v3: `verify` finds every change that its witnesses do not carry, and every pair that no change explains."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.changing_replier import ChangingReplier, erring
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
SPAN = {"start": 0, "end": 6}
Line = dict[str, Any]


def drop_twice(role: str, answer: Line, inputs: Any) -> None:
    """Let everybody drop the pair of the first review, which is no target, and one voice alone that of the other."""
    erring({DROPPED: "developer"})(role, answer, inputs)
    if inputs.text == REFUSED and role == "tan" and "targets" in answer:
        answer["targets"] = []


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run under rules v3. The first sample has one adopted change, which drops its only pair."""
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


def test_a_run_passes_and_has_an_adopted_and_a_refused_change(cell: Path) -> None:
    outputs = [json.loads(line) for line in (cell / "outputs.jsonl").read_text("utf-8").splitlines()]
    assert [change["adopted"] for output in outputs for change in output["changes"]] == [True, False]
    verified = verify(cell)
    assert verified.failures == ()
    results = {result.check: result.result for result in verified.cells[CELL]}
    assert {results[check] for check in ("changes_decided", "changes_applied", "label_agrees")} == {"pass"}


def witnessed(
    *names: str, against: tuple[str, ...] = (), p: float | None = None, **more: Any
) -> Callable[[Line], None]:
    """Let these witnesses alone be for the change, and give its record other values."""

    def change(line: Line) -> None:
        record = line["changes"][0]
        for witness in record["witnesses"]:
            stance = "for" if witness["who"] in names else "against" if witness["who"] in against else "silent"
            witness.update(stance=stance, quote="", at_home=False, p=p if witness["who"] == "reader" else None)
        record.update({"score": float(len(names) - len(against)), **more})

    return change


def beside(**more: Any) -> Callable[[Line], None]:
    """Put another adopted change with the same witnesses beside the first."""

    def change(line: Line) -> None:
        witnessed("tan", "cj", "judge", "reader", p=0.8)(line)
        line["changes"].append({**line["changes"][0], "change_id": "chg_009", **more})

    return change


def name_twice(line: Line) -> None:
    witnesses = line["changes"][0]["witnesses"]
    witnesses.append(witnesses[0])


class Damage(NamedTuple):
    name: str
    change: Callable[[Line], object]
    found: str
    is_law: bool = True
    """Whether a run with another table is found wrong, too."""


FLIP: Line = {"kind": "flip", "from_polarity": "positive", "to_polarity": "negative"}
ADD: Line = {"kind": "add", "from_polarity": None, "to_polarity": "negative"}
UNDECIDED = [
    Damage("a change id stands twice", lambda line: line["changes"].extend(line["changes"]), "id stands twice"),
    Damage("a witness stands twice", name_twice, "a witness of chg_001 stands twice"),
    Damage("the record of the changes is gone", lambda line: line.pop("changes"), "no record of its changes"),
    Damage("one witness is enough", witnessed("tan"), "one_witness"),
    Damage("a flip has no judge", witnessed("review", "tan", **FLIP), "no_judge_nor_two_speakers"),
    Damage("a flip has no polarity", witnessed("judge", "tan", **FLIP | {"to_polarity": None}), "no_polarity"),
    Damage("an added term has no place", witnessed("reader", "tan", p=0.8, **ADD), "not_in_text"),
    Damage("a sure reader is against", witnessed("tan", "judge", against=("reader",), p=0.95), "sure_reader_against"),
    Damage("a drop and its opposite", beside(**ADD, to_span=SPAN), "creates_conflict"),
    Damage("two changes of one pair", beside(**FLIP), "outweighed"),
    Damage(
        "a refused change is adopted", lambda line: line["changes"][0].update(reason="score_too_low"), "adopted (score"
    ),
    Damage(
        "a law that allows the change refuses it",
        lambda line: line["changes"][0].update(adopted=False, reason="one_witness"),
        "refused (one_witness",
    ),
    Damage("the table has no such row", witnessed("cj", "judge"), "score_too_low", is_law=False),
    Damage("the score is another one", lambda line: line["changes"][0].update(score=9.0), "score 9", is_law=False),
]


@pytest.mark.parametrize("damage", UNDECIDED, ids=[damage.name for damage in UNDECIDED])
def test_a_decision_that_does_not_follow_from_its_witnesses_is_found_when(damage: Damage, cell: Path) -> None:
    result = checked(cell, damage.change)["changes_decided"]
    assert result.result == "fail"
    assert damage.found in result.detail
    manifest = json.loads((cell / "manifest.json").read_bytes())
    write_sealed(cell / "manifest.json", {**manifest, "adoption_sha256": "0" * 64})
    by_laws = {result.check: result for result in verify(cell).cells[CELL]}
    assert by_laws["resources"].result == "fail"
    assert by_laws["changes_decided"].result == ("fail" if damage.is_law else "pass")
    assert (damage.found in by_laws["changes_decided"].detail) is damage.is_law


@pytest.mark.parametrize(
    ("said", "check"),
    [
        ({"outcome": "contradicted", "outcome_by": "reader"}, "outcomes_decided"),
        ({"outcome": "confirmed", "outcome_by": "referee"}, "outcomes_decided"),
        ({"outcome": "confirmed", "outcome_by": None}, "outcomes_decided"),
    ],
)
def test_an_outcome_that_nobody_gave_is_found(said: Line, check: str, cell: Path) -> None:
    assert {result.result for result in verify(cell).cells[CELL] if result.check == check} == {"pass"}
    assert checked(cell, lambda line: line["changes"][0].update(said))[check].result == "fail"


def keep_pair(line: Line) -> None:
    sentiments = (SentimentItem.model_validate(item) for item in line["stage1"]["atsa"]["sentiments"])
    line["final_tuples"] = [pair.model_dump(mode="json", exclude_defaults=True) for pair in extract_tuples(sentiments)]


UNAPPLIED = [
    Damage("an adopted change is not applied", keep_pair, "final tuples"),
    Damage("a pair changed without a change", lambda line: line.update(changes=[]), "selected_stage"),
    Damage(
        "stage1 is selected", lambda line: line["moderator"].update(selected_stage="stage1"), "the changes say stage2"
    ),
    Damage(
        "a refused change is applied",
        lambda line: (
            line["changes"][0].update(adopted=False, reason="score_too_low"),
            line["moderator"].update(selected_stage="stage1"),
        ),
        "final tuples",
    ),
]


@pytest.mark.parametrize("damage", UNAPPLIED, ids=[damage.name for damage in UNAPPLIED])
def test_pairs_that_the_changes_do_not_explain_are_found_when(damage: Damage, cell: Path) -> None:
    result = checked(cell, damage.change)["changes_applied"]
    assert result.result == "fail"
    assert damage.found in result.detail


def test_a_pair_that_nobody_changed_keeps_its_confidence(cell: Path) -> None:
    def unchange(line: Line) -> None:
        keep_pair(line)
        line.update(changes=[])
        line["moderator"].update(selected_stage="stage1")

    assert checked(cell, unchange)["changes_applied"].result == "pass"
    doubted = checked(cell, lambda line: line["final_tuples"][0].update(confidence=0.123))
    assert doubted["changes_applied"].result == "fail"


def test_a_label_without_pairs_must_be_that_of_the_text(cell: Path) -> None:
    result = checked(cell, lambda line: line["moderator"].update(final_label="mixed"))["label_agrees"]
    assert (result.result, "without pairs" in result.detail) == ("fail", True)


@pytest.mark.parametrize("found", ["adoption", "reader"])
def test_a_manifest_with_another_table_or_reader_is_found(found: str, cell: Path) -> None:
    manifest = json.loads((cell / "manifest.json").read_bytes())
    write_sealed(cell / "manifest.json", {**manifest, f"{found}_sha256": "0" * 64})
    failed = {result.check: result.detail for _, result in verify(cell).failures}
    assert failed == {"resources": f"{found}: not as in the run"}

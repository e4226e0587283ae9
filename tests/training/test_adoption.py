"""Fitting adoption rules: what counts as right, folds by text, and the file that is written."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline import builders

TRAINING = Path(__file__).resolve().parents[2] / "training"
sys.path.insert(0, str(TRAINING))

import adoption  # noqa: E402 - the folder is no package: it is run, not installed
from adoption import FOLDS, Recorded, Result, choose, combination, fold_of, worth  # noqa: E402

from episodic_absa.pipeline.decision import (  # noqa: E402
    WITNESSES,
    adopt,
    load_adoption_rules,
)
from episodic_absa.schemas.run_files.change_record import ChangeRecord  # noqa: E402

b: Any = builders
RULES = load_adoption_rules()
STAGE1 = b.stage1_of(
    [b.aspect("food"), b.aspect("service")], [b.sentiment("food", "positive"), b.sentiment("service", "negative")]
)


def change(kind: str, term: str, old: str | None = None, new: str | None = None, **stances: str) -> ChangeRecord:
    return ChangeRecord.model_validate(
        {
            "change_id": "chg_001",
            "kind": kind,
            "aspect_term": term,
            "from_polarity": old,
            "to_polarity": new,
            "to_span": b.span_of(term) if kind == "add" else None,
            "witnesses": [{"who": who, "stance": stances.get(who, "silent")} for who in WITNESSES],
            "score": 0.0,
            "adopted": False,
            "reason": "score_too_low",
        }
    )


def sample(*gold: tuple[Any, Any], uid: str = "u1", changes: tuple[ChangeRecord, ...] = ()) -> Recorded:
    return Recorded(uid, STAGE1, changes, frozenset(gold))


@pytest.mark.parametrize(
    ("proposed", "gold", "expected"),
    [
        (change("flip", "food", "positive", "negative"), [("food", "negative")], 2.0),
        (change("flip", "food", "positive", "negative"), [("food", "positive")], -2.0),
        (change("flip", "food", "positive", "negative"), [("food", "neutral")], 0.0),
        (change("drop", "food", "positive"), [], 0.5),
        (change("drop", "food", "positive"), [("food", "positive")], -1.5),
        (change("add", "price", None, "positive"), [("price", "positive")], 1.5),
        (change("add", "price", None, "positive"), [("price", "negative")], -0.5),
    ],
)
def test_a_change_is_worth_what_it_adds_to_f1(proposed: ChangeRecord, gold: Any, expected: float) -> None:
    assert worth(proposed, sample(*gold), 0.5) == pytest.approx(expected)


def test_a_combination_names_who_spoke() -> None:
    assert combination(change("drop", "food", "positive", tan="for", judge="against")) == "tan+ judge-"


def test_texts_fall_into_every_fold_and_always_into_the_same() -> None:
    assert {fold_of(f"u{number}") for number in range(100)} == set(range(FOLDS))
    assert fold_of("u1") == fold_of("u1")


def test_the_simplest_form_within_the_tolerance_is_chosen() -> None:
    def result(form: str, f1: float) -> Result:
        return Result(form, f1, 0.0, 0.0, 0.0, 0, 0)

    assert choose([result("given", 0.499), result("table", 0.5), result("weights", 0.5005)]) == "given"
    assert choose([result("given", 0.49), result("table", 0.5), result("weights", 0.5005)]) == "table"
    assert choose([result("given", 0.49), result("table", 0.49), result("weights", 0.5)]) == "weights"


def recorded_run(folder: Path) -> tuple[Path, Path]:
    """Write a run in which CJ and the reader are right about drops, and TAN and the review wrong."""
    outputs, golds = [], []
    for number in range(60):
        uid = f"u{number}"
        food_is_right = number % 2 == 0
        voices = {"tan": "for", "review": "for"} if food_is_right else {"cj": "for", "reader": "for"}
        proposed = change("drop", "food", "positive", **voices)
        gold = [{"aspect_term": "service", "polarity": "negative"}]
        gold += [{"aspect_term": "food", "polarity": "positive"}] if food_is_right else []
        stage1 = STAGE1.model_dump(mode="json") | {"unmatched_sentiment": []}
        outputs.append({"uid": uid, "status": "ok", "stage1": stage1, "changes": [proposed.model_dump(mode="json")]})
        golds.append({"uid": uid, "gold_tuples": gold})
    outputs.append({"uid": "failed", "status": "error", "error": {"type": "timeout", "stage": "ate"}})
    outputs.append(outputs[0] | {"uid": "without_gold"})
    outputs.append(outputs[0] | {"uid": "unscorable"})
    golds.append({"uid": "unscorable", "gold_tuples": [{"aspect_term": "food", "polarity": "conflict"}]})
    paths = (folder / "outputs.jsonl", folder / "gold.jsonl")
    for path, lines in zip(paths, (outputs, golds), strict=True):
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return paths


def test_a_run_is_read_without_failures_and_what_cannot_be_scored(tmp_path: Path) -> None:
    samples = adoption.read_run(*recorded_run(tmp_path))
    assert [item.uid for item in samples] == [f"u{number}" for number in range(60)]
    assert samples[1].gold == {("service", "negative")}


@pytest.mark.parametrize("fit", [adoption.fit_table, adoption.fit_weights])
def test_both_forms_learn_whom_to_trust(fit: Any, tmp_path: Path) -> None:
    samples = adoption.read_run(*recorded_run(tmp_path))
    rules = fit(samples, RULES)
    right = change("drop", "food", "positive", cj="for", reader="for")
    wrong = change("drop", "food", "positive", tan="for", review="for")
    assert adopt(right, right.witnesses, rules).adopted
    assert not adopt(wrong, wrong.witnesses, rules).adopted
    result = adoption.cross_validate("form", fit, samples, RULES)
    assert (result.right_n, result.wrong_n) == (30, 0)
    assert result.f1 == pytest.approx(1.0)
    assert 0 < result.low <= result.delta <= result.high


def test_the_command_prints_the_measurements_and_writes_a_file_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs, gold = recorded_run(tmp_path)
    out = tmp_path / "rules.yaml"
    adoption.main(["--run", str(outputs), str(gold), "--out", str(out)])
    printed = capsys.readouterr().out
    assert "drop: 30 right, 30 wrong, 0 idle" in printed
    assert "60 samples, Stage1 F1 0.8571" in printed
    assert "chosen: table" in printed
    written = load_adoption_rules(out)
    assert written.form == "table"
    assert written.reader == RULES.reader
    assert written.table["drop"]
    assert not written.table["flip"]


def test_weights_are_written_and_read_alike(tmp_path: Path) -> None:
    rules = adoption.fit_weights(adoption.read_run(*recorded_run(tmp_path)), RULES)
    path = tmp_path / "weights.yaml"
    adoption.write_rules(rules, path)
    assert load_adoption_rules(path) == rules
    nothing = adoption.fit_weights([], RULES)
    proposed = change("flip", "food", "positive", "negative", judge="for", epm="for")
    assert not adopt(proposed, proposed.witnesses, nothing).adopted


def test_runs_without_common_uids_are_refused(tmp_path: Path) -> None:
    outputs, gold = recorded_run(tmp_path)
    gold.write_text('{"uid": "other", "gold_tuples": []}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match="uids"):
        adoption.main(["--run", str(outputs), str(gold)])

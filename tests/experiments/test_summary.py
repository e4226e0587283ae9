import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiments.experiment_config import load_experiment
from episodic_absa.experiments.runner import GridProgress, run_grid
from episodic_absa.experiments.summary import (
    compute_f1_explicit,
    load_summary,
    mean_over_seeds,
    summarise_cell,
)
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.scorecard import Scorecard, UsageSums
from episodic_absa.vocabulary import Polarity

Pairs = Sequence[tuple[str, Polarity]]


def make_card(
    found: Pairs,
    gold: Pairs | None,
    *,
    backfilled: Pairs = (),
    status: Literal["ok", "error"] = "ok",
    **more: Any,
) -> Scorecard:
    tuples = [(pair, False) for pair in found] + [(pair, True) for pair in backfilled]
    return Scorecard(
        run_id="toy",
        uid="u",
        sample_index=0,
        status=status,
        condition="C1",
        memory_mode="off",
        seed=1,
        language_code="en",
        split="valid",
        domain_id="d",
        case_type="c",
        cfg_hash="0" * 64,
        final_tuples=tuple(
            FinalTuple(
                aspect_term=term,
                polarity=polarity,
                confidence=0.5,
                grounding="explicit" if term else "implicit",
                is_backfilled=is_backfilled,
            )
            for (term, polarity), is_backfilled in tuples
        ),
        gold_tuples=None if gold is None else tuple(GoldTuple(aspect_term=t, polarity=p) for t, p in gold),
        **more,
    )


def test_f1_pools_explicit_pairs_over_samples() -> None:
    cards = [
        make_card([("Food", "positive"), ("staff", "negative")], [("food ", "positive")]),
        make_card([("room", "negative")], [("room", "positive"), ("bed", "positive"), ("", "negative")]),
    ]
    # 1 of 3 predictions and 1 of 3 gold pairs meet.
    assert compute_f1_explicit(cards) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "left_out",
    [
        make_card([("food", "negative")], None),
        make_card([("food", "negative")], []),
        make_card([("food", "negative")], [("", "positive")]),
        make_card([], [("food", "positive")], status="error"),
        make_card([("food", "negative")], [("food", "positive")]).model_copy(
            update={"gold_tuples": (GoldTuple(aspect_term="food", polarity=None),)}
        ),
    ],
    ids=["no gold", "no opinion", "implicit gold", "failed", "gold without polarity"],
)
def test_samples_without_usable_explicit_gold_do_not_count(left_out: Scorecard) -> None:
    assert compute_f1_explicit([left_out]) is None
    assert compute_f1_explicit([left_out, make_card([("food", "positive")], [("food", "positive")])]) == 1.0


def test_implicit_predictions_and_backfills_are_no_explicit_predictions() -> None:
    card = make_card([("", "negative")], [("food", "neutral")], backfilled=[("food", "neutral")])
    assert compute_f1_explicit([card]) == 0.0
    assert compute_f1_explicit([card], count_backfilled=True) == 1.0


def test_a_mean_with_an_unknown_cost_is_unknown() -> None:
    known = summarise_cell("C1", 1, [make_card([], None, usage=UsageSums(calls=10, cost_usd=0.5))])
    unknown = summarise_cell("C1", 2, [make_card([], None, usage=UsageSums(calls=20, cost_usd=None))])
    mean = mean_over_seeds([known, unknown])
    assert (mean.seeds, mean.calls, mean.cost_usd) == ((1, 2), 15, None)
    assert mean_over_seeds([known, known]).cost_usd == 0.5


def test_a_grid_is_summarised_from_its_files_and_progress_agrees(tmp_path: Path) -> None:
    (tmp_path / "valid.csv").write_text("uid,text\na,The food is great.\nb,The service is not good.\n")
    (tmp_path / "experiment.yaml").write_text(
        yaml.safe_dump(
            {
                "run_id": "toy",
                "data": {"allowed_roots": ["."], "valid_file": "valid.csv"},
                "experiment": {"conditions": ["C1", "C2"], "seeds": [1, 2]},
            }
        )
    )
    config = load_experiment(tmp_path / "experiment.yaml")
    with pytest.raises(RunDirectoryError, match="run the experiment first"):
        load_summary(config)
    progress = asyncio.run(run_grid(config, progress=GridProgress()))
    summary = load_summary(config)
    assert [(cell.condition, cell.seed) for cell in summary.cells] == [("C1", 1), ("C1", 2), ("C2", 1), ("C2", 2)]
    assert [one.condition for one in summary.conditions] == ["C1", "C2"]
    for cell in summary.cells:
        shown = progress.cells[f"{cell.condition}__seed{cell.seed}"]
        counted = (shown.done, shown.failed, shown.shown, shown.changed, shown.stored)
        assert (cell.samples, cell.failed, cell.memory_shown, cell.changed, cell.stored) == counted
        assert (cell.calls, cell.f1_explicit_preview) == (20, None)
    assert progress.requests().sent_n == 0

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from episodic_absa.analysis import (
    load_summary,
    mean_over_seeds,
    summarise_cell,
)
from episodic_absa.errors import RunDirectoryError
from episodic_absa.experiment import run_grid
from episodic_absa.runs.config import all_cells, load_experiment
from episodic_absa.runs.progress import GridProgress
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.run_files.scorecard import Scorecard, UsageSums
from episodic_absa.vocabulary import Polarity

Pairs = Sequence[tuple[str, Polarity]]


def make_card(found: Pairs, gold: Pairs | None, **more: Any) -> Scorecard:
    return Scorecard(
        run_id="toy",
        uid="u",
        sample_index=0,
        status="ok",
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
            )
            for term, polarity in found
        ),
        gold_tuples=None if gold is None else tuple(GoldTuple(aspect_term=t, polarity=p) for t, p in gold),
        **more,
    )


def test_the_score_is_the_primary_metric_a_mean_over_samples() -> None:
    cards = [
        make_card([("Food", "positive"), ("staff", "negative")], [("food ", "positive")]),
        make_card([("room", "negative")], [("room", "positive"), ("", "negative")]),
        make_card([("room", "negative")], None),
    ]
    assert summarise_cell("C1", 1, cards).tuple_f1_explicit == pytest.approx((2 / 3 + 0) / 2)
    assert summarise_cell("C1", 1, cards[2:]).tuple_f1_explicit is None


def test_a_mean_with_an_unknown_cost_is_unknown() -> None:
    known = summarise_cell("C1", 1, [make_card([], None, usage=UsageSums(calls=10, cost_usd=0.5))])
    unknown = summarise_cell("C1", 2, [make_card([], None, usage=UsageSums(calls=20, cost_usd=None))])
    mean = mean_over_seeds([known, unknown])
    assert (mean.seeds, mean.calls, mean.cost_usd) == ((1, 2), 15, None)
    assert mean_over_seeds([known, known]).cost_usd == 0.5


def test_a_grid_is_summarised_from_its_files_and_progress_agrees(tmp_path: Path) -> None:
    texts = ("The food is great.", "The developer is a two-person studio from Ghent.")
    rows = "".join(f"{uid},{text}\n" for uid, text in zip("ab", texts, strict=True))
    (tmp_path / "valid.csv").write_text(f"uid,text\n{rows}")
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
    names = [cell.name for cell in all_cells(config)]
    with pytest.raises(RunDirectoryError, match="run the experiment first"):
        load_summary(config.out_dir, names)
    progress = asyncio.run(run_grid(config, progress=GridProgress())).progress
    summary = load_summary(config.out_dir, names)
    assert [(cell.condition, cell.seed) for cell in summary.cells] == [("C1", 1), ("C1", 2), ("C2", 1), ("C2", 2)]
    assert [row.condition for row in summary.conditions] == ["C1", "C2"]
    for cell in summary.cells:
        shown = progress.cells[f"{cell.condition}__seed{cell.seed}"]
        counted = (shown.done, shown.failed, shown.shown, shown.changed, shown.stored)
        assert (cell.samples, cell.failed, cell.memory_shown, cell.changed, cell.stored) == counted
        assert (cell.calls, cell.tuple_f1_explicit) == (
            8 + 9,
            None,
        )  # the second review is changed, and asked about once more
    assert progress.requests().sent_n == 0
    assert summary.baseline is None  # without gold there is no majority

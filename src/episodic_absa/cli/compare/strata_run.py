"""Runs `compare --by`: loads two sides, compares them stratum by stratum, and prints the table."""

from collections.abc import Sequence
from pathlib import Path

from episodic_absa.analysis.comparability import incomparabilities, require_pairs
from episodic_absa.analysis.compared_runs import load_sides
from episodic_absa.analysis.paired_comparison import count_backfilled_on_both, exploratory_of
from episodic_absa.analysis.strata import StratumRow, read_structures, stratum_rows, value_metric
from episodic_absa.cli.compare.strata_view import ComparedStrata, strata_view
from episodic_absa.cli.output import print_json, show
from episodic_absa.metrics.statistics import RESAMPLES, SEED
from episodic_absa.metrics.statistics.comparison import PRIMARY
from episodic_absa.runs.question import is_exploratory, load_question
from episodic_absa.vocabulary import StratumName

_OF_THE_TABLE = ("a", "b", "by", "metric", "interaction_p", "overlapping", "exploratory")


def compare_strata(places: Sequence[Path], *, by: StratumName, seed: int | None, as_json: bool) -> None:
    """Compare two sides within the strata of their reviews, and print the table.

    Raises:
        RunDirectoryError: a side cannot be read, or the sides have no sample in common.
    """
    a, b = load_sides(places)
    require_pairs(a, b)
    question = load_question(a.grid) if a.grid == b.grid else None
    rows = stratum_rows(
        a.name,
        a.cards,
        b.name,
        b.cards,
        by=by,
        structures=read_structures((*b.cells, *a.cells), {card.uid for card in b.cards}) if by == "structure" else None,
        metric=value_metric(question.asked.primary_metric if question else PRIMARY),
        count_backfilled=count_backfilled_on_both(a, b),
        seed=SEED if seed is None else seed,
    )
    exploratory = exploratory_of(a, b)
    if question is not None and is_exploratory(question, stratum=by):
        exploratory = (*exploratory, f"the question names no breakdown by {by}")
    compared = ComparedStrata(a.name, b.name, by, rows, exploratory=exploratory, warnings=incomparabilities(a, b))
    if as_json:
        print_json({**_json(compared), "seed": SEED if seed is None else seed, "resamples": RESAMPLES})
    else:
        show(strata_view(compared))


def _json(compared: ComparedStrata) -> dict[str, object]:
    return {
        "a": compared.a,
        "b": compared.b,
        "by": compared.by,
        "metric": compared.metric,
        "strata": [_stratum_json(row) for row in compared.rows],
        "interaction_p": compared.interaction_p,
        "overlapping": compared.is_overlapping,
        "exploratory": bool(compared.exploratory),
        "exploratory_because": list(compared.exploratory),
        "warnings": list(compared.warnings),
    }


def _stratum_json(row: StratumRow) -> dict[str, object]:
    return {name: value for name, value in row.model_dump(mode="json").items() if name not in _OF_THE_TABLE}

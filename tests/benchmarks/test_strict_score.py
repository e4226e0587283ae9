"""The strict score of the benchmarks: explicit pairs, term and polarity both equal."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from strict_score import StrictScore, explicit_pairs, strict_score

GOLD: tuple[list[tuple[str, str]], ...] = (
    [("Food", "positive"), ("staff", "negative"), ("", "neutral")],
    [("방", "positive")],
    [],
)


def pairs(*opinions: tuple[str, str]) -> set[tuple[str, str]]:
    rows: list[dict[str, Any]] = [{"aspect_term": term, "polarity": polarity} for term, polarity in opinions]
    return explicit_pairs(rows)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (GOLD, (1, 1, 1, 1, 1)),
        (
            ([("food.", "positive"), ("staff", "positive")], [], [("tea", "neutral")]),
            (1 / 3, 1 / 3, 1 / 3, 2 / 3, 1 / 2),
        ),
        (([("", "neutral")], [("직원", "positive")], []), (0, 0, 0, 0, None)),
        (([], [], []), (0, 0, 0, 0, None)),
    ],
)
def test_scores_pool_explicit_pairs_over_all_texts(
    found: tuple[list[tuple[str, str]], ...], expected: tuple[float | None, ...]
) -> None:
    score = strict_score([pairs(*text) for text in GOLD], [pairs(*text) for text in found])
    assert score.rounded() == StrictScore(*expected).rounded()  # type: ignore[arg-type]

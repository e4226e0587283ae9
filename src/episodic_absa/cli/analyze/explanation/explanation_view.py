"""The page of `analyze --explain`: the result of one review, then every stage in the order it ran."""

from collections.abc import Callable, Iterable
from typing import Final

from rich.console import ConsoleRenderable, Group
from rich.constrain import Constrain
from rich.text import Text

from episodic_absa.cli.analyze.analysis_view import analysis_parts
from episodic_absa.cli.analyze.explanation.candidates_section import candidate_rows
from episodic_absa.cli.analyze.explanation.debate_section import debate_rows
from episodic_absa.cli.analyze.explanation.decision_sections import (
    adoption_rows,
    call_rows,
    moderator_rows,
    store_rows,
)
from episodic_absa.cli.analyze.explanation.memory_section import memory_rows
from episodic_absa.cli.analyze.explanation.patch_section import patch_rows
from episodic_absa.cli.analyze.explanation.row_layout import Row, section
from episodic_absa.cli.analyze.explanation.stage1_section import stage1_rows
from episodic_absa.cli.analyze.explanation.stage2_section import stage2_rows
from episodic_absa.cli.output import PAGE_WIDTH
from episodic_absa.pipeline.sample_result import SampleResult

_SECTIONS: Final[dict[str, Callable[[SampleResult], Iterable[Row]]]] = {
    "Stage1": stage1_rows,
    "Memory": memory_rows,
    "Debate": debate_rows,
    "Stage2": stage2_rows,
    "Candidates": candidate_rows,
    "Patch and override": patch_rows,
    "Adoption": adoption_rows,
    "Moderator": moderator_rows,
    "Store": store_rows,
    "Calls": call_rows,
}
"""Each title of the page, and the function that returns its rows. A section without rows is left out."""


def explanation_view(result: SampleResult, *, number: int | None = None) -> ConsoleRenderable:
    """Lay out one review: its result first, then a section per stage.

    Args:
        result: the result of the review.
        number: the number of the review if there are several.
    """
    parts = analysis_parts(result, number=number)
    for title, rows_of in _SECTIONS.items():
        if rows := list(rows_of(result)):
            parts += section(title, rows)
    return Constrain(Group(*parts, Text()), PAGE_WIDTH)

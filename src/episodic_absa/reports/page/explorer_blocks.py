"""The explorer's data as it lies in the page: one index to search and filter, and details in blocks of reviews."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from episodic_absa.reports.data.report_data import CellSample, Explorer, IndexRow, ReviewEntry
from episodic_absa.reports.page.embedded_data import packed
from episodic_absa.serialization.canonical_json import canonical_json

REVIEWS_PER_BLOCK: Final = 50
# In this order they are the bits of a sample's flags; the script reads the names from the index.
_FLAGS: Final = ("failed", "changed", "fixed", "broken", "retrieved", "injected", "blocked", "right", "has_gold")


class ExplorerBlocks(NamedTuple):
    """What the page holds: what is searched and filtered, and what is opened."""

    search: Markup
    details: tuple[Markup, ...]


def build_blocks(explorer: Explorer, *, with_text: bool) -> ExplorerBlocks:
    """Pack the index, and the details fifty reviews at a time: opening one sample unpacks one block."""
    search: dict[str, Any] = {
        "cells": [[one.condition, one.seed] for one in explorer.cells],
        "first": list(explorer.first),
        "flags": list(_FLAGS),
        "per": REVIEWS_PER_BLOCK,
        "rows": [_index_row(review) for review in explorer.reviews],
        "text": with_text,
    }
    blocks = tuple(packed(_block(part)) for part in _parts(explorer.reviews))
    return ExplorerBlocks(packed(canonical_json(search)), blocks)


def _parts(reviews: Sequence[ReviewEntry]) -> Iterator[Sequence[ReviewEntry]]:
    for start in range(0, len(reviews), REVIEWS_PER_BLOCK):
        yield reviews[start : start + REVIEWS_PER_BLOCK]


def _index_row(review: ReviewEntry) -> list[Any]:
    answers = _numbered(cell.index.answer if cell else None for cell in review.cells)
    flags = [-1 if cell is None else _bits(cell.index) for cell in review.cells]
    return [review.uid, review.text, review.language, review.domain, review.case_type, flags, answers]


def _bits(row: IndexRow) -> int:
    return sum(1 << place for place, name in enumerate(_FLAGS) if getattr(row, name))


def _numbered(values: Iterator[str | None]) -> list[int]:
    """Replace equal values by equal small numbers, -1 for none."""
    known: dict[str, int] = {}
    return [-1 if value is None else known.setdefault(value, len(known)) for value in values]


def _block(reviews: Sequence[ReviewEntry]) -> str:
    return f"[{','.join(_detail(review) for review in reviews)}]"


def _detail(review: ReviewEntry) -> str:
    """Write each different analysis once: conditions that never show memory share theirs."""
    analyses: dict[str, int] = {}
    memories: dict[str, int] = {}
    places = [_place(cell, analyses, memories) for cell in review.cells]
    return (
        f'{{"gold":{review.gold},"analyses":[{",".join(analyses)}],"memories":[{",".join(memories)}],'
        f'"cells":{canonical_json(places)}}}'
    )


def _place(cell: CellSample | None, analyses: dict[str, int], memories: dict[str, int]) -> list[Any] | None:
    if cell is None:
        return None
    analysis = analyses.setdefault(cell.analysis, len(analyses))
    memory = memories.setdefault(cell.memory, len(memories))
    return [analysis, memory, list(cell.cost)]

"""The explorer's data inside the page: an index for search and filters, and the details in blocks of reviews."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from episodic_absa.reports.data.report_data import SAMPLE_FLAGS, CellSample, Explorer, ReviewEntry
from episodic_absa.reports.page.html_page import packed
from episodic_absa.serialization.canonical_json import canonical_json

REVIEWS_PER_BLOCK: Final = 50


class ExplorerBlocks(NamedTuple):
    """The packed data of the explorer."""

    search: Markup
    """The index of all reviews, for search and filters."""
    details: tuple[Markup, ...]
    """The details, one block per 50 reviews."""


def build_blocks(explorer: Explorer, *, with_text: bool) -> ExplorerBlocks:
    """Pack the index, and the details in blocks: to open a sample, the browser unpacks one block."""
    search: dict[str, Any] = {
        "cells": [[cell.condition, cell.seed, *filter(None, [cell.order])] for cell in explorer.cells],
        "first": list(explorer.first),
        "flags": list(SAMPLE_FLAGS),
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
    answers = _numbered(cell.answer if cell else None for cell in review.cells)
    flags = [-1 if cell is None else _bits(cell.flags) for cell in review.cells]
    return [review.uid, *review.facts[:4], flags, answers]


def _bits(flags: frozenset[str]) -> int:
    """Return the flags as bits; the script reads from the index which name has which bit."""
    return sum(1 << place for place, name in enumerate(SAMPLE_FLAGS) if name in flags)


def _numbered(values: Iterator[str | None]) -> list[int]:
    """Return a small number per value, equal for equal values; -1 for None."""
    known: dict[str, int] = {}
    return [-1 if value is None else known.setdefault(value, len(known)) for value in values]


def _block(reviews: Sequence[ReviewEntry]) -> str:
    return f"[{','.join(_detail(review) for review in reviews)}]"


def _detail(review: ReviewEntry) -> str:
    """Return one review as JSON. Equal analyses are written once: conditions that never show memory share them."""
    analyses: dict[str, int] = {}
    memories: dict[str, int] = {}
    places = [_place(cell, analyses, memories) for cell in review.cells]
    return (
        f'{{"gold":{review.facts.gold},"analyses":[{",".join(analyses)}],"memories":[{",".join(memories)}],'
        f'"cells":{canonical_json(places)}}}'
    )


def _place(cell: CellSample | None, analyses: dict[str, int], memories: dict[str, int]) -> list[Any] | None:
    if cell is None:
        return None
    analysis = analyses.setdefault(cell.analysis, len(analyses))
    memory = memories.setdefault(cell.memory, len(memories))
    return [analysis, memory, list(cell.cost)]

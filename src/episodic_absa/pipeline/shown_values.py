"""Selects what a prompt shows of Stage1 and of verdicts: short enough for a small model, enough to judge by."""

from collections.abc import Iterable
from typing import Any, Final

from episodic_absa.memory import STAGE2_SLOT
from episodic_absa.memory.injection.prompt_slot import prompt_slot
from episodic_absa.schemas.absa import (
    ReviewContext,
    SentimentItem,
)
from episodic_absa.schemas.role_inputs import MemorySlot
from episodic_absa.serialization.quoted_value import quoted
from episodic_absa.vocabulary import Language

Context = list[tuple[str, Any]]

RESERVED_KEYS: Final = frozenset(
    {
        "text",
        "language",
        "aspects",
        "sentiments",
        "persona",
        "history",
        "stage1_aspects",
        "stage1_aspect_sentiments",
        "stage1_structural_risks",
        "stage1_correction_proposals",
        "validator",
        "ate_reviews",
        "atsa_reviews",
        "patched_aspects",
        "patched_sentiments",
        "pairs",
        "targets",
        "claims",
        "A",
        "B",
        STAGE2_SLOT.name,
        *ReviewContext.model_fields,
    }
)
"""The keys that prompts use; a memory slot needs another name."""


def slot_name_problem(name: str) -> str:
    """Return why the memory slot cannot have this name; an empty text if it can."""
    if name not in RESERVED_KEYS:
        return ""
    return f"slot_memory_name {quoted(name)} is a key that prompts already use; choose another name"


def shown_pairs(sentiments: Iterable[SentimentItem]) -> list[str]:
    """Return the named pairs as `term: polarity`, the form that prompts show."""
    return [
        f"{item.aspect_term}: {item.polarity}"
        for item in sentiments
        if item.aspect_term and item.polarity is not None and not item.is_backfilled
    ]


def slot_entry(slot_name: str, slot: MemorySlot | None, language: Language) -> Context:
    """Return the entry that shows a bundle in a prompt: its sentences, or nothing without a bundle."""
    return [] if slot is None else [(slot_name, prompt_slot(slot, language))]

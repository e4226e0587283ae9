"""Texts about nothing, as long as the texts they stand in for. A placebo shows what a slot does without its content."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, cycle
from pathlib import Path
from typing import Final

from episodic_absa.language import find_aspect_term
from episodic_absa.schemas.memory_v1_1 import AdvisoryV1_1, EvidenceV1_1
from episodic_absa.schemas.memory_v1_2 import AnyAdvisory, AnyBundle
from episodic_absa.serialization.yaml_file import parse_yaml
from episodic_absa.vocabulary import Language

PLACEBO_PRINCIPLE: Final = "P-MSC-01"
"""Looks like the ids of the catalogue and is none of them: a model must not see which advice is a placebo."""
_FILE: Final = Path(__file__).with_name("placebo_texts.yaml")
_LONGEST_MESSAGE: Final = 760
"""A little below the longest message of an advisory, since lengths are met only nearly."""


def placebo_advisories(
    shown: AnyBundle, language: Language, uid: str, terms: Sequence[str], *, match_chars: bool
) -> tuple[AdvisoryV1_1, ...]:
    """Return advisories that look like those of a bundle and say nothing.

    Each takes the place of one advisory and keeps its strength, its relevance and its sources. Warnings ask for
    caution even without their words, so their length is added to the last message instead.

    Args:
        shown: the bundle that retrieved advice would have given.
        language: the language of the sample.
        uid: fixes which texts are chosen.
        terms: the aspects of the sample; no text names one.
        match_chars: False takes one text per advisory, whatever its length.
    """
    lengths = [len(advisory.message) for advisory in shown.retrieved]
    frames: list[AnyAdvisory | None] = list(shown.retrieved)
    if shown.warnings and not frames:
        lengths, frames = [0], [None]
    if shown.warnings:
        lengths[-1] += sum(map(len, shown.warnings))
    return tuple(
        _advisory(rank, compose_placebo(language, chars if match_chars else 0, f"{uid}\0{rank}", terms), frame)
        for rank, (chars, frame) in enumerate(zip(lengths, frames, strict=True), start=1)
    )


def compose_placebo(language: Language, chars: int, key: str, terms: Sequence[str] = ()) -> str:
    """Return texts joined to a length near `chars`; equal arguments give equal texts.

    Args:
        language: Korean for `ko`, else English.
        chars: the length to come near to, 760 at most; at least one whole text is returned.
        key: fixes the order in which texts are taken.
        terms: aspects that the texts must not name.

    Example:
        >>> message = compose_placebo("en", 100, "review-1")
        >>> 90 <= len(message) <= 110
        True
    """
    texts = [text for text in placebo_texts(language) if find_aspect_term(text, terms) is None]
    texts = texts or list(placebo_texts(language))
    texts.sort(key=lambda text: hashlib.sha256(f"{key}\0{text}".encode()).digest())
    longest = max(map(len, texts))
    chosen: list[str] = []
    left = min(chars, _LONGEST_MESSAGE)
    for text in cycle(texts):
        if left <= 2 * (longest + 1):
            break
        chosen.append(text)
        left -= len(text) + 1
    # Two texts at the end give almost every length.
    endings: list[tuple[str, ...]] = [*((text,) for text in texts), *combinations(texts, 2)]
    ending: tuple[str, ...] = min(endings, key=lambda ending: abs(sum(map(len, ending)) + len(ending) - 1 - left))
    return " ".join((*chosen, *ending))


def placebo_texts(language: Language) -> tuple[str, ...]:
    """Return every text that a placebo may be made of, in Korean for `ko`, else in English."""
    return _texts()["ko" if language == "ko" else "en"]


@cache
def placebo_sha256() -> str:
    """Return the sha256 of the file with the texts."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


@cache
def _texts() -> Mapping[str, tuple[str, ...]]:
    document = parse_yaml(_FILE.read_bytes(), _FILE)
    return {language: tuple(texts) for language, texts in document.items()}


def _advisory(rank: int, message: str, frame: AnyAdvisory | None) -> AdvisoryV1_1:
    return AdvisoryV1_1(
        advisory_id=f"adv_{rank:06d}",
        # The type without a message of its own: the others say that a change went well or badly.
        advisory_type="consistency_anchor",
        message=message,
        strength=frame.strength if frame else "weak",
        relevance_score=frame.relevance_score if frame else 0.0,
        evidence=EvidenceV1_1(
            source_episode_ids=frame.evidence.source_episode_ids if frame else (),
            risk_tags=(),
            principle_id=PLACEBO_PRINCIPLE,
            stats=frame.evidence.stats if frame else None,
        ),
    )

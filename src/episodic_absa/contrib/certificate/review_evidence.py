"""What a run holds about each review: its text and gold, and what memory stored of it and showed to it.

Memory is read as single values, and strings as words and n-grams.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from episodic_absa.language import norm
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.schemas.absa import FinalTuple
from episodic_absa.schemas.gold import GoldTuple
from episodic_absa.schemas.memory_v1_1 import InputSignatureV1_1
from episodic_absa.schemas.run_files.case_trace import TraceLine
from episodic_absa.schemas.run_files.scorecard import Scorecard

_MIXED: Final = "mixed"
_LETTER_SHARE: Final = 0.5
"""A term that covers more of the review than this is no term but its text."""
_CLOSED: Final = frozenset({"", "implicit", "long_term"})
_IDS: Final = frozenset(
    {"advisory_id", "episode_id", "format", "provenance", "schema_version", "sha256", "source_episode_ids", "source_id"}
)
"""Keys that name a review or a line openly, on purpose. Nothing has to be guessed from them."""
_TERM_KEYS: Final = "polarities"
"""The keys below it are terms."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_HANGUL = re.compile(r"[가-힣]")
_PIECE: Final = 4
_HANGUL_PIECE: Final = 2


class Predicted(NamedTuple):
    """What the analysis itself said, without gold."""

    before: tuple[str, ...]
    """The polarities of the Stage1 tuples, each once."""
    after: tuple[str, ...]
    """Those of the final tuples, in the first cell."""
    risks: tuple[str, ...]
    """The types of risk that Stage1's validator reported."""


@dataclass
class ReviewEvidence:
    """One review, over all cells of a run."""

    uid: str
    text: str
    signature: InputSignatureV1_1
    gold: str | None = None
    """The polarity of most gold pairs, "mixed" for a tie; None without gold."""
    predicted: Predicted | None = None
    """None if the review failed in every cell."""
    allowed: set[str] = field(default_factory=set)
    """Strings that memory may hold of it: its predicted terms and its contrast marker."""
    stored: list[Mapping[str, Any]] = field(default_factory=list)
    """The lines of stores that name it as their source."""
    shown: list[Mapping[str, Any]] = field(default_factory=list)
    """The bundles that a prompt about it held."""
    passed_on: list[Mapping[str, Any]] = field(default_factory=list)
    """The advisories that its episodes gave to other reviews."""

    def may_hold(self, string: str) -> bool:
        """Return whether memory may hold a string of this review: a predicted term, with its particle or without."""
        held = folded(string)
        return held in self.allowed or any(term.startswith(held) for term in self.allowed)

    @property
    def kind(self) -> tuple[str, ...]:
        """Language, structures and length: reviews of one kind are rivals when a line is matched with reviews."""
        return (self.signature.language, ",".join(self.signature.detected_structure), self.signature.length_bucket)


def gather_evidence(cells: Sequence[CellFiles]) -> tuple[ReviewEvidence, ...]:
    """Return every review that the traces of these cells name, in ascending order of uid."""
    reviews: dict[str, ReviewEvidence] = {}
    for cell in cells:
        for trace in cell.traces:
            uid = trace.case_trace.case_id
            if uid not in reviews:
                signature = trace.case_trace.input_signature
                reviews[uid] = ReviewEvidence(uid=uid, text=trace.text, signature=signature)
                reviews[uid].allowed.update(_CLOSED, filter(None, [folded(signature.contrast_marker or "")]))
        for card in cell.scorecards:
            if card.uid in reviews:
                _add_card(reviews[card.uid], card)
    seen: set[bytes] = set()
    for cell in cells:
        sources = _add_store(reviews, cell, seen)
        for trace in cell.traces:
            _add_bundle(reviews, trace, sources)
    return tuple(reviews[uid] for uid in sorted(reviews))


def _add_card(review: ReviewEvidence, card: Scorecard) -> None:
    if card.status == "error":
        return
    if review.gold is None and card.gold_tuples:
        review.gold = gold_polarity(card.gold_tuples)
    if review.predicted is None:
        risks = tuple(sorted({risk.type for risk in card.risks_s1}))
        review.predicted = Predicted(_polarities(card.stage1_tuples), _polarities(card.final_tuples), risks)
    for predicted in (*card.stage1_tuples, *card.final_tuples):
        term = norm(predicted.aspect_term)
        if not _is_text(term, review.text):
            review.allowed.add(folded(term))


def gold_polarity(gold: Iterable[GoldTuple]) -> str | None:
    """Return the polarity of most gold pairs; "mixed" for a tie, None without one."""
    counts = Counter(pair.polarity for pair in gold if pair.polarity is not None).most_common(2)
    if not counts:
        return None
    is_tie = len(counts) > 1 and counts[0][1] == counts[1][1]
    return _MIXED if is_tie else counts[0][0]


def _polarities(tuples: Iterable[FinalTuple]) -> tuple[str, ...]:
    return tuple(sorted({predicted.polarity for predicted in tuples}))


def _is_text(term: str, text: str) -> bool:
    letters = sum(map(str.isalnum, text))
    return sum(map(str.isalnum, term)) > _LETTER_SHARE * letters


def _add_store(reviews: Mapping[str, ReviewEvidence], cell: CellFiles, seen: set[bytes]) -> dict[str, str]:
    """Add the lines of a cell's store to their reviews, equal lines once; return the uid of every episode."""
    sources: dict[str, str] = {}
    for raw, line in zip(cell.store.raw, cell.store.objects, strict=True):
        if not isinstance(line, Mapping):
            continue
        provenance = line.get("provenance")
        uid = str(provenance.get("source_id") if isinstance(provenance, Mapping) else line.get("source_id"))
        sources[str(line.get("episode_id"))] = uid
        if uid in reviews and raw not in seen:
            seen.add(raw)
            reviews[uid].stored.append(line)
    return sources


def _add_bundle(reviews: Mapping[str, ReviewEvidence], trace: TraceLine, sources: Mapping[str, str]) -> None:
    memory, bundle = trace.memory, trace.case_trace.memory_bundle
    if not (memory.prompt_injection_chars or memory.stage2_memory_prompt_injection_chars):
        return
    reviews[trace.case_trace.case_id].shown.append(bundle.model_dump(mode="json", exclude={"meta", "memory_on"}))
    for advisory in bundle.retrieved:
        dumped = advisory.model_dump(mode="json")
        for uid in {sources.get(episode_id, "") for episode_id in advisory.evidence.source_episode_ids}:
            if uid in reviews:
                reviews[uid].passed_on.append(dumped)


class Leaf(NamedTuple):
    """One string, number or flag, and the keys that lead to it."""

    path: str
    value: str | float | bool | None

    @property
    def field(self) -> str:
        """The value with its path; numbers are rounded to 2 decimals."""
        value = round(self.value, 2) if isinstance(self.value, float) else self.value
        return f"{self.path}={value}"


def leaves_of(value: Any, path: str = "") -> Iterator[Leaf]:
    """Yield every value of a JSON object, without ids and versions; the terms of `polarities` are values, too."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if path.endswith(_TERM_KEYS):
                yield Leaf(f"{path}.term", str(key))
                yield from leaves_of(item, f"{path}.of_term")
            elif key not in _IDS:
                yield from leaves_of(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves_of(item, path)
    else:
        yield Leaf(path, value)


def folded(string: str) -> str:
    """Return a string in one case and one form, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", string).casefold().split())


def words_of(string: str) -> set[str]:
    """Return the words of two letters and more.

    Example:
        >>> sorted(words_of("The room, the ROOM; 3 beds"))
        ['beds', 'room', 'the']
    """
    return set(_WORD.findall(folded(string)))


def ngrams_of(string: str) -> set[str]:
    """Return the words and their character n-grams: 2 characters in Korean words, 4 in others.

    Example:
        >>> sorted(ngrams_of("방이 rooms"))
        ['rooms', '~ooms', '~room', '~방이', '방이']
    """
    grams: set[str] = set()
    for word in words_of(string):
        size = _HANGUL_PIECE if _HANGUL.search(word) else _PIECE
        grams.add(word)
        grams.update(f"~{word[start : start + size]}" for start in range(len(word) - size + 1))
    return grams

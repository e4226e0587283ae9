"""Builds Stage2's review context: which Stage1 term each edit means, and the weights for and against polarities."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from episodic_absa.language import norm, norm_key, read_polarity, synonyms_of
from episodic_absa.schemas.absa import (
    AspectHint,
    DebateOutput,
    DebateTurn,
    EditTarget,
    JudgeTuple,
    PatchEdit,
    ProposedEdit,
    ReviewContext,
    SentimentItem,
    Stage1Result,
)
from episodic_absa.vocabulary import DebateCall, Polarity

SPEAKER_WEIGHT: Final = 0.5
JUDGE_WEIGHT: Final = 0.8
DROP_WEIGHT: Final = 0.8
_NON_WORD = re.compile(r"\W+")
_GUIDANCE: Final = (
    "Review each Stage1 item once. Change only what an exact quotation of the text demands; otherwise keep it. "
    "Hints are the debate's opinion, not a verdict."
)
_PROVENANCE: Final = "debate:<speaker>:<round> | validator:<risk id> | text"

HowMapped = Literal["direct", "fallback", "none"]
FailReason = Literal["fallback_used", "no_aspects", "neutral_stance", "no_match"]


class HintCounts(NamedTuple):
    """How many hints had a readable polarity, and how many had none."""

    valid_n: int = 0
    invalid_n: int = 0


class BuiltContext(NamedTuple):
    """The review context, with the term map and the hint counts behind it."""

    context: ReviewContext
    hint_counts: HintCounts
    terms: "TermMap"


class TermMap:
    """Maps the name that a speaker uses for an aspect to the Stage1 term it means."""

    def __init__(self, aspect_terms: Sequence[str], text: str) -> None:
        self.aspect_terms = tuple(aspect_terms)
        self._text = text
        self._by_key: dict[str, str] = {}
        for term in aspect_terms:
            if term:
                self._by_key.setdefault(self._key(term), term)
        for term in aspect_terms:
            for synonym in synonyms_of(term):
                self._by_key.setdefault(self._key(synonym), term)

    def find(self, name: str | None) -> str | None:
        """Return the Stage1 term a name means, "" for the implicit opinion, None if there is none."""
        if name is None:
            return None
        if not norm(name):  # quotes around nothing are an empty name, too
            return "" if "" in self.aspect_terms else None
        return self._by_key.get(self._key(name))

    def of(self, target: EditTarget | JudgeTuple) -> str | None:
        """Return the Stage1 term that is meant: aspect_ref is read before aspect_term."""
        term = self.find(target.aspect_ref)
        return term if term is not None else self.find(target.aspect_term)

    def _key(self, name: str) -> str:
        return _NON_WORD.sub("", norm_key(name, self._text))


@dataclass
class _Hints:
    """Collects hints while the debate is read."""

    by_aspect: dict[str, list[AspectHint]] = field(default_factory=dict)
    valid_n: int = 0
    invalid_n: int = 0

    def add(self, aspect: str, polarity: Polarity | None, weight: float, source: DebateCall) -> None:
        if polarity is None:
            self.invalid_n += 1
            return
        self.valid_n += 1
        self.by_aspect.setdefault(aspect, []).append(AspectHint(polarity=polarity, weight=weight, source=source))


def build_review_context(stage1: Stage1Result, debate: DebateOutput | None, text: str) -> BuiltContext:
    """Return the review context of a debate; without a debate it holds the Stage1 terms and no hints."""
    terms = TermMap(list(stage1_terms(stage1)), text)
    sentiments = [item for item in stage1.atsa.sentiments if item.polarity and not item.is_backfilled]
    hints = _Hints()
    stats: dict[HowMapped, int] = {"direct": 0, "fallback": 0, "none": 0}
    fail_reasons: dict[str, int] = {}
    aspect_map: dict[str, tuple[str, ...]] = {}
    turn_hints: list[tuple[str, Polarity, DebateCall]] = []
    for round_index, turn in _turns(debate):
        mapped = [
            aspect
            for edit in turn.proposed_edits
            if (aspect := _hint(edit, turn.agent, terms, sentiments, hints)) is not None
        ]
        stance = _turn_polarity(turn, terms, sentiments)
        how: HowMapped = "direct"
        if not mapped:
            aspect, reason = _fallback(terms, sentiments, stance)
            mapped = [] if aspect is None else [aspect]
            how = "none" if aspect is None else "fallback"
            fail_reasons[reason] = fail_reasons.get(reason, 0) + 1
        stats[how] += 1
        aspect_map[f"{round_index}:{turn.agent}"] = tuple(dict.fromkeys(mapped))
        if stance is not None:
            turn_hints += [(aspect, stance, turn.agent) for aspect in dict.fromkeys(mapped)]
    for patch in debate.summary.final_patch if debate else ():
        _hint(patch, "judge", terms, sentiments, hints)
    with_edit_hints = set(hints.by_aspect)
    for aspect, stance, speaker in turn_hints:
        if aspect not in with_edit_hints:
            hints.by_aspect.setdefault(aspect, []).append(
                AspectHint(polarity=stance, weight=SPEAKER_WEIGHT, source=speaker)
            )
    context = ReviewContext(
        review_guidance=_GUIDANCE,
        summary=debate.summary.rationale if debate else "",
        aspect_terms=terms.aspect_terms,
        synonym_hints={term: synonyms for term in terms.aspect_terms if (synonyms := synonyms_of(term))},
        rebuttal_points=tuple(_rebuttals(debate)),
        aspect_map=aspect_map,
        aspect_hints={aspect: tuple(aspect_hints) for aspect, aspect_hints in hints.by_aspect.items()},
        mapping_stats=stats,
        mapping_fail_reasons=fail_reasons,
        provenance_template=_PROVENANCE,
    )
    return BuiltContext(context, HintCounts(hints.valid_n, hints.invalid_n), terms)


def edit_line(round_index: int, speaker: DebateCall, edit: ProposedEdit | PatchEdit) -> str:
    """Return an edit as one line of the history that later speakers see."""
    parts = [f"r{round_index} {speaker}: {edit.op} {json.dumps(edit.target.aspect_ref, ensure_ascii=False)}"]
    if edit.target.polarity:
        parts.append(f"({edit.target.polarity})")
    if edit.value:
        parts.append(f"-> {edit.value}")
    if isinstance(edit, ProposedEdit) and edit.evidence:
        parts.append(f"because {json.dumps(edit.evidence, ensure_ascii=False)}")
    return " ".join(parts)


def stage1_terms(stage1: Stage1Result) -> Iterator[str]:
    """Yield the terms of Stage1 once each: aspects first, then sentiments."""
    terms = [item.aspect_term for item in stage1.ate.aspects]
    terms += [item.aspect_term for item in stage1.atsa.sentiments]
    yield from dict.fromkeys(terms)


def _turns(debate: DebateOutput | None) -> Iterator[tuple[int, DebateTurn]]:
    for debate_round in debate.rounds if debate else ():
        for turn in debate_round.turns:
            yield debate_round.round_index, turn


def _hint(
    edit: ProposedEdit | PatchEdit,
    source: DebateCall,
    terms: TermMap,
    sentiments: Sequence[SentimentItem],
    hints: _Hints,
) -> str | None:
    """Add the hint of an edit and return the aspect it maps to, None if it maps to none."""
    aspect = terms.of(edit.target)
    if aspect is None:
        return None
    weight = JUDGE_WEIGHT if source == "judge" else SPEAKER_WEIGHT
    if edit.op in ("set_polarity", "confirm_tuple"):
        hints.add(aspect, _stance(edit, aspect, sentiments), weight, source)
    elif edit.op == "drop_tuple":
        hints.add(aspect, _current(edit, aspect, sentiments), -DROP_WEIGHT, source)
    return aspect


def _stance(edit: ProposedEdit | PatchEdit, aspect: str | None, sentiments: Sequence[SentimentItem]) -> Polarity | None:
    """Return the polarity that a set_polarity or confirm_tuple edit supports."""
    if edit.op == "set_polarity":
        return read_polarity(edit.value).polarity
    if edit.target.polarity is not None:
        return read_polarity(edit.target.polarity).polarity
    return _stage1_polarity(aspect, sentiments)


def _current(edit: ProposedEdit | PatchEdit, aspect: str, sentiments: Sequence[SentimentItem]) -> Polarity | None:
    """Return the polarity of the tuple to drop: the named one if Stage1 has it, else Stage1's first."""
    named = read_polarity(edit.target.polarity).polarity if edit.target.polarity else None
    held = [item.polarity for item in sentiments if item.aspect_term == aspect]
    return named if named in held else _stage1_polarity(aspect, sentiments)


def _stage1_polarity(aspect: str | None, sentiments: Sequence[SentimentItem]) -> Polarity | None:
    return next((item.polarity for item in sentiments if item.aspect_term == aspect), None)


def _turn_polarity(turn: DebateTurn, terms: TermMap, sentiments: Sequence[SentimentItem]) -> Polarity | None:
    """Return the first polarity a turn sets or confirms."""
    for edit in turn.proposed_edits:
        if edit.op in ("set_polarity", "confirm_tuple"):
            polarity = _stance(edit, terms.of(edit.target), sentiments)
            if polarity is not None:
                return polarity
    return None


def _fallback(
    terms: TermMap, sentiments: Sequence[SentimentItem], stance: Polarity | None
) -> tuple[str | None, FailReason]:
    """Return an aspect for a turn whose edits map to none, and the reason to record."""
    if not terms.aspect_terms:
        return None, "no_aspects"
    if len(terms.aspect_terms) == 1:
        return terms.aspect_terms[0], "fallback_used"
    if stance is None:
        return None, "neutral_stance"
    alike = [item for item in sentiments if item.polarity == stance] or list(sentiments)
    if not alike:
        return None, "no_match"
    return max(alike, key=lambda item: item.confidence).aspect_term, "fallback_used"


def _rebuttals(debate: DebateOutput | None) -> Iterable[str]:
    for round_index, turn in _turns(debate):
        for edit in turn.proposed_edits:
            if edit.op in ("set_polarity", "drop_tuple"):
                yield edit_line(round_index, turn.agent, edit)

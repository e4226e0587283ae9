"""Reads what speakers, judge, Stage2 and validator said into claims about terms: one form for every source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from episodic_absa.language import nearest_occurrence, norm, norm_key, read_polarity
from episodic_absa.schemas.absa import (
    AspectVerdict,
    DebateOutput,
    PatchEdit,
    Proposal,
    ProposedEdit,
    SentimentItem,
    SentimentVerdict,
    Span,
    Stage1Result,
)
from episodic_absa.schemas.run_files.change_record import WitnessName
from episodic_absa.seed.review_context import TermMap
from episodic_absa.vocabulary import Polarity


class Claim(NamedTuple):
    """What one source says about one term. Every field but the first two may be left open."""

    who: WitnessName
    term: str
    """The Stage1 term that is meant, else the words of the source."""
    is_target: bool | None = None
    """Whether the term is a target of opinion; None: the source does not say."""
    polarity: Polarity | None = None
    """The polarity that the term has."""
    of_polarity: Polarity | None = None
    """The polarity of the Stage1 pair that is meant, if the source names one; None means every pair of the term."""
    flips_without_polarity: bool = False
    """The source asks for a flip and gives no readable polarity."""
    span: Span | None = None
    """Where the term stands instead."""
    quote: str = ""
    """The cited words; the text need not hold them."""


@dataclass(frozen=True)
class Stage1Pairs:
    """The pairs of Stage1, found by the name that a source uses. Backfills are no pairs."""

    stage1: Stage1Result
    text: str

    @cached_property
    def items(self) -> tuple[SentimentItem, ...]:
        """The sentiments that are pairs."""
        return tuple(item for item in self.stage1.atsa.sentiments if is_pair(item))

    @cached_property
    def terms(self) -> TermMap:
        """The map from names to all Stage1 terms, those without a pair included."""
        named = [item.aspect_term for item in self.stage1.ate.aspects]
        named += [item.aspect_term for item in self.stage1.atsa.sentiments]
        return TermMap(list(dict.fromkeys(named)), self.text)

    def polarities(self, term: str) -> tuple[Polarity, ...]:
        """Return the polarities of a Stage1 term, each once, in Stage1's order."""
        held = (item.polarity for item in self.items if norm(item.aspect_term) == norm(term))
        return tuple(dict.fromkeys(polarity for polarity in held if polarity is not None))

    def span(self, term: str) -> Span | None:
        """Return the place of a term: the span that Stage1 gives it, else its first occurrence in the text."""
        items: tuple[Sequence[SentimentItem], ...] = (self.items, self.stage1.atsa.sentiments)
        spans = [item.span for group in items for item in group if norm(item.aspect_term) == norm(term)]
        spans += [aspect.span for aspect in self.stage1.ate.aspects if norm(aspect.aspect_term) == norm(term)]
        return next((span for span in spans if span is not None), None) or first_place(term, self.text)


def is_pair(item: SentimentItem) -> bool:
    """Return whether a sentiment is a judgement: it has a polarity and is no backfill."""
    return item.polarity is not None and not item.is_backfilled


def first_place(name: str, text: str) -> Span | None:
    """Return the first occurrence of a name, without a trailing particle, in the text."""
    place = nearest_occurrence(norm_key(name, text), text, 0) if norm(name) else None
    return Span(start=place[0], end=place[1]) if place else None


def read_claims(
    pairs: Stage1Pairs,
    debate: DebateOutput | None,
    ate_verdicts: Sequence[AspectVerdict],
    atsa_verdicts: Sequence[SentimentVerdict],
) -> tuple[Claim, ...]:
    """Return every claim in the order in which it was made: validator, speakers, judge, Stage2."""
    claims: list[Claim] = []
    for proposal in pairs.stage1.validator.correction_proposals:
        claims += _of_proposal(proposal, pairs)
    for turn in debate.turns if debate else ():
        for edit in turn.proposed_edits:
            claims += _of_edit(turn.agent, edit, edit.evidence or "", pairs)
    if debate:
        quotes = {norm(_meant(name, pairs)): quote for name, quote in debate.summary.aspect_evidence.items()}
        for patch in debate.summary.final_patch:
            claims += _of_edit("judge", patch, quotes.get(norm(_target(patch, pairs)), ""), pairs)
    for aspect_verdict in ate_verdicts:
        claims += _of_aspect_verdict(aspect_verdict, pairs)
    for sentiment_verdict in atsa_verdicts:
        claims += _of_sentiment_verdict(sentiment_verdict, pairs)
    return tuple(claims)


def _meant(name: str, pairs: Stage1Pairs) -> str:
    term = pairs.terms.find(name)
    return name if term is None else term


def _target(edit: ProposedEdit | PatchEdit, pairs: Stage1Pairs) -> str:
    term = pairs.terms.of(edit.target)
    if term is not None:
        return term
    return edit.target.aspect_ref or edit.target.aspect_term or ""


def _of_edit(who: WitnessName, edit: ProposedEdit | PatchEdit, quote: str, pairs: Stage1Pairs) -> Iterable[Claim]:
    term = _target(edit, pairs)
    named = read_polarity(edit.target.polarity).polarity if edit.target.polarity else None
    held = pairs.polarities(term)
    of_polarity = named if named in held else None
    if edit.op == "drop_tuple":
        yield Claim(who, term, is_target=False, of_polarity=of_polarity, quote=quote)
    elif edit.op == "set_polarity":
        polarity = read_polarity(edit.value).polarity
        yield Claim(
            who,
            term,
            is_target=_is_named(who, polarity, held),
            polarity=polarity,
            of_polarity=of_polarity,
            flips_without_polarity=polarity is None,
            quote=quote,
        )
    elif edit.op == "confirm_tuple" and held:
        yield from _confirmed(who, term, named, held, quote)
    elif edit.op == "confirm_tuple" and (who != "judge" or named is not None):
        # A judge that keeps a pair which Stage1 lacks, without a polarity, may mean either: it counts as silent.
        yield Claim(who, term, is_target=True, polarity=named, quote=quote)


def _is_named(who: WitnessName, polarity: Polarity | None, held: Sequence[Polarity]) -> bool | None:
    """Return whether a polarity says that the term is a target.

    EPM judges every target it is given and CJ lists polarities of given pairs, so their polarity of a Stage1 pair does
    not say so. A polarity of a term without a pair asks for one.
    """
    if polarity is None:
        return None
    return True if not held or who in ("tan", "judge") else None


def _confirmed(
    who: WitnessName, term: str, named: Polarity | None, held: Sequence[Polarity], quote: str
) -> Iterator[Claim]:
    """Yield the claims of a confirmed Stage1 term.

    TAN confirms that the term is a target, EPM that its polarity is right, the judge both. CJ is asked for wrong pairs
    alone: its confirmation counts as silence.
    """
    if who == "cj":
        return
    if who == "tan":
        yield Claim(who, term, is_target=True, quote=quote)
        return
    is_target = True if who == "judge" else None
    if named is not None and named not in held:
        yield Claim(who, term, is_target=is_target, polarity=named, quote=quote)
        return
    for polarity in held:
        if named in (None, polarity):
            yield Claim(who, term, is_target=is_target, polarity=polarity, of_polarity=polarity, quote=quote)


def _of_aspect_verdict(verdict: AspectVerdict, pairs: Stage1Pairs) -> Iterable[Claim]:
    term = _meant(verdict.aspect_term, pairs)
    is_target = verdict.action != "drop"
    span = verdict.revised_span if verdict.action == "revise_span" else None
    yield Claim("review", term, is_target=is_target, span=span, quote=verdict.reason)


def _of_sentiment_verdict(verdict: SentimentVerdict, pairs: Stage1Pairs) -> Iterable[Claim]:
    term = _meant(verdict.aspect_term, pairs)
    match verdict.action:
        case "drop":
            yield Claim("review", term, is_target=False, quote=verdict.reason)
        case "add":
            yield Claim("review", term, is_target=True, polarity=verdict.revised_polarity, quote=verdict.reason)
        case "flip_polarity":
            polarity = verdict.revised_polarity
            yield Claim(
                "review", term, polarity=polarity, flips_without_polarity=polarity is None, quote=verdict.reason
            )
        case "keep":
            for polarity in pairs.polarities(term):
                yield Claim("review", term, polarity=polarity, of_polarity=polarity, quote=verdict.reason)
        case "reduce_confidence":
            return


def _of_proposal(proposal: Proposal, pairs: Stage1Pairs) -> Iterable[Claim]:
    term = _meant(proposal.aspect_term, pairs)
    match proposal.proposal_type:
        case "FLIP_POLARITY":
            yield Claim("validator", term, flips_without_polarity=True)
        case "DROP_ASPECT":
            yield Claim("validator", term, is_target=False)
        case "REVISE_SPAN":
            yield Claim("validator", term, span=proposal.revised_span)
        case "CHECK_SPAN":
            yield Claim("validator", term, span=first_place(term, pairs.text))

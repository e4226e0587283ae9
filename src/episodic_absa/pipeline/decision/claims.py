"""What a model's answers say about terms: every speaker, the judge and Stage2 in one form."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from episodic_absa.language import nearest_occurrence, norm, read_action, read_polarity
from episodic_absa.pipeline.stage1.first_analysis import FirstAnalysis
from episodic_absa.pipeline.stage1.named_terms import meant_polarity, meant_term, overlapping_term, split_name
from episodic_absa.schemas.absa import AspectVerdict, SentimentVerdict
from episodic_absa.schemas.answers import (
    DecisionsAnswer,
    JudgementsAnswer,
    NamedTarget,
    TargetsAnswer,
    WrongPairsAnswer,
)
from episodic_absa.schemas.run_files.candidate_record import WitnessName
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
    """The polarity of the Stage1 pair that is meant, if the source means one; None means every pair of the term."""
    flips_without_polarity: bool = False
    """The source asks for a flip and gives no readable polarity."""
    quote: str = ""
    """The cited words; the text need not hold them."""

    @property
    def asks_for_change(self) -> bool:
        """Whether the source wants a pair of Stage1 to be dropped or to have another polarity."""
        return self.is_target is False or (
            self.of_polarity is not None and self.polarity not in (None, self.of_polarity)
        )


def claims_of_epm(answer: JudgementsAnswer, first: FirstAnalysis) -> Iterator[Claim]:
    """Yield EPM's claims: of each Stage1 term that it judges, the polarity. It was given the terms, so it says no more.

    Of a term with two polarities in Stage1 it confirms the one that it finds, and claims nothing about the other.
    """
    for judgement in answer.judgements:
        term, polarity = meant_term(judgement.target, first.terms), read_polarity(judgement.polarity).polarity
        held = () if term is None else first.polarities(term)
        if term is not None and polarity is not None and held:
            of_polarity = polarity if polarity in held else held[0]
            yield Claim("epm", term, polarity=polarity, of_polarity=of_polarity, quote=judgement.quote)


def claims_of_tan(answer: TargetsAnswer, first: FirstAnalysis) -> Iterator[Claim]:
    """Yield the claims of TAN, who has not seen Stage1's targets.

    The Stage1 terms that it names as well are targets, those that it does not name are none, and so are terms of the
    text that Stage1 lacks. If a part of its answer is lost, it may have named any term there: it denies none.
    """
    named: dict[str, NamedTarget] = {}
    new: dict[str, NamedTarget] = {}
    for target in answer.targets:
        name = split_name(target.target).name
        term = overlapping_term(name, first.terms)
        if term is not None:
            named.setdefault(term, target)
        elif norm(name) and nearest_occurrence(name, first.text, 0) is not None:
            new.setdefault(name, target)
    for item in first.result.atsa.sentiments:
        if not item.aspect_term:
            continue
        term = _meant(item.aspect_term, first)
        if item.aspect_term in named:
            quote = named[item.aspect_term].quote
            yield Claim("tan", term, is_target=True, of_polarity=item.polarity, quote=quote)
        elif not answer.is_partial:
            yield Claim("tan", term, is_target=False, of_polarity=item.polarity)
    for name, target in new.items():
        yield Claim("tan", name, is_target=True, quote=target.quote)


def claims_of_cj(answer: WrongPairsAnswer, first: FirstAnalysis) -> Iterator[Claim]:
    """Yield CJ's claims: one per pair that it calls wrong."""
    for wrong in answer.wrong:
        term = meant_term(wrong.target, first.terms)
        current = None if term is None else meant_polarity(wrong.target, first.polarities(term))
        if term is None or current is None:
            continue
        polarity = read_polarity(wrong.should_be).polarity
        if read_action(wrong.should_be) == "drop":
            yield Claim("cj", term, is_target=False, of_polarity=current, quote=wrong.quote)
        elif polarity is not None and polarity != current:
            yield Claim("cj", term, polarity=polarity, of_polarity=current, quote=wrong.quote)


class Ruling(NamedTuple):
    """The judge's decisions."""

    claims: tuple[Claim, ...] = ()
    quotes: dict[str, str] = {}  # noqa: RUF012 - nobody changes it
    """The first words of the text that the judge cites for a term."""


def ruling_of(answer: DecisionsAnswer, first: FirstAnalysis) -> Ruling:
    """Return the judge's claims about Stage1's pairs, each with the first quote of its term that the text holds."""
    claims: list[Claim] = []
    quotes: dict[str, str] = {}
    for decision in answer.decisions:
        term = meant_term(decision.target, first.terms)
        current = None if term is None else meant_polarity(decision.target, first.polarities(term))
        if term is None or current is None:
            continue
        action, polarity = read_action(decision.decision), read_polarity(decision.decision).polarity
        if action == "keep" or polarity == current:
            claims.append(Claim("judge", term, is_target=True, polarity=current, of_polarity=current))
        elif action == "drop":
            claims.append(Claim("judge", term, is_target=False, of_polarity=current))
        elif polarity is not None:
            claims.append(Claim("judge", term, is_target=True, polarity=polarity, of_polarity=current))
        if decision.quote and decision.quote in first.text:
            quotes.setdefault(term, decision.quote)
    return Ruling(tuple(claim._replace(quote=quotes.get(claim.term, "")) for claim in claims), quotes)


def claims_of_verdicts(
    ate: Iterable[AspectVerdict], atsa: Iterable[SentimentVerdict], first: FirstAnalysis
) -> Iterator[Claim]:
    """Yield the claims of Stage2's verdicts."""
    for target in ate:
        yield Claim("review", _meant(target.aspect_term, first), is_target=target.action != "drop", quote=target.reason)
    for verdict in atsa:
        term, polarity, quote = _meant(verdict.aspect_term, first), verdict.revised_polarity, verdict.reason
        match verdict.action:
            case "drop":
                yield Claim("review", term, is_target=False, quote=quote)
            case "add":
                yield Claim("review", term, is_target=True, polarity=polarity, quote=quote)
            case "keep":
                for held in first.polarities(term):
                    yield Claim("review", term, polarity=held, of_polarity=held, quote=quote)
            case _:
                yield Claim("review", term, polarity=polarity, flips_without_polarity=polarity is None, quote=quote)


def _meant(name: str, first: FirstAnalysis) -> str:
    term = first.terms.find(name)
    return name if term is None else term

"""Finds the structural risks of a set of tuples by the reading of their text. Used by both validators."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from episodic_absa.backends.embedded.judgement.aspect_judgement import find_term, opinions_about
from episodic_absa.backends.embedded.judgement.two_readers import weights_lead
from episodic_absa.backends.embedded.reading import Opinion, Reading, Target, polarity_of
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.language import Cue, ends_with_particle, norm
from episodic_absa.schemas.absa import AspectItem, SentimentItem
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Polarity, ProposalType, RiskId, Severity

_OPPOSITE: Final[dict[Polarity, Polarity]] = {"positive": "negative", "negative": "positive"}
_SCORE_PER_SEVERITY: Final = 0.12
_MAX_STRAY_CUES: Final = 50
"""A text with more negating words than this is no review; looking at all of them would take quadratic time."""
_ARTICLES: Final = ("the ", "a ", "an ")


class FoundRisk(NamedTuple):
    """A risk, where it lies, and the correction it calls for if the reason is plain."""

    type: RiskId
    start: int
    end: int
    severity: Severity
    description: str
    term: str = ""
    proposal: ProposalType | None = None
    revised: tuple[int, int] | None = None


def find_risks(
    reading: WeighedReading, aspects: Sequence[AspectItem], sentiments: Sequence[SentimentItem]
) -> list[FoundRisk]:
    """Return the risks in the order of their first character; a plain sentence has none."""
    judged = [sentiment for sentiment in sentiments if sentiment.polarity is not None and not sentiment.is_backfilled]
    found = [
        *_negation_risks(reading, judged),
        *_contrast_risks(reading, judged),
        *_irony_risks(reading, judged),
        *_evidence_risks(reading, judged),
        *_span_risks(reading, aspects),
        *_missing_aspect_risks(reading, aspects, judged),
    ]
    unique: dict[tuple[RiskId, int, int], FoundRisk] = {}
    for risk in found:
        unique.setdefault((risk.type, risk.start, risk.end), risk)
    return sorted(unique.values(), key=lambda risk: (risk.start, risk.end, risk.type))


def consistency_score(risks: Sequence[FoundRisk]) -> float:
    """Return 1 for a result without risks, less for each by its severity."""
    return max(0.0, 1.0 - _SCORE_PER_SEVERITY * sum(SEVERITY_WEIGHT[risk.severity] for risk in risks))


def evidence_place(reading: Reading, sentiment: SentimentItem) -> tuple[int, int] | None:
    """Return where the evidence of a sentiment stands, nearest to its target."""
    if not sentiment.evidence:
        return None
    near = 0
    if sentiment.span is not None:
        near = reading.text.find(sentiment.evidence, max(0, sentiment.span.start - len(sentiment.evidence)))
    start = near if near > 0 else reading.text.find(sentiment.evidence)
    return None if start < 0 else (start, start + len(sentiment.evidence))


def opinions_within(reading: Reading, start: int, end: int) -> list[Opinion]:
    """Return the opinions that overlap a stretch of text."""
    return [opinion for opinion in reading.opinions if opinion.start < end and start < opinion.end]


def is_said_of(reading: Reading, term: str, place: tuple[int, int]) -> bool:
    """Whether a term has opinions of its own, or the quoted one stands in its clause and belongs to nothing else."""
    if opinions_about(reading, term):
        return True
    home = find_term(reading, term)
    if home is None or not reading.clauses:
        return False
    clause = reading.clause_at(home[0])
    return any(opinion.clause == clause and not opinion.targets for opinion in opinions_within(reading, *place))


def _negation_risks(reading: Reading, judged: Sequence[SentimentItem]) -> Iterator[FoundRisk]:
    for sentiment in judged:
        own = opinions_about(reading, sentiment.aspect_term) if sentiment.aspect_term else list(reading.opinions)
        for opinion in own:
            if not opinion.scope_note or polarity_of(opinion.full) == polarity_of(opinion.first):
                continue
            if sentiment.polarity != polarity_of(opinion.first) or sentiment.polarity == "neutral":
                continue
            yield FoundRisk(
                "NEGATION_SCOPE",
                opinion.scope_start,
                opinion.scope_end,
                "high" if opinion.scope_is_plain else "mid",
                f"{opinion.scope_note}: what is negated may include '{opinion.form}'",
                sentiment.aspect_term,
                "FLIP_POLARITY" if opinion.scope_is_plain and sentiment.polarity in _OPPOSITE else None,
            )
    for cue in reading.negations[:_MAX_STRAY_CUES]:
        yield from _stray_negation(reading, cue, judged)


def _may_flip(reading: WeighedReading, sentiment: SentimentItem) -> bool:
    """Whether a flip may be proposed for what is quoted: not against weights that speak for the present polarity."""
    other = _OPPOSITE.get(sentiment.polarity) if sentiment.polarity else None
    return other is not None and weights_lead(reading, sentiment, other) <= 0.0


def _stray_negation(reading: Reading, cue: Cue, judged: Sequence[SentimentItem]) -> Iterator[FoundRisk]:
    """A negating word in the clause of a quotation that no opinion has taken up."""
    clause_at = reading.clause_at(cue.start)
    opinions = [reading.opinions[index] for index in reading.by_clause.get(clause_at, ())]
    if not opinions or any(
        min(opinion.start, opinion.scope_start if opinion.scope_note else opinion.start)
        <= cue.start
        < max(opinion.end, opinion.scope_end)
        for opinion in opinions
    ):
        return
    clause = reading.clauses[clause_at]
    for sentiment in judged:
        place = evidence_place(reading, sentiment)
        if place is not None and clause.start <= place[0] < clause.end and sentiment.polarity != "neutral":
            start, end = min(cue.start, place[0]), max(cue.end, place[1])
            yield FoundRisk(
                "NEGATION_SCOPE",
                start,
                end,
                "low",
                f"'{cue.form}' stands in the clause of the quotation",
                sentiment.aspect_term,
            )
            return


def _contrast_risks(reading: Reading, judged: Sequence[SentimentItem]) -> Iterator[FoundRisk]:
    if not reading.contrasts:
        return
    placed: list[tuple[SentimentItem, int, int]] = []
    for sentiment in judged:
        term, evidence = find_term(reading, sentiment.aspect_term), evidence_place(reading, sentiment)
        if term is not None and evidence is not None:
            home, source = _side(reading, term[0]), _side(reading, evidence[0])
            placed.append((sentiment, home, source))
    for sentiment, home, source in placed:
        if home != source and not opinions_about(reading, sentiment.aspect_term):
            cue = reading.contrasts[min(max(home, source) - 1, len(reading.contrasts) - 1)]
            yield FoundRisk(
                "CONTRAST_SCOPE",
                cue.start,
                cue.end,
                "high",
                f"'{sentiment.aspect_term}' is judged by words from the other side of '{cue.form}'",
                sentiment.aspect_term,
            )
    for number, cue in enumerate(reading.contrasts):
        left = {sentiment.polarity for sentiment, home, _ in placed if home == number}
        right = {sentiment.polarity for sentiment, home, _ in placed if home == number + 1}
        shared = (left & right) - {"neutral", None}
        if shared and len(left | right) == 1:
            yield FoundRisk("CONTRAST_SCOPE", cue.start, cue.end, "low", f"both sides of '{cue.form}' are judged alike")


def _side(reading: Reading, position: int) -> int:
    return reading.clauses[reading.clause_at(position)].side if reading.clauses else 0


def _irony_risks(reading: Reading, judged: Sequence[SentimentItem]) -> Iterator[FoundRisk]:
    if not any(sentiment.polarity == "positive" for sentiment in judged):
        return
    for cue in reading.ironies:
        yield FoundRisk("IRONY", cue.start, cue.end, "high", f"'{cue.form}' may turn the praise into its opposite")


def _evidence_risks(reading: WeighedReading, judged: Sequence[SentimentItem]) -> Iterator[FoundRisk]:
    for sentiment in judged:
        if sentiment.polarity == "neutral":
            continue
        named = f"'{sentiment.aspect_term}'" if sentiment.aspect_term else "the opinion without a target"
        place = evidence_place(reading, sentiment)
        opinions = opinions_within(reading, *place) if place else []
        if not sentiment.evidence and _clause_agrees(reading, sentiment):
            continue
        if place is None or not opinions:
            start, end = place or find_term(reading, sentiment.aspect_term) or (0, len(reading.text))
            if start < end and reading.language != "other":
                yield FoundRisk(
                    "EVIDENCE_GAP", start, end, "mid", f"no opinion words support {named}", sentiment.aspect_term
                )
            continue
        total = sum(opinion.first for opinion in opinions)
        says = polarity_of(total)
        if says != "neutral" and says != sentiment.polarity and not _settled_by_scope(opinions, sentiment, reading):
            yield FoundRisk(
                "POLARITY_MISMATCH",
                place[0],
                place[1],
                "high",
                f"the quoted words of {named} say the opposite",
                sentiment.aspect_term,
                "FLIP_POLARITY" if _may_flip(reading, sentiment) else None,
            )
        elif sentiment.aspect_term and not is_said_of(reading, sentiment.aspect_term, place):
            yield FoundRisk(
                "EVIDENCE_GAP",
                place[0],
                place[1],
                "low",
                f"the quoted words are not said of {named}",
                sentiment.aspect_term,
            )


def _clause_agrees(reading: Reading, sentiment: SentimentItem) -> bool:
    """Return whether the words of its clause support a tuple; one that a verdict added has no evidence of its own."""
    term = find_term(reading, sentiment.aspect_term)
    if term is None or not reading.clauses:
        return False
    nearby = (reading.opinions[index] for index in reading.by_clause.get(reading.clause_at(term[0]), ()))
    return any(polarity_of(opinion.full) == sentiment.polarity for opinion in nearby)


def _settled_by_scope(opinions: Sequence[Opinion], sentiment: SentimentItem, reading: Reading) -> bool:
    """The judgement follows a whole negation, a cue of irony or other words said of the target: no mismatch."""
    if polarity_of(sum(opinion.full for opinion in opinions)) == sentiment.polarity:
        return True
    if reading.ironies and sentiment.polarity == "negative":
        return True
    return any(
        polarity_of(opinion.first) == sentiment.polarity for opinion in opinions_about(reading, sentiment.aspect_term)
    )


def _span_risks(reading: Reading, aspects: Sequence[AspectItem]) -> Iterator[FoundRisk]:
    for aspect in aspects:
        if not aspect.aspect_term:
            continue
        trimmed = trimmed_place(reading, aspect)
        given = (aspect.span.start, aspect.span.end) if aspect.span else None
        if trimmed is None or trimmed == given:
            continue
        start, end = given if given and given[1] <= len(reading.text) else trimmed
        yield FoundRisk(
            "SPAN_MISMATCH",
            start,
            end,
            "low" if given is None else "mid",
            f"the marked characters are not exactly '{aspect.aspect_term}'",
            aspect.aspect_term,
            "REVISE_SPAN",
            trimmed,
        )


def trimmed_place(reading: Reading, aspect: AspectItem) -> tuple[int, int] | None:
    """Return the characters of the bare target, without article, particle or neighbour; None if it is not there."""
    place: tuple[int, int] | None
    if aspect.span is not None and reading.text[aspect.span.start : aspect.span.end] == aspect.aspect_term:
        place = (aspect.span.start, aspect.span.end)
    else:
        place = find_term(reading, aspect.aspect_term)
    if place is None:
        return None
    start, end = place
    lowered = reading.text[start:end].lower()
    start += next(
        (len(article) for article in _ARTICLES if reading.language == "en" and lowered.startswith(article)), 0
    )
    if reading.language == "ko" and end - start > 1 and ends_with_particle(reading.text, end):
        end -= 1
    return (start, end) if start < end else place


def _missing_aspect_risks(
    reading: Reading, aspects: Sequence[AspectItem], judged: Sequence[SentimentItem]
) -> Iterator[FoundRisk]:
    terms = {norm(aspect.aspect_term) for aspect in aspects} or {norm(sentiment.aspect_term) for sentiment in judged}
    terms -= {""}
    if not reading.contrasts or len(terms) > 1 or not reading.clauses:
        return
    place = find_term(reading, next(iter(terms), ""))
    home = _side(reading, place[0]) if place else 0
    unnamed = [
        opinion for _, opinion in unnamed_targets(reading, terms) if reading.clauses[opinion.clause].side != home
    ]
    cue = reading.contrasts[0]
    if unnamed:
        clause = reading.clauses[unnamed[0].clause]
        yield FoundRisk(
            "MISSING_SECOND_ASPECT",
            clause.start,
            clause.end,
            "high",
            f"a second target across '{cue.form}' is judged but not named",
        )
    else:
        yield FoundRisk("MISSING_SECOND_ASPECT", cue.start, cue.end, "low", f"'{cue.form}' with one target only")


def unnamed_targets(reading: Reading, known: set[str]) -> Iterator[tuple[Target, Opinion]]:
    """Yield targets beyond the known terms with an opinion each: said of them, or standing alone in their clause."""
    seen = set(known)
    in_clause: dict[int, list[Target]] = {}
    for target in reading.targets:
        in_clause.setdefault(target.clause, []).append(target)
    for opinion in reading.opinions:
        owned = [reading.targets[index] for index in opinion.targets]
        if not any(target.clause == opinion.clause for target in owned):
            owned = in_clause.get(opinion.clause, [])
        for target in owned:
            if target.is_nameable and norm(target.term) not in seen:
                seen.add(norm(target.term))
                yield target, opinion

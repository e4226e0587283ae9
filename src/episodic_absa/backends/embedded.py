"""The embedded engine: the reader answers Stage1 and the referee, cues name risks, and everyone else keeps.

Like any model it replies with JSON, in the form that is asked for.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from episodic_absa.backends.backend import Reply, Request, Usage
from episodic_absa.language import Cue, clauses, find_contrasts, find_ironies, find_negations, occurrences
from episodic_absa.reader.reader import Reader, default_reader
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas import answers as short
from episodic_absa.schemas import seed_answers as seed
from episodic_absa.schemas.absa import ProposedEdit
from episodic_absa.schemas.role_inputs import JudgeInputs, ListedPair, ReviewInputs, Validator2Inputs, ValidatorInputs
from episodic_absa.serialization.canonical_json import canonical_json
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Language, Polarity, SentenceLabel, Severity

ENGINE_NAME: Final = "embedded:reader-1"
_KEPT: Final = "the embedded engine keeps what Stage1 said"
_LONGEST_QUOTE: Final = 200
_MOST_RISKS: Final = 20
_EVEN, _NARROW = 0.5, 0.1
"""A pair of this probability speaks for no list; two lists of which neither gains more than the second are equal."""
_SCORE_PER_SEVERITY: Final = 0.12
_OUTER: Final = " \t\n.,;:!?…"
_PARTICLE: Final = re.compile("[가-힣]*")
_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]+")


class EmbeddedReplier:
    """Answers all roles from the reader: deterministic, offline, without a key. It is no language model."""

    name = ENGINE_NAME
    is_local = True
    is_reproducible = True
    needs_key = False
    honours_seed = False
    shares_the_reader = True

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or default_reader()

    @property
    def fingerprint(self) -> str:
        """The hash of the reader's weights and tables."""
        return self._reader.fingerprint

    async def reply(self, request: Request) -> Reply:
        """Answer from the typed inputs of the question; the prompt is not read."""
        start = time.perf_counter()
        await asyncio.sleep(0)  # thousands of answers that never wait would let no interrupt through
        waited_s = time.perf_counter() - start
        answer = answer_of(request.ask.inputs, request.ask.output_model, self._reader)
        return Reply(canonical_json(answer), Usage(0, 0, cost_usd=0.0), self.name, waited_s=waited_s)

    async def close(self) -> None:
        """Nothing is held open."""


def answer_of(inputs: Any, output_model: type[BaseModel], reader: TextReader) -> BaseModel:
    """Return the answer to the typed inputs of a question, in the form that it asks for."""
    return output_model.model_validate(FORMS[output_model](_Said(inputs, reader)))


class _Judged(NamedTuple):
    """A pair with the words of its clause; an empty term is an opinion without a target."""

    term: str
    polarity: Polarity
    quote: str
    confidence: float
    """Seed prompts show it: two digits are the same on every processor."""
    start: int = 0
    end: int = 0

    def item(self, model: type[BaseModel]) -> dict[str, Any]:
        """Return the fields of an item of a list that the engine speaks of; nobody changes the pair."""
        fields = {
            **dict.fromkeys(("term", "target", "aspect_term"), self.term),
            **dict.fromkeys(("polarity", "revised_polarity"), self.polarity),
            **dict.fromkeys(("quote", "evidence"), self.quote),
            **dict.fromkeys(("verdict", "action"), short.KEEP),
            "span": {"start": self.start, "end": self.end},
            "confidence": self.confidence,
            "polarity_distribution": {self.polarity: self.confidence},
            "reason": _KEPT,
        }
        return {name: value for name, value in fields.items() if name in model.model_fields}

    def confirmed(self) -> ProposedEdit:
        target = {"aspect_ref": self.term, "polarity": self.polarity}
        edit = {"op": "confirm_tuple", "target": target, "evidence": self.quote or None, "confidence": self.confidence}
        return ProposedEdit.model_validate(edit)


class _Said:
    """The reader's pairs or, where Stage1 has spoken, Stage1's; the label of the text; what cues tell of the pairs."""

    def __init__(self, inputs: Any, reader: TextReader) -> None:
        self.inputs, self._reader = inputs, reader
        self._reading = reader.read(inputs.text, inputs.language)
        label = self._reading.label
        self.label: SentenceLabel = "neutral" if label is None or label == "none" else label

    @cached_property
    def pairs(self) -> list[_Judged]:
        match self.inputs:
            case Validator2Inputs(patched_sentiments=given):
                pass
            case ValidatorInputs(sentiments=given) if given is not None:
                pass
            case JudgeInputs(stage1=stage1) | ReviewInputs(stage1=stage1):
                given = stage1.atsa.sentiments
            case _:
                return list(self._read())
        return [
            _Judged(item.aspect_term, item.polarity, item.evidence, item.confidence)
            for item in given
            if item.polarity is not None and not item.is_backfilled
        ]

    @property
    def named(self) -> list[_Judged]:
        return [pair for pair in self.pairs if pair.term]

    @property
    def risks(self) -> list[dict[str, Any]]:
        pairs = [(pair.term, pair.polarity) for pair in self.pairs]
        return list(find_risks(self.inputs.text, self.inputs.language, pairs))[:_MOST_RISKS]

    @property
    def better_list(self) -> short.Choice:
        lead = self._gain(self.inputs.list_a) - self._gain(self.inputs.list_b)
        return "equal" if abs(lead) < _NARROW else "A" if lead > 0 else "B"

    def quote(self, start: int, end: int) -> str:
        """Return words of the text; of those around half a surrogate pair, which no JSON holds, the longest part."""
        words = self.inputs.text[start : min(end, start + _LONGEST_QUOTE)]
        return max(_LONE_SURROGATES.split(words), key=len).strip(_OUTER)

    def checked(self) -> dict[str, Any]:
        weights: Iterable[int] = (SEVERITY_WEIGHT[risk["severity"]] for risk in self.risks)
        return {
            "structural_risks": self.risks,
            "consistency_score": max(0.0, 1.0 - _SCORE_PER_SEVERITY * sum(weights)),
            "suggested_label": self.label,
            "confidence": self._reading.label_p,
        }

    def checked_again(self) -> dict[str, Any]:
        checked = self.checked()
        # Nothing was changed, so every risk of Stage1 stands.
        standing = tuple(risk.id for risk in self.inputs.stage1.validator.structural_risks)
        score = checked["consistency_score"]
        return {**checked, "structural_risks": [], "remaining_risk_ids": standing, "final_consistency_score": score}

    def settled(self) -> dict[str, Any]:
        return {
            "final_tuples": [pair.item(seed.AnsweredTuple) for pair in self.pairs],
            "sentence_polarity": self.label,
            "sentence_evidence_spans": [quote for quote in dict.fromkeys(pair.quote for pair in self.pairs) if quote],
            "aspect_evidence": {pair.term: pair.quote for pair in self.pairs if pair.quote},
            "rationale": _KEPT,
        }

    def _read(self) -> Iterator[_Judged]:
        text, found = self.inputs.text, self._reading.pairs
        homes = clauses(text, self.inputs.language)
        borders = sorted({0, *(border for pair in found for border in (pair.start, pair.end))})
        for pair in found:
            left, right = next(home for home in homes if home[0] <= pair.start < home[1])
            # The words behind the term, else those before it, as far as no other term stands there.
            end = min([right, *(border for border in borders if border > pair.end)])
            particle = _PARTICLE.match(text, pair.end)
            after = self.quote(particle.end() if particle else pair.end, end)
            before = self.quote(max([left, *(border for border in borders if border < pair.start)]), pair.start)
            quote = after or before or pair.term
            yield _Judged(pair.term, pair.polarity, quote, round(pair.p, 2), pair.start, pair.end)
        if self._reading.opinion:
            yield _Judged("", self._reading.opinion, self.quote(*homes[0]), round(self._reading.label_p, 2))

    def _gain(self, pairs: tuple[ListedPair, ...]) -> float:
        text, language = self.inputs.text, self.inputs.language
        views = ((self._reader.view(text, language, pair.aspect_term), pair.polarity) for pair in pairs)
        return sum(view.p_of(polarity) - _EVEN for view, polarity in views if view is not None)


def find_risks(text: str, language: Language, pairs: Sequence[tuple[str, Polarity]]) -> Iterator[dict[str, Any]]:
    """Yield where a text may mislead whoever judges its terms, by cues alone; without a cue there is no risk."""
    negated = [cue.start for cue in find_negations(text, language)]
    for start, end in clauses(text, language):
        is_home = any(not term or any(start <= at < end for at in occurrences(term, text)) for term, _ in pairs)
        if is_home and any(start <= at < end for at in negated):
            home = Cue("negation", "", start, end)
            yield _risk("NEGATION_SCOPE", home, "mid", "a negation stands in the clause of a judged term")
    if len(pairs) > 1 and len({polarity for _, polarity in pairs}) == 1:
        for cue in find_contrasts(text, language):
            yield _risk("CONTRAST_SCOPE", cue, "mid", f"'{cue.form}' stands between like judgements")
    if any(polarity == "positive" for _, polarity in pairs):
        for cue in find_ironies(text, language):
            yield _risk("IRONY", cue, "high", f"'{cue.form}' may turn praise into its opposite")


def _risk(kind: str, place: Cue, severity: Severity, why: str) -> dict[str, Any]:
    return {
        "type": kind,
        "scope": {"start": place.start, "end": place.end},
        "severity": severity,
        "description": why,
    }


def _items(name: str, item: type[BaseModel], *, named: bool = False) -> Callable[[_Said], dict[str, Any]]:
    """Return the form of an answer that is one list of pairs."""
    return lambda said: {name: [pair.item(item) for pair in (said.named if named else said.pairs)]}


FORMS: Final[dict[type[BaseModel], Callable[[_Said], dict[str, Any]]]] = {
    short.JointAnswer: _items("pairs", short.Pair),
    short.TermsAnswer: lambda said: {"terms": [pair.term for pair in said.named]},
    short.JudgementsAnswer: _items("judgements", short.Judgement),
    short.TargetsAnswer: _items("targets", short.NamedTarget, named=True),
    short.WrongPairsAnswer: lambda _: {"wrong": []},
    short.DecisionsAnswer: lambda said: {"decisions": [], "label": said.label},
    # To keep a target that Stage1 guessed and nobody judged would add a pair.
    short.TargetVerdictsAnswer: _items("verdicts", short.TargetVerdict, named=True),
    short.PairVerdictsAnswer: _items("verdicts", short.PairVerdict),
    short.RisksAnswer: lambda said: {
        "risks": [{"quote": said.quote(**risk["scope"]), "type": risk["type"]} for risk in said.risks],
        "label": said.label,
    },
    short.RefereeAnswer: lambda said: {"better": said.better_list},
    seed.AteAnswer: _items("aspects", seed.AnsweredAspect, named=True),
    seed.AtsaAnswer: _items("sentiments", seed.AnsweredSentiment),
    seed.ValidatorAnswer: _Said.checked,
    seed.TurnAnswer: lambda said: {"proposed_edits": [pair.confirmed() for pair in said.pairs]},
    seed.JudgeAnswer: _Said.settled,
    seed.AteReviewAnswer: lambda said: {
        "reviews": [
            _Judged(term, "neutral", "", 0.0).item(seed.AnsweredAspectReview)
            for term in dict.fromkeys(aspect.aspect_term for aspect in said.inputs.stage1.ate.aspects)
        ]
    },
    seed.AtsaReviewAnswer: _items("reviews", seed.AnsweredSentimentReview),
    seed.Validator2Answer: _Said.checked_again,
}

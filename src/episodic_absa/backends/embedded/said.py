"""What the embedded engine has to say of one question. Nobody but Stage1 has an opinion: all others keep."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple

from episodic_absa.backends.embedded.structural_risks import FoundRisk, find_risks
from episodic_absa.language import clauses, norm
from episodic_absa.reader.reader import Reader
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.schemas.answers import Choice
from episodic_absa.schemas.role_inputs import JudgeInputs, ListedPair, ReviewInputs, Validator2Inputs, ValidatorInputs
from episodic_absa.schemas.seed_answers import AnsweredSpan
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Polarity, SentenceLabel

_LONGEST_QUOTE: Final = 200
_MOST_RISKS: Final = 20
_LIKELY: Final = 0.5
_NARROW: Final = 0.1
"""Two lists of which neither gains more than this are equal."""
_SCORE_PER_SEVERITY: Final = 0.12
_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]+")


class Judged(NamedTuple):
    """A pair with the words of its clause; an empty term is an opinion without a target."""

    term: str
    polarity: Polarity
    quote: str
    p: float
    span: AnsweredSpan | None = None


class Said:
    """What the engine has to say of one question: the reader's pairs or, where Stage1 has spoken, Stage1's."""

    def __init__(self, inputs: Any, reader: Reader) -> None:
        self._inputs, self._reader = inputs, reader
        self._reading = reader.read(inputs.text, inputs.language)

    @cached_property
    def pairs(self) -> list[Judged]:
        """The pairs in question."""
        match self._inputs:
            case Validator2Inputs(patched_sentiments=given):
                return list(_judged(given))
            case ValidatorInputs(sentiments=given) if given is not None:
                return list(_judged(given))
            case JudgeInputs(stage1=stage1) | ReviewInputs(stage1=stage1):
                return list(_judged(stage1.atsa.sentiments))
            case _:
                return self._own()

    @property
    def named(self) -> list[Judged]:
        """The pairs that name a target."""
        return [pair for pair in self.pairs if pair.term]

    @property
    def targets(self) -> list[str]:
        """The targets of Stage1."""
        return list(dict.fromkeys(aspect.aspect_term for aspect in self._inputs.stage1.ate.aspects))

    @property
    def label(self) -> SentenceLabel:
        """The label of the text; a text that judges nothing is neutral."""
        label = self._reading.label
        return "neutral" if label is None or label == "none" else label

    @property
    def label_p(self) -> float:
        """How likely the label is."""
        return self._reading.label_p

    @property
    def stage1_risk_ids(self) -> tuple[str, ...]:
        """The risks that Stage1 left."""
        return tuple(risk.id for risk in self._inputs.stage1.validator.structural_risks)

    @cached_property
    def risks(self) -> list[FoundRisk]:
        """What cues tell of the pairs."""
        pairs = [(pair.term, pair.polarity) for pair in self.pairs]
        return list(islice(find_risks(self._inputs.text, self._inputs.language, pairs), _MOST_RISKS))

    @property
    def consistency(self) -> float:
        """1 for a text without risks, less for each by its severity."""
        return max(0.0, 1.0 - _SCORE_PER_SEVERITY * sum(SEVERITY_WEIGHT[risk.severity] for risk in self.risks))

    @property
    def better_list(self) -> Choice:
        """The list whose pairs the reader holds to be likelier."""
        lead = self._gain(self._inputs.list_a) - self._gain(self._inputs.list_b)
        return "equal" if abs(lead) < _NARROW else "A" if lead > 0 else "B"

    def quote(self, start: int, end: int | None = None) -> str:
        """Return words of the text, or the clause around a place, without halves of surrogates: JSON has no room."""
        text = self._inputs.text
        if end is None:
            home = (span for span in clauses(text, self._inputs.language) if span[0] <= start < span[1])
            left, end = next(home, (start, start))
            start = max(left, min(start, end - _LONGEST_QUOTE))
        return max(_LONE_SURROGATES.split(text[start : min(end, start + _LONGEST_QUOTE)]), key=len).strip()

    def _own(self) -> list[Judged]:
        found = [
            Judged(
                pair.term, pair.polarity, self.quote(pair.start), pair.p, AnsweredSpan(start=pair.start, end=pair.end)
            )
            for pair in self._reading.pairs
        ]
        known = {norm(pair.term) for pair in found}
        for aspect in getattr(self._inputs, "aspects", None) or ():
            view = self._reader.view(self._inputs.text, self._inputs.language, aspect.aspect_term)
            if view is not None and view.p_target >= _LIKELY and norm(aspect.aspect_term) not in known:
                place = aspect.span.start if aspect.span else max(0, self._inputs.text.find(aspect.aspect_term))
                found.append(Judged(aspect.aspect_term, view.polarity, self.quote(place), view.p_target))
        if not found and self._reading.opinion:
            found.append(Judged("", self._reading.opinion, self.quote(0), self._reading.label_p))
        return found

    def _gain(self, pairs: tuple[ListedPair, ...]) -> float:
        views = ((self._reader.view(self._inputs.text, self._inputs.language, p.aspect_term), p) for p in pairs)
        return sum(view.p_of(pair.polarity) - _LIKELY for view, pair in views if view is not None)


def _judged(items: Iterable[SentimentItem]) -> Iterator[Judged]:
    for item in items:
        if item.polarity is not None and not item.is_backfilled:
            yield Judged(item.aspect_term, item.polarity, item.evidence, item.confidence)

"""What the embedded engine has to say of one question. Nobody but Stage1 has an opinion: all others keep."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple

from episodic_absa.backends.embedded.structural_risks import FoundRisk, find_risks
from episodic_absa.language import clauses
from episodic_absa.reader.text_reader import TextReader
from episodic_absa.schemas.absa import SentimentItem
from episodic_absa.schemas.answers import Choice
from episodic_absa.schemas.role_inputs import JudgeInputs, ListedPair, ReviewInputs, Validator2Inputs, ValidatorInputs
from episodic_absa.vocabulary import SEVERITY_WEIGHT, Polarity, SentenceLabel

_LONGEST_QUOTE: Final = 200
_MOST_RISKS: Final = 20
_EVEN, _NARROW = 0.5, 0.1
"""A pair of this probability speaks for no list; two lists of which neither gains more than the second are equal."""
_SCORE_PER_SEVERITY: Final = 0.12
_OUTER: Final = " \t\n.,;:!?…"
_PARTICLE: Final = re.compile("[가-힣]*")
_LONE_SURROGATES: Final = re.compile("[\ud800-\udfff]+")


class Judged(NamedTuple):
    """A pair with the words of its clause; an empty term is an opinion without a target."""

    term: str
    polarity: Polarity
    quote: str
    confidence: float
    """Seed prompts show it: two digits are the same on every processor."""
    start: int = 0
    end: int = 0


class Said:
    """The reader's pairs or, where Stage1 has spoken, Stage1's; the label of the text; what cues tell of the pairs."""

    def __init__(self, inputs: Any, reader: TextReader) -> None:
        self._inputs, self._reader = inputs, reader
        self._reading = reader.read(inputs.text, inputs.language)
        label = self._reading.label
        self.label: SentenceLabel = "neutral" if label is None or label == "none" else label
        self.label_p = self._reading.label_p

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
                return list(self._read())

    @property
    def named(self) -> list[Judged]:
        """The pairs that name a target."""
        return [pair for pair in self.pairs if pair.term]

    @property
    def targets(self) -> list[str]:
        """The targets of Stage1."""
        return list(dict.fromkeys(aspect.aspect_term for aspect in self._inputs.stage1.ate.aspects))

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

    def quote(self, start: int, end: int) -> str:
        """Return words of the text; of those around half a surrogate pair, which no JSON holds, the longest part."""
        words = self._inputs.text[start : min(end, start + _LONGEST_QUOTE)]
        return max(_LONE_SURROGATES.split(words), key=len).strip(_OUTER)

    def _read(self) -> Iterator[Judged]:
        homes = clauses(self._inputs.text, self._inputs.language)
        borders = sorted({0, *(border for pair in self._reading.pairs for border in (pair.start, pair.end))})
        for pair in self._reading.pairs:
            left, right = next(home for home in homes if home[0] <= pair.start < home[1])
            # The words behind the term, else those before it, as far as no other term stands there.
            end = min([right, *(border for border in borders if border > pair.end)])
            after = self.quote(_behind_particle(self._inputs.text, pair.end), end)
            before = self.quote(max([left, *(border for border in borders if border < pair.start)]), pair.start)
            quote = next((words for words in (after, before) if words), pair.term)
            yield Judged(pair.term, pair.polarity, quote, round(pair.p, 2), pair.start, pair.end)
        if self._reading.opinion:
            yield Judged("", self._reading.opinion, self.quote(*homes[0]), round(self.label_p, 2))

    def _gain(self, pairs: tuple[ListedPair, ...]) -> float:
        text, language = self._inputs.text, self._inputs.language
        views = ((self._reader.view(text, language, pair.aspect_term), pair.polarity) for pair in pairs)
        return sum(view.p_of(polarity) - _EVEN for view, polarity in views if view is not None)


def _behind_particle(text: str, start: int) -> int:
    match = _PARTICLE.match(text, start)
    return match.end() if match else start


def _judged(items: Iterable[SentimentItem]) -> Iterator[Judged]:
    for item in items:
        if item.polarity is not None and not item.is_backfilled:
            yield Judged(item.aspect_term, item.polarity, item.evidence, item.confidence)

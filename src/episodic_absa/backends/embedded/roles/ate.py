"""ATE: extracts the targets of a text with their exact characters, by tagger and rules together."""

from typing import Final

from episodic_absa.backends.embedded.judgement.target_union import NamedTarget, named_targets
from episodic_absa.backends.embedded.reading import Target
from episodic_absa.backends.embedded.weighed_reading import WeighedReading
from episodic_absa.schemas.role_inputs import AteInputs
from episodic_absa.schemas.seed_answers import AnsweredAspect, AnsweredSpan, AteAnswer

_LEAST: Final = 0.5
_MOST: Final = 0.97


def answer_ate(reading: WeighedReading, _inputs: AteInputs) -> AteAnswer:
    """Name every target once, where it is first judged."""
    return AteAnswer(aspects=tuple(map(_aspect, named_targets(reading))))


def extracted_targets(reading: WeighedReading) -> list[Target]:
    """Return the targets that are named in a text."""
    return [named.target for named in named_targets(reading)]


def _aspect(named: NamedTarget) -> AnsweredAspect:
    target = named.target
    return AnsweredAspect(
        aspect_term=target.term,
        span=AnsweredSpan(start=target.start, end=target.end),
        confidence=round(max(_LEAST, min(_MOST, 0.5 + named.likelihood / 2)), 4),
        rationale=named.why,
    )
